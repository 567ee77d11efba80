/* SPDX-License-Identifier: ISC
 *
 * command: COMMAND with its arguments and environment, made ready for each
 * message. One struct serves all places of the pool: a child has its own copy
 * of argv and env by the time it runs. */
#ifndef MQ_COMMAND_H
#define MQ_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "fault.h"

struct store;
struct lease;

struct command {
	char *path;
	char *const *words;      /* as given, NULL-ended */
	bool wants_body;         /* an ARG is {} */
	char **argv;             /* of this message; argv[-1] is spare */
	char **env;
	char **base;             /* the caller's environment less what we set */
	size_t nbase, nenv;      /* nenv: room in env */
	struct buffer vars, body;
};

/* Finds COMMAND; 69 if it is not there or is not executable. */
int command_init(struct command *, char *const *words, struct fault *);
void command_free(struct command *);
/* Sets env for message k of the lease; `alone` false: for a batch, of which
 * only queue and spool are told. */
int command_environment(struct command *, const struct store *, struct lease *,
	uint32_t k, bool alone, struct fault *);
/* Sets argv, {} being the body less one trailing newline. 1, or 0 if it
 * cannot be an argument, with why in *why. */
int command_body(struct command *, const char *body, size_t len, const char **why,
	struct fault *);

#endif
