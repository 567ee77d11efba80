/* SPDX-License-Identifier: ISC
 *
 * sweep: makes a queue whole again and tidy. No promise depends on it running
 * soon: a take does what matters by itself. */
#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "attach.h"
#include "dedup.h"
#include "dir.h"
#include "fanout.h"
#include "gauge.h"
#include "hold.h"
#include "line.h"
#include "once.h"
#include "vacancy.h"
#include "walk.h"
#include "settle.h"
#include "timed.h"
#include "topic.h"

struct sweep {
	struct queue *q;
	bool dry;
	int64_t now;
	struct swept *n;
	int dir;                         /* being read */
	const char *path;
	struct fault *f;
};

static int
each_in(struct sweep *s, const char *path, int (*fn)(const char *, void *))
{
	int fd = dir_open(s->q->fd, path), r, outer = s->dir;
	const char *outer_path = s->path;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 :
		    queue_fault(s->q, s->f, path);
	s->dir = fd;
	s->path = path;
	s->f->status = 0;
	r = dir_each(fd, fn, s);
	if (r < 0 && s->f->status == 0)
		queue_fault(s->q, s->f, path);
	s->dir = outer;
	s->path = outer_path;
	close(fd);
	return r;
}

/* --- what dead writers left ------------------------------------------------------- */

/* Under the queue's lock; the file's is tried without waiting. */
static int
sweep_tmp(const char *name, void *arg)
{
	struct sweep *s = arg;
	struct place p = { .where = IN_TMP };
	bool dead;
	int fd, r;

	if (!name_parse(name, &p.name))
		return 0;
	fd = openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	dead = flock(fd, LOCK_EX | LOCK_NB) == 0;
	close(fd);
	if (!dead)
		return 0;
	s->n->stale++;
	if (s->dry)
		return 0;
	/* with an idempotency key it counts as put: a repeat would print its id */
	if (p.name.seq == SEQ_NONE && (r = dedup_finish_any(s->q, &p, s->now, s->f)) != 0)
		return r < 0 ? -1 : 0;
	(void)unlinkat(s->dir, name, 0);
	return 0;
}

static int
count_held(const char *name, void *arg)
{
	struct sweep *s = arg;
	struct held held;

	s->n->recovered += held_parse(name, &held);
	return 0;
}

static int
sweep_locked(struct sweep *s)
{
	/* what would have been renamed over the old one, under the lock */
	static const char *const fresh[] = { "conf.new", "index.new", "meter.new" };
	int r = 0;

	if (s->dry) {                    /* under no lock: that would recover */
		if (each_in(s, "hold", count_held) < 0)
			return -1;
		return each_in(s, "tmp", sweep_tmp);
	}
	if (queue_lock(s->q, s->f) < 0)
		return -1;
	for (size_t i = 0; i < sizeof fresh / sizeof *fresh; i++)
		s->n->stale += unlinkat(s->q->fd, fresh[i], 0) == 0;
	r = hold_recover(s->q, &s->n->recovered, s->f);
	if (r == 0)
		r = each_in(s, "tmp", sweep_tmp);
	if (r == 0 && vacancy_limited(s->q))
		r = vacancy_recount(s->q, s->f);
	queue_unlock(s->q);
	return r;
}

/* --- time to live ------------------------------------------------------------------- */

static int
sweep_expiry(const struct place *p, void *arg)
{
	struct sweep *s = arg;
	int r = 1;

	if (p->where == IN_CUR || p->name.expiry == 0 || p->name.expiry > s->now)
		return 0;
	if (!s->dry)
		r = settle_expired(s->q, p, s->f);
	if (r == 1)
		s->n->expired += p->name.count;
	return r < 0 ? -1 : 0;
}

static int
count_timed(const struct place *p, void *arg)
{
	struct sweep *s = arg;

	if (p->where == IN_CUR && p->bucket <= s->now)
		s->n->returned += p->name.count;
	else if (p->where == IN_LATER && p->name.due <= s->now)
		s->n->released += p->name.count;
	return 0;
}

/* --- done/ ----------------------------------------------------------------------------- */

static int
forget_name(const char *name, void *arg)
{
	struct sweep *s = arg;
	struct name n;

	if (!name_parse(name, &n))
		return 0;
	s->n->forgotten += n.count;
	if (!s->dry)
		(void)unlinkat(s->dir, name, 0);
	return 0;
}

