/* SPDX-License-Identifier: ISC */
#include "group.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "dir.h"
#include "gauge.h"
#include "hold.h"
#include "settle.h"

#define GROUP_DIR 24             /* "grp/" and 16 digits */

uint64_t
group_hash(const char *key)
{
	uint64_t h = XXH3_64bits(key, strlen(key));

	return h == 0 ? 1 : h;
}

bool
group_head(const struct place *p)
{
	return p->name.group != 0 && (p->where == IN_NEW || p->where == IN_CUR ||
	    (p->where == IN_LATER && !p->name.joins));
}

bool
group_outside(const struct place *p)
{
	return p->name.group != 0 && !group_head(p) && p->where != IN_GRP;
}

static void
group_dir(uint64_t group, char out[static GROUP_DIR])
{
	snprintf(out, GROUP_DIR, "grp/%016" PRIx64, group);
}

/* --- who is next ------------------------------------------------------------- */

struct lowest {
	uint64_t seg;
	bool some;
};

static int
lower_segment(const char *text, void *arg)
{
	struct lowest *l = arg;
	uint64_t seg;

	if (segment_parse(text, &seg) && (!l->some || seg < l->seg)) {
		l->seg = seg;
		l->some = true;
	}
	return 0;
}

struct next {
	struct place place;
	bool some;
};

static int
lower_name(const char *text, void *arg)
{
	struct next *n = arg;
	struct place p = { .where = IN_GRP };

	if (!name_parse(text, &p.name) || !place_fits(&p))
		return 0;
	if (!n->some || name_order(&p.name) < name_order(&n->place.name)) {
		n->place = p;
		n->some = true;
	}
	return 0;
}

static int
each_in(struct queue *q, const char *path, int (*fn)(const char *, void *), void *arg)
{
	int fd = dir_open(q->fd, path), r;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	r = dir_each(fd, fn, arg);
	close(fd);
	return r;
}

static void
segment_dir(uint64_t group, uint64_t seg, char out[static PLACE_DIR_SIZE])
{
	char text[SEG_LEN + 1];

	segment_print(seg, text);
	snprintf(out, PLACE_DIR_SIZE, "grp/%016" PRIx64 "/%s", group, text);
}

/* 1 and *out, 0 nobody waits, -1 with errno */
static int
group_next(struct queue *q, uint64_t group, struct place *out)
{
	char dir[GROUP_DIR], path[PLACE_DIR_SIZE];

	group_dir(group, dir);
	for (;;) {
		struct lowest l = { .some = false };
		struct next n = { .some = false };

		if (each_in(q, dir, lower_segment, &l) < 0)
			return -1;
		if (!l.some)
			return 0;
		segment_dir(group, l.seg, path);
		if (each_in(q, path, lower_name, &n) < 0)
			return -1;
		if (n.some) {
			*out = n.place;
			return 1;
		}
		if (unlinkat(q->fd, path, AT_REMOVEDIR) < 0 && errno != ENOENT)
			return -1;       /* something foreign is in it */
		queue_dir_forget(q, path);
	}
}

struct tidying {
	struct queue *q;
	uint64_t group;
};

static int
tidy_segment(const char *text, void *arg)
{
	struct tidying *t = arg;
	char path[PLACE_DIR_SIZE];
	uint64_t seg;

	if (!segment_parse(text, &seg))
		return 0;
	segment_dir(t->group, seg, path);
	if (unlinkat(t->q->fd, path, AT_REMOVEDIR) == 0)
		queue_dir_forget(t->q, path);
	return 0;
}

