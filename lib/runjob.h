/* SPDX-License-Identifier: ISC
 *
 * runjob: a command as a message of mq-run(1), all of it byte for byte. The body
 * is strings, each ended by a NUL:
 *
 *	mq-run 1 ARGC     the format's version, and how many ARGs there are
 *	ARG ...           COMMAND first; that one is not empty
 *	DIRECTORY         absolute
 *	UMASK             octal
 *	VARIABLE ...      NAME=VALUE, or NAME: unset; to the end, later ones win */
#ifndef MQ_RUNJOB_H
#define MQ_RUNJOB_H

#include <stddef.h>
#include <sys/types.h>

#include "buffer.h"
#include "fault.h"

struct runjob {
	char *const *argv;       /* NULL-ended, with a COMMAND */
	const char *dir;
	mode_t umask;
	char *const *vars;       /* NULL-ended, or NULL: none */
};

/* Appends the body. -1 with errno ENOMEM. */
int runjob_pack(const struct runjob *, struct buffer *);
/* Reads it; strings point into `body`, lists are allocated. -1 and 65: it is no
 * job, or one of a version that is not known. */
int runjob_parse(const char *body, size_t len, struct runjob *, struct fault *);
/* The lists of a job that was parsed. */
void runjob_free(struct runjob *);

#endif
