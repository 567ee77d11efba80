/* SPDX-License-Identifier: ISC
 *
 * activity: what happens to messages, told to the meter of their queue. The meter is
 * mapped. A subscription's is not touched when a topic publishes into it (a link
 * each, no more): its messages count as put when they are taken for the first time
 * or leave untaken, as of the time in their id. */
#ifndef MQ_ACTIVITY_H
#define MQ_ACTIVITY_H

#include "queue.h"

void activity_put(struct queue *, uint64_t n);
/* n messages of what was at `from` were taken; now is wall clock, ms. */
void activity_taken(struct queue *, const struct place *from, int64_t now, uint64_t n);
/* n messages were acked that were taken at that time, ms since 1970; 0: unknown. */
void activity_acked(struct queue *, int64_t taken, uint64_t n);
/* n messages of that name ended, not by an ack, or went to the dead letters. */
void activity_left(struct queue *, const struct name *, enum event, uint64_t n);

#endif
