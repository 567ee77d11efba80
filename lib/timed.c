/* SPDX-License-Identifier: ISC */
#include "timed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dir.h"
#include "ready.h"
#include "settle.h"

/* --- buckets ------------------------------------------------------------------ */

static int64_t
grain(int64_t duration)
{
	int64_t g = 1;

	while (g * 2 <= duration / 32)
		g *= 2;
	return g;
}

int64_t
bucket_up(int64_t now, int64_t duration)
{
	int64_t g = grain(duration), end = now + duration;

	return (end + g - 1) / g * g;
}

int64_t
bucket_down(int64_t now, int64_t due)
{
	int64_t g = grain(due > now ? due - now : 0);

	return due / g * g;
}

void
timed_announce(struct queue *q, const struct place *p)
{
	if (p->where == IN_CUR)
		hint_lower(&q->meter->deadline, (uint64_t)p->bucket);
	else if (p->where == IN_LATER)
		hint_lower(&q->meter->due, (uint64_t)p->bucket);
}

int64_t
timed_next(const struct queue *q)
{
	uint64_t a = hint_value(atomic_load(&q->meter->deadline));
	uint64_t b = hint_value(atomic_load(&q->meter->due));
	uint64_t first = a < b ? a : b;

	return first >= HINT_NONE ? 0 : (int64_t)first;
}

struct bucket_walk {
	int (*fn)(int64_t, void *);
	void *arg;
};

static int
each_bucket(const char *text, void *arg)
{
	struct bucket_walk *w = arg;
	uint64_t ms;

	return number_parse(text, INT64_MAX, &ms) ? w->fn((int64_t)ms, w->arg) : 0;
}

int
timed_buckets(struct queue *q, const char *dir, int (*fn)(int64_t, void *),
    void *arg, struct fault *f)
{
	struct bucket_walk w = { fn, arg };
	int fd = dir_open(q->fd, dir), r;

	if (fd < 0)
		return errno == ENOENT ? 0 : queue_fault(q, f, dir);
	f->status = 0;
	r = dir_each(fd, each_bucket, &w);
	if (r < 0 && f->status == 0)
		queue_fault(q, f, dir);
	close(fd);
	return r;
}

/* --- running ------------------------------------------------------------------- */

struct run {
	struct queue *q;
	enum where where;
	int64_t now, bucket;
	int64_t next;                    /* earliest of what stays */
	uint64_t moved;
	bool stays;                      /* something stays in this bucket */
	struct fault *f;
};

static void
run_later_than(struct run *r, int64_t ms)
{
	if (ms < r->next)
		r->next = ms;
}

static int
run_name(const char *text, void *arg)
{
	struct run *r = arg;
	struct place p = { .where = r->where, .bucket = r->bucket };
	int done;

	if (!name_parse(text, &p.name) || !place_fits(&p))
		return 0;
	if (r->where == IN_LATER && p.name.due > r->now) {
		r->stays = true;
		run_later_than(r, p.name.due);
		return 0;
	}
	done = r->where == IN_CUR ? settle_expired_lease(r->q, &p, r->f) :
	    settle_due(r->q, &p, r->f);
	if (done == 1)
		r->moved += p.name.count;
	if (done == 0 && p.name.fanout) {        /* its fan-out goes on */
		r->stays = true;
		run_later_than(r, r->now);
	}
	return done < 0 ? -1 : 0;
}

static int
run_bucket(int64_t bucket, void *arg)
{
	struct run *r = arg;
	char path[PLACE_DIR_SIZE];
	int fd, done;

	if (bucket > r->now) {
		run_later_than(r, bucket);
		return 0;
	}
	snprintf(path, sizeof path, "%s/%" PRId64, r->where == IN_CUR ? "cur" : "later", bucket);
	fd = dir_open(r->q->fd, path);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 :
		    queue_fault(r->q, r->f, path);
	r->bucket = bucket;
	r->stays = false;
	done = dir_each(fd, run_name, r);
	close(fd);
	if (done < 0)
		return r->f->status != 0 ? -1 : queue_fault(r->q, r->f, path);
	if (!r->stays && unlinkat(r->q->fd, path, AT_REMOVEDIR) == 0) {
		queue_dir_forget(r->q, path);
		queue_spare(r->q);
	}
	return 0;
}

static int
run_dir(struct queue *q, enum where where, int64_t now, bool full, uint64_t *moved,
    struct fault *f)
{
	hint *h = where == IN_CUR ? &q->meter->deadline : &q->meter->due;
	uint64_t raw = atomic_load(h);
	struct run r = { .q = q, .where = where, .now = now, .next = HINT_NONE, .f = f };
	uint64_t heard = 0;

	if (q->topic != NULL && where == IN_LATER) {     /* as in ready.c */
		heard = atomic_load(&q->topic->meter->fan_due);
		full |= heard != atomic_load(&q->meter->fan_due_seen);
	}
	if (!full && hint_value(raw) > (uint64_t)now)
		return 0;
	if (timed_buckets(q, where == IN_CUR ? "cur" : "later", run_bucket, &r, f) < 0)
		return -1;
	hint_raise(h, raw, (uint64_t)r.next);
	if ((uint64_t)r.next < hint_value(raw))
		hint_lower(h, (uint64_t)r.next);
	if (heard != 0)
		atomic_store(&q->meter->fan_due_seen, heard);
	if (moved != NULL)
		*moved += r.moved;
	return 0;
}

int
timed_run(struct queue *q, int64_t now, bool full, uint64_t *returned,
    uint64_t *released, struct fault *f)
{
	if (run_dir(q, IN_CUR, now, full, returned, f) < 0)
		return -1;
	return run_dir(q, IN_LATER, now, full, released, f);
}
