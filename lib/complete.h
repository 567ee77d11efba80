/* SPDX-License-Identifier: ISC
 *
 * complete: the scripts by which shells complete a tool's options and
 * operands. Only opt.c needs this; what stands here is its table. */
#ifndef MQ_COMPLETE_H
#define MQ_COMPLETE_H

#include <stdbool.h>
#include <stdio.h>

#include "opt.h"

struct opt_row {
	int id;                  /* a letter, or an OPT_ name */
	const char *name;        /* without the dashes */
	const char *arg;         /* what it takes, NULL for a flag */
	const char *help;
};

/* The table of all options; a row of id 0 ends it. */
extern const struct opt_row opt_rows[];

/* The tool itself takes the option; its verbs do not count. --help and
 * --version are taken by all, --completions by all that are no verb. */
bool opt_takes(const struct tool *, int id);

/* "retry" of "mq-dlq retry". */
const char *opt_verb_name(const struct tool *);

/* Writes the script of the tool and its verbs for "bash", "zsh" or "fish";
 * false if it is another shell. Write errors are left to ferror(3). */
bool complete_write(FILE *, const struct tool *, const char *shell);

#endif
