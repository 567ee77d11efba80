/* SPDX-License-Identifier: ISC */
#include "hold.h"

#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dir.h"
#include "gauge.h"
#include "group.h"
#include "settle.h"

static int
held_move(struct queue *q, int hold, const char *held, const struct place *goal)
{
	char dir[PLACE_DIR_SIZE], name[NAME_SIZE];
	struct stat st;

	place_dir(goal, dir);
	name_print(&goal->name, name);
	for (int tries = 0; tries < 8; tries++) {
		int to = queue_dir(q, dir, true);

		if (to < 0)
			return -1;
		if (renameat2(hold, held, to, name, RENAME_NOREPLACE) == 0) {
			gauge_move(q, NULL, goal);
			return 0;
		}
		if (errno != ENOENT)
			break;
		queue_dir_forget(q, dir);
		if (fstatat(hold, held, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return errno == ENOENT ? 0 : -1; /* it is there already */
	}
	return -1;
}

int
hold_finish(struct queue *q, int hold, const char *held, const struct place *goal)
{
	if (goal->where == GONE)
		return unlinkat(hold, held, 0) < 0 && errno != ENOENT ? -1 : 0;
	settle_announce(q, goal);
	if (held_move(q, hold, held, goal) == 0) {
		settle_announce(q, goal);
		return 0;
	}
	if (errno == EEXIST)             /* two links of one message: one is enough */
		return unlinkat(hold, held, 0);
	return -1;
}

/* --- recovery -------------------------------------------------------------- */

struct names {
	char (*name)[NAME_SIZE];
	size_t n;
};

static int
collect(const char *name, void *arg)
{
	struct names *l = arg;
	void *p = reallocarray(l->name, l->n + 1, sizeof *l->name);

	if (p == NULL)
		return -1;
	l->name = p;
	strlcpy(l->name[l->n++], name, sizeof *l->name);
	return 0;
}

static int
recover_split(struct queue *q, int hold, const char *name, const struct held *held)
{
	switch (queue_look(q, &held->source)) {
	case 0:                          /* it was committed */
		return hold_finish(q, hold, name, &held->goal);
	case -1:
		return -1;
	}
	/* the first of a group: its directory may have been made already; the held
	 * name goes last */
	if (held->source.name.group != 0)
		group_tidy(q, held->source.name.group);
	return unlinkat(hold, name, 0) < 0 && errno != ENOENT ? -1 : 0;
}

static int
recover(struct queue *q, int hold, const struct names *l, bool splits, uint64_t *n,
    struct fault *f)
{
	for (size_t i = 0; i < l->n; i++) {
		struct held held;
		int r;

		if (!held_parse(l->name[i], &held))
			continue;        /* not ours: --verify tells of it */
		if (splits != (held.kind == HELD_SPLIT))
			continue;
		r = splits ? recover_split(q, hold, l->name[i], &held) :
		    group_recover(q, hold, l->name[i], &held, f);
		if (r < 0)
			return queue_fault(q, f, "hold");
		if (n != NULL)
			(*n)++;
	}
	return 0;
}

/* A head that ended may have been about to split the next one off: first the
 * splits, then the rest. */
int
hold_recover(struct queue *q, uint64_t *n, struct fault *f)
{
	struct names l = { 0 };
	int hold = queue_dir(q, "hold", true), r;

	if (hold < 0 || dir_each(hold, collect, &l) < 0) {
		free(l.name);
		return queue_fault(q, f, "hold");
	}
	r = recover(q, hold, &l, true, n, f);
	if (r == 0)
		r = recover(q, hold, &l, false, n, f);
	if (r == 0)
		atomic_store(&q->meter->busy, 0);
	free(l.name);
	return r;
}
