/* SPDX-License-Identifier: ISC
 *
 * topic: a queue with subscriptions, each a whole queue in sub/SUB, made,
 * changed and removed under the topic's lock, after every publish that was
 * begun has been finished (fanout.h). One that is made is built as sub/.new.SUB
 * and one that is removed renamed to sub/.removed.SUB first, so that a crash
 * leaves it whole or not there; a sweep of the topic removes what is left. */
#ifndef MQ_TOPIC_H
#define MQ_TOPIC_H

#include "queue.h"
#include "subs.h"

/* Locks the topic and finishes every publish that somebody left half-way. */
int topic_lock(struct queue *topic, struct fault *);
/* The same also where one cannot be finished now: enough to remove a subscription,
 * which may be why. */
int topic_lock_anyway(struct queue *topic, struct fault *);
/* Under the lock: removes the ephemeral subscriptions whose process died; the
 * caller calls topic_raze() when it has let the lock go. *n counts them. */
int topic_reap(struct queue *topic, uint64_t *n, struct fault *);
/* Removes what was renamed out of the way. */
void topic_raze(struct queue *topic);
/* walk_places() through it and each of its subscriptions, by its descriptor: it
 * may have been renamed. */
int topic_walk(struct queue *topic, unsigned states,
	int (*fn)(const struct place *, void *), void *arg, struct fault *);
/* Has it messages, or one of its subscriptions? 1, 0, -1 */
int topic_holds(struct queue *topic, struct fault *);
/* What a crash left in sub/, under the lock. `dry`: only counts. */
int topic_tidy(struct queue *topic, bool dry, uint64_t *n, struct fault *);
/* An ephemeral one goes with the process that holds it. For queue_close(). */
void topic_tail_end(struct queue *sub);

#endif
