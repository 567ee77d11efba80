/* SPDX-License-Identifier: ISC
 *
 * admit: room in a queue with a limit for what is about to come: reserved, and
 * made by dropping the oldest where the queue says so. */
#ifndef MQ_ADMIT_H
#define MQ_ADMIT_H

#include "queue.h"

/* Under the lock: 1 room for `count` messages of `bytes` in all is reserved
 * (vacancy_give() it if they do not come), or there is no limit; 0 it is full; -1 */
int admit(struct queue *, uint64_t count, uint64_t bytes, struct fault *);

#endif
