/* SPDX-License-Identifier: ISC */
#include "publish.h"

#include <stdio.h>
#include <string.h>

#include "group.h"
#include "ready.h"
#include "timed.h"

int
publish_say(struct fault *f, const char *what)
{
	size_t n = strlen(f->text);

	snprintf(f->text + n, sizeof f->text - n, " (%s)", what);
	return -1;
}

struct place
publish_goal(const struct name *n, uint64_t seq, int64_t now)
{
	struct place to = { .where = IN_NEW, .name = *n };

	to.name.seq = seq;
	to.name.joins = n->group != 0 && n->due > now;
	if (n->due > now) {
		to.where = IN_LATER;
		to.bucket = bucket_down(now, n->due);
	}
	return to;
}

int
publish_at(struct queue *q, const struct place *tmp, const struct place *to, struct fault *f)
{
	int r;

	timed_announce(q, to);
	ready_announce(q, to, false);
	r = queue_move(q, tmp, to, f);   /* published: from here it exists */
	timed_announce(q, to);
	ready_announce(q, to, false);
	return r;
}

int
publish_as(struct queue *q, const struct place *tmp, const struct place *goal,
    struct place *to, struct fault *f)
{
	if (goal->name.group != 0 && goal->where == IN_NEW)
		return group_join(q, tmp, &goal->name, to, f);
	*to = *goal;
	return publish_at(q, tmp, to, f);
}
