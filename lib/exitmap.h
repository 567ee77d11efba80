/* SPDX-License-Identifier: ISC
 *
 * exitmap: what the end of a COMMAND means for its message. A death by
 * signal N counts as 128+N, as in the shell. */
#ifndef MQ_EXITMAP_H
#define MQ_EXITMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "fault.h"

#define EXIT_CODES 256

enum verdict {
	VERDICT_RETRY,           /* 0: so that zeroed memory means it */
	VERDICT_ACK,
	VERDICT_BURY,
	VERDICT_STOP,            /* give back untried, stop the pool */
};

struct exitmap {
	enum verdict verdict[EXIT_CODES];
	int64_t delay[EXIT_CODES];       /* of a retry, ms; -1: the backoff */
	bool given[EXIT_CODES];          /* by exitmap_set() */
};

/* 0 acks, 65 and 100 bury, 126 and 127 stop, all others retry. */
void exitmap_defaults(struct exitmap *);
/* `CODES=ACTION`: CODES as `3` or `3,4-9`, ACTION one of ack, retry,
 * retry:DUR, bury, stop. -1 and 64, with the map as it was. */
int exitmap_set(struct exitmap *, const char *rule, struct fault *);
/* COMMAND is one that runs commands of its own (mq-run --worker): 126 and 127 are
 * theirs and bury, unless they were given otherwise. */
void exitmap_jobs(struct exitmap *);
/* Is it such a COMMAND? */
bool exitmap_runs_jobs(char *const *command);
/* The code (0 to 255) of a status from wait(2). */
int exit_code(int status);

#endif
