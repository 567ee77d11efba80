/* SPDX-License-Identifier: ISC */
#include "opt.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "complete.h"
#include "fault.h"

#ifndef MQ_VERSION
#define MQ_VERSION "0.1"
#endif

#define COLUMNS 79

const struct opt_row opt_rows[] = {
	{ '0', "null", NULL, "records, bodies and receipts end with NUL" },
	{ 'a', "attr", "NAME=VALUE", "an attribute; may be repeated" },
	{ 'A', "attach", "FILE", "attach a large file" },
	{ 'b', "atomic", NULL, "all of the input at once, or nothing" },
	{ 'B', "batch", "N", "up to N messages together" },
	{ 'c', "check", "CHECK", "check, and say the outcome by the exit status" },
	{ 'd', "delay", "DUR", "not before DUR has passed" },
	{ 'D', "at", "TIME", "not before TIME" },
	{ 'e', "exit", "CODES=ACTION", "what these exit codes of COMMAND mean" },
	{ 'f', "format", "FMT", "print each as FMT says" },
	{ 'F', "filter", "EXPR", "only what EXPR matches" },
	{ 'H', "header", NULL, "the header" },
	{ 'i', "idempotency-key", "KEY", "a repeat with the same KEY does nothing" },
	{ 'j', "jobs", "N", "N at once; 0: one a core" },
	{ 'J', "json", NULL, "JSON lines" },
	{ 'k', "key", "KEY", "the ordering group" },
	{ 'K', "bury", NULL, "to the dead letters" },
	{ 'l', "lines", NULL, "each line is a message" },
	{ 'L', "log-dir", "DIR", "keep the output of each delivery in DIR" },
	{ 'm', "message", "TEXT", "the body, or the reason" },
	{ 'n', "count", "N", "no more than N" },
	{ 'N', "dry-run", NULL, "say what would be done, do nothing" },
	{ 'o', "fields", "A,B", "only these fields" },
	{ 'O', "output", "FILE", "write to FILE, whole or not at all" },
	{ 'p', "priority", "0..9", "0 is the most urgent; default 5" },
	{ 'P', "partition", "N", "only partition N" },
	{ 'q', "quiet", NULL, "print nothing" },
	{ 'r', "route", "ROUTE", "words between dots, as order.paid" },
	{ 'R', "rate", "RATE", "no more than RATE, as 500/s or 60/m" },
	{ 's', "spool", "DIR", "the spool; default $MQ_SPOOL" },
	{ 'S', "no-sync", NULL, "do not wait for the disk" },
	{ 't', "to", "QUEUE", "move to QUEUE" },
	{ 'T', "run-limit", "DUR", "kill what runs longer than DUR" },
	{ 'u', "untried", NULL, "do not count this try" },
	{ 'v', "verbose", NULL, "say on stderr what is done" },
	{ 'V', "version-number", "N", "only if N is newer" },
	{ 'w', "wait", NULL, "wait, as long as it takes" },
	{ 'W', "wait-for", "DUR", "wait at most DUR; 0: not at all" },
	{ 'x', "expires", "DUR", "how long it holds" },
	{ OPT_ACK, "ack", NULL, "ack at once: at most once" },
	{ OPT_FRESH, "fresh", NULL, "exit 1 if it was a repeat" },
	{ OPT_UNIQUE, "unique", NULL, "a repeat as long as the first is there" },
	{ OPT_LINK, "link", NULL, "hard-link the attachment; never write to it" },
	{ OPT_STRICT, "strict", NULL, "exit 1 if anything was not acked" },
	{ OPT_SINGLE, "single", NULL, "exit 75 if another one runs" },
	{ OPT_NO_BRAKE, "no-brake", NULL, "do not pause after many failures" },
	{ OPT_RETRY, "retry", NULL, "back to its place, after the backoff" },
	{ OPT_READY, "ready", NULL, "the ready ones" },
	{ OPT_LATER, "later", NULL, "the delayed ones" },
	{ OPT_DEAD, "dead", NULL, "the dead letters" },
	{ OPT_ALL, "all", NULL, "all of them" },
	{ OPT_QUEUE, "queue", NULL, "the queue itself" },
	{ OPT_FORCE, "force", NULL, "also what is in use" },
	{ OPT_HELD, "held", NULL, "only until nothing is leased" },
	{ OPT_ATTACHMENT, "attachment", NULL, "the path of the attachment" },
	{ OPT_STATE, "state", "STATES", "only these states, with commas" },
	{ OPT_BY, "by", "FIELD", "a count for each value of FIELD" },
	{ OPT_PROMETHEUS, "prometheus", NULL, "text for node_exporter" },
	{ OPT_HTML, "html", NULL, "one page of HTML with plots" },
	{ OPT_AGES, "ages", NULL, "how old the messages are" },
	{ OPT_SORT, "sort", "FIELD", "in the order of FIELD" },
	{ OPT_ESTIMATE, "estimate", NULL, "a fast estimate" },
	{ OPT_VERIFY, "verify", NULL, "verify every invariant" },
	{ OPT_CREATE, "create", NULL, "make it if there is none" },
	{ OPT_DEFAULTS, "defaults", NULL, "the defaults of the spool" },
	{ OPT_SPOOL, "spool", NULL, "print where the spool is" },
	{ OPT_ENV, "env", "NAME", "take NAME of the environment along" },
	{ OPT_WORKER, "worker", NULL, "run the command of a message" },
	{ OPT_SYSLOG, "syslog", NULL, "a line a delivery to syslog" },
	{ OPT_FORGET, "forget", "KEY", "do not remember KEY any more" },
	{ OPT_LIST, "list", NULL, "list what is known" },
	{ OPT_HELP, "help", NULL, "this text" },
	{ OPT_VERSION, "version", NULL, "print the version" },
	{ OPT_COMPLETIONS, "completions", "SHELL", "completions for a shell" },
	{ 0, NULL, NULL, NULL },
};

