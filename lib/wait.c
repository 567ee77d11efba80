/* SPDX-License-Identifier: ISC
 *
 * wait: blocking without CPU. The head of a queue's line watches new/ (and
 * cur/, later/ for times that come nearer, and the queue's own directory for
 * its settings); everybody else watches the one before. Where inotify cannot
 * be had, and against whatever it may miss, everybody looks by the clock. */
#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "dir.h"
#include "limit.h"
#include "line.h"
#include "queue.h"
#include "timed.h"

#define BLIND_MS 1000            /* without inotify */
#define HEAD_MS 10000            /* the head, against missed events */
#define LINE_MS 60000            /* the others */
#define WATCHES 64

struct spot {                            /* in one queue's line */
	struct store *store;
	char name[QUEUE_NAME_SIZE];
	struct queue *q;                 /* NULL: there is none yet */
	struct line line;
	bool head;
	int before;                      /* watch of the one before, -1 */
	int wd[WATCHES];
	int nwd;
};

struct waiter {
	int fd;                          /* inotify, -1: cannot be had */
	bool opened;
	bool armed;
	int early;                       /* sleeps in a row that were cut to 1 ms */
	struct spot *spots;
	size_t n;
};

struct waiter *
waiter_new(struct fault *f)
{
	struct waiter *w = calloc(1, sizeof *w);

	if (w == NULL) {
		fault_errno(f, "wait");
		return NULL;
	}
	w->fd = -1;
	return w;
}

int
waiter_add(struct waiter *w, struct store *s, const char *name, struct fault *f)
{
	struct spot *p = reallocarray(w->spots, w->n + 1, sizeof *p);

	if (p == NULL)
		return fault_errno(f, "wait");
	w->spots = p;
	p = &w->spots[w->n++];
	memset(p, 0, sizeof *p);
	p->store = s;
	strlcpy(p->name, name, sizeof p->name);
	p->line.fd = p->before = -1;
	return 0;
}

int
waiter_fd(const struct waiter *w)
{
	return w->fd;
}

/* --- watches ----------------------------------------------------------------------- */

static int
watch_path(struct waiter *w, const char *path, uint32_t mask)
{
	return inotify_add_watch(w->fd, path, mask | IN_DONT_FOLLOW);
}

static void
watch(struct waiter *w, struct spot *s, const char *sub, uint32_t mask)
{
	char path[5000];
	int wd;

	if (w->fd < 0 || s->nwd == WATCHES)
		return;                  /* the clock will do */
	snprintf(path, sizeof path, "%s/%s/%s", s->store->path, s->q->path, sub);
	wd = watch_path(w, path, mask);
	if (wd >= 0)
		s->wd[s->nwd++] = wd;
}

struct watching {
	struct waiter *w;
	struct spot *s;
	const char *parent;
};

static int
watch_segment(const char *name, void *arg)
{
	struct watching *v = arg;
	char sub[PLACE_DIR_SIZE];
	uint64_t seg;

	if (segment_parse(name, &seg)) {
		snprintf(sub, sizeof sub, "%s/%s", v->parent, name);
		/* a publish links its messages in */
		watch(v->w, v->s, sub, IN_MOVED_TO | IN_CREATE | IN_ONLYDIR);
	}
	return 0;
}

static void
watch_new(struct waiter *w, struct spot *s)
{
	watch(w, s, "new", IN_CREATE | IN_ONLYDIR);
	for (int p = 0; p < PRIORITIES; p++) {
		char sub[8];
		struct watching v = { w, s, sub };
		int fd;

		snprintf(sub, sizeof sub, "new/%d", p);
		fd = dir_open(s->q->fd, sub);
		if (fd < 0)
			continue;
		watch(w, s, sub, IN_CREATE | IN_ONLYDIR);
		(void)dir_each(fd, watch_segment, &v);
		close(fd);
	}
}

static int
watch_bucket(int64_t bucket, void *arg)
{
	struct watching *v = arg;
	char sub[PLACE_DIR_SIZE];

	snprintf(sub, sizeof sub, "cur/%lld", (long long)bucket);
	watch(v->w, v->s, sub, IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR);
	return 0;
}

