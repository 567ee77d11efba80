/* SPDX-License-Identifier: ISC
 *
 * timed: what waits for a time: leases in cur/DEADLINE, delays and retries in
 * later/DUE. The directories are named in ms of wall-clock time, so that only
 * what is due is opened. */
#ifndef MQ_TIMED_H
#define MQ_TIMED_H

#include "queue.h"

/* The bucket of a lease that shall end `duration` from now: later by at most
 * 1/32 of it. */
int64_t bucket_up(int64_t now, int64_t duration);
/* The bucket of a due time: earlier by at most 1/32 of the time until then. */
int64_t bucket_down(int64_t now, int64_t due);

/* To call before a name is moved into cur/ or later/. */
void timed_announce(struct queue *, const struct place *);

/* Returns the leases that ran out (to their own places, or to the dead letters
 * where the tries are used up), and releases what is due. `full`: whatever the
 * hints say. Counts are added; the meter's hints become exact. */
int timed_run(struct queue *, int64_t now, bool full, uint64_t *returned,
	uint64_t *released, struct fault *);
/* When there will be something to do again; 0: nothing is known of. */
int64_t timed_next(const struct queue *);
/* Calls fn with each bucket's number in `dir` ("cur", "later", "done"). */
int timed_buckets(struct queue *, const char *dir,
	int (*fn)(int64_t bucket, void *), void *, struct fault *);

#endif
