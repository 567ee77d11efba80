/* SPDX-License-Identifier: ISC
 *
 * work: the worker pool. Runs a command for each message (or batch) of some
 * queues, several at once, and settles the messages by how it ends. */
#ifndef MQ_WORK_H
#define MQ_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exitmap.h"
#include "fault.h"

#define WAIT_NOT 0
#define WAIT_FOREVER (-1)

struct store;

struct work {
	char *const *command;    /* COMMAND and its ARGs, NULL-ended */
	unsigned jobs;           /* at once; 0: one a core */
	uint64_t count;          /* stop after that many messages; 0: no end */
	int64_t wait;            /* ms without anything ready, then end */
	int64_t lease;           /* ms; 0: the queue's */
	int64_t run_limit;       /* ms; 0: none */
	double rate;             /* starts a second; 0: no limit */
	uint32_t batch;          /* messages for one COMMAND; 0: one, as it is */
	char end;                /* of each body in a batch: '\n' or '\0' */
	const char *log_dir;     /* NULL: output goes where ours goes */
	struct exitmap exits;
	bool strict;             /* 1 if anything was not acked */
	bool single;             /* 75 if another such pool runs on a queue */
	bool no_brake;
	bool verbose;            /* a line a delivery on err */
	bool syslog;             /* the same to syslog(3) */
	int err;                 /* commands' stderr is passed through to it */
	void (*complain)(const struct fault *);  /* says what goes wrong meanwhile */
};

/* Runs the pool until what `work` says has come, or it was told to stop.
 * Operands as in sources_init(). Returns the exit status; if f->text is not
 * empty it says why it is not 0. From the call on SIGTERM, SIGINT and SIGHUP
 * stay blocked (the first means: take no more; the second: kill what runs),
 * SIGPIPE is ignored. SIGHUP is left alone where it was ignored (nohup). */
int work_run(struct store *, char *const *operands, size_t n, const struct work *,
	struct fault *f);

#endif