/* Where only so many may be leased: a lease that ends is what is waited for. */
static void
watch_places(struct waiter *w, struct spot *s)
{
	struct watching v = { w, s, "cur" };
	struct fault f;

	(void)timed_buckets(s->q, "cur", watch_bucket, &v, &f);
}

static void
unwatch(struct waiter *w, struct spot *s)
{
	while (s->nwd > 0)
		(void)inotify_rm_watch(w->fd, s->wd[--s->nwd]);
	if (s->before >= 0)
		(void)inotify_rm_watch(w->fd, s->before);
	s->before = -1;
}

static void
drain(struct waiter *w)
{
	char buf[16384];

	while (w->fd >= 0 && read(w->fd, buf, sizeof buf) > 0)
		continue;
}

/* --- standing in line ------------------------------------------------------------------ */

static void
spot_close(struct waiter *w, struct spot *s)
{
	unwatch(w, s);
	if (s->q == NULL)
		return;
	line_leave(s->q, &s->line);
	queue_close(s->q);
	s->q = NULL;
}

/* Watches the spool, or the topic, for the queue to come. */
static void
watch_spool(struct waiter *w, struct spot *s)
{
	char path[5000];
	const char *slash = strchr(s->name, '/');
	int wd;

	if (w->fd < 0 || s->nwd > 0)
		return;
	wd = watch_path(w, s->store->path, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
	if (wd >= 0)
		s->wd[s->nwd++] = wd;
	if (slash == NULL)
		return;
	snprintf(path, sizeof path, "%s/%.*s/sub", s->store->path,
	    (int)(slash - s->name), s->name);
	wd = watch_path(w, path, IN_MOVED_TO | IN_ONLYDIR);
	if (wd >= 0)
		s->wd[s->nwd++] = wd;
}

/* There is none, or another one stands there now. */
static bool
spool_gone(const struct store *s)
{
	struct stat a, b;

	return s->fd < 0 || fstat(s->fd, &a) < 0 || stat(s->path, &b) < 0 ||
	    a.st_ino != b.st_ino || a.st_dev != b.st_dev;
}

static void
spool_again(struct store *s)
{
	struct fault f;
	struct store *again, old;

	if (!spool_gone(s))
		return;
	again = store_open(s->path, false, &f);
	if (again == NULL)
		return;
	old = *s;
	*s = *again;
	*again = old;
	store_close(again);
}

/* 1 it is open; 0 there is none (yet); -1 */
static int
spot_open(struct waiter *w, struct spot *s, struct fault *f)
{
	spool_again(s->store);
	if (s->q != NULL && (s->store->fd < 0 || queue_gone(s->q)))
		spot_close(w, s);
	if (s->q != NULL)
		return 1;
	s->q = queue_open(s->store, s->name, QUEUE_MUST, f);
	if (s->q != NULL) {
		unwatch(w, s);
		return queue_ready(s->q, f) < 0 ? -1 : 1;
	}
	if (f->status != ST_NOQUEUE)
		return -1;
	watch_spool(w, s);
	return 0;
}

static void
watch_head(struct waiter *w, struct spot *s)
{
	unwatch(w, s);
	/* its settings; and it may still be about to be made */
	watch(w, s, "", IN_CREATE | IN_MOVED_TO | IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR);
	watch(w, s, "cur", IN_CREATE | IN_ONLYDIR);
	watch(w, s, "later", IN_CREATE | IN_ONLYDIR);
	watch_new(w, s);
	if (s->q->conf.max_leased > 0)
		watch_places(w, s);
}

/* Finds who stands before and watches it, or becomes the head. */
static int
spot_settle(struct waiter *w, struct spot *s, struct fault *f)
{
	char before[LINE_NAME], path[5000];
	int r;

	for (;;) {
		r = line_before(s->q, &s->line, before, f);
		if (r < 0)
			return -1;
		s->head = r == 0;
		unwatch(w, s);
		if (s->head) {
			watch_head(w, s);
			return 0;
		}
		if (w->fd < 0)
			return 0;
		snprintf(path, sizeof path, "%s/%s/wait/%s", s->store->path, s->q->path, before);
		s->before = watch_path(w, path, IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF);
		if (s->before < 0 && errno != ENOENT)
			return 0;
		if (line_alive(s->q, "wait", before))    /* it did not go before the watch stood */
			return 0;
	}
}

static int
spot_arm(struct waiter *w, struct spot *s, struct fault *f)
{
	int r = spot_open(w, s, f);

	if (r <= 0)
		return r;
	if (queue_conf(s->q, f) == NULL)
		return -1;
	if (s->line.fd < 0) {
		if (line_join(s->q, &s->line, "wait", f) < 0)
			return -1;
		return spot_settle(w, s, f);
	}
	if (s->head)
		watch_head(w, s);        /* directories may have come */
	return 0;
}

int
waiter_arm(struct waiter *w, struct fault *f)
{
	if (!w->opened) {
		w->opened = true;
		w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	}
	drain(w);
	w->armed = true;
	for (size_t i = 0; i < w->n; i++)
		if (spot_arm(w, &w->spots[i], f) < 0)
			return -1;
	return 0;
}

/* --- being woken ------------------------------------------------------------------------- */

static bool
spot_event(struct waiter *w, struct spot *s, const struct inotify_event *e)
{
	struct fault f;

	if (e->mask & IN_Q_OVERFLOW)
		return true;
	if (s->before >= 0 && e->wd == s->before) {
		if (e->mask & IN_IGNORED)
			s->before = -1;
		if (spot_settle(w, s, &f) < 0)
			return true;
		return s->head;
	}
	for (int i = 0; i < s->nwd; i++)
		if (e->wd == s->wd[i])
			return (e->mask & IN_IGNORED) == 0;
	return false;
}

bool
waiter_look(struct waiter *w)
{
	_Alignas(struct inotify_event) char buf[16384];
	bool look = false;
	ssize_t n;

	if (w->fd < 0 || !w->armed)
		return true;
	while ((n = read(w->fd, buf, sizeof buf)) > 0)
		for (char *p = buf; p < buf + n;) {
			struct inotify_event *e = (struct inotify_event *)(void *)p;

			for (size_t i = 0; i < w->n; i++)
				look |= spot_event(w, &w->spots[i], e);
			p += sizeof *e + e->len;
		}
	return look;
}

static int
spot_timeout(const struct waiter *w, const struct spot *s, int64_t now)
{
	int64_t next = s->q == NULL || s->q->conf.paused ? 0 : timed_next(s->q);
	int64_t wake = s->q == NULL ? 0 : limit_wake(s->q);
	int64_t most = w->fd < 0 ? BLIND_MS : s->q == NULL || s->head ? HEAD_MS : LINE_MS;

	if (s->q == NULL && s->store->fd < 0)
		most = BLIND_MS;         /* no spool to watch */
	if (wake != 0 && (next == 0 || wake < next))
		next = wake;
	if (next == 0 || (!s->head && w->fd >= 0))
		return (int)most;
	if (next - now + 1 < most)
		most = next - now + 1;
	return most < 1 ? 1 : (int)most;
}

int
waiter_timeout(struct waiter *w)
{
	int64_t now = now_ms();
	int least = LINE_MS;

	for (size_t i = 0; i < w->n; i++) {
		int ms = spot_timeout(w, &w->spots[i], now);

		if (ms < least)
			least = ms;
	}
	w->early = least == 1 ? w->early + 1 : 0;
	return w->early > 20 ? BLIND_MS : least;
}

void
waiter_leave(struct waiter *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct spot *s = &w->spots[i];

		unwatch(w, s);
		s->head = false;
		if (s->q != NULL)
			line_leave(s->q, &s->line);
	}
	w->armed = false;
}

void
waiter_free(struct waiter *w)
{
	if (w == NULL)
		return;
	for (size_t i = 0; i < w->n; i++)
		spot_close(w, &w->spots[i]);
	if (w->fd >= 0)
		close(w->fd);
	free(w->spots);
	free(w);
}