static const struct opt_use common[] = {
	{ OPT_HELP, NULL }, { OPT_VERSION, NULL }, { 0, NULL },
};

static const struct opt_row *
row_of(int id)
{
	const struct opt_row *r = opt_rows;

	while (r->id != 0 && r->id != id)
		r++;
	return r->id != 0 ? r : NULL;
}

bool
opt_takes(const struct tool *t, int id)
{
	if (id == OPT_COMPLETIONS)
		return strchr(t->name, ' ') == NULL;
	if (id >= OPT_HELP)
		return true;
	for (const struct opt_use *u = t->uses; u != NULL && u->id != 0; u++)
		if (u->id == id)
			return true;
	return false;
}

/* Of two rows of that name the one that the tool takes, and of two that it
 * takes the one that fits to there being a value. */
static const struct opt_row *
row_named(const struct tool *t, const char *name, size_t len, bool value)
{
	const struct opt_row *found = NULL;

	for (const struct opt_row *r = opt_rows; r->id != 0; r++) {
		if (strncmp(r->name, name, len) != 0 || r->name[len] != '\0')
			continue;
		if (opt_takes(t, r->id) && (r->arg != NULL) == value)
			return r;
		if (found == NULL || !opt_takes(t, found->id))
			found = r;
	}
	return found;
}

static void
say(const struct opt *o, const char *fmt, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof text, fmt, ap);
	for (char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	fprintf(stderr, "%s: %s\n", o->tool->name, text);
}

__attribute__((format(printf, 2, 3)))
static void
complain(const struct opt *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(o, fmt, ap);
	va_end(ap);
}

static const char *
operands_of(const struct tool *t)
{
	if (t->operands != NULL)
		return t->operands;
	return t->verbs != NULL ? "VERB [options] ..." : "";
}

static void
usage_write(FILE *out, const struct tool *t)
{
	const char *line = operands_of(t), *lead = "usage:";
	size_t len;

	for (;; line += len + 1, lead = "      ") {
		len = strcspn(line, "\n");
		fprintf(out, "%s %s%s%.*s\n", lead, t->name, len > 0 ? " " : "",
			(int)len, line);
		if (line[len] == '\0')
			return;
	}
}

int
opt_usage(const struct opt *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(o, fmt, ap);
	va_end(ap);
	usage_write(stderr, o->tool);
	fprintf(stderr, "try %s --help\n", o->tool->name);
	return ST_USAGE;
}

