/* SPDX-License-Identifier: ISC */
#include "list.h"

#include <inttypes.h>
#include <string.h>


struct counting {
	struct counts *c;
	int64_t now;
	uint64_t group, waiting;         /* of the group being read */
};

/* The names of a group come together. */
static void
count_group(struct counting *k, const struct name *n)
{
	if (n->group != k->group)
		k->waiting = 0;
	k->group = n->group;
	k->waiting += n->count;
	if (k->waiting > k->c->longest)
		k->c->longest = k->waiting;
}

static int
count_groups(const char *name, void *arg)
{
	struct walk *w = arg;

	(void)name;
	++*(uint64_t *)w->arg;
	return 0;
}

static void
older(int64_t *age, int64_t a)
{
	if (a > *age)
		*age = a;
}

/* Since its put, or its due time if it was delayed. */
static int64_t
age_of(const struct place *p, int64_t now)
{
	int64_t since = id_time(p->name.id);

	if (p->name.due > since && (p->where != IN_LATER || name_tries(&p->name) == 0))
		since = p->name.due;
	return now > since ? now - since : 0;
}

static void
count_untaken(struct counting *k, const struct name *n)
{
	int64_t age = k->now - id_time(n->id);

	for (int s = 0; s < SPANS; s++)
		if (age <= span_ms((enum span)s))
			k->c->untaken[s] += n->count;
}

static int
count_place(const struct place *p, void *arg)
{
	struct counting *k = arg;
	struct counts *c = k->c;
	uint32_t n = p->name.count;
	int64_t age = age_of(p, k->now);

	if (place_over(p, k->now))
		return 0;
	switch (place_state(p, k->now)) {
	case READY:
		c->ready += n;
		c->priority[p->name.priority].ready += n;
		older(&c->priority[p->name.priority].oldest, age);
		older(&c->oldest_ready, age);
		older(&c->oldest, age);
		break;
	case LEASED:
		c->leased += n;
		older(&c->oldest, age);
		break;
	case LATER:
		c->later += n;
		if (name_tries(&p->name) > 0) {
			c->retrying += n;
			older(&c->oldest, age);
		}
		break;
	case BLOCKED:
		c->blocked += n;
		older(&c->oldest, age);
		count_group(k, &p->name);
		break;
	case DEAD:
		c->dead += n;
		break;
	case DONE:
		c->done += n;
		return 0;
	default:
		break;
	}
	older(&c->oldest_total, k->now - id_time(p->name.id));
	if (p->name.deliveries == 0)
		count_untaken(k, &p->name);
	return 0;
}

int
queue_count(struct queue *q, struct counts *c, struct fault *f)
{
	struct counting k = { .c = c, .now = now_ms() };
	struct walk groups = { .q = q, .arg = &c->groups, .f = f };

	memset(c, 0, sizeof *c);
	c->oldest = c->oldest_ready = c->oldest_total = -1;
	for (int p = 0; p < PRIORITIES; p++)
		c->priority[p].oldest = -1;
	if (queue_conf(q, f) == NULL)
		return -1;
	c->paused = q->conf.paused;
	if (walk_places(q, STATES_ALL, count_place, &k, f) < 0)
		return -1;
	return walk_dir(&groups, "grp", count_groups);
}
