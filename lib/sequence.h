/* SPDX-License-Identifier: ISC
 *
 * sequence: SEQ, the queue's own put number. */
#ifndef MQ_SEQUENCE_H
#define MQ_SEQUENCE_H

#include "queue.h"

/* A SEQ above that of every message in any state: for a new meter. Reads only
 * the highest segments of new/ and dlq/, and all of the other directories. */
int sequence_above(struct queue *, uint64_t *seq, struct fault *);
/* The next `count` of them. */
uint64_t sequence_next(struct queue *, uint32_t count);

#endif
