/* SPDX-License-Identifier: ISC
 *
 * record: a message as a listing looks at it: what its name tells, and, read
 * no earlier than it is asked for, what its file and its why/ID tell.
 *
 *	record_begin(&r, queue);
 *	queue_each(queue, ..., fn):      record_set(&r, entry);
 *	                                 filter_match(filter, record_get, &r)
 *	record_end(&r);
 *
 * A message that goes meanwhile, or whose file is torn, has no header and no
 * body. Any other failure is kept in `failed` (status 0: none). */
#ifndef MQ_RECORD_H
#define MQ_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "holder.h"
#include "store.h"
#include "view.h"

struct record {
	struct queue *queue;
	const struct entry *entry;
	struct fault failed;
	int64_t now;
	struct message *message; /* opened last, kept for its neighbours */
	uint32_t place;          /* of the record in it */
	bool looked, there;      /* its file was looked for; is `message` */
	bool asked;              /* why/ID was looked for */
	char *why;               /* its text */
	int64_t when;            /* of its last try's end; 0: unknown */
	char *reason;            /* of it, within `why` */
	char text[64];           /* for record_get() */
	struct holder holder;    /* looked up last */
};

void record_begin(struct record *, struct queue *);
void record_end(struct record *);
void record_set(struct record *, const struct entry *);

const struct head *record_head(struct record *);           /* NULL: unreadable */
bool record_body(struct record *, const char **body, size_t *len);
const char *record_reason(struct record *);        /* last one; NULL: none */
/* Since its put, or its due time where that was later. */
int64_t record_age(const struct record *);
/* When it is there to be taken again: a lease's end, a due time. 0: it is. */
int64_t record_due(const struct record *);

/* Who has it and since when; NULL: nobody. */
const struct holder *record_holder(struct record *);
/* The fields of -F, for filter_match(): id queue state key route priority
 * tries version age size why body, and attributes, which may be led by @. */
const char *record_get(const char *field, size_t *len, void *record);
/* All of it; what it points to stays until record_set(). */
void record_view(struct record *, struct view *);

#endif
