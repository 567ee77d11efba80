/* SPDX-License-Identifier: ISC */
#include "hold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dir.h"

static int
held_move(struct queue *q, int hold, const char *held, const struct place *goal)
{
	char dir[PLACE_DIR_SIZE], name[NAME_SIZE];

	place_dir(goal, dir);
	name_print(&goal->name, name);
	for (int tries = 0; tries < 8; tries++) {
		int to = queue_dir(q, dir, true);

		if (to < 0)
			return -1;
		if (renameat2(hold, held, to, name, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != ENOENT)
			break;
		queue_dir_forget(q, dir);
		if (faccessat(hold, held, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			return 0;        /* it is there already */
	}
	return -1;
}

/* The last step of a split: the held name gets its goal. */
static int
held_finish(struct queue *q, int hold, const char *held, const struct place *goal)
{
	if (goal->where == GONE)
		return unlinkat(hold, held, 0) < 0 && errno != ENOENT ? -1 : 0;
	if (held_move(q, hold, held, goal) == 0)
		return 0;
	if (errno == EEXIST)             /* two links of one message: one is enough */
		return unlinkat(hold, held, 0);
	return -1;
}

/* One split of [lo, hi) where one end is an end of the range. */
static int
split_end(struct queue *q, const struct place *from, uint32_t lo, uint32_t hi,
    const struct place *to, struct place *rest, struct fault *f)
{
	struct held held = { .source = *from, .goal = *to };
	uint32_t end = from->name.first + from->name.count;
	char dir[PLACE_DIR_SIZE], source[NAME_SIZE], name[NAME_SIZE];
	int hold, in, r;

	*rest = *from;
	rest->name.first = lo == from->name.first ? hi : from->name.first;
	rest->name.count = from->name.count - (hi - lo);
	if (hi != end && lo != from->name.first)
		return fault_set(f, ST_IO, "split in the middle");
	held.goal.name.first = lo;
	held.goal.name.count = hi - lo;
	place_dir(from, dir);
	name_print(&from->name, source);
	if (!held_print(&held, name)) {
		errno = ENAMETOOLONG;
		return queue_fault(q, f, "hold");
	}
	hold = queue_dir(q, "hold", true);
	if (hold < 0)
		return queue_fault(q, f, "hold");
	in = queue_dir(q, dir, false);
	if (in < 0)
		return errno == ENOENT ? 0 : queue_fault(q, f, dir);
	atomic_store(&q->meter->busy, 1);
	if (linkat(in, source, hold, name, 0) < 0) {
		r = errno == ENOENT ? 0 : queue_fault(q, f, "hold");
		atomic_store(&q->meter->busy, 0);
		return r;
	}
	r = queue_move(q, from, rest, f);       /* the commit */
	if (r == 1)
		r = held_finish(q, hold, name, &held.goal) < 0 ?
		    queue_fault(q, f, "hold") : 1;
	else if (unlinkat(hold, name, 0) < 0)
		r = queue_fault(q, f, "hold");
	if (r >= 0)
		atomic_store(&q->meter->busy, 0);
	return r;
}

int
hold_split(struct queue *q, const struct place *from, uint32_t lo, uint32_t hi,
    struct place *to, struct place *rest, struct fault *f)
{
	uint32_t first = from->name.first, end = first + from->name.count;
	struct place source = *from, lower, upper;
	int r;

	to->name.first = lo;
	to->name.count = hi - lo;
	if (lo != first && hi != end) { /* cut [lo, end) off, in the same place */
		struct place tail = *from;

		tail.name.first = lo;
		tail.name.count = end - lo;
		r = split_end(q, from, lo, end, &tail, &lower, f);
		if (r != 1)
			return r;
		source = tail;
		r = split_end(q, &source, lo, hi, to, &upper, f);
	} else {
		r = split_end(q, &source, lo, hi, to, &lower, f);
	}
	if (r == 1 && rest != NULL)
		*rest = lower;
	return r;
}

/* --- recovery -------------------------------------------------------------- */

struct recovery {
	struct queue *q;
	int hold;
	uint64_t n;
};

static int
recover_one(const char *name, void *arg)
{
	struct recovery *r = arg;
	struct held held;

	if (!held_parse(name, &held))
		return 0;                /* not ours: --verify tells of it */
	r->n++;
	if (queue_has(r->q, &held.source))      /* before the commit */
		return unlinkat(r->hold, name, 0) < 0 && errno != ENOENT ? -1 : 0;
	return held_finish(r->q, r->hold, name, &held.goal);
}

int
hold_recover(struct queue *q, uint64_t *n, struct fault *f)
{
	struct recovery r = { .q = q, .n = 0 };

	r.hold = queue_dir(q, "hold", true);
	if (r.hold < 0)
		return queue_fault(q, f, "hold");
	if (dir_each(r.hold, recover_one, &r) < 0)
		return queue_fault(q, f, "hold");
	atomic_store(&q->meter->busy, 0);
	if (n != NULL)
		*n += r.n;
	return 0;
}
