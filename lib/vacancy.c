/* SPDX-License-Identifier: ISC */
#include "vacancy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "dir.h"
#include "line.h"
#include "walk.h"
#include "message.h"

#define RECOUNT_MS 1000          /* not more often: it reads all names */
#define SLEEP_MS 10000           /* a safety net against missed events */
#define BLIND_MS 200             /* where inotify cannot be had */

bool
vacancy_limited(const struct queue *q)
{
	return q->conf.limit > 0 || q->conf.limit_bytes > 0;
}

bool
vacancy_counts(enum where w)
{
	return w == IN_NEW || w == IN_CUR || w == IN_LATER || w == IN_GRP;
}

uint64_t
vacancy_bytes(struct queue *q, const struct place *p)
{
	return vacancy_bytes_of(q, p, p);
}

uint64_t
vacancy_bytes_of(struct queue *q, const struct place *at, const struct place *p)
{
	uint64_t start, ignored, end = 0, n = 0;
	struct message *m = NULL;
	int fd;

	if (q->conf.limit_bytes == 0)
		return 0;
	fd = place_open(q, at, O_RDONLY);
	if (fd < 0 || message_read(fd, &m) != MESSAGE_OK)
		return 0;
	if (message_bounds(m, p->name.first, &start, &ignored) &&
	    message_bounds(m, p->name.first + p->name.count - 1, &ignored, &end))
		n = end - start;
	message_close(m);
	return n;
}

/* --- counting ----------------------------------------------------------------- */

struct recount {
	struct queue *q;
	uint64_t count, bytes;
};

static int
recount_place(const struct place *p, void *arg)
{
	struct recount *r = arg;

	r->count += p->name.count;
	r->bytes += vacancy_bytes(r->q, p);
	return 0;
}

int
vacancy_recount(struct queue *q, struct fault *f)
{
	struct recount r = { .q = q };

	if (walk_places(q, READY | LEASED | LATER | BLOCKED, recount_place, &r, f) < 0)
		return -1;
	q->meter->held = r.count;
	q->meter->held_bytes = r.bytes;
	q->meter->limit = q->conf.limit;
	q->meter->limit_bytes = q->conf.limit_bytes;
	q->meter->recounted = (uint64_t)now_ms();
	return 0;
}

void
vacancy_forget(struct queue *q)
{
	q->meter->limit = UINT64_MAX;
}

/* The counts were kept under other limits, or none. */
static bool
stale(const struct queue *q)
{
	return q->meter->limit != q->conf.limit ||
	    q->meter->limit_bytes != q->conf.limit_bytes;
}

static bool
fits(const struct queue *q, uint64_t count, uint64_t bytes)
{
	const struct conf *c = &q->conf;

	return (c->limit == 0 || q->meter->held + count <= c->limit) &&
	    (c->limit_bytes == 0 || q->meter->held_bytes + bytes <= c->limit_bytes);
}

bool
vacancy_ever(const struct queue *q, uint64_t count, uint64_t bytes)
{
	const struct conf *c = &q->conf;

	return (c->limit == 0 || count <= c->limit) &&
	    (c->limit_bytes == 0 || bytes <= c->limit_bytes);
}

int
vacancy_take(struct queue *q, uint64_t count, uint64_t bytes, struct fault *f)
{
	uint64_t since = (uint64_t)now_ms() - q->meter->recounted;

	if (stale(q) && vacancy_recount(q, f) < 0)
		return -1;
	/* also if the clock went back */
	if (!fits(q, count, bytes) && since >= RECOUNT_MS && vacancy_recount(q, f) < 0)
		return -1;
	if (!fits(q, count, bytes))
		return 0;
	q->meter->held += count;
	q->meter->held_bytes += bytes;
	return 1;
}

static void
ring(struct queue *q)
{
	int dir = queue_dir(q, "room", false);

	if (dir >= 0)
		(void)utimensat(dir, "bell", NULL, 0);
}

void
vacancy_give(struct queue *q, uint64_t count, uint64_t bytes)
{
	struct meter *m = q->meter;

	m->held = m->held > count ? m->held - count : 0;
	m->held_bytes = m->held_bytes > bytes ? m->held_bytes - bytes : 0;
	if (atomic_load(&m->blocked) > 0)
		ring(q);
}

void
vacancy_moved(struct queue *q, enum where from, enum where to, uint64_t count, uint64_t bytes)
{
	if (!vacancy_limited(q) || vacancy_counts(from) == vacancy_counts(to))
		return;
	if (vacancy_counts(from)) {
		vacancy_give(q, count, bytes);
	} else {
		q->meter->held += count;
		q->meter->held_bytes += bytes;
	}
}

/* --- waiting -------------------------------------------------------------------- */

struct vacancy_wait {
	struct queue *q;
	struct meter *meter;             /* the one that counts this waiter */
	struct line line;
	int fd;
	int before;                      /* watch of the one before, -1 */
	bool head;
};

static int
watch(struct vacancy_wait *w, const char *sub, uint32_t mask)
{
	char path[5000];

	snprintf(path, sizeof path, "%s/%s/%s", w->q->store->path, w->q->path, sub);
	return inotify_add_watch(w->fd, path, mask | IN_DONT_FOLLOW);
}

/* Finds who stands before, or that nobody does. */
static void
settle(struct vacancy_wait *w)
{
	char before[LINE_NAME], sub[LINE_NAME + 8];
	struct fault f;

	while (!w->head) {
		if (line_before(w->q, &w->line, before, &f) != 1) {
			w->head = true;
			(void)watch(w, "room/bell", IN_ATTRIB);
			(void)watch(w, "", IN_MOVED_TO);         /* its settings */
			return;
		}
		snprintf(sub, sizeof sub, "room/%s", before);
		w->before = watch(w, sub, IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF);
		if (line_alive(w->q, w->line.dir, before))
			return;
	}
}

static int
make_bell(struct queue *q)
{
	int dir = queue_dir(q, "room", true), fd;

	if (dir < 0)
		return -1;
	fd = file_make(dir, "bell", O_WRONLY, q->conf.mode);
	return fd < 0 ? -1 : close(fd);
}

struct vacancy_wait *
vacancy_wait_begin(struct queue *q, struct fault *f)
{
	struct vacancy_wait *w = calloc(1, sizeof *w);

	if (w == NULL || make_bell(q) < 0) {
		queue_fault(q, f, "room");
		free(w);
		return NULL;
	}
	w->q = q;
	w->before = -1;
	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (line_join(q, &w->line, "room", f) < 0) {
		if (w->fd >= 0)
			close(w->fd);
		free(w);
		return NULL;
	}
	w->meter = q->meter;
	atomic_fetch_add(&w->meter->blocked, 1);
	settle(w);
	return w;
}

bool
vacancy_wait_turn(struct vacancy_wait *w)
{
	settle(w);
	return w->head;
}

void
vacancy_wait_sleep(struct vacancy_wait *w, int ms)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	char buf[4096];
	int most = w->fd < 0 ? BLIND_MS : w->head ? RECOUNT_MS : SLEEP_MS;

	(void)poll(&p, 1, ms < most ? ms : most);
	while (w->fd >= 0 && read(w->fd, buf, sizeof buf) > 0)
		continue;
}

void
vacancy_wait_end(struct vacancy_wait *w)
{
	if (w == NULL)
		return;
	/* the meter may be another one by now, or none */
	if (w->q->meter == w->meter && atomic_load(&w->meter->blocked) > 0)
		atomic_fetch_sub(&w->meter->blocked, 1);
	line_leave(w->q, &w->line);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}
