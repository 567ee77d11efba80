/* SPDX-License-Identifier: ISC
 *
 * once: keys that were handled. once/HH/HASH is a link as keyed.h has it, whose target
 * is
 *
 *	EXPIRY VERSION KEY
 *
 * with VERSION a number or `-'. Whose turn it is to work on a key is told by the file
 * once/run/HASH, which is there and locked (flock) as long as one process works on
 * it: the kernel drops the lock when that dies. In it is `PID START' of the command,
 * START in ticks since boot. once/run/HASH.new is a link about to replace one. */
#ifndef MQ_ONCE_H
#define MQ_ONCE_H

#include "queue.h"

/* For the sweep: forgets what is over and removes what the killed left; adds how many
 * to *forgotten and *stale. Reads the keys only where the meter says that one is
 * due. */
int once_sweep(struct queue *, int64_t now, bool dry, uint64_t *forgotten,
	uint64_t *stale, struct fault *);

#endif
