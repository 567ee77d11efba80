/* SPDX-License-Identifier: ISC
 *
 * take: the oldest of the most urgent gets a lease by one rename; whoever's
 * rename succeeds holds it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "activity.h"
#include "fanout.h"
#include "group.h"
#include "hold.h"
#include "lease.h"
#include "limit.h"
#include "list.h"
#include "ready.h"
#include "settle.h"
#include "timed.h"

struct lease *
lease_new(struct queue *q, const struct place *p, struct message *m, struct fault *f)
{
	struct lease *l = calloc(1, sizeof *l);

	if (l == NULL) {
		fault_errno(f, "lease");
		message_close(m);
		return NULL;
	}
	l->q = queue_ref(q);
	l->place = *p;
	l->m = m;
	return l;
}

static bool
fits(const struct message *m, const struct name *n)
{
	return id_equal(m->head.id, n->id) && n->ranged == (m->count > 1) &&
	    n->first < m->count && n->count <= m->count - n->first;
}

/* Opens what stands there and looks whether it is whole, and n bodies from
 * `first` on are; from before this boot its checksum too. 1 and *out, 0 it is
 * gone or was torn and is buried, -1. */
static int
open_whole(struct queue *q, const struct place *p, uint32_t first, uint32_t n,
    struct message **out, struct fault *f)
{
	struct message *m = NULL;
	enum opened r;
	int fd = place_open(q, p, O_RDONLY);

	if (fd < 0) {
		if (errno == ENOENT)
			return 0;
		if (errno == ELOOP)
			return settle_torn(q, p, f) < 0 ? -1 : 0;
		return queue_fault(q, f, "message");
	}
	r = list_read(q, fd, &m);
	if (r == MESSAGE_OK && !fits(m, &p->name))
		r = MESSAGE_TORN;
	if (r == MESSAGE_OK)
		r = message_parts(m, first, n);
	if (r == MESSAGE_OK && p->name.seq < q->meter->boot_seq)
		r = message_check(m);
	if (r == MESSAGE_OK) {
		*out = m;
		return 1;
	}
	if (r == MESSAGE_ERROR)
		queue_fault(q, f, "message");
	message_close(m);
	if (r == MESSAGE_ERROR)
		return -1;
	return settle_torn(q, p, f) < 0 ? -1 : 0;
}

/* Where the file could not be linked, what was taken is a copy of its own. */
static int
open_copy(struct queue *q, const struct place *from, const struct place *to,
    struct message **m, struct fault *f)
{
	int fd;

	if (id_equal(from->name.id, to->name.id) && from->name.ranged == to->name.ranged)
		return 0;
	message_close(*m);
	*m = NULL;
	fd = place_open(q, to, O_RDONLY);
	if (fd < 0 || list_read(q, fd, m) != MESSAGE_OK)
		return queue_fault(q, f, "message");
	return 0;
}

static struct place
leased(const struct place *from, int64_t now, int64_t lease)
{
	struct place to = { .where = IN_CUR, .name = from->name };

	to.bucket = bucket_up(now, lease);
	to.name.fanout = false;
	to.name.deliveries++;
	to.name.lease = to.bucket;
	to.name.pid = (uint32_t)getpid();
	to.name.uid = (uint32_t)geteuid();
	to.name.since = now;
	return to;
}

/* The rename, or for a part of a range the split. */
static int
claim(struct queue *q, const struct place *from, struct place *to, uint32_t want,
    struct fault *f)
{
	struct place rest;
	int r;

	timed_announce(q, to);
	if (want >= from->name.count)
		return settle_carry(q, from, to, f);
	if (queue_lock(q, f) < 0)
		return -1;
	r = hold_split(q, from, from->name.first, from->name.first + want, to, &rest, f);
	timed_announce(q, to);
	if (r == 1 && from->where == IN_NEW) {
		ready_announce(q, &rest, false);
		ready_again(q, &rest);
	}
	queue_unlock(q);
	return r;
}

/* 1 and *out; 0 this candidate is nothing; -1 */
static int
take_one(struct queue *q, const struct place *from, const struct take_spec *spec,
    int64_t now, struct lease **out, struct fault *f)
{
	int64_t lease = spec->lease > 0 ? spec->lease : q->conf.lease;
	struct message *m;
	struct place to;
	int r;

	if (from->name.expiry != 0 && from->name.expiry <= now)
		return settle_expired(q, from, f) < 0 ? -1 : 0;
	r = open_whole(q, from, from->name.first, spec->want < from->name.count ?
	    spec->want : from->name.count, &m, f);
	if (r != 1)
		return r;
	to = leased(from, now, lease);
	r = claim(q, from, &to, spec->want, f);
	if (r != 1) {
		message_close(m);
		return r;
	}
	activity_taken(q, from, now, to.name.count);
	if (open_copy(q, from, &to, &m, f) < 0)
		return -1;
	*out = lease_new(q, &to, m, f);
	if (*out == NULL)
		return -1;
	(*out)->taken = now;
	return 1;
}

/* Through the candidates until one is ours. 0: there are none. */
static int
take_next(struct queue *q, bool full, const struct take_spec *spec, int64_t now,
    struct lease **out, struct fault *f)
{
	uint64_t stuck = SEQ_NONE;       /* the first that cannot be taken yet */

	for (uint64_t tries = 0; tries < 1000000; tries++) {
		struct place from;
		int r = ready_next(q, false, &from, f);

		if (r == 0 && full)
			r = ready_next(q, true, &from, f);
		if (r != 1)
			return r;
		q->stuck = false;
		r = take_one(q, &from, spec, now, out, f);
		if (r != 0)
			return r;
		if (q->stuck && stuck == from.name.seq)
			return 0;        /* and there is no other */
		if (q->stuck && stuck == SEQ_NONE)
			stuck = from.name.seq;
	}
	return fault_set(f, ST_IO, "%s: nothing can be taken; see mq-sweep --verify", q->name);
}