static int
sweep_done(const char *name, void *arg)
{
	struct sweep *s = arg;
	char path[PLACE_DIR_SIZE];
	uint64_t until;

	if (!number_parse(name, INT64_MAX, &until) || (int64_t)until > s->now)
		return 0;
	snprintf(path, sizeof path, "done/%s", name);
	if (each_in(s, path, forget_name) < 0)
		return -1;
	if (!s->dry)
		(void)unlinkat(s->q->fd, path, AT_REMOVEDIR);
	return 0;
}

/* --- segments: emptied ones go, the hints see the others ---------------------------------- */

static int
sweep_segment(const char *name, void *arg)
{
	struct sweep *s = arg;
	uint64_t seg, now = atomic_load(&queue_counter(s->q)->seq) >> SEG_BITS;

	if (!segment_parse(name, &seg))
		return 0;
	if (seg < now && !s->dry && unlinkat(s->dir, name, AT_REMOVEDIR) == 0)
		return 0;
	if (strncmp(s->path, "new/", 4) == 0)
		hint_lower(&s->q->meter->ready[s->path[4] - '0'], seg);
	return 0;
}

static int
sweep_segments(struct sweep *s)
{
	char path[PLACE_DIR_SIZE];

	for (int p = 0; p < PRIORITIES; p++) {
		snprintf(path, sizeof path, "new/%d", p);
		if (each_in(s, path, sweep_segment) < 0)
			return -1;
	}
	return each_in(s, "dlq", sweep_segment);
}

/* --- why/ of messages that are gone --------------------------------------------------------- */

struct ids {
	struct id *v;
	bool *seen;
	size_t n, room;
};

struct orphans {
	struct sweep *s;
	struct ids ids;
};

static int
note_id(const char *name, void *arg)
{
	struct orphans *o = arg;
	struct ids *l = &o->ids;
	struct id id;

	if (strlen(name) != ID_LEN || !id_parse(name, &id))
		return 0;
	if (l->n == l->room) {
		size_t room = l->room ? l->room * 2 : 64;
		void *p = reallocarray(l->v, room, sizeof *l->v);

		if (p == NULL)
			return -1;
		l->v = p;
		l->room = room;
	}
	l->v[l->n++] = id;
	return 0;
}

