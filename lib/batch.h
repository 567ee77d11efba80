/* SPDX-License-Identifier: ISC
 *
 * batch: the messages that one COMMAND works on, one or many, as the leases
 * they came by. Messages are numbered from 0 through all of them. */
#ifndef MQ_BATCH_H
#define MQ_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "store.h"

struct batch {
	struct lease **leases;
	size_t nleases, room;
	uint32_t count;          /* messages */
};

/* Leases up to spec->want messages of one queue, by at most `most` leases (each
 * holds a file open). 1, or 0: nothing is ready. */
int batch_take(struct batch *, struct queue *, const struct take_spec *, size_t most,
	struct fault *);
/* Takes the lease over; -1: no memory, the lease is not taken over. */
int batch_add(struct batch *, struct lease *);
/* Forgets lease i: it is freed, not settled. */
void batch_drop(struct batch *, size_t i);
/* Message k stands in *lease at the place returned. */
uint32_t batch_at(const struct batch *, uint32_t k, struct lease **lease);
/* Leaves the first `at` messages, the rest goes to *rest; whatever of them is
 * found lost meanwhile is in neither. */
int batch_split(struct batch *, uint32_t at, struct batch *rest, struct fault *);
/* Frees all, settles nothing. */
void batch_free(struct batch *);

/* Makes a sealed descriptor with the bodies, each followed by `end`, of as
 * many messages from the first on as go together: up to the first that has
 * `end` in itself, or to BATCH_BYTES. *n is how many; 0: the first has to run
 * alone, and there is no descriptor (-1). -2 on failure. */
int batch_lines(const struct batch *, char end, uint32_t *n, struct fault *);

#endif
