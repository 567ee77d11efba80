/* SPDX-License-Identifier: ISC */
#include "list.h"

#include "activity.h"
#include "hold.h"
#include "lease.h"
#include "settle.h"
#include "timed.h"
#include "why.h"

static int
carry_entry(struct queue *q, const struct entry *e, struct place *to, struct fault *f)
{
	struct place p;
	uint32_t k;
	int r;

	if (queue_ready(q, f) < 0 || queue_lock(q, f) < 0)
		return -1;
	r = entry_place(q, e, &p, f);
	if (r != 1) {
		queue_unlock(q);
		return r;
	}
	k = (uint32_t)(e->order - p.name.seq);
	to->name.first = p.name.ranged ? k : 0;
	to->name.count = 1;
	if (p.name.count == 1) {
		r = settle_carry(q, &p, to, f);
	} else {
		settle_announce(q, to);
		r = hold_split(q, &p, k, k + 1, to, NULL, f);
		settle_announce(q, to);
	}
	queue_unlock(q);
	return r;
}

int
entry_remove(struct queue *q, const struct entry *e, struct fault *f)
{
	const struct place *p = e->place;
	struct place to = settle_end(q, &p->name, OUT_DROPPED);
	int r = carry_entry(q, e, &to, f);

	if (r == 1) {
		why_remove(q, &to.name, e->state == DEAD);
		if (e->state != DEAD)
			activity_left(q, &p->name, EV_REMOVED, 1);
	}
	return r;
}

/* Alone under a name of its own, in the dead letters, then across. */
static int
revive_into(struct queue *q, const struct entry *e, struct queue *to, struct fault *f)
{
	struct place p, alone;
	struct lease *l;
	int r;

	if (queue_conf(to, f) == NULL || queue_ready(q, f) < 0 || queue_ready(to, f) < 0 ||
	    queue_lock(q, f) < 0)
		return -1;
	r = entry_place(q, e, &p, f);
	alone = p;
	if (r == 1 && p.name.count > 1) {
		uint32_t k = (uint32_t)(e->order - p.name.seq);

		r = hold_split(q, &p, k, k + 1, &alone, NULL, f);
	}
	queue_unlock(q);
	l = r == 1 ? lease_new(q, &alone, NULL, f) : NULL;
	if (l == NULL)
		return r == 1 ? -1 : r;
	r = move_place(l, to, f);
	lease_free(l);
	return r;
}

int
entry_revive(struct queue *q, const struct entry *e, struct queue *other, int64_t due,
    struct fault *f)
{
	const struct place *p = e->place;
	struct place to = settle_ready(&p->name);
	int64_t now = now_ms();

	if (other != NULL && other != q)
		return revive_into(q, e, other, f);
	to.name.untried = to.name.deliveries;    /* tries are counted anew */
	to.name.due = to.name.expiry = 0;
	if (due > now) {
		to.where = IN_LATER;
		to.name.due = due;
		to.name.joins = to.name.group != 0;      /* as a delayed put does */
		to.bucket = bucket_down(now, due);
	}
	return carry_entry(q, e, &to, f);
}

struct clearing {
	struct queue *q;
	unsigned states;
	int64_t now;
	uint64_t removed;
	struct fault *f;
};

static int
clear_place(const struct place *p, void *arg)
{
	struct clearing *c = arg;
	struct place to = settle_end(c->q, &p->name, OUT_DROPPED);
	int r;

	if ((c->states & place_state(p, c->now)) == 0)
		return 0;
	r = settle_carry(c->q, p, &to, c->f);
	if (r != 1)
		return r;
	why_remove(c->q, &p->name, p->where == IN_DLQ);
	if (p->where != IN_DLQ)
		activity_left(c->q, &p->name, EV_REMOVED, p->name.count);
	c->removed += p->name.count;
	return 0;
}

int
queue_clear(struct queue *q, unsigned states, uint64_t *removed, struct fault *f)
{
	struct clearing c = { .q = q, .states = states, .now = now_ms(), .f = f };
	int r;

	if (queue_conf(q, f) == NULL || queue_ready(q, f) < 0)
		return -1;
	/* what waits behind a head first: else it would come up behind our back */
	r = walk_places(q, states & BLOCKED, clear_place, &c, f);
	if (r == 0)
		r = walk_places(q, states_dirs(states & ~(unsigned)BLOCKED), clear_place, &c, f);
	*removed = c.removed;
	return r < 0 ? -1 : 0;
}