static int
by_id(const void *a, const void *b)
{
	const struct id *x = a, *y = b;

	if (x->hi != y->hi)
		return x->hi < y->hi ? -1 : 1;
	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Marks the ids that this range covers: they stand together, being sorted. */
static int
mark_seen(const struct place *p, void *arg)
{
	struct orphans *o = arg;
	struct id from = id_add(p->name.id, p->name.first);
	size_t lo = 0, hi = o->ids.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (by_id(&o->ids.v[mid], &from) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < o->ids.n && id_offset(from, o->ids.v[lo], p->name.count) >= 0; lo++)
		o->ids.seen[lo] = true;
	return 0;
}

static int
drop_orphans(struct orphans *o)
{
	struct sweep *s = o->s;
	char name[ID_LEN + 1];
	int dir = queue_dir(s->q, "why", false);

	/* twice: a message may move between two directories while they are read */
	for (int i = 0; i < 2; i++)
		if (walk_places(s->q, STATES_ALL, mark_seen, o, s->f) < 0)
			return -1;
	for (size_t i = 0; i < o->ids.n; i++) {
		if (o->ids.seen[i])
			continue;
		s->n->stale++;
		id_print(o->ids.v[i], name);
		if (!s->dry)
			(void)unlinkat(dir, name, 0);
	}
	return 0;
}

static int
sweep_why(struct sweep *s)
{
	struct orphans o = { .s = s };
	int dir = queue_dir(s->q, "why", false), r = 0;

	if (dir < 0)
		return 0;
	if (dir_each(dir, note_id, &o) < 0)
		r = queue_fault(s->q, s->f, "why");
	if (r == 0 && o.ids.n > 0) {
		qsort(o.ids.v, o.ids.n, sizeof *o.ids.v, by_id);
		o.ids.seen = calloc(o.ids.n, sizeof *o.ids.seen);
		r = o.ids.seen == NULL ? fault_errno(s->f, "why") : drop_orphans(&o);
	}
	free(o.ids.v);
	free(o.ids.seen);
	return r;
}

/* --- a topic -------------------------------------------------------------------------------------- */

static int
count_out(const char *name, void *arg)
{
	struct sweep *s = arg;
	struct name n;
	int fd;

	if (!name_parse(name, &n))
		return 0;
	fd = openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	s->n->recovered += flock(fd, LOCK_EX | LOCK_NB) == 0;
	close(fd);
	return 0;
}

static int
count_dead(const struct subscription *sub, void *arg)
{
	struct sweep *s = arg;
	struct sub one = { .ephemeral = true };

	strlcpy(one.name, sub->name, sizeof one.name);
	s->n->stale += sub->ephemeral && !sub_alive(s->q, &one);
	return 0;
}

/* Ends publishes that were cut short, removes what died in sub/. */
static int
sweep_topic(struct sweep *s)
{
	struct queue *q = s->q;
	int r;

	if (s->dry)
		return each_in(s, "out", count_out) < 0 ||
		    topic_each(q, count_dead, s, s->f) < 0 ||
		    topic_tidy(q, true, &s->n->stale, s->f) < 0 ? -1 : 0;
	if (queue_lock(q, s->f) < 0)
		return -1;
	r = fanout_finish(q, &s->n->recovered, s->f);
	if (r == 0)
		r = topic_tidy(q, false, &s->n->stale, s->f);
	if (r == 0)
		r = topic_reap(q, &s->n->stale, s->f);
	queue_unlock(q);
	topic_raze(q);
	return r;
}

/* --- all of it ----------------------------------------------------------------------------------- */

static int
sweep_all(struct sweep *s)
{
	uint64_t buried = atomic_load(&s->q->meter->rates.total[EV_BURIED]);

	if (sweep_locked(s) < 0 || (queue_is_topic(s->q) && sweep_topic(s) < 0))
		return -1;
	if (s->dry && walk_places(s->q, LEASED | LATER, count_timed, s, s->f) < 0)
		return -1;
	if (!s->dry && timed_run(s->q, s->now, true, &s->n->returned, &s->n->released, s->f) < 0)
		return -1;
	if (walk_places(s->q, READY | LATER | BLOCKED, sweep_expiry, s, s->f) < 0 ||
	    each_in(s, "done", sweep_done) < 0 || sweep_segments(s) < 0 || sweep_why(s) < 0)
		return -1;
	if (attach_sweep(s->q, s->dry, &s->n->stale, s->f) < 0 ||
	    dedup_sweep(s->q, s->now, s->dry, &s->n->forgotten, s->f) < 0 ||
	    once_sweep(s->q, s->now, s->dry, &s->n->forgotten, &s->n->stale, s->f) < 0 ||
	    (!s->dry && line_sweep(s->q, s->f) < 0))
		return -1;
	s->n->torn += atomic_load(&s->q->meter->rates.total[EV_BURIED]) - buried;
	return 0;
}

static int
sweep_one(struct queue *q, enum sweep_how how, struct swept *n, int64_t *next,
    struct fault *f)
{
	struct sweep s = { .q = q, .dry = how == SWEEP_DRY, .now = now_ms(), .n = n,
		.dir = -1, .f = f };
	int64_t mine;
	int r;

	if (queue_conf(q, f) == NULL || queue_ready(q, f) < 0)
		return -1;
	r = how == SWEEP_TIMED ?
	    timed_run(q, s.now, false, &n->returned, &n->released, f) : sweep_all(&s);
	if (r == 0 && how == SWEEP_ALL)
		r = gauge_recount(q, f);
	mine = timed_next(q);
	if (r == 0 && mine != 0 && (*next == 0 || mine < *next))
		*next = mine;
	return r;
}

struct sweep_subs {
	struct queue *topic;
	enum sweep_how how;
	struct swept *n;
	int64_t *next;
	struct fault *f;
};

static int
sweep_sub(const struct subscription *sub, void *arg)
{
	struct sweep_subs *s = arg;
	struct queue *q = queue_open_sub(s->topic, sub->name, s->f);
	int r;

	if (q == NULL)
		return s->f->status == ST_NOQUEUE ? 0 : -1;
	r = sweep_one(q, s->how, s->n, s->next, s->f);
	queue_close(q);
	return r < 0 && s->f->status == ST_NOQUEUE ? 0 : r;
}

int
queue_sweep(struct queue *q, enum sweep_how how, struct swept *n, int64_t *next,
    struct fault *f)
{
	int64_t first = 0;
	struct sweep_subs s = { q, how, n, &first, f };

	memset(n, 0, sizeof *n);
	if (sweep_one(q, how, n, &first, f) < 0)
		return -1;
	if (queue_is_topic(q) && topic_each(q, sweep_sub, &s, f) < 0)
		return -1;
	if (next != NULL)
		*next = first;
	return 0;
}
