/* SPDX-License-Identifier: ISC
 *
 * pool: what work.c (the loop) and job.c (one place of the pool) share. */
#ifndef MQ_POOL_H
#define MQ_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "batch.h"
#include "buffer.h"
#include "command.h"
#include "guardian.h"
#include "pace.h"
#include "relay.h"
#include "source.h"
#include "work.h"

#define MS (1000000LL)                   /* ns */
#define NEVER INT64_MAX

/* One place of the pool. It holds messages that COMMAND works on (`now`), and
 * parts of a batch that wait for their turn (`todo`, the last one first). It
 * is free if it holds none. Times are ns of the monotonic clock. */
struct job {
	pid_t pid;               /* 0: COMMAND does not run */
	volatile pid_t *group;   /* in the guardian's table */
	struct batch now;
	struct batch *todo;
	size_t ntodo, room;
	struct stream err;
	int64_t started, limit_at, extend_at;
	bool alone;              /* it has the message's own MQ_ variables */
	bool timed_out, killed;
};

struct pool {
	const struct work *work;
	struct sources sources;
	struct command command;
	struct guardian guardian;
	struct relay relay;
	struct pace pace;
	struct buffer line;      /* of a delivery, for -v and --syslog */
	struct job *jobs;
	size_t njobs, running;
	uint64_t taken;          /* messages */
	int log_dir;
	struct rlimit files;     /* how many descriptors commands may have */
	bool files_raised;       /* we have more */
	bool stopping;           /* start nothing more */
	bool unacked;            /* something was not acked */
	struct fault fault;      /* why it ends early, status 0: it does not */
};

int64_t now_ns(void);
/* Start nothing more, and end with this fault; the first one counts. */
void pool_stop(struct pool *, const struct fault *);

bool job_free(const struct job *);
/* Gives it the batch to work on (takes it over). -1: no memory; given back. */
int job_push(struct pool *, struct job *, struct batch *, struct fault *);
/* Starts COMMAND on what waits next in it. If it cannot, what waited has been
 * settled otherwise, or the pool is stopping. */
void job_start(struct pool *, struct job *);
/* COMMAND has ended, and was reaped. */
void job_end(struct pool *, struct job *, int status);
/* Gives back, untried, what waits in it. */
void job_release(struct pool *, struct job *);
/* Extends its leases. */
void job_extend(struct pool *, struct job *);
/* COMMAND has run for as long as it may. */
void job_limit(struct job *);
/* SIGKILL to all of it; its messages will be given back untried. */
void job_kill(struct job *);

#endif
