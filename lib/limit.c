/* SPDX-License-Identifier: ISC */
#include "limit.h"

#include <time.h>

#include "walk.h"

#define SLACK 10000000u          /* ns: so much may come at once */

bool
limit_set(const struct queue *q)
{
	return q->conf.max_leased > 0 || q->conf.rate > 0;
}

struct leased {
	int64_t now;
	uint64_t n;
};

static int
count_leased(const struct place *p, void *arg)
{
	struct leased *l = arg;

	if (p->bucket > l->now)
		l->n += p->name.count;
	return 0;
}

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static double
interval(const struct queue *q)
{
	return 1e9 / q->conf.rate;
}

/* ns until there is a token; *n: how many there are if it is 0. Tokens come one
 * each interval; those of the last SLACK may be spent at once. */
static double
until_token(const struct queue *q, uint64_t *n)
{
	double now = (double)now_ns(), next = (double)q->meter->rate_next;
	double each = interval(q), slack = each < SLACK ? SLACK - each : 0;

	if (next < now || next > now + 3600e9 + each)   /* or not of this clock */
		next = now;
	*n = 0;
	if (next > now + slack)
		return next - now - slack;
	*n = 1 + (uint64_t)((now + slack - next) / each);
	return 0;
}

int64_t
limit_wake(const struct queue *q)
{
	uint64_t n;
	double wait = q->conf.rate > 0 && q->meter != NULL ? until_token(q, &n) : 0;

	return wait > 0 ? now_ms() + 1 + (int64_t)(wait / 1e6) : 0;
}

int64_t
limit_allow(struct queue *q, uint32_t want, struct fault *f)
{
	const struct conf *c = &q->conf;
	struct leased l = { .now = now_ms() };
	uint64_t n = want, t;

	if (c->max_leased > 0) {
		if (walk_places(q, LEASED, count_leased, &l, f) < 0)
			return -1;
		t = l.n < c->max_leased ? c->max_leased - l.n : 0;
		n = t < n ? t : n;
	}
	if (n > 0 && c->rate > 0) {
		(void)until_token(q, &t);
		n = t < n ? t : n;
	}
	return (int64_t)n;
}

void
limit_spend(struct queue *q, uint32_t count)
{
	uint64_t now = now_ns(), next = q->meter->rate_next;

	if (q->conf.rate <= 0)
		return;
	if (next < now || (double)next > (double)now + 3600e9 + interval(q))
		next = now;
	q->meter->rate_next = next + (uint64_t)(interval(q) * count);
}
