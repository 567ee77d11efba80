/* SPDX-License-Identifier: ISC
 *
 * opt: the options of all tools. One table (opt.c) gives each letter its long
 * name, argument and meaning, the same in every tool; a tool lists which of
 * them it takes. From that come the parser, --help and the completions.
 *
 *	static const struct opt_use uses[] = {
 *		{ 'n', "lease up to N messages" }, { OPT_ACK, NULL }, { 0, NULL } };
 *	static const struct tool tool = { "mq-take", "lease messages",
 *		"[options] QUEUE ...", NULL, uses, NULL };
 *	...
 *	opt_begin(&o, &tool, argc, argv);
 *	while ((c = opt_next(&o)) > 0)
 *		switch (c) {
 *		case 'n':
 *			if (!count_parse(o.arg, UINT32_MAX, &n))
 *				return opt_bad(&o, "not a number");
 *			break;
 *		}
 *	if (c < 0)
 *		return o.status;
 *	operands: argv[o.index] .. argv[argc - 1]
 *
 * POSIX: options come first, `--` ends them, no permutation; `-j4`, `-j 4`,
 * `--jobs=4`, `--jobs 4`; `-` alone is an operand. Long names are exact, no
 * abbreviation. --help, --version and the hidden --completions=SHELL, which
 * all tools have, are answered here on stdout (74 if that fails). Messages go
 * to stderr, control characters in them as `?`.
 *
 * `--spool` is a flag for a tool that takes OPT_SPOOL; `-s DIR` and
 * `--spool=DIR` are the spool in every tool that takes 's'. */
#ifndef MQ_OPT_H
#define MQ_OPT_H

#include <stdbool.h>
#include <stddef.h>

enum { /* long names without a letter */
	OPT_ACK = 256, OPT_FRESH, OPT_UNIQUE, OPT_LINK, OPT_STRICT, OPT_SINGLE,
	OPT_NO_BRAKE, OPT_RETRY, OPT_READY, OPT_LATER, OPT_DEAD, OPT_ALL,
	OPT_QUEUE, OPT_FORCE, OPT_HELD, OPT_ATTACHMENT, OPT_STATE, OPT_BY,
	OPT_PROMETHEUS, OPT_HTML, OPT_AGES, OPT_SORT, OPT_ESTIMATE, OPT_VERIFY,
	OPT_CREATE, OPT_DEFAULTS, OPT_SPOOL, OPT_ENV, OPT_WORKER,
	OPT_SYSLOG, OPT_FORGET, OPT_LIST,
	/* answered by opt itself: */
	OPT_HELP, OPT_VERSION, OPT_COMPLETIONS,
};

struct opt_use {
	int id;                  /* a letter or an OPT_ name; 0 ends the list */
	const char *help;        /* what it means here; NULL: the table's words */
};

struct tool {
	const char *name;        /* "mq-dlq", or "mq-dlq retry" for a verb */
	const char *about;       /* one line, no full stop */
	const char *operands;    /* SYNOPSIS after the name; lines by \n; or NULL */
	const char *more;        /* text below the options in --help, or NULL */
	const struct opt_use *uses;      /* or NULL: none */
	const struct tool *const *verbs; /* NULL-ended, or NULL: has none */
};

struct opt {
	const struct tool *tool;
	int argc;
	char **argv;
	int index;               /* of the next word; the first operand at the end */
	const char *arg;         /* argument of the option returned last */
	int id;                  /* that option */
	bool long_name;          /* it was given by its long name */
	int status;              /* exit status after opt_next() returned < 0 */
	const char *cluster;     /* rest of a group of letters */
};

void opt_begin(struct opt *, const struct tool *, int argc, char **argv);
/* The next option's id, 0 when they are over, < 0 to leave with o->status:
 * --help was printed, or the error was said on stderr (64). */
int opt_next(struct opt *);
/* Says `mq-take: -n: VALUE: why` on stderr; returns 64, always. */
int opt_bad(const struct opt *, const char *why);
/* The same for an argument that is wrong at byte `at`: it stands below, with a
 * caret there. */
int opt_caret(const struct opt *, size_t at, const char *why);
/* Says `mq-take: why`, the usage and where to read on, on stderr; returns 64,
 * always. */
int opt_usage(const struct opt *, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* For a tool with verbs: argv[1] is the verb (or --help and such). Returns it,
 * with o begun at its options, or NULL to leave with o->status. */
const struct tool *opt_verb(struct opt *, const struct tool *, int argc,
	char **argv);

struct fault;
/* Says `mq-take: text` on stderr; returns f->status. */
int opt_fault(const struct opt *, const struct fault *f);

#endif
