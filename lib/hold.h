/* SPDX-License-Identifier: ISC
 *
 * hold: changes of more than one step. Each keeps its progress in the names of
 * hold/, so that whoever takes the lock next finishes or undoes what a dead
 * one began. All of this happens under the queue's lock. */
#ifndef MQ_HOLD_H
#define MQ_HOLD_H

#include "queue.h"

/* Splits [lo, hi) off the range at `from` and takes it to `to` (whose name's
 * range is set here; where the file cannot be linked the part becomes a file
 * and a name of its own; GONE: it is acked). What is left stays at `from`, as up
 * to two names; *rest, if not NULL, becomes the lower part left, or the upper
 * one where there is no lower. 1 done, 0 the source is gone, -1.
 * lo, hi: within the range, not all of it.
 * Crash: after the commit (the source's rename) recovery carries it out,
 * before it undoes it. */
int hold_split(struct queue *, const struct place *from, uint32_t lo, uint32_t hi,
	struct place *to, struct place *rest, struct fault *);

/* The first of the range moves to `to`, the others to `stay`, which may be in
 * another directory. */
int hold_split_first(struct queue *, const struct place *from, struct place *to,
	struct place *stay, struct fault *);

/* The last step of a change: the held name gets its goal. -1 with errno. */
int hold_finish(struct queue *, int hold, const char *held, const struct place *goal);

/* Finishes or undoes what is in hold/. Counts it in *n (may be NULL). */
int hold_recover(struct queue *, uint64_t *n, struct fault *);

#endif
