/* SPDX-License-Identifier: ISC
 *
 * group: the messages of one key, one at a time. At most one of them, the
 * head, is in new/, cur/ or later/; the rest wait in grp/HASH/SEGMENT/, and
 * grp/HASH exists exactly as long as the group has a head. It changes only
 * under the queue's lock; a head that is taken, retried or returned moves by
 * one rename as any message does. */
#ifndef MQ_GROUP_H
#define MQ_GROUP_H

#include "queue.h"

uint64_t group_hash(const char *key);            /* never 0 */
bool group_head(const struct place *);
/* Is the message one that waits to join (or join again)? */
bool group_outside(const struct place *);

/* Under the lock: `from` (in tmp/, or where it waited) joins, under the name
 * `as` (with its SEQ, no lease): as the head, or to wait. *at: where it is.
 * 1 it is in; 0 `from` is gone; -1. The commit is the first rename. */
int group_join(struct queue *, const struct place *from, const struct name *as,
	struct place *at, struct fault *);
/* Under the lock: `from`, from outside, is taken by its id: the head of a group that
 * it makes. 1, 0 it is gone, -1; 75 where there is one, whose turn it then is. */
int group_lead(struct queue *, const struct place *from, const struct place *to,
	struct fault *);
/* Under the lock: a head ends. The commit is its rename into hold/; then the
 * next comes up; then it gets its goal. 1, 0 it is gone, -1. */
int group_end(struct queue *, const struct place *from, const struct place *goal,
	struct fault *);

/* Finishes what a held first or ended head is on its way to. -1 */
int group_recover(struct queue *, int hold, const char *name, const struct held *,
	struct fault *);
/* Removes the directories of a group that nobody waits in. */
void group_tidy(struct queue *, uint64_t group);

#endif
