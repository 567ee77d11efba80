/* SPDX-License-Identifier: ISC */
#include "histogram.h"

#define STEPS 8                  /* an octave; the first eight bins are of 1 ms */
#define STEP_BITS 3

static size_t
bin_of(uint64_t ms)
{
	unsigned octave;

	if (ms < STEPS)
		return (size_t)ms;
	if (ms > UINT32_MAX)
		ms = UINT32_MAX;
	octave = 63 - (unsigned)__builtin_clzll(ms);
	return (octave - STEP_BITS + 1) * STEPS + (ms >> (octave - STEP_BITS)) % STEPS;
}

/* The least of a bin. */
static uint64_t
bin_least(size_t bin)
{
	if (bin < STEPS)
		return bin;
	return (STEPS + bin % STEPS) << (bin / STEPS - 1);
}

_Static_assert((32 - STEP_BITS + 1) * STEPS == HISTOGRAM_BINS, "bins");

void
histogram_add(struct histogram *h, uint64_t ms, uint64_t n)
{
	atomic_fetch_add_explicit(&h->bins[bin_of(ms)], n, memory_order_relaxed);
	atomic_fetch_add_explicit(&h->sum, ms * n, memory_order_relaxed);
}

static uint64_t
below(const struct histogram *h, size_t end)
{
	uint64_t n = 0;

	for (size_t i = 0; i < end; i++)
		n += atomic_load_explicit(&h->bins[i], memory_order_relaxed);
	return n;
}

uint64_t
histogram_count(const struct histogram *h)
{
	return below(h, HISTOGRAM_BINS);
}

uint64_t
histogram_below(const struct histogram *h, unsigned k)
{
	return below(h, (k - STEP_BITS + 1) * STEPS);
}

/* Those of a bin are taken to be spread evenly in it. */
double
histogram_quantile(const struct histogram *h, double q)
{
	double rank = q * (double)histogram_count(h), before = 0;
	size_t last = 0;

	for (size_t i = 0; i < HISTOGRAM_BINS; i++) {
		double n = (double)atomic_load_explicit(&h->bins[i], memory_order_relaxed);
		double least = (double)bin_least(i), width = (double)bin_least(i + 1) - least;

		if (n > 0 && before + n >= rank)
			return i < STEPS ? least : least + width * (rank - before) / n;
		last = n > 0 ? i : last;
		before += n;
	}
	return (double)bin_least(last);
}
