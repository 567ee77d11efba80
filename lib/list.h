/* SPDX-License-Identifier: ISC
 *
 * list: looking at what lies in a queue. */
#ifndef MQ_LIST_H
#define MQ_LIST_H

#include "message.h"
#include "queue.h"

/* Each name in the directories of the given states, in no order; a range is one
 * name. fn's result != 0 ends it and is returned. READY, LEASED and LATER here
 * mean the directory, whatever has run out or is due. */
int walk_places(struct queue *, unsigned states,
	int (*fn)(const struct place *, void *), void *, struct fault *);
/* Those in that segment, of all priorities. */
int walk_segment_of(struct queue *, uint64_t seg,
	int (*fn)(const struct place *, void *), void *, struct fault *);
/* The same, oldest first: by SEQ over all directories. Memory for one
 * segment, and for so many of what lies in cur/, later/ and done/; of more than that
 * (65,536) the directories are read again for each further part. */
int list_places(struct queue *, unsigned states,
	int (*fn)(const struct place *, void *), void *, struct fault *);
/* message_read() of a file of the queue, its attachments' paths made absolute. */
enum opened list_read(struct queue *, int fd, struct message **);
/* What it counts as: a lease that ran out, or what is due, is ready. */
enum state place_state(const struct place *, int64_t now);

#endif
