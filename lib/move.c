/* SPDX-License-Identifier: ISC
 *
 * move: to another queue of the spool, the next stage of a pipeline. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "activity.h"
#include "admit.h"
#include "attach.h"
#include "gauge.h"
#include "group.h"
#include "lease.h"
#include "ready.h"
#include "vacancy.h"
#include "sequence.h"
#include "settle.h"
#include "why.h"

static struct place
moved_to(struct queue *to, const struct name *n)
{
	struct place p = settle_ready(n);

	/* SEQ + FIRST is its place in the order */
	p.name.seq = sequence_next(to, n->first + n->count);
	p.name.deliveries = p.name.untried = 0;
	p.name.due = 0;
	return p;
}

/* One rename between the two queues. 1, 0 the source is gone, -1 */
static int
move_across(struct lease *l, struct queue *to, struct place *goal, struct fault *f)
{
	char source[NAME_SIZE], target[NAME_SIZE], from[PLACE_DIR_SIZE], dir[PLACE_DIR_SIZE];

	place_dir(&l->place, from);
	place_dir(goal, dir);
	name_print(&l->place.name, source);
	name_print(&goal->name, target);
	ready_announce(to, goal, false);
	for (int tries = 0; tries < 16; tries++) {
		int in = queue_dir(l->q, from, false), out = queue_dir(to, dir, true);

		if (in < 0)
			return errno == ENOENT ? 0 : queue_fault(l->q, f, from);
		if (out < 0)
			return queue_fault(to, f, dir);
		if (renameat2(in, source, out, target, RENAME_NOREPLACE) == 0) {
			ready_announce(to, goal, false);
			gauge_move(l->q, &l->place, NULL);
			gauge_move(to, NULL, goal);
			return 1;
		}
		if (errno != ENOENT)
			return queue_fault(to, f, target);
		queue_dir_forget(to, dir);
		if (!queue_has(l->q, &l->place))
			return 0;
	}
	errno = EAGAIN;
	return queue_fault(to, f, target);
}

/* Extended by a receipt meanwhile, or a part of a range: make it a name of its
 * own, at a place that is known. */
static int
isolate(struct lease *l, struct fault *f)
{
	int64_t left = l->place.bucket - now_ms();

	if (queue_has(l->q, &l->place))
		return 1;
	return lease_extend(l, left > 1000 ? left : 1000, f);
}

static void
moved(struct lease *l, struct queue *to)
{
	why_remove(l->q, &l->place.name, false);
	activity_acked(l->q, l->taken, l->place.name.count);
	activity_put(to, l->place.name.count);
}

static int
move_plain(struct lease *l, struct queue *to, struct fault *f)
{
	struct place goal = moved_to(to, &l->place.name);
	bool range = l->place.name.count > 1;
	int r;

	if (range && queue_lock(l->q, f) < 0)
		return -1;
	r = move_across(l, to, &goal, f);
	if (range)
		queue_unlock(l->q);
	if (r == 1)
		moved(l, to);
	return r;
}

/* --- where one of the two has a limit -------------------------------------------- */

static uint64_t
size_of(struct lease *l, struct fault *f)
{
	const struct name *n = &l->place.name;
	struct message *m = lease_message(l, f);
	uint64_t start = 0, end = 0, ignored;

	if (m == NULL || !message_bounds(m, n->first, &start, &ignored) ||
	    !message_bounds(m, n->first + n->count - 1, &ignored, &end))
		return 0;
	return end - start;
}

/* 1 there is room, and it is reserved; -1: 75, the lease stays as it is */
static int
make_room(struct queue *to, uint64_t count, uint64_t bytes, struct fault *f)
{
	int r = admit(to, count, bytes, f);

	return r == 0 ? fault_set(f, ST_TRYAGAIN, "%s: the queue is full", to->name) : r;
}

/* Two locks are taken in the order of the queues' names. */
static int
move_counted(struct lease *l, struct queue *to, struct fault *f)
{
	bool mine = strcmp(l->q->name, to->name) < 0;
	struct queue *outer = mine ? l->q : to, *inner = mine ? to : l->q;
	uint64_t count = l->place.name.count, bytes = size_of(l, f);
	struct place goal;
	int r;

	if (queue_lock(outer, f) < 0)
		return -1;
	if (queue_lock(inner, f) < 0) {
		queue_unlock(outer);
		return -1;
	}
	r = make_room(to, count, bytes, f);
	if (r == 1) {
		goal = moved_to(to, &l->place.name);
		r = move_across(l, to, &goal, f);
		if (vacancy_limited(r == 1 ? l->q : to))
			vacancy_give(r == 1 ? l->q : to, count, bytes);
	}
	queue_unlock(inner);
	queue_unlock(outer);
	if (r == 1)
		moved(l, to);
	return r;
}

/* --- of a group, or to another file system: put there, then ack here --------- */

