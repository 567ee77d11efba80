/* SPDX-License-Identifier: ISC
 *
 * handout: leases messages and writes something about each to a descriptor:
 * mq-take without COMMAND. What could not be written is given back. */
#ifndef MQ_HANDOUT_H
#define MQ_HANDOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault.h"

struct store;
struct format;

struct handout {
	uint64_t count;          /* at most that many */
	int64_t wait;            /* ms for the first; WAIT_NOT, WAIT_FOREVER */
	int64_t lease;           /* ms; 0: the queue's */
	const struct format *format;     /* NULL: a JSON object a line */
	char end;                /* after each format: '\n' or '\0' */
	bool ack;                /* at most once: acked as it is written */
	/* Goes on, whatever there was, until `count`, a signal, or nobody reads fd; says
	 * by complain() what full=drop-oldest dropped of this queue meanwhile. NULL:
	 * ends after the first that came */
	struct queue *follow;
	int fd;
	void (*complain)(const struct fault *);
};

/* Operands as in sources_init(). Returns the exit status: 1 if there was
 * nothing, 66 if a queue does not exist (and it does not wait, or the one that it
 * follows is gone), 74 if fd does
 * not take it; f->text says why, if it is not empty. 128+N: signal N (TERM,
 * INT or HUP) came; nothing unwritten is held, and the caller should end by
 * that signal. SIGPIPE is ignored from the call on. */
int handout_run(struct store *, char *const *operands, size_t n,
	const struct handout *, struct fault *f);

#endif
