/* SPDX-License-Identifier: ISC */
#include "whole.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dir.h"

static int
cannot_create(struct fault *f, const char *path)
{
	fault_errno(f, "%s", path);
	if (f->error == ENOENT || f->error == ENOTDIR || f->error == EISDIR ||
	    f->error == EROFS || f->error == EEXIST)
		f->status = ST_CANTCREATE;
	return -1;
}

/* A rename would put an end to /dev/null. */
static int
look_at(const char *path, struct fault *f)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : cannot_create(f, path);
	if (!S_ISREG(st.st_mode))
		return fault_set(f, ST_CANTCREATE, "%s: not a regular file", path);
	return 0;
}

int
whole_write(const char *path, const struct buffer *b, struct fault *f)
{
	char fresh[PATH_MAX];
	int fd, r = 0;

	if (look_at(path, f) < 0)
		return -1;
	if (snprintf(fresh, sizeof fresh, "%s.%ld.tmp", path, (long)getpid()) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return cannot_create(f, path);
	}
	(void)unlink(fresh);             /* of one that died, of this pid */
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return cannot_create(f, path);
	if (write_all(fd, b->data, b->len) < 0 || fsync(fd) < 0 || rename(fresh, path) < 0) {
		r = fault_errno(f, "%s", path);
		(void)unlink(fresh);
	}
	close(fd);
	return r;
}