/* The option as it was given: `-n` or `--count`. */
static const char *
spelling(const struct opt *o, char *out, size_t size)
{
	const struct opt_row *r = row_of(o->id);

	if (r == NULL)
		snprintf(out, size, "option");
	else if (o->long_name || r->id > UCHAR_MAX)
		snprintf(out, size, "--%s", r->name);
	else
		snprintf(out, size, "-%c", r->id);
	return out;
}

int
opt_bad(const struct opt *o, const char *why)
{
	char name[40];

	spelling(o, name, sizeof name);
	if (o->arg != NULL)
		complain(o, "%s: %s: %s", name, o->arg, why);
	else
		complain(o, "%s: %s", name, why);
	return ST_USAGE;
}

int
opt_caret(const struct opt *o, size_t at, const char *why)
{
	char name[40];
	int column = 0;

	complain(o, "%s: %s", spelling(o, name, sizeof name), why);
	fputs("    ", stderr);
	for (const char *c = o->arg; *c != '\0'; c++) {
		if ((size_t)(c - o->arg) < at && ((unsigned char)*c & 0xc0) != 0x80)
			column++;
		fputc((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c, stderr);
	}
	fprintf(stderr, "\n    %*s^\n", column, "");
	return ST_USAGE;
}

int
opt_fault(const struct opt *o, const struct fault *f)
{
	complain(o, "%s", f->text);
	return f->status;
}

/* Text from column `at` on, wrapped so that all of it begins there. */
static void
wrapped_write(FILE *out, size_t at, const char *text)
{
	size_t column = at;

	while (*text != '\0') {
		size_t len = strcspn(text, " ");

		if (column > at && column + 1 + len > COLUMNS) {
			fprintf(out, "\n%*s", (int)at, "");
			column = at;
		} else if (column > at) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", (int)len, text);
		column += len;
		text += len + strspn(text + len, " ");
	}
	fputc('\n', out);
}

static int
label_print(char *out, size_t size, int id)
{
	const struct opt_row *r = row_of(id);
	const char *space = r->arg != NULL ? " " : "";
	const char *arg = r->arg != NULL ? r->arg : "";

	if (id <= UCHAR_MAX)
		return snprintf(out, size, "  -%c, --%s%s%s", id, r->name, space,
			arg);
	return snprintf(out, size, "      --%s%s%s", r->name, space, arg);
}

static int
label_width(const struct opt_use *u)
{
	char label[64];
	int width = 0;

	for (; u != NULL && u->id != 0; u++) {
		int n = label_print(label, sizeof label, u->id);

		width = n > width ? n : width;
	}
	return width;
}

static void
options_write(FILE *out, const struct opt_use *u, int width)
{
	char label[64];

	for (; u != NULL && u->id != 0; u++) {
		label_print(label, sizeof label, u->id);
		fprintf(out, "%-*s  ", width, label);
		wrapped_write(out, (size_t)width + 2,
			u->help != NULL ? u->help : row_of(u->id)->help);
	}
}

const char *
opt_verb_name(const struct tool *t)
{
	const char *space = strrchr(t->name, ' ');

	return space != NULL ? space + 1 : t->name;
}

static void
verbs_write(FILE *out, const struct tool *t)
{
	int width = 0;

	for (size_t i = 0; t->verbs[i] != NULL; i++) {
		int n = (int)strlen(opt_verb_name(t->verbs[i]));

		width = n > width ? n : width;
	}
	for (size_t i = 0; t->verbs[i] != NULL; i++) {
		fprintf(out, "  %-*s  ", width, opt_verb_name(t->verbs[i]));
		wrapped_write(out, (size_t)width + 4, t->verbs[i]->about);
	}
}

static void
help_write(FILE *out, const struct tool *t)
{
	int own = label_width(t->uses), width = label_width(common);

	width = own > width ? own : width;
	usage_write(out, t);
	fprintf(out, "%s\n\n", t->about);
	options_write(out, t->uses, width);
	options_write(out, common, width);
	if (t->more != NULL)
		fprintf(out, "\n%s%s", t->more,
			t->more[strlen(t->more) - 1] == '\n' ? "" : "\n");
	if (t->verbs != NULL && t->verbs[0] != NULL) {
		fputc('\n', out);
		verbs_write(out, t);
	}
}

/* --help and the like, which end the parsing. */
static int
answer(struct opt *o)
{
	const struct tool *t = o->tool;

	if (o->id == OPT_HELP)
		help_write(stdout, t);
	else if (o->id == OPT_VERSION)
		fprintf(stdout, "%.*s (mq) " MQ_VERSION "\n",
			(int)strcspn(t->name, " "), t->name);
	else if (!complete_write(stdout, t, o->arg)) {
		o->status = opt_bad(o, "not bash, zsh or fish");
		return -1;
	}
	errno = 0;
	o->status = ST_OK;
	if (fflush(stdout) != 0 || ferror(stdout)) {
		complain(o, "standard output: %s",
			strerror(errno != 0 ? errno : EIO));
		o->status = ST_IO;
	}
	return -1;
}

void
opt_begin(struct opt *o, const struct tool *t, int argc, char **argv)
{
	*o = (struct opt){ .tool = t, .argc = argc, .argv = argv,
		.index = argc > 0 ? 1 : 0 };
}

/* The row's id, if the tool takes it and its argument is there: `value`, or
 * the next word if that is NULL. */
static int
accept(struct opt *o, const struct opt_row *r, const char *value)
{
	char name[40];

	o->id = r->id;
	o->arg = value;
	spelling(o, name, sizeof name);
	if (!opt_takes(o->tool, r->id))
		o->status = o->tool->verbs != NULL ?
			opt_usage(o, "%s: comes after the verb", name) :
			opt_usage(o, "%s: not an option of %s", name, o->tool->name);
	else if (r->arg == NULL && value != NULL)
		o->status = opt_usage(o, "%s: takes no argument", name);
	else if (r->arg != NULL && value == NULL && o->index >= o->argc)
		o->status = opt_usage(o, "%s: needs %s", name, r->arg);
	else {
		if (r->arg != NULL && value == NULL)
			o->arg = o->argv[o->index++];
		return r->id >= OPT_HELP ? answer(o) : r->id;
	}
	return -1;
}

static int
next_letter(struct opt *o)
{
	unsigned char c = (unsigned char)*o->cluster++;
	const struct opt_row *r = row_of(c);
	const char *value = NULL;

	o->long_name = false;
	if (r == NULL) {
		o->status = opt_usage(o, "unknown option -%c", isprint(c) ? c : '?');
		return -1;
	}
	if (*o->cluster == '\0' || r->arg != NULL) {
		value = *o->cluster != '\0' ? o->cluster : NULL;
		o->cluster = NULL;
	}
	return accept(o, r, value);
}

static int
next_long(struct opt *o, const char *name)
{
	size_t len = strcspn(name, "=");
	const char *value = name[len] == '=' ? name + len + 1 : NULL;
	const struct opt_row *r = row_named(o->tool, name, len, value != NULL);

	o->long_name = true;
	if (r == NULL) {
		o->status = opt_usage(o, "unknown option --%.*s",
			len > 100 ? 100 : (int)len, name);
		return -1;
	}
	return accept(o, r, value);
}

int
opt_next(struct opt *o)
{
	const char *word;

	if (o->cluster != NULL)
		return next_letter(o);
	if (o->index >= o->argc)
		return 0;
	word = o->argv[o->index];
	if (word[0] != '-' || word[1] == '\0')
		return 0;
	o->index++;
	if (strcmp(word, "--") == 0)
		return 0;
	if (word[1] == '-')
		return next_long(o, word + 2);
	o->cluster = word + 1;
	return next_letter(o);
}

const struct tool *
opt_verb(struct opt *o, const struct tool *t, int argc, char **argv)
{
	const char *word;
	int c;

	opt_begin(o, t, argc, argv);
	c = opt_next(o);
	if (c < 0)
		return NULL;
	if (c > 0 || o->index >= argc) {
		o->status = opt_usage(o, "the verb is missing, and comes first");
		return NULL;
	}
	word = argv[o->index++];
	for (size_t i = 0; t->verbs[i] != NULL; i++)
		if (strcmp(opt_verb_name(t->verbs[i]), word) == 0) {
			o->tool = t->verbs[i];
			return o->tool;
		}
	o->status = opt_usage(o, "unknown verb %.100s", word);
	return NULL;
}
