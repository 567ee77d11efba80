/* SPDX-License-Identifier: ISC
 *
 * source: the queues (or single messages) that a mq-take works on, the
 * earlier first. Each is opened when it comes to exist, and again after it
 * was removed. */
#ifndef MQ_SOURCE_H
#define MQ_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "fault.h"
#include "store.h"

struct source {
	const char *name;
	struct queue *queue;     /* NULL: not opened, or there is none */
	bool by_id, taken;
	struct id id;
	char buffer[QUEUE_NAME_SIZE];
};

struct sources {
	struct store *store;
	struct source *list;
	size_t n;
	struct queue **old;      /* removed, but there may be leases of them */
	size_t nold;
	size_t most_leases;      /* in one batch; 1 at first */
	bool single;             /* no second pool on any of them */
	bool missing;            /* a message asked for by its id is not there */
	void (*complain)(const struct fault *);
	struct waiter *waiter;
	bool armed;
};

/* operands: QUEUE or QUEUE:ID; they must outlive the sources. 64. */
int sources_init(struct sources *, struct store *, char *const *operands, size_t n,
	struct fault *);
void sources_free(struct sources *);
/* Opens all now; 66 if there is one that does not exist. */
int sources_must(struct sources *, struct fault *);
/* Takes from the first that has something: 1, or 0: nothing is ready.
 * 75: `single`, and there is another pool. */
int sources_take(struct sources *, const struct take_spec *, struct batch *,
	struct fault *);
/* Closes what sources_take() could not close: call it when no lease is held. */
void sources_tidy(struct sources *);

/* Stands in the lines of all queues, and sets the watches; look once more after
 * it. Again whenever one was woken and found nothing. */
int sources_arm(struct sources *, struct fault *);
void sources_leave(struct sources *);
/* To poll for input, -1: none. Then source_woken(): true if one should look. */
int sources_fd(const struct sources *);
bool sources_woken(struct sources *);
/* Look again after that many ms. */
int sources_timeout(struct sources *);

#endif
