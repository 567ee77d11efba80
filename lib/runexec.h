/* SPDX-License-Identifier: ISC
 *
 * runexec: from this process to a job of mq-run, and from a job to a process. */
#ifndef MQ_RUNEXEC_H
#define MQ_RUNEXEC_H

#include <stdbool.h>

#include "runjob.h"

#define RUNEXEC_CANNOT 126               /* as the shell's: cannot be run */
#define RUNEXEC_MISSING 127              /* there is no such command */

/* The directory (as $PWD has it, where that is right) and the umask of this
 * process. The caller frees *dir, which the job points to. */
int runexec_here(struct runjob *, char **dir, struct fault *);

/* NAME or NAME=VALUE as a variable of a job: of NAME alone the value that it has
 * here, if it has one. Allocated; NULL with errno. */
char *runexec_variable(const char *text);
/* Could that be a NAME or NAME=VALUE? */
bool runexec_variable_valid(const char *text);

/* Becomes the job: its directory, umask, variables over those of this process, PWD,
 * and standard input /dev/null. Only returns if it cannot, -1: 75 the directory
 * cannot be entered, 126 and 127 as the shell has it. */
int runexec_become(const struct runjob *, struct fault *);

#endif
