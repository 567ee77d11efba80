/* SPDX-License-Identifier: ISC
 *
 * topicput: one file of messages, written in tmp/ and locked by its writer, is
 * published in a topic. */
#ifndef MQ_TOPICPUT_H
#define MQ_TOPICPUT_H

#include "publish.h"
#include "queue.h"

struct topic_put {
	struct queue *topic;
	const struct head *head;
	struct place tmp;                /* where it is */
	int fd;                          /* of the file, open and locked */
	uint64_t bytes;                  /* of the bodies */
	bool sync;
	const char *key;                 /* of idempotency, or NULL */
	int64_t expiry;                  /* until when it is kept; 0: --unique */
	/* what became of it */
	struct id first;                 /* REPEATED: of the first */
	bool unrouted;                   /* PUBLISHED, but nobody wants it */
	struct queue *full;              /* FULL: which is; the caller closes it */
};

/* PUBLISHED: durable, and on its way into all; AGAIN: the file was taken for a dead
 * one's; FULL, REPEATED: nothing of it is left; -1: the fault says what became
 * of it. */
int topic_put(struct topic_put *, struct fault *);

#endif
