/* SPDX-License-Identifier: ISC
 *
 * holder: who has a leased message, as far as this machine still knows. */
#ifndef MQ_HOLDER_H
#define MQ_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

#define HOLDER_COMMAND 256

struct holder {
	uint32_t pid, uid;
	int64_t since;
	char user[64];           /* its name, or the number */
	char host[65];           /* this one: a spool is never on a network */
	char command[HOLDER_COMMAND]; /* its words with blanks between; "": the process
	                          * has ended, or is not the one that took it */
};

/* Looks it up, unless that is what stands there already; zeroed at first. A
 * process counts if it runs as that user and was started before `since` (ms). */
void holder_look(struct holder *, uint32_t pid, uint32_t uid, int64_t since);

/* When a process was started, in clock ticks since boot: no two of one number have
 * the same. 0: there is none, or it has ended. */
uint64_t process_started(uint32_t pid);

#endif
