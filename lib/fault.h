/* SPDX-License-Identifier: ISC
 *
 * fault: what went wrong, for a command to say and to exit with.
 *
 * A library function that can fail takes a `struct fault *` last (never
 * NULL), fills it and returns -1 (or NULL). It never prints. The command
 * prints `mq-TOOL: text` and exits with `status`. */
#ifndef MQ_FAULT_H
#define MQ_FAULT_H

enum status { /* the exit status, the same in all tools */
	ST_OK = 0,
	ST_NOTHING = 1,      /* empty, no such message, lease lost */
	ST_USAGE = 64,
	ST_DATA = 65,
	ST_NOQUEUE = 66,
	ST_UNAVAILABLE = 69,
	ST_CANTCREATE = 73,
	ST_IO = 74,
	ST_TRYAGAIN = 75,
	ST_PERMISSION = 77,
	ST_CONFIG = 78,
};

struct fault {
	int status;          /* an enum status */
	int error;           /* errno behind it, 0 if none */
	char text[512];      /* "what: why", no newline */
};

/* Fill f; always return -1. */
int fault_set(struct fault *f, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same from errno: text is "fmt: strerror(errno)", status follows the
 * errno (EACCES, EPERM: 77; ENOMEM, EMFILE, ENFILE, EAGAIN: 75; else 74). */
int fault_errno(struct fault *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
