/* SPDX-License-Identifier: ISC */
#include "rates.h"

#include <time.h>

#define STAMP_BITS 26
#define COUNT_BITS (64 - STAMP_BITS)
#define COUNT_MAX ((UINT64_C(1) << COUNT_BITS) - 1)
#define STAMP_MAX ((UINT64_C(1) << STAMP_BITS) - 1)
#define SECOND 1000                      /* ms */
#define QUARTER (15 * SECOND)
#define YOUNG (5 * SECOND)               /* a rate is over no less */

uint64_t
rates_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* --- a ring ------------------------------------------------------------------------ */

/* Counts n in the slot of that number; not if a later one has its place. */
static void
ring_add(_Atomic uint64_t *ring, uint64_t slot, uint64_t n)
{
	_Atomic uint64_t *cell = &ring[slot % RATES_RING];
	uint64_t raw = atomic_load_explicit(cell, memory_order_relaxed), stamp, sum;

	slot &= STAMP_MAX;
	do {
		stamp = raw >> COUNT_BITS;
		if (stamp > slot)
			return;
		sum = (stamp == slot ? raw & COUNT_MAX : 0) + n;
		if (sum > COUNT_MAX)
			sum = COUNT_MAX;
	} while (!atomic_compare_exchange_weak_explicit(cell, &raw,
	    slot << COUNT_BITS | sum, memory_order_relaxed, memory_order_relaxed));
}

static double
ring_slot(const _Atomic uint64_t *ring, uint64_t slot)
{
	uint64_t raw = atomic_load_explicit(&ring[slot % RATES_RING], memory_order_relaxed);

	return raw >> COUNT_BITS == (slot & STAMP_MAX) ? (double)(raw & COUNT_MAX) : 0;
}

/* What was counted in the last `span` ms, of slots of `width`; of the slot in which
 * that begins the part that it covers. */
static double
ring_last(const _Atomic uint64_t *ring, uint64_t width, uint64_t now, uint64_t span)
{
	uint64_t slot = now / width, back = span / width;
	double part = 1 - (double)(now % width) / (double)width, n = 0;

	for (uint64_t i = 0; i < back && i <= slot; i++)
		n += ring_slot(ring, slot - i);
	if (slot >= back)
		n += part * ring_slot(ring, slot - back);
	return n;
}

/* --- counting ------------------------------------------------------------------------ */

void
rates_count_at(struct rates *r, enum event e, uint64_t n, uint64_t at)
{
	uint64_t since = atomic_load_explicit(&r->since, memory_order_relaxed);

	while ((since == 0 || since > at) &&
	    !atomic_compare_exchange_weak(&r->since, &since, at > 0 ? at : 1))
		continue;
	atomic_fetch_add_explicit(&r->total[e], n, memory_order_relaxed);
	ring_add(r->seconds[e], at / SECOND, n);
	ring_add(r->quarters[e], at / QUARTER, n);
}

static void
timed(struct rates *r, struct histogram *h, unsigned series, int64_t ms, uint64_t n,
    uint64_t at)
{
	uint64_t took = ms > 0 ? (uint64_t)ms : 0;   /* the clock jumped */

	histogram_add(h, took, n);
	ring_add(r->quarters[series], at / QUARTER, n);
	ring_add(r->quarters[series + 1], at / QUARTER, took * n);
}

void
rates_waited_at(struct rates *r, int64_t ms, uint64_t n, uint64_t at)
{
	timed(r, &r->waited, WAITED_N, ms, n, at);
}

void
rates_held_at(struct rates *r, int64_t ms, uint64_t n, uint64_t at)
{
	timed(r, &r->held, HELD_N, ms, n, at);
}

void
rates_count(struct rates *r, enum event e, uint64_t n)
{
	rates_count_at(r, e, n, rates_now());
}

void
rates_waited(struct rates *r, int64_t ms, uint64_t n)
{
	rates_waited_at(r, ms, n, rates_now());
}

void
rates_held(struct rates *r, int64_t ms, uint64_t n)
{
	rates_held_at(r, ms, n, rates_now());
}

/* --- reading --------------------------------------------------------------------------- */

unsigned
spread_step(unsigned i)
{
	return 3 + 2 * i;                /* 8 ms, 32 ms, ... 9 hours */
}

int64_t
span_ms(enum span s)
{
	static const int64_t spans[] = { SECOND, 10 * SECOND, 60 * SECOND,
		300 * SECOND, 900 * SECOND };

	return spans[s];
}

static void
read_spread(const struct rates *r, const struct histogram *h, unsigned series,
    uint64_t now, struct spread *out)
{
	double n = ring_last(r->quarters[series], QUARTER, now, 60 * QUARTER);
	double ms = ring_last(r->quarters[series + 1], QUARTER, now, 60 * QUARTER);

	/* the count last: it is never less than a part of it */
	for (unsigned i = 0; i < SPREAD_STEPS; i++)
		out->below[i] = histogram_below(h, spread_step(i));
	out->count = histogram_count(h);
	out->sum = (double)atomic_load(&h->sum) / 1000;
	out->mean = out->count > 0 ? out->sum / (double)out->count : 0;
	out->recent = n > 0 ? ms / n / 1000 : out->mean;
	out->p50 = histogram_quantile(h, 0.5) / 1000;
	out->p95 = histogram_quantile(h, 0.95) / 1000;
	out->p99 = histogram_quantile(h, 0.99) / 1000;
}

void
rates_read(const struct rates *r, uint64_t now, struct activity *a)
{
	uint64_t since = atomic_load(&r->since), age;

	*a = (struct activity){ 0 };
	age = since > 0 && now > since ? now - since : 0;
	age = age > YOUNG ? age : YOUNG;
	for (int s = 0; s < SPANS; s++) {
		uint64_t span = (uint64_t)span_ms((enum span)s);

		a->seconds[s] = (double)(span < age ? span : age) / 1000;
		for (int e = 0; e < EVENTS; e++)
			a->recent[e][s] = s <= SPAN_1M ?
			    ring_last(r->seconds[e], SECOND, now, span) :
			    ring_last(r->quarters[e], QUARTER, now, span);
	}
	for (int e = 0; e < EVENTS; e++)
		a->total[e] = atomic_load(&r->total[e]);
	read_spread(r, &r->waited, WAITED_N, now, &a->waited);
	read_spread(r, &r->held, HELD_N, now, &a->held);
}
