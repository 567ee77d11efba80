/* SPDX-License-Identifier: ISC
 *
 * attach: large files beside a message, in obj/HH/ID/N/BASE: ID the message's
 * own, HH its last two digits, N from 0, BASE the file's own base name. The
 * header names them relative to the spool. The directory obj/HH/ID is locked
 * (flock) as long as its putter is at it.
 *
 * They go with their message. Where another message came to name them too
 * (`shared` stands in obj/HH/ID then), a sweep finds out when the last of them
 * is gone. Which messages name them decides, never a link count. */
#ifndef MQ_ATTACH_H
#define MQ_ATTACH_H

#include "message.h"
#include "queue.h"

/* Copies (reflinks, links) the spec's files in and flushes them. *names are
 * what the header shall say (the caller's to attach_names_free()), *lock is to
 * be closed when the message is published. Nothing is left after a failure. */
int attach_store(struct queue *, const struct put_spec *, struct id, char ***names,
	int *lock, struct fault *);
void attach_names_free(char **names, size_t n);
/* The message was not put after all. */
void attach_undo(struct queue *, struct id);

/* Another message will name what this head names. -1 */
int attach_share(struct queue *, const struct head *, struct fault *);
/* Has this queue ever had attachments? Then what ends in it is looked at. */
bool attach_used(struct queue *);
int attach_use(struct queue *, struct fault *);

/* The attachments of the message at a place, before it ends: NULL if it has
 * none. Then, when it has ended: they go. */
char **attach_of(struct queue *, const struct place *, size_t *n);
void attach_release(struct queue *, char **names, size_t n);

/* Removes those that no message names. */
int attach_sweep(struct queue *, bool dry, uint64_t *n, struct fault *);

#endif
