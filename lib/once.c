/* SPDX-License-Identifier: ISC */
#include "once.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "dir.h"
#include "holder.h"
#include "keyed.h"

#define RUN_DIR "once/run"
#define RUN_NAME (KEYED_HASH + 8)
#define DYING_MS 1000            /* for the command of one that was killed, to end */

struct turn {
	struct queue *q;
	char *key;
	struct keyed at;
	int fd;                          /* locked */
};

/* --- what is known of a key ------------------------------------------------------- */

static bool
target_parse(const char *s, struct handled *h)
{
	uint64_t expiry, version;

	if (!keyed_number(&s, &expiry))
		return false;
	h->expiry = (int64_t)expiry;
	h->version = -1;
	if (s[0] == '-' && s[1] == ' ')
		s += 2;
	else if (keyed_number(&s, &version))
		h->version = (int64_t)version;
	else
		return false;
	h->key = s;
	return true;
}

/* 1, 0 none, -1 with errno. h->key points into the target. */
static int
look(struct queue *q, const struct keyed *at, const char *key, int64_t now,
    char target[static KEYED_TARGET], struct handled *h)
{
	int r = keyed_look(q, at, target);

	return r <= 0 ? r : target_parse(target, h) && strcmp(h->key, key) == 0 &&
	    h->expiry > now;
}

int
queue_handled(struct queue *q, const char *key, struct handled *h, struct fault *f)
{
	struct keyed at = keyed_place("once", key);
	char target[KEYED_TARGET];
	int r = look(q, &at, key, now_ms(), target, h);

	h->key = key;
	return r < 0 ? queue_fault(q, f, "once") : r;
}

struct all {
	int (*fn)(const struct handled *, void *);
	void *arg;
	int64_t now;
};

static int
each(const char *target, void *arg)
{
	struct all *a = arg;
	struct handled h;

	return target_parse(target, &h) && h.expiry > a->now ? a->fn(&h, a->arg) : 0;
}

int
queue_each_handled(struct queue *q, int (*fn)(const struct handled *, void *), void *arg,
    struct fault *f)
{
	struct all a = { fn, arg, now_ms() };
	int r = keyed_each(q, "once", each, &a);

	return r < 0 ? queue_fault(q, f, "once") : r;
}

/* --- waiting for one's turn ---------------------------------------------------------- */

static void
on_alarm(int sig)
{
	(void)sig;
}

/* flock(2) has no end of its own: a timer, that goes on so that none is missed, ends
 * it. 1, 0 time is up, -1 with errno */
static int
lock_until(int fd, int64_t until)
{
	struct sigaction act = { .sa_handler = on_alarm }, was;
	struct itimerval timer = { .it_interval = { .tv_usec = 50000 } }, off = { 0 };
	int64_t left;
	int r;

	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 1;
	if (errno != EWOULDBLOCK || (left = until - steady_ms()) <= 0)
		return errno == EWOULDBLOCK ? 0 : -1;
	left = left < INT32_MAX ? left : INT32_MAX;
	timer.it_value.tv_sec = left / 1000;
	timer.it_value.tv_usec = left % 1000 * 1000;
	sigaction(SIGALRM, &act, &was);
	if (until != INT64_MAX)
		setitimer(ITIMER_REAL, &timer, NULL);
	while ((r = flock(fd, LOCK_EX)) < 0 && errno == EINTR && steady_ms() < until)
		continue;
	setitimer(ITIMER_REAL, &off, NULL);
	sigaction(SIGALRM, &was, NULL);
	return r == 0 ? 1 : errno == EINTR ? 0 : -1;
}

/* Is the locked file still the one of that name? */
static bool
is_there(int fd, int dir, const char *name)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstatat(dir, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	    a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* Until that process has ended: 1, or 0: time is up. */
static int
wait_for_end(uint32_t pid, uint64_t start, int64_t until)
{
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0), r = 1;

	while (r == 1 && process_started(pid) == start) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = until - steady_ms();

		/* without pidfds: look again and again */
		if (left <= 0)
			r = 0;
		else
			poll(&p, 1, fd < 0 || left > 100 ? 100 : (int)left);
	}
	if (fd >= 0)
		close(fd);
	return r;
}

/* Who had the turn before and was killed has left in the file which command it ran;
 * that is killed with it, but it may take its time. */
static int
outwait(int fd, int64_t until)
{
	char text[64], *end;
	ssize_t n = pread(fd, text, sizeof text - 1, 0);
	int64_t least = steady_ms() + DYING_MS;
	uint64_t start;
	unsigned long pid;

	if (n <= 0)
		return n < 0 ? -1 : 1;
	text[n] = '\0';
	pid = strtoul(text, &end, 10);
	start = strtoull(end, NULL, 10);
	if (pid == 0 || pid > INT32_MAX || start == 0)
		return 1;
	return wait_for_end((uint32_t)pid, start, until > least ? until : least);
}

