/* SPDX-License-Identifier: ISC */
#include "gauge.h"

#include <errno.h>
#include <string.h>

#include "walk.h"

static int
gauge_of(enum where w)
{
	static const enum where order[GAUGES] = { IN_NEW, IN_CUR, IN_LATER, IN_GRP, IN_DLQ };
	int i = 0;

	while (i < GAUGES && order[i] != w)
		i++;
	return i;
}

static void
add(struct meter *m, const struct place *p, int64_t n)
{
	int i = p != NULL ? gauge_of(p->where) : GAUGES;

	if (i < GAUGES)
		atomic_fetch_add_explicit(&m->gauge[i], n, memory_order_relaxed);
}

void
gauge_move(struct queue *q, const struct place *from, const struct place *to)
{
	if (q->meter == NULL || q->topic != NULL)
		return;
	if (from != NULL)
		add(q->meter, from, -(int64_t)from->name.count);
	if (to != NULL)
		add(q->meter, to, to->name.count);
}

static int
count_place(const struct place *p, void *arg)
{
	int64_t *n = arg;
	int i = gauge_of(p->where);

	if (i < GAUGES)
		n[i] += p->name.count;
	return 0;
}

/* What moves meanwhile is counted by those who move it. */
int
gauge_recount(struct queue *q, struct fault *f)
{
	int64_t then[GAUGES], n[GAUGES] = { 0 };

	if (q->topic != NULL)
		return 0;
	for (int i = 0; i < GAUGES; i++)
		then[i] = atomic_load(&q->meter->gauge[i]);
	if (walk_places(q, STATES_ALL & ~DONE, count_place, n, f) < 0)
		return -1;
	for (int i = 0; i < GAUGES; i++)
		atomic_fetch_add(&q->meter->gauge[i], n[i] - then[i]);
	atomic_store(&q->meter->gauged, 1);
	return 0;
}

static uint64_t
positive(const struct meter *m, int i)
{
	int64_t n = atomic_load(&m->gauge[i]);

	return n > 0 ? (uint64_t)n : 0;
}

int
queue_estimate(struct queue *q, struct counts *c, struct fault *f)
{
	struct meter *m;
	uint64_t id;
	int r;

	memset(c, 0, sizeof *c);
	c->oldest = c->oldest_ready = c->oldest_total = -1;
	if (queue_conf(q, f) == NULL)
		return -1;
	c->paused = q->conf.paused;
	m = q->topic == NULL ? meter_map(q->fd, &id) : NULL;
	if (m == NULL)
		return 0;
	r = atomic_load(&m->gauged) != 0;
	c->ready = positive(m, 0);
	c->leased = positive(m, 1);
	c->later = positive(m, 2);
	c->blocked = positive(m, 3);
	c->dead = positive(m, 4);
	meter_unmap(m);
	return r;
}
