/* SPDX-License-Identifier: ISC
 *
 * move: to another queue of the spool, the next stage of a pipeline. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "group.h"
#include "lease.h"
#include "ready.h"
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

int
lease_move(struct lease *l, struct queue *to, struct fault *f)
{
	struct place goal;
	bool range = l->place.name.count > 1;
	int r;

	if (to == l->q || strcmp(to->name, l->q->name) == 0)
		return fault_set(f, ST_USAGE, "-t %s: it is in that queue", to->name);
	if (queue_ready(l->q, f) < 0 || queue_ready(to, f) < 0)
		return -1;
	r = isolate(l, f);
	if (r != 1)
		return r;
	goal = moved_to(to, &l->place.name);
	if (range && queue_lock(l->q, f) < 0)
		return -1;
	r = move_across(l, to, &goal, f);
	if (range)
		queue_unlock(l->q);
	if (r == 1) {
		why_remove(l->q, &l->place.name, false);
		atomic_fetch_add(&l->q->meter->acked, l->place.name.count);
		atomic_fetch_add(&to->meter->put, l->place.name.count);
	}
	return r;
}