/* The file once/run/NAME locked: its descriptor, -2: time is up, -1 with errno. */
static int
run_lock(struct queue *q, const char *name, int64_t until)
{
	for (;;) {
		int dir = queue_dir(q, RUN_DIR, true), fd, r;

		fd = dir < 0 ? -1 : file_make(dir, name, O_RDWR, q->conf.mode);
		if (fd < 0)
			return -1;
		r = lock_until(fd, until);
		if (r == 1 && is_there(fd, dir, name)) {
			r = outwait(fd, until);
			if (r == 1)
				return fd;
		} else if (r == 1) {     /* its owner has ended and removed it */
			close(fd);
			continue;
		}
		close(fd);
		return r == 0 ? -2 : -1;
	}
}

static void
run_end(struct queue *q, const char *name, int fd)
{
	int dir = queue_dir(q, RUN_DIR, false);

	if (dir >= 0)
		(void)unlinkat(dir, name, 0);
	close(fd);
}

/* once/HH, on the disk before anything in it is told of. */
static int
make_bucket(struct queue *q, const char *path, struct fault *f)
{
	int top;

	if (queue_dir(q, path, false) >= 0)
		return 0;
	if (errno != ENOENT)
		return queue_fault(q, f, path);
	top = queue_dir(q, "once", false);
	/* the first one: who made the queue may have died over it */
	if (top < 0 && errno == ENOENT && queue_lay_out(q, f) < 0)
		return -1;
	if (queue_dir(q, path, true) < 0 || (top = queue_dir(q, "once", false)) < 0)
		return queue_fault(q, f, path);
	if (q->conf.sync && (fsync(top) < 0 || fsync(q->fd) < 0))
		return queue_fault(q, f, "once");
	return 0;
}

/* As run_lock(), and -3: the fault tells. */
static int
take_file(struct queue *q, const struct keyed *at, int64_t until, struct fault *f)
{
	if (queue_conf(q, f) == NULL || queue_ready(q, f) < 0 || make_bucket(q, at->dir, f) < 0)
		return -3;
	return run_lock(q, at->name, until);
}

int
turn_take(struct queue *q, const char *key, int64_t wait, struct turn **out,
    struct fault *f)
{
	int64_t until = wait == WAIT_ENDLESS ? INT64_MAX : steady_ms() + wait;
	struct turn *t = calloc(1, sizeof *t);

	if (t == NULL || (t->key = strdup(key)) == NULL) {
		free(t);
		return fault_errno(f, "once");
	}
	t->q = q;
	t->at = keyed_place("once", key);
	t->fd = take_file(q, &t->at, until, f);
	if (t->fd >= 0) {
		*out = t;
		return 1;
	}
	if (t->fd == -1)
		queue_fault(q, f, "once");
	wait = t->fd == -2 ? 0 : -1;
	free(t->key);
	free(t);
	return (int)wait;
}

int
turn_note(struct turn *t, pid_t pid, struct fault *f)
{
	char text[64];
	int n = snprintf(text, sizeof text, "%d %" PRIu64 "\n", (int)pid,
	    process_started((uint32_t)pid));

	return pwrite(t->fd, text, (size_t)n, 0) == n ? 0 : queue_fault(t->q, f, RUN_DIR);
}

void
turn_end(struct turn *t)
{
	if (t == NULL)
		return;
	run_end(t->q, t->at.name, t->fd);
	free(t->key);
	free(t);
}

/* --- changes, by whose turn it is ------------------------------------------------------- */

/* One that is there is replaced in one step: at no time nothing is known of the key. */
static int
replace(struct turn *t, int dir, const char *target)
{
	int run = queue_dir(t->q, RUN_DIR, false);
	char fresh[RUN_NAME];

	snprintf(fresh, sizeof fresh, "%s.new", t->at.name);
	if (run < 0 || (unlinkat(run, fresh, 0) < 0 && errno != ENOENT) ||
	    symlinkat(target, run, fresh) < 0)
		return -1;
	if (renameat(run, fresh, dir, t->at.name) == 0)
		return 0;
	run = errno;
	(void)unlinkat(queue_dir(t->q, RUN_DIR, false), fresh, 0);
	errno = run;
	return -1;
}

static int
flush(struct turn *t, int dir)
{
	return t->q->conf.sync ? fsync(dir) : 0;
}

