/* SPDX-License-Identifier: ISC
 *
 * child: starts one process, cheaply. vfork(2) and execve(2): nothing of the
 * pool's memory is copied, and a failed exec is known at once. */
#ifndef MQ_CHILD_H
#define MQ_CHILD_H

#include <sys/resource.h>
#include <sys/types.h>

struct child {
	const char *path;
	char **argv;             /* argv[-1] exists too and may be written to */
	char **env;
	int in, out, err;        /* its 0, 1, 2; -1: the caller's */
	const struct rlimit *files;      /* RLIMIT_NOFILE for it, or NULL */
	volatile pid_t *group;   /* set to its process group before it runs; NULL:
	                          * it stays in the caller's */
};

/* Starts it, to die with the calling process (SIGKILL), with no signal blocked
 * and SIGPIPE as by default. The caller has blocked
 * the signals that it handles. A file that is no program is run by /bin/sh,
 * as execvp(3) does. Returns its process id; -1 with errno and *group 0. */
pid_t child_start(struct child *);

#endif