static int
move_copied(struct lease *l, struct queue *to, struct fault *f)
{
	struct message *m = lease_message(l, f);
	struct put_spec spec = { .priority = l->place.name.priority,
		.expiry = l->place.name.expiry };
	struct put *put;
	struct put_done done;
	const char *body;
	size_t len;
	int r = 0;

	if (m == NULL)
		return f->status == ST_NOTHING ? 0 : -1;
	spec.head = m->head;
	spec.batch = true;
	put = put_begin(to, &spec, f);
	for (uint32_t k = 0; put != NULL && r == 0 && k < lease_count(l); k++) {
		r = message_body(m, l->place.name.first + k, &body, &len, f);
		if (r == 0)
			r = put_add(put, body, len, f);
	}
	if (put == NULL || r < 0 || put_commit(put, &done, f) < 0)
		r = -1;
	put_end(put);
	return r < 0 ? -1 : lease_ack(l, f);
}

/* A second name in the other queue's tmp/, under its lock. 1, 0, -1; -2: the
 * file cannot be linked there. */
static int
link_across(struct lease *l, struct queue *to, struct place *tmp, struct fault *f)
{
	char source[NAME_SIZE], target[NAME_SIZE], from[PLACE_DIR_SIZE];
	int in, out;

	place_dir(&l->place, from);
	name_print(&l->place.name, source);
	name_print(&tmp->name, target);
	in = queue_dir(l->q, from, false);
	out = queue_dir(to, "tmp", true);
	if (in < 0)
		return errno == ENOENT ? 0 : queue_fault(l->q, f, from);
	if (out < 0)
		return queue_fault(to, f, "tmp");
	if (linkat(in, source, out, target, 0) == 0)
		return 1;
	if (errno == EXDEV || errno == EPERM || errno == EMLINK)
		return -2;
	return errno == ENOENT ? 0 : queue_fault(to, f, "tmp");
}

static int
move_grouped(struct lease *l, struct queue *to, struct fault *f)
{
	struct place goal, tmp = { .where = IN_TMP }, at;
	uint64_t bytes = vacancy_limited(to) ? size_of(l, f) : 0;
	struct fault ignored;
	int r;

	if (queue_lock(to, f) < 0)
		return -1;
	if (make_room(to, 1, bytes, f) < 0) {
		queue_unlock(to);
		return -1;
	}
	goal = moved_to(to, &l->place.name);
	tmp.name = goal.name;
	tmp.name.seq = SEQ_NONE;
	r = link_across(l, to, &tmp, f);
	if (r == 1) {
		r = group_join(to, &tmp, &goal.name, &at, f);
		if (r != 1)
			(void)queue_unlink(to, &tmp, &ignored);
	}
	if (r != 1 && vacancy_limited(to))
		vacancy_give(to, 1, bytes);
	queue_unlock(to);
	if (r == -2)
		return move_copied(l, to, f);
	if (r != 1)
		return r;
	activity_put(to, 1);
	r = lease_ack(l, f);
	if (r == 0) {                    /* lost meanwhile: it stays where it is */
		struct place gone = { .where = GONE, .name = at.name };

		(void)settle_carry(to, &at, &gone, &ignored);
	}
	return r;
}

/* Receipts of several takes may have been joined to one lease. */
static int
move_halves(struct lease *l, struct queue *to, struct fault *f)
{
	struct lease half = *l;
	uint32_t at = l->place.name.count / 2;
	int lower, upper;

	half.m = NULL;
	half.place.name.count = at;
	lower = lease_move(&half, to, f);
	half.place = l->place;
	half.place.name.first += at;
	half.place.name.count -= at;
	upper = lower < 0 ? -1 : lease_move(&half, to, f);
	return upper < 0 ? -1 : lower && upper;
}

int
move_place(struct lease *l, struct queue *to, struct fault *f)
{
	int r;

	/* its attachments stay where they are; who acks it there must look */
	if (attach_used(l->q) && attach_use(to, f) < 0)
		return -1;
	if (queue_is_topic(to))          /* as a publish does it */
		return move_copied(l, to, f);
	if (l->place.name.group != 0)
		return move_grouped(l, to, f);
	r = vacancy_limited(l->q) || vacancy_limited(to) ? move_counted(l, to, f) :
	    move_plain(l, to, f);
	return r < 0 && f->error == EXDEV ? move_copied(l, to, f) : r;
}

int
lease_move(struct lease *l, struct queue *to, struct fault *f)
{
	int r;

	if (to == l->q || strcmp(to->name, l->q->name) == 0)
		return fault_set(f, ST_USAGE, "-t %s: it is in that queue", to->name);
	if (queue_conf(to, f) == NULL || queue_ready(l->q, f) < 0 || queue_ready(to, f) < 0)
		return -1;
	r = isolate(l, f);
	if (l->place.name.count > 1 && r >= 0 && !queue_has(l->q, &l->place))
		return move_halves(l, to, f);
	return r != 1 ? r : move_place(l, to, f);
}