void
group_tidy(struct queue *q, uint64_t group)
{
	struct tidying t = { q, group };
	char dir[GROUP_DIR];

	group_dir(group, dir);
	if (unlinkat(q->fd, dir, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return;
	(void)each_in(q, dir, tidy_segment, &t);
	(void)unlinkat(q->fd, dir, AT_REMOVEDIR);
}

/* --- the next comes up ---------------------------------------------------------- */

static int
bring_up(struct queue *q, const struct place *next, struct fault *f)
{
	struct place to = settle_ready(&next->name), stay = *next;
	char dir[PLACE_DIR_SIZE];
	int r;

	to.name.fanout = next->name.fanout;      /* until it is over: see fanout.h */
	settle_announce(q, &to);
	if (next->name.count == 1)
		r = queue_move(q, next, &to, f);
	else
		r = hold_split_first(q, next, &to, &stay, f);
	if (r == 1)
		settle_announce(q, &to);
	place_dir(next, dir);
	if (unlinkat(q->fd, dir, AT_REMOVEDIR) == 0)
		queue_dir_forget(q, dir);
	return r < 0 ? -1 : 0;
}

/* The one that the held name tells of, if it still waits. */
static int
bring_up_told(struct queue *q, const struct held *held, struct fault *f)
{
	struct place next;
	int r = group_next(q, held->goal.name.group, &next);

	if (r <= 0)
		return r;
	if (next.name.seq != held->next_seq || next.name.first != held->next_first)
		return 0;                /* it came up already */
	return bring_up(q, &next, f);
}

int
group_recover(struct queue *q, int hold, const char *name, const struct held *held,
    struct fault *f)
{
	char dir[GROUP_DIR];

	group_dir(held->goal.name.group, dir);
	if (held->kind == HELD_FIRST) {
		if (dir_make(q->fd, dir, dir_mode(q->conf.mode)) < 0)
			return -1;
	} else if (!held->has_next) {
		group_tidy(q, held->goal.name.group);
	} else if (bring_up_told(q, held, f) < 0) {
		return -1;
	}
	return hold_finish(q, hold, name, &held->goal);
}

/* --- joining and ending ------------------------------------------------------------- */

/* Its first rename: `from` becomes the held name. 1, 0 gone, -1 */
static int
into_hold(struct queue *q, const struct place *from, const char *held, struct fault *f)
{
	char dir[PLACE_DIR_SIZE], name[NAME_SIZE];
	int hold, in, r;

	place_dir(from, dir);
	name_print(&from->name, name);
	for (int tries = 0;; tries++) {
		hold = queue_dir(q, "hold", true);
		in = hold < 0 ? -1 : queue_dir(q, dir, false);
		if (in < 0)
			return errno == ENOENT ? 0 : queue_fault(q, f, "hold");
		atomic_store(&q->meter->busy, 1);
		if (renameat2(in, name, hold, held, RENAME_NOREPLACE) == 0) {
			gauge_move(q, from, NULL);
			return 1;
		}
		if (errno != ENOENT || tries > 0)
			break;
		queue_dir_forget(q, dir);        /* removed and made again? */
	}
	r = errno == ENOENT ? 0 : queue_fault(q, f, "hold");
	atomic_store(&q->meter->busy, 0);
	return r;
}

/* The first of its group and alone: through hold/, so that the group's
 * directory and its head come to be together. */
static int
join_first(struct queue *q, const struct place *from, const struct place *to,
    struct fault *f)
{
	struct held held = { .kind = HELD_FIRST, .goal = *to };
	char name[NAME_SIZE];
	int r;

	if (!held_print(&held, name)) {
		errno = ENAMETOOLONG;
		return queue_fault(q, f, "hold");
	}
	r = into_hold(q, from, name, f);
	if (r != 1)
		return r;
	if (group_recover(q, queue_dir(q, "hold", true), name, &held, f) < 0)
		return queue_fault(q, f, "hold");
	atomic_store(&q->meter->busy, 0);
	return 1;
}

int
group_join(struct queue *q, const struct place *from, const struct name *as,
    struct place *at, struct fault *f)
{
	struct place head = settle_ready(as), wait;
	char dir[GROUP_DIR];
	int r;

	head.name.fanout = as->fanout;
	wait = head;
	wait.where = IN_GRP;
	group_dir(as->group, dir);
	*at = wait;
	if (faccessat(q->fd, dir, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return queue_move(q, from, &wait, f);
	if (errno != ENOENT)
		return queue_fault(q, f, dir);
	*at = head;
	if (as->count == 1) {
		r = join_first(q, from, &head, f);
	} else {
		r = hold_split_first(q, from, at, &wait, f);
	}
	if (r != 1)
		group_tidy(q, as->group);
	return r;
}

int
group_lead(struct queue *q, const struct place *from, const struct place *to,
    struct fault *f)
{
	char dir[GROUP_DIR];

	group_dir(from->name.group, dir);
	if (faccessat(q->fd, dir, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return fault_set(f, ST_TRYAGAIN, "%s: there are others of its key, which "
		    "come one at a time%s", q->name, from->where == IN_DLQ ?
		    ": mq-dlq retry puts it in its place among them" : "");
	if (errno != ENOENT)
		return queue_fault(q, f, dir);
	return join_first(q, from, to, f);
}

int
group_end(struct queue *q, const struct place *from, const struct place *goal,
    struct fault *f)
{
	struct held held = { .kind = HELD_END, .goal = *goal };
	struct place next;
	char name[NAME_SIZE], dir[PLACE_DIR_SIZE];
	int r;

	if (!queue_has(q, from))
		return 0;
	r = group_next(q, from->name.group, &next);
	if (r < 0)
		return queue_fault(q, f, "grp");
	held.has_next = r == 1;
	if (r == 1) {
		held.next_seq = next.name.seq;
		held.next_first = next.name.first;
	}
	if (!held_print(&held, name)) {
		errno = ENAMETOOLONG;
		return queue_fault(q, f, "hold");
	}
	/* a disk that is full must say so before the commit, not after it */
	place_dir(goal, dir);
	if (goal->where != GONE && queue_dir(q, dir, true) < 0)
		return queue_fault(q, f, dir);
	r = into_hold(q, from, name, f);         /* the commit */
	if (r != 1)
		return r;
	if (group_recover(q, queue_dir(q, "hold", true), name, &held, f) < 0)
		return queue_fault(q, f, "hold");
	atomic_store(&q->meter->busy, 0);
	return 1;
}
