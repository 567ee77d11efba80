/* SPDX-License-Identifier: ISC
 *
 * histogram: how long things took, in whole ms, in a fixed size, shared by
 * processes without a lock. Eight steps an octave: a quantile is right to within a
 * twelfth, up to 50 days; what is longer counts as that. */
#ifndef MQ_HISTOGRAM_H
#define MQ_HISTOGRAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BINS 240

struct histogram {
	_Atomic uint64_t sum;                    /* ms */
	_Atomic uint64_t bins[HISTOGRAM_BINS];
};

/* n things that took ms each. */
void histogram_add(struct histogram *, uint64_t ms, uint64_t n);

uint64_t histogram_count(const struct histogram *);
/* How many took less than 2^k ms; k is 3 to 32. */
uint64_t histogram_below(const struct histogram *, unsigned k);
/* The ms that a part of 0 < q <= 1 of all took at most; 0 where there are none. */
double histogram_quantile(const struct histogram *, double q);

#endif
