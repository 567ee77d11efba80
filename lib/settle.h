/* SPDX-License-Identifier: ISC
 *
 * settle: carry a message, or a whole range, from one state to another. One
 * rename or unlink each; ranges of more than one under the lock. All return 1
 * done by this caller, 0 it is not there any more, -1. */
#ifndef MQ_SETTLE_H
#define MQ_SETTLE_H

#include "queue.h"

/* From a place to another, or GONE. */
int settle_carry(struct queue *, const struct place *from, const struct place *to,
	struct fault *);

/* For those who rename by themselves: before and after. */
void settle_announce(struct queue *, const struct place *to);

/* Where a message goes that ends so: GONE, or done/ with keep=. */
struct place settle_end(struct queue *, const struct name *, enum outcome);
/* Where it goes back to, ready: its own place in new/. */
struct place settle_ready(const struct name *);
struct place settle_dead(const struct name *);

int settle_expired_lease(struct queue *, const struct place *, struct fault *);
int settle_due(struct queue *, const struct place *, struct fault *);
/* Its time to live is over. */
int settle_expired(struct queue *, const struct place *, struct fault *);
/* To the dead letters as `torn`. */
int settle_torn(struct queue *, const struct place *, struct fault *);

#endif
