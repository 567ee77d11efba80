/* SPDX-License-Identifier: ISC
 *
 * diary: what became of each delivery, one line for each message of it: for
 * mq-take -v and --syslog. */
#ifndef MQ_DIARY_H
#define MQ_DIARY_H

#include <stdint.h>

#include "buffer.h"
#include "store.h"

struct delivery {
	struct id id;
	const char *queue, *outcome;
	uint32_t tries;
	int64_t took;            /* ns */
	const char *key;         /* NULL: none */
	const char *reason;      /* NULL: none */
};

/* Empties the buffer and makes the line in it, with newline and NUL: the time,
 * QUEUE:ID, tries, outcome, seconds, the worker as PID.UID, key and reason, with
 * tabs between; odd bytes as \xNN, `-` for none. -1 with errno ENOMEM. */
int diary_line(struct buffer *, const struct delivery *, int64_t now);
/* The same to syslog(3), facility daemon, as NAME=VALUE; what was acked or settled
 * as info, what is tried again as notice, all else as a warning. */
int diary_syslog(struct buffer *, const struct delivery *);

#endif
