/* SPDX-License-Identifier: ISC
 *
 * lease: one delivery; see store.h. A receipt is the path that a range of one
 * had when it was leased, and is found again by its delivery (SEQ.UUID, n, t)
 * wherever extensions and splits have moved it. */
#ifndef MQ_LEASE_H
#define MQ_LEASE_H

#include "message.h"
#include "queue.h"

struct lease {
	struct queue *q;                 /* a reference of its own */
	struct place place;              /* where it was when last seen */
	struct message *m;               /* NULL: not opened yet */
	int64_t taken;                   /* when, ms since 1970; 0: unknown */
};

/* A lease of what is (or will be) at `place`; takes over m. NULL with fault. */
struct lease *lease_new(struct queue *, const struct place *, struct message *,
	struct fault *);

/* What stands at the lease's place goes to another queue, as lease_move() does
 * it. 1, 0 it is gone, -1 */
int move_place(struct lease *, struct queue *to, struct fault *);

#endif
