/* SPDX-License-Identifier: ISC
 *
 * rates: how many messages came and went in a queue, and how long they waited and
 * were held: since the meter was made, and over the last 1, 5 and 15 minutes. Part
 * of the meter: shared by processes, updated without a lock, a fixed size.
 *
 * What is recent stands in two rings, of seconds and of quarters of a minute. A cell
 * is the number of its second (or quarter) and a count in one word, changed by
 * compare-and-swap: an old cell is begun anew by whoever comes first, and nothing
 * is lost or counted twice. The clock is CLOCK_BOOTTIME, as a meter is of one boot:
 * it never jumps. */
#ifndef MQ_RATES_H
#define MQ_RATES_H

#include <stdatomic.h>
#include <stdint.h>

#include "histogram.h"
#include "store.h"

#define RATES_RING 64

/* What is counted besides events: things timed, and their ms. */
enum timed_sum { WAITED_N = EVENTS, WAITED_MS, HELD_N, HELD_MS, RATES_SERIES };

struct rates {
	_Atomic uint64_t since;          /* ms of the clock: the first event */
	_Atomic uint64_t total[EVENTS];
	_Atomic uint64_t seconds[EVENTS][RATES_RING];
	_Atomic uint64_t quarters[RATES_SERIES][RATES_RING];
	struct histogram waited, held;
};

/* ms of the clock. */
uint64_t rates_now(void);

/* n messages, now. */
void rates_count(struct rates *, enum event, uint64_t n);
/* n messages that were taken now, at their first delivery, after waiting for ms. */
void rates_waited(struct rates *, int64_t ms, uint64_t n);
/* n that were acked now, after being held for ms. */
void rates_held(struct rates *, int64_t ms, uint64_t n);

/* The same at a time of the clock; one in the past too, if it is still recent. */
void rates_count_at(struct rates *, enum event, uint64_t n, uint64_t at);
void rates_waited_at(struct rates *, int64_t ms, uint64_t n, uint64_t at);
void rates_held_at(struct rates *, int64_t ms, uint64_t n, uint64_t at);

/* All there is to tell, at that time. */
void rates_read(const struct rates *, uint64_t now, struct activity *);

#endif
