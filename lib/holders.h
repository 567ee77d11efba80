/* SPDX-License-Identifier: ISC
 *
 * holders: who has the leased messages of a queue, and how many each. */
#ifndef MQ_HOLDERS_H
#define MQ_HOLDERS_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"

#define HOLDERS_MAX 32

struct queue;

struct holders {
	struct holding {
		uint32_t pid, uid;       /* for holder_look() */
		int64_t since;           /* of the one it has longest; 0: not known */
		uint64_t messages;
	} v[HOLDERS_MAX];
	size_t n;
	uint64_t others;                 /* messages held by more than these, or by
	                                  * whom is not known */
};

/* Who took the oldest messages comes first. 0, or -1 with the fault. */
int holders_look(struct queue *, struct holders *, struct fault *);

#endif
