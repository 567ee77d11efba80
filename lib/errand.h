/* SPDX-License-Identifier: ISC
 *
 * errand: runs one command in this process's place and waits for it. */
#ifndef MQ_ERRAND_H
#define MQ_ERRAND_H

#include <sys/types.h>

#include "fault.h"

#define ERRAND_CANNOT 126                /* as in sh */
#define ERRAND_MISSING 127

struct errand;

/* Starts it with the descriptors, environment and process group of the caller, to die
 * with it. The signals that ask to end (and USR1, USR2) are blocked from here on:
 * errand_wait() passes them on. NULL, with a status of 126 or 127. */
struct errand *errand_start(char **words, struct fault *);
pid_t errand_pid(const struct errand *);
/* Its exit status, or 128 + the signal that killed it. Frees. What the terminal sends
 * (^C) it has got itself. */
int errand_wait(struct errand *);

#endif
