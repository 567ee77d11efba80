/* SPDX-License-Identifier: ISC
 *
 * ready: what can be taken: new/PRIORITY/SEGMENT/NAME, the lowest segment of
 * the most urgent priority first. Hints in the meter keep the cost flat; they
 * are lower bounds, and a full scan never trusts them. */
#ifndef MQ_READY_H
#define MQ_READY_H

#include "queue.h"

/* The oldest candidate of the most urgent priority: 1 and *out, 0 none, -1.
 * Each is given once until the directory is read again; it may be gone when
 * the caller gets to it. `full`: look at every segment, whatever the hints. */
int ready_next(struct queue *, bool full, struct place *out, struct fault *);
/* The oldest of the least urgent priority that has any: 1, 0, -1 */
int ready_least(struct queue *, struct place *out, struct fault *);
/* The candidate's rest, after its head was taken. */
void ready_again(struct queue *, const struct place *);
/* Forget the candidates read before. */
void ready_forget(struct queue *);

/* To call before and after a name is moved into new/: `back` if it returns to
 * a place that takers may have passed. */
void ready_announce(struct queue *, const struct place *, bool back);

#endif
