/* SPDX-License-Identifier: ISC
 *
 * view: a message as it is shown: what -J, -H and the lists tell of it. */
#ifndef MQ_VIEW_H
#define MQ_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "holder.h"
#include "store.h"

struct view {                    /* NULL and 0: does not apply */
	struct id id;
	const char *receipt, *queue, *state;
	const struct head *head; /* NULL: unreadable */
	int priority;
	uint32_t tries;
	int64_t put_time;
	int64_t at, expires_at;  /* not before; its time to live ends */
	int64_t due;             /* when it is there to be taken (again) */
	uint32_t pid, uid;       /* holder, shown as PID.UID */
	const struct holder *holder;     /* the same, and more; NULL: not looked up */
	const char *reason;      /* why it failed last */
	const char *body;        /* NULL: unreadable */
	size_t len;
};

/* Message k of the lease; what it points to belongs to the lease, and moves
 * with its next view, but the receipt. -1: not readable. */
int view_lease(struct view *, struct lease *, uint32_t k,
	char receipt[static RECEIPT_SIZE], struct fault *);

/* Appends lines of `name: value`, the names as in JSON: what applies, but the
 * receipt and the body; `attachment:` a line each, attributes as `@name:`. -1 with
 * errno ENOMEM. */
int view_header(const struct view *, struct buffer *);

#endif
