/* SPDX-License-Identifier: ISC
 *
 * dedup: idempotency keys. dedup/HH/HASH (XXH3-128 of the key) is a symbolic
 * link whose target is
 *
 *	UUID EXPIRY SEQ KEY
 *
 * of the first message put with it: no inode of its own is needed for its
 * data, and it is made by one call. EXPIRY in ms since 1970; 0: as long as the
 * message is there (--unique). All under the queue's lock. */
#ifndef MQ_DEDUP_H
#define MQ_DEDUP_H

#include "queue.h"

struct dedup {
	struct id id;
	int64_t expiry;
	uint64_t seq;
};

/* 1 and *out: a message with that key counts as put; 0: none does; -1 */
int dedup_look(struct queue *, const char *key, int64_t now, struct dedup *out,
	struct fault *);
/* Notes the key, in place of one whose time is over. -1 */
int dedup_note(struct queue *, const char *key, const struct dedup *, struct fault *);
void dedup_drop(struct queue *, const char *key);
/* The first message with the key was written to `tmp` and not published when
 * its putter died: 1 it is now, 0 it was torn and is gone, after its key; -1;
 * 75: its putter lives. */
int dedup_finish(struct queue *, const struct place *tmp, const char *key,
	const struct dedup *, int64_t now, struct fault *);
/* For the sweep: does some key name the message in `tmp`? Then the same. 0: no
 * key does. Reads all keys. */
int dedup_finish_any(struct queue *, const struct place *tmp, int64_t now,
	struct fault *);
/* No key names that message any more. Reads all keys. */
int dedup_forget(struct queue *, struct id, struct fault *);
/* Forgets what is over; adds how many to *n. Skips all where the meter says
 * that none is due. */
int dedup_sweep(struct queue *, int64_t now, bool dry, uint64_t *n, struct fault *);

/* Where the message is, if it is ready, leased, blocked or later: by its SEQ,
 * without reading all of new/. Of a topic, whether it is in some subscription:
 * that reads all their names. 1, 0, -1 */
int dedup_find(struct queue *, struct id, uint64_t seq, struct place *, struct fault *);
/* The same in tmp/ (or out/): written, and not published yet. */
int dedup_find_tmp(struct queue *, struct id, struct place *, struct fault *);

#endif
