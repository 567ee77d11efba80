/* SPDX-License-Identifier: ISC */
#include "list.h"

#include <string.h>

#include "topic.h"

static int
busy_place(const struct place *p, void *arg)
{
	if (place_over(p, *(const int64_t *)arg))
		return 0;
	return p->where != IN_LATER || name_tries(&p->name) > 0;
}

/* In none of its subscriptions, and none is on its way there. */
static int
topic_busy(struct queue *q, unsigned dirs, int64_t now, struct fault *f)
{
	int r = topic_walk(q, dirs, busy_place, &now, f);

	if (r != 0)
		return r;
	if (topic_lock(q, f) < 0)
		return -1;
	for (int i = 0; r == 0 && i < 2; i++)
		r = topic_walk(q, dirs, busy_place, &now, f);
	queue_unlock(q);
	return r;
}

int
queue_busy(struct queue *q, bool held, struct fault *f)
{
	unsigned dirs = held ? LEASED : READY | LEASED | LATER | BLOCKED;
	int64_t now = now_ms();
	int r;

	if (queue_ready(q, f) < 0)
		return -1;
	if (queue_is_topic(q))
		return topic_busy(q, dirs, now, f);
	r = walk_places(q, dirs, busy_place, &now, f);
	if (r != 0)
		return r;
	/* one may have moved behind the eye's back: look again, alone */
	if (queue_lock(q, f) < 0)
		return -1;
	r = walk_places(q, dirs, busy_place, &now, f);
	if (r == 0)
		r = walk_places(q, dirs, busy_place, &now, f);
	queue_unlock(q);
	return r;
}

struct fating {
	enum fate fate;
	const char *how;
};

static int
fate_found(const struct entry *e, void *arg)
{
	struct fating *g = arg;

	if (e->state == DONE && strcmp(e->outcome, "acked") == 0) {
		g->fate = FATE_ACKED;
		g->how = e->outcome;
	} else if (place_over(e->place, now_ms())) {
		g->fate = FATE_LOST;
		g->how = "expired";
	} else if (e->state == DONE || e->state == DEAD) {
		g->fate = FATE_LOST;
		g->how = e->state == DEAD ? "buried" : e->outcome;
	} else {
		g->fate = FATE_WAITING;
		g->how = state_word(e->state);
	}
	return 1;
}

int
queue_fate(struct queue *q, struct id id, enum fate *fate, const char **how,
    struct fault *f)
{
	struct fating g = { FATE_UNKNOWN, "unknown" };
	int r;

	if (queue_ready(q, f) < 0)
		return -1;
	r = queue_find(q, id, STATES_ALL, fate_found, &g, f);
	*fate = g.fate;
	*how = g.how;
	return r < 0 ? -1 : 0;
}