int
turn_remember(struct turn *t, int64_t version, int64_t keep, struct fault *f)
{
	struct queue *q = t->q;
	char target[KEYED_TARGET], number[24] = "-";
	int64_t expiry = now_ms() + keep;
	int dir = queue_dir(q, t->at.dir, false), r;

	if (version >= 0)
		snprintf(number, sizeof number, "%" PRId64, version);
	snprintf(target, sizeof target, "%" PRId64 " %s %s", expiry, number, t->key);
	r = dir < 0 ? -1 : symlinkat(target, dir, t->at.name);   /* from here on it is known */
	if (dir >= 0 && r < 0 && errno == EEXIST)
		r = replace(t, dir, target);
	if (r == 0)
		hint_lower(&q->meter->once, (uint64_t)expiry);
	return r < 0 || flush(t, dir) < 0 ? queue_fault(q, f, t->at.dir) : 0;
}

int
turn_forget(struct turn *t, struct fault *f)
{
	char target[KEYED_TARGET];
	struct handled h;
	int r = look(t->q, &t->at, t->key, now_ms(), target, &h);

	if (r == 1 && (keyed_drop(t->q, &t->at) < 0 ||
	    flush(t, queue_dir(t->q, t->at.dir, false)) < 0))
		r = -1;
	return r < 0 ? queue_fault(t->q, f, t->at.dir) : r;
}

/* --- sweeping ------------------------------------------------------------------------------ */

struct sweep {
	struct queue *q;
	int64_t now;
	bool dry;
	uint64_t *forgotten, *stale;
	uint64_t next;
	int run;
	struct fault *f;
};

static bool
over(struct sweep *s, const char *key)
{
	struct keyed at = keyed_place("once", key);
	char target[KEYED_TARGET];
	struct handled h;

	return keyed_look(s->q, &at, target) == 1 && target_parse(target, &h) &&
	    strcmp(h.key, key) == 0 && h.expiry <= s->now;
}

/* It may have been handled anew since it was read, or be so just now. */
static int
forget(struct sweep *s, const char *key)
{
	struct turn *t;
	int r = turn_take(s->q, key, 0, &t, s->f);

	if (r <= 0)
		return r;
	if (over(s, key) && keyed_drop(s->q, &t->at) < 0)
		r = queue_fault(s->q, s->f, "once");
	turn_end(t);
	return r;
}

static int
sweep_key(const char *target, void *arg)
{
	struct sweep *s = arg;
	struct handled h;
	int r = 1;

	if (!target_parse(target, &h))
		return 0;
	if (h.expiry > s->now) {
		s->next = (uint64_t)h.expiry < s->next ? (uint64_t)h.expiry : s->next;
		return 0;
	}
	if (!s->dry)
		r = forget(s, h.key);
	*s->forgotten += r == 1;
	if (r == 0)                      /* somebody works on it: next time */
		s->next = (uint64_t)s->now;
	return r < 0 ? -1 : 0;
}

/* What is in once/run/ and whose process is dead. */
static int
sweep_run(const char *name, void *arg)
{
	struct sweep *s = arg;
	char hash[KEYED_HASH + 1];
	int fd, r;

	if (strlen(name) < KEYED_HASH || strlen(name) >= RUN_NAME)
		return 0;
	memcpy(hash, name, KEYED_HASH);
	hash[KEYED_HASH] = '\0';
	fd = dir_openat(s->run, hash, O_RDWR | O_NONBLOCK | O_NOFOLLOW, 0);
	if (fd < 0 && errno != ENOENT)
		return 0;                /* another user's: his sweep sees to it */
	r = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0;
	if (fd >= 0)
		close(fd);
	*s->stale += r == 1;
	if (r != 1 || s->dry)
		return 0;
	fd = run_lock(s->q, hash, 0);
	if (fd < 0)
		return fd == -2 ? 0 : queue_fault(s->q, s->f, RUN_DIR);
	(void)unlinkat(s->run, name, 0);
	run_end(s->q, hash, fd);
	return 0;
}

static int
sweep_all_runs(struct sweep *s)
{
	int r;

	s->run = dir_open(s->q->fd, RUN_DIR);
	if (s->run < 0)
		return errno == ENOENT ? 0 : queue_fault(s->q, s->f, RUN_DIR);
	s->f->status = 0;
	r = dir_each(s->run, sweep_run, s);
	close(s->run);
	return r < 0 && s->f->status == 0 ? queue_fault(s->q, s->f, RUN_DIR) : r;
}

int
once_sweep(struct queue *q, int64_t now, bool dry, uint64_t *forgotten, uint64_t *stale,
    struct fault *f)
{
	struct sweep s = { .q = q, .now = now, .dry = dry, .forgotten = forgotten,
		.stale = stale, .next = HINT_NONE, .f = f };
	uint64_t raw = atomic_load(&q->meter->once);

	if (sweep_all_runs(&s) < 0)
		return -1;
	if (hint_value(raw) > (uint64_t)now)
		return 0;
	f->status = 0;
	if (keyed_each(q, "once", sweep_key, &s) < 0)
		return f->status != 0 ? -1 : queue_fault(q, f, "once");
	if (!dry)
		hint_raise(&q->meter->once, raw, s.next);
	return 0;
}
