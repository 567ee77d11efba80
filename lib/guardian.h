/* SPDX-License-Identifier: ISC
 *
 * guardian: kills the process groups of running commands when the pool has
 * been killed itself.
 *
 * A small process in a session of its own, deaf to every signal that can be
 * blocked, holds nothing but the read end of a pipe whose write end only the
 * pool has, and the table of groups. End of file means the pool is gone: it
 * kills the groups that the table still names, and exits. */
#ifndef MQ_GUARDIAN_H
#define MQ_GUARDIAN_H

#include <stddef.h>
#include <sys/types.h>

#include "fault.h"

struct guardian {
	volatile pid_t *groups;  /* shared; one a place of the pool, 0: none */
	size_t ngroups;
	pid_t pid;               /* 0: not running */
	int alive;               /* write end of the pipe */
};

int guardian_init(struct guardian *, size_t ngroups, struct fault *);
/* Starts it unless it runs. */
int guardian_start(struct guardian *, struct fault *);
/* It has died: the pool reaped its pid. */
void guardian_died(struct guardian *);
/* Lets it go; the groups must all be 0. */
void guardian_end(struct guardian *);

#endif
