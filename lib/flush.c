/* SPDX-License-Identifier: ISC */
#include "flush.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define FLUSH_FILES 256          /* open at once */

struct flush {
	int fds[FLUSH_FILES];
	size_t n;
	int error;                       /* of the first one that failed; 0 */
};

struct flush *
flush_new(struct fault *f)
{
	struct flush *l = calloc(1, sizeof *l);

	if (l == NULL)
		fault_errno(f, "flush");
	return l;
}

static void
flush_files(struct flush *l)
{
	for (size_t i = 0; i < l->n; i++)
		(void)sync_file_range(l->fds[i], 0, 0, SYNC_FILE_RANGE_WRITE);
	for (size_t i = 0; i < l->n; i++) {
		if (fsync(l->fds[i]) < 0 && l->error == 0)
			l->error = errno;
		close(l->fds[i]);
	}
	l->n = 0;
}

int
flush_add(struct flush *l, int fd)
{
	int mine;

	if (l->n == FLUSH_FILES)
		flush_files(l);
	mine = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (mine < 0)
		return fsync(fd);        /* too many are open */
	l->fds[l->n++] = mine;
	return 0;
}

int
flush_all(struct flush *l, struct fault *f)
{
	flush_files(l);
	errno = l->error;
	l->error = 0;
	return errno == 0 ? 0 : fault_errno(f, "fsync");
}

void
flush_free(struct flush *l)
{
	if (l == NULL)
		return;
	for (size_t i = 0; i < l->n; i++)
		close(l->fds[i]);
	free(l);
}
