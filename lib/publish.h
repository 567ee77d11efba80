/* SPDX-License-Identifier: ISC
 *
 * publish: the rename out of tmp/ that makes a message exist. */
#ifndef MQ_PUBLISH_H
#define MQ_PUBLISH_H

#include "queue.h"

enum published { AGAIN = 0, PUBLISHED = 1, FULL = 2, REPEATED = 3 };

/* The fault's text gets what became of the messages. -1 */
int publish_say(struct fault *, const char *what);

/* Where a message of that name goes, with that SEQ: new/, or later/. */
struct place publish_goal(const struct name *, uint64_t seq, int64_t now);
/* 1 it is there, 0 it is not in tmp/ any more, -1 */
int publish_at(struct queue *, const struct place *tmp, const struct place *to,
	struct fault *);
/* The same under the lock, joining its group if it has one; *to: where it is. */
int publish_as(struct queue *, const struct place *tmp, const struct place *goal,
	struct place *to, struct fault *);

#endif
