/* SPDX-License-Identifier: ISC */
#include "line.h"

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "dir.h"

static bool
place_name(const char *s)
{
	return strlen(s) == 25 && strspn(s, "0123456789abcdef.") == 25;
}

int
line_join(struct queue *q, struct line *l, const char *where, struct fault *f)
{
	struct timespec ts;
	struct stat st;
	int dir;

	l->dir = where;
	for (int tries = 0; tries < 16; tries++) {
		dir = queue_dir(q, where, true);
		clock_gettime(CLOCK_REALTIME, &ts);
		snprintf(l->name, sizeof l->name, "%016" PRIx64 ".%08x",
		    (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec, (unsigned)getpid());
		l->fd = dir < 0 ? -1 : file_make(dir, l->name, O_WRONLY | O_EXCL, q->conf.mode);
		if (l->fd < 0 && errno == EEXIST)
			continue;
		if (l->fd < 0)
			return queue_fault(q, f, "wait");
		if (flock(l->fd, LOCK_EX) == 0 && fstat(l->fd, &st) == 0 && st.st_nlink > 0)
			return 0;
		close(l->fd);            /* somebody took it for a dead one's */
	}
	l->fd = -1;
	errno = EAGAIN;
	return queue_fault(q, f, "wait");
}

void
line_leave(struct queue *q, struct line *l)
{
	int dir;

	if (l->fd < 0)
		return;
	dir = queue_dir(q, l->dir, false);
	if (dir >= 0)
		(void)unlinkat(dir, l->name, 0);
	close(l->fd);
	l->fd = -1;
}

bool
line_alive(struct queue *q, const char *where, const char *name)
{
	int dir = queue_dir(q, where, false), fd;
	bool alive;

	fd = dir < 0 ? -1 : openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return dir >= 0 && errno == EACCES;      /* another user's */
	alive = flock(fd, LOCK_SH | LOCK_NB) < 0;
	if (!alive)
		(void)unlinkat(dir, name, 0);
	close(fd);
	return alive;
}

struct nearest {
	const char *mine;
	const char *below;               /* look only before this one */
	char best[LINE_NAME];
};

static int
nearer(const char *name, void *arg)
{
	struct nearest *n = arg;

	if (place_name(name) && strcmp(name, n->below) < 0 && strcmp(name, n->best) > 0)
		strlcpy(n->best, name, sizeof n->best);
	return 0;
}

int
line_before(struct queue *q, const struct line *l, char out[static LINE_NAME],
    struct fault *f)
{
	char below[LINE_NAME];

	strlcpy(below, l->name, sizeof below);
	for (;;) {
		struct nearest n = { .mine = l->name, .below = below };
		int dir = queue_dir(q, l->dir, true);

		if (dir < 0 || dir_each(dir, nearer, &n) < 0)
			return queue_fault(q, f, "wait");
		if (n.best[0] == '\0')
			return 0;
		if (line_alive(q, l->dir, n.best)) {
			strlcpy(out, n.best, LINE_NAME);
			return 1;
		}
		strlcpy(below, n.best, sizeof below);
	}
}

struct sweeping {
	struct queue *q;
	const char *dir;
};

static int
sweep_one(const char *name, void *arg)
{
	struct sweeping *s = arg;

	if (place_name(name))
		(void)line_alive(s->q, s->dir, name);
	return 0;
}

int
line_sweep(struct queue *q, struct fault *f)
{
	static const char *const dirs[] = { "wait", "room" };

	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		struct sweeping s = { q, dirs[i] };
		int dir = queue_dir(q, dirs[i], false);

		if (dir < 0 && errno == ENOENT)
			continue;
		if (dir < 0 || dir_each(dir, sweep_one, &s) < 0)
			return queue_fault(q, f, dirs[i]);
	}
	return 0;
}
