/* SPDX-License-Identifier: ISC
 *
 * list: looking at what lies in a queue, oldest first. */
#ifndef MQ_LIST_H
#define MQ_LIST_H

#include "message.h"
#include "walk.h"

/* As walk_places(), but oldest first: by SEQ over all directories. Memory for one
 * segment, and for so many of what lies in cur/, later/ and done/; of more than that
 * (65,536) the directories are read again for each further part. */
int list_places(struct queue *, unsigned states,
	int (*fn)(const struct place *, void *), void *, struct fault *);
/* message_read() of a file of the queue, its attachments' paths made absolute. */
enum opened list_read(struct queue *, int fd, struct message **);
/* The directories in which messages that count as one of `states` may lie. */
unsigned states_dirs(unsigned states);
/* Where it stands now: the caller may have cut off messages before it since.
 * 1, 0 it is not there, -1 */
int entry_place(struct queue *, const struct entry *, struct place *, struct fault *);

#endif