/* Nothing seems ready: look at everything, holding the lock, after recovery. */
static int
last_look(struct queue *q, const struct take_spec *spec, int64_t now,
    struct lease **out, struct fault *f)
{
	int r;

	if (queue_lock(q, f) < 0)
		return -1;
	r = timed_run(q, now, true, NULL, NULL, f);
	if (r == 0)
		r = take_next(q, true, spec, now, out, f);
	queue_unlock(q);
	return r;
}

static int
take_free(struct queue *q, const struct take_spec *spec, int64_t now, struct lease **out,
    struct fault *f)
{
	int r;

	if (timed_run(q, now, false, NULL, NULL, f) < 0)
		return -1;
	r = take_next(q, false, spec, now, out, f);
	return r != 0 ? r : last_look(q, spec, now, out, f);
}

/* Under the queue's limits: they are looked at and spent under its lock. */
static int
take_limited(struct queue *q, const struct take_spec *spec, int64_t now,
    struct lease **out, struct fault *f)
{
	struct take_spec less = *spec;
	int64_t n;
	int r = -1;

	if (queue_lock(q, f) < 0)
		return -1;
	n = limit_allow(q, spec->want, f);
	if (n == 0)
		r = 0;
	if (n > 0) {
		less.want = (uint32_t)n;
		r = take_free(q, &less, now, out, f);
	}
	if (r == 1)
		limit_spend(q, lease_count(*out));
	queue_unlock(q);
	return r;
}

static int
a_topic(const struct queue *q, struct fault *f)
{
	return fault_set(f, ST_USAGE, "%s: is a topic: take from one of its subscriptions, "
	    "%s/NAME (mq-sub ls)", q->name, q->name);
}

int
queue_take(struct queue *q, const struct take_spec *spec, struct lease **out,
    struct fault *f)
{
	const struct conf *c = queue_conf(q, f);
	int64_t now = now_ms();

	if (c == NULL || queue_ready(q, f) < 0)
		return -1;
	if (c->paused)
		return 0;
	for (int tries = 0; tries < 16; tries++) {
		int r = limit_set(q) ? take_limited(q, spec, now, out, f) :
		    take_free(q, spec, now, out, f);

		if (r != 0 || !q->stuck)
			return r == 0 && queue_is_topic(q) ? a_topic(q, f) : r;
		fanout_help(q);          /* one is there, almost: wait for its publisher */
	}
	return 0;
}

/* --- one message by its id ------------------------------------------------------- */

struct by_id {
	struct queue *q;
	const struct take_spec *spec;
	int64_t now;
	struct lease **out;
	struct fault *f;
};

/* Message k of the range, the one that was asked for. The delayed ones of a key are
 * a range that has not joined its group: there it becomes one of its own first. */
static int
cut_out(struct by_id *b, const struct place *from, uint32_t k, struct place *to)
{
	struct place one = *from;
	int r;

	if (from->name.count == 1)
		return settle_carry(b->q, from, to, b->f);
	if (!group_outside(from))
		return hold_split(b->q, from, k, k + 1, to, NULL, b->f);
	r = hold_split(b->q, from, k, k + 1, &one, NULL, b->f);
	if (r != 1)
		return r;
	to->name.seq = one.name.seq;             /* it may be a copy */
	to->name.id = one.name.id;
	to->name.first = one.name.first;
	to->name.count = 1;
	to->name.ranged = one.name.ranged;
	return settle_carry(b->q, &one, to, b->f);
}

static int
claim_part(struct by_id *b, const struct place *from, uint32_t k)
{
	int64_t lease = b->spec->lease > 0 ? b->spec->lease : b->q->conf.lease;
	struct message *m;
	struct place to;
	int r;

	if (from->where == IN_GRP)
		return fault_set(b->f, ST_TRYAGAIN, "%s: the message is not the next of "
		    "its key", b->q->name);
	r = open_whole(b->q, from, k, 1, &m, b->f);
	if (r != 1)
		return r;
	to = leased(from, b->now, lease);
	to.name.joins = false;
	timed_announce(b->q, &to);
	r = cut_out(b, from, k, &to);
	timed_announce(b->q, &to);
	if (r != 1) {
		message_close(m);
		return r;
	}
	ready_forget(b->q);
	activity_taken(b->q, from, b->now, 1);
	if (open_copy(b->q, from, &to, &m, b->f) < 0)
		return -1;
	*b->out = lease_new(b->q, &to, m, b->f);
	if (*b->out == NULL)
		return -1;
	(*b->out)->taken = b->now;
	return 1;
}

static int
take_found(const struct entry *e, void *arg)
{
	struct by_id *b = arg;
	const struct place *from = e->place;

	return claim_part(b, from, (uint32_t)id_offset(from->name.id, e->id, UINT32_MAX));
}

int
queue_take_id(struct queue *q, struct id id, const struct take_spec *spec,
    struct lease **out, struct fault *f)
{
	struct by_id b = { .q = q, .spec = spec, .now = now_ms(), .out = out, .f = f };
	int r;

	if (queue_conf(q, f) == NULL || queue_ready(q, f) < 0 || queue_lock(q, f) < 0)
		return -1;
	r = timed_run(q, b.now, false, NULL, NULL, f);
	if (r == 0)
		r = queue_find(q, id, READY | LATER | BLOCKED | DEAD, take_found, &b, f);
	queue_unlock(q);
	return r;
}
