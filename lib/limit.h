/* SPDX-License-Identifier: ISC
 *
 * limit: max_leased and rate, for a queue as a whole, across all its
 * consumers. Under the queue's lock. What is leased is counted in cur/ itself,
 * so a crash leaks no place; the rate is one time in the meter, that of the
 * next token. */
#ifndef MQ_LIMIT_H
#define MQ_LIMIT_H

#include "queue.h"

bool limit_set(const struct queue *);
/* How many of `want` may be leased now. -1 */
int64_t limit_allow(struct queue *, uint32_t want, struct fault *);
/* When the next token comes, ms since 1970; 0: there is one, or no rate. For
 * who waits, without the lock. */
int64_t limit_wake(const struct queue *);
void limit_spend(struct queue *, uint32_t count);

#endif
