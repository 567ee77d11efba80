/* SPDX-License-Identifier: ISC
 *
 * deliver: one message of a topic into one subscription, by a link or a copy.
 * Under the topic's lock; see fanout.h. */
#ifndef MQ_DELIVER_H
#define MQ_DELIVER_H

#include "queue.h"
#include "subs.h"

/* `out` is its place, with its SEQ. `again`: somebody may have done it before.
 * 1 it is there (or the subscription is not any more), 0 the publish was ended
 * by another while the lock was let go for a flush, -1 */
int deliver(struct queue *topic, const struct place *out, struct sub *, bool again,
	struct fault *);

/* Flushes a file under the topic's lock without holding it meanwhile, where that
 * can be. -1 with errno; the lock is held again. */
int flush_unlocked(struct queue *topic, int fd, bool may);

#endif
