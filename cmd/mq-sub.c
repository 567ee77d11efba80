/* SPDX-License-Identifier: ISC
 *
 * mq-sub: the subscriptions of topics: makes, removes, lists and tries them, and
 * follows a topic live. */
#include <bsd/stdlib.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buffer.h"
#include "fault.h"
#include "format.h"
#include "handout.h"
#include "json.h"
#include "match.h"
#include "opt.h"
#include "optmsg.h"
#include "report.h"
#include "std.h"
#include "store.h"
#include "table.h"
#include "units.h"
#include "work.h"

/* --- the verbs -------------------------------------------------------------------- */

static const struct opt_use add_uses[] = {
	{ 'F', "only messages that EXPR matches; repeated: or" },
	{ 'r', "only routes that fit: * is one word, # none or more" },
	{ 's', NULL },
	{ 0, NULL },
};
static const struct opt_use rm_uses[] = {
	{ 's', NULL },
	{ OPT_FORCE, "even with messages in it" },
	{ 0, NULL },
};
static const struct opt_use ls_uses[] = {
	{ 'J', "a JSON object a line" },
	{ 's', NULL },
	{ 0, NULL },
};
static const struct opt_use tail_uses[] = {
	{ '0', "NUL ends each, not a newline" },
	{ 'f', "print FMT: %i %b %k %p %q %a{NAME} %% \\t \\n; default %b" },
	{ 'F', "only messages that EXPR matches; repeated: or" },
	{ 'J', "a JSON object a line" },
	{ 'n', "end after N messages" },
	{ 'r', "only routes that fit: * is one word, # none or more" },
	{ 's', NULL },
	{ 0, NULL },
};
static const struct opt_use test_uses[] = {
	{ 'a', "the message has this attribute; may be repeated" },
	{ 'F', "the filter; repeated: or" },
	{ 'k', "the message's key" },
	{ 'p', "the message's priority; default 5" },
	{ 'q', "say it by the exit status alone" },
	{ 'r', "the pattern" },
	{ 0, NULL },
};

#define EXPR_MORE \
	"EXPR: NAME=VALUE, != ^= $= *= < <= > >=, has:NAME, !has:NAME, and by commas;\n" \
	"NAME is an attribute, or key, priority or route."

static const struct tool add_tool = {
	"mq-sub add", "make a subscription, and the topic if it is new",
	"[-F EXPR] ... [-r PATTERN] TOPIC SUB [NAME=VALUE ...]",
	EXPR_MORE "\nNAME=VALUE are settings of the subscription, as in mq-conf.",
	add_uses, NULL,
};
static const struct tool rm_tool = {
	"mq-sub rm", "remove a subscription", "[--force] TOPIC SUB", NULL, rm_uses, NULL,
};
static const struct tool ls_tool = {
	"mq-sub ls", "list subscriptions", "[-J] [TOPIC ...]",
	"TOPIC/SUB, pattern, filters (by ` | '). Tails are marked as such.", ls_uses, NULL,
};
static const struct tool tail_tool = {
	"mq-sub tail", "print what is published from now on",
	"[-0J] [-F EXPR] ... [-r PATTERN] [-f FMT] [-n N] TOPIC", EXPR_MORE, tail_uses, NULL,
};
static const struct tool test_tool = {
	"mq-sub test", "would a message match?",
	"[-q] [-F EXPR] ... [-r PATTERN] [-a NAME=VALUE] ... [-k KEY] [-p N] [ROUTE]",
	EXPR_MORE "\nExit status 0: it would, 1: it would not.", test_uses, NULL,
};
static const struct tool *const verbs[] = {
	&add_tool, &rm_tool, &ls_tool, &tail_tool, &test_tool, NULL,
};
static const struct tool tool = {
	"mq-sub", "publish and subscribe",
	"add [-F EXPR] ... [-r PATTERN] TOPIC SUB [NAME=VALUE ...]\n"
	"rm [--force] TOPIC SUB\nls [-J] [TOPIC ...]\n"
	"tail [-F EXPR] ... [-r PATTERN] [-f FMT] [-n N] TOPIC\n"
	"test [-F EXPR] ... [-r PATTERN] [-a NAME=VALUE] ... [ROUTE]",
	"Publish with mq-put TOPIC; a subscription is a queue, TOPIC/SUB.", NULL, verbs,
};

struct args {
	struct opt o;
	const char *spool, *format;
	bool json, force, quiet, nul;
	uint64_t count;                  /* tail -n */
	struct subscription sub;
	char **filters;
	struct head head;                /* test: of the message */
	int priority;
	struct store *store;
	const char *topic;               /* ls: the one that is listed */
	struct table *table;
	struct buffer line;
	struct fault *f;
	int status;
};

static struct opt *reporter;             /* for complain(): the library's callback */

static void
complain(const struct fault *f)
{
	opt_fault(reporter, f);
}

/* --- options ------------------------------------------------------------------------ */

/* Says what is wrong with the last option's argument, with a caret. */
static int
check_match(struct args *a, const char *pattern, char *const *filters, size_t n)
{
	const char *why;
	size_t at;
	int which;
	struct match *m = match_compile(pattern, filters, n, &why, &at, &which);

	match_free(m);
	return m == NULL ? opt_caret(&a->o, at, why) : 0;
}

static int
set_filter(struct args *a)
{
	size_t n = a->sub.nfilters;
	char **list = reallocarray(a->filters, n + 1, sizeof *list);

	if (list == NULL)
		return opt_bad(&a->o, strerror(errno));
	a->filters = list;
	list[n] = strdup(a->o.arg);
	if (list[n] == NULL)
		return opt_bad(&a->o, strerror(errno));
	a->sub.filters = list;
	a->sub.nfilters = n + 1;
	return check_match(a, NULL, list + n, 1);
}

static int
set(struct args *a, int id)
{
	switch (id) {
	case '0':
		a->nul = true;
		break;
	case 'a':
		return optmsg_attr(&a->o, &a->head);
	case 'f':
		a->format = a->o.arg;
		break;
	case 'F':
		return set_filter(a);
	case 'J':
		a->json = true;
		break;
	case 'k':
		return optmsg_key(&a->o, &a->head.key);
	case 'n':
		if (!count_parse(a->o.arg, UINT32_MAX, &a->count) || a->count == 0)
			return opt_bad(&a->o, "not a number over 0");
		break;
	case 'p':
		return optmsg_priority(&a->o, &a->priority);
	case 'q':
		a->quiet = true;
		break;
	case 'r':
		if (a->sub.pattern != NULL)
			return opt_usage(&a->o, "-r: one pattern (a filter may say route^=...)");
		a->sub.pattern = a->o.arg;
		return check_match(a, a->o.arg, NULL, 0);
	case 's':
		a->spool = a->o.arg;
		break;
	case OPT_FORCE:
		a->force = true;
		break;
	}
	return 0;
}

/* --- add and rm --------------------------------------------------------------------- */

/* TOPIC SUB, checked by the store. */
static int
names(struct args *a, char **operands, int n)
{
	if (n < 2)
		return opt_usage(&a->o, "TOPIC and SUB, each a word");
	a->topic = operands[0];
	a->sub.name = operands[1];
	for (int i = 0; i < 2; i++)
		if (!part_name_valid(operands[i]))
			return opt_usage(&a->o, "%s: not the name of a %s", operands[i],
			    i == 0 ? "topic" : "subscription");
	return 0;
}

static int
add(struct args *a, char **operands, int n)
{
	struct fault f;
	int r = names(a, operands, n);

	for (int i = 2; i < n && r == 0; i++)
		if (strchr(operands[i], '=') == NULL)
			r = opt_usage(&a->o, "%s: not NAME=VALUE", operands[i]);
	if (r != 0)
		return r;
	a->store = store_open(a->spool, true, &f);
	if (a->store == NULL || topic_subscribe(a->store, a->topic, &a->sub, operands + 2,
	    (size_t)n - 2, &f) < 0)
		return opt_fault(&a->o, &f);
	return ST_OK;
}

static int
rm(struct args *a, char **operands, int n)
{
	struct fault f;
	int r = names(a, operands, n);

	if (r != 0)
		return r;
	if (n > 2)
		return opt_usage(&a->o, "one TOPIC and SUB");
	a->store = store_open(a->spool, false, &f);
	if (a->store == NULL ||
	    topic_unsubscribe(a->store, a->topic, a->sub.name, a->force, &f) < 0)
		return opt_fault(&a->o, &f);
	return ST_OK;
}

/* --- ls ------------------------------------------------------------------------------- */

static int
ls_json(struct args *a, const struct subscription *s)
{
	if (json_print_subscription(a->topic, s, &a->line) < 0)
		return fault_errno(a->f, "subscription");
	return report_write(&a->line, a->f);
}

/* The filters in one cell. */
static int
ls_filters(struct args *a, const struct subscription *s)
{
	a->line.len = 0;
	for (size_t i = 0; i < s->nfilters; i++)
		if ((i > 0 && buffer_text(&a->line, " | ") < 0) ||
		    buffer_text(&a->line, s->filters[i]) < 0)
			return fault_errno(a->f, "subscription");
	if (s->nfilters > 0)
		table_text(a->table, a->line.data, a->line.len);
	else
		table_none(a->table);
	return 0;
}

static int
ls_sub(const struct subscription *s, void *arg)
{
	struct args *a = arg;
	char name[QUEUE_NAME_SIZE];

	if (a->json)
		return ls_json(a, s);
	snprintf(name, sizeof name, "%.100s/%.100s", a->topic, s->name);
	table_word(a->table, name);
	table_word(a->table, s->pattern);
	if (ls_filters(a, s) < 0)
		return -1;
	table_word(a->table, s->ephemeral ? "tail" : NULL);
	return table_row(a->table) < 0 ? report_stdout(a->f) : 0;
}

/* `named`: it was asked for, and must be a topic. */
static int
ls_topic(struct args *a, const char *name, bool named)
{
	struct queue *q = queue_open(a->store, name, QUEUE_MUST, a->f);
	int r = -1;

	a->topic = name;
	if (q != NULL && queue_is_topic(q))
		r = topic_each(q, ls_sub, a, a->f);
	else if (q != NULL)
		r = named ? fault_set(a->f, ST_NOQUEUE, "%s: not a topic", name) : 0;
	queue_close(q);
	return r;
}

/* Others follow, whatever becomes of one (it may be gone), unless nobody reads. */
static int
ls_each(const char *name, void *arg)
{
	struct args *a = arg;

	if (strchr(name, '/') == NULL && ls_topic(a, name, false) < 0 &&
	    a->f->status != ST_NOQUEUE)
		report_fault(&a->o, a->f, &a->status);
	return ferror(stdout) != 0;
}

static void
ls_all(struct args *a, char **topics)
{
	if (*topics == NULL && store_each(a->store, ls_each, a, a->f) < 0)
		report_fault(&a->o, a->f, &a->status);
	for (; *topics != NULL && !ferror(stdout); topics++)
		if (ls_topic(a, *topics, true) < 0)
			report_fault(&a->o, a->f, &a->status);
}

static int
ls(struct args *a, char **topics)
{
	static const struct column columns[] = { { "SUBSCRIPTION", false },
		{ "ROUTE", false }, { "FILTER", false }, { "KIND", false } };

	for (char **t = topics; *t != NULL; t++)
		if (!part_name_valid(*t))
			return opt_usage(&a->o, "%s: not a topic's name", *t);
	a->store = store_open(a->spool, false, a->f);
	if (a->store == NULL)
		return opt_fault(&a->o, a->f);
	a->table = table_begin(stdout, columns, sizeof columns / sizeof *columns);
	if (a->table == NULL) {
		fault_errno(a->f, "list");
		return opt_fault(&a->o, a->f);
	}
	ls_all(a, topics);
	if (!a->json && table_end(a->table) != 0 && a->status != ST_IO) {
		report_stdout(a->f);
		report_fault(&a->o, a->f, &a->status);
	}
	report_end(&a->o, &a->status);
	return a->status;
}

/* --- tail ------------------------------------------------------------------------------- */

/* 66 where there is no topic: the store would make one. */
static int
must_be_topic(struct args *a, struct fault *f)
{
	struct queue *q = queue_open(a->store, a->topic, QUEUE_MUST, f);
	int r = q == NULL ? -1 : 0;

	if (q != NULL && !queue_is_topic(q))
		r = fault_set(f, ST_NOQUEUE, "%s: not a topic", a->topic);
	queue_close(q);
	return r;
}

static struct queue *
subscribe(struct args *a, struct fault *f)
{
	char name[64];

	/* a process id alone may be that of another container */
	snprintf(name, sizeof name, "tail-%d-%04x", (int)getpid(),
	    (unsigned)arc4random_uniform(0x10000));
	a->sub.name = name;
	if (must_be_topic(a, f) < 0)
		return NULL;
	return topic_tail(a->store, a->topic, &a->sub, NULL, 0, f);
}

static int
follow(struct args *a, const struct format *format)
{
	struct fault f = { 0 };
	struct queue *q = subscribe(a, &f);
	char *name;
	int status;

	if (q == NULL)
		return opt_fault(&a->o, &f);
	name = (char *)(uintptr_t)queue_name(q);
	status = handout_run(a->store, &name, 1, &(struct handout){
		.count = a->count > 0 ? a->count : UINT64_MAX, .wait = WAIT_FOREVER,
		.format = format, .end = a->nul ? '\0' : '\n', .ack = true, .follow = q,
		.fd = STDOUT_FILENO, .complain = complain }, &f);
	queue_close(q);
	if (status > 128)                /* a signal: that is how it ends */
		return ST_OK;
	if (status != ST_OK && f.text[0] != '\0')
		opt_fault(&a->o, &f);
	return status;
}

static int
tail(struct args *a, char **operands, int n)
{
	struct format *format = NULL;
	struct fault f;
	int status;

	if (n != 1 || !part_name_valid(operands[0]))
		return opt_usage(&a->o, "one TOPIC");
	if (a->json && (a->nul || a->format != NULL))
		return opt_usage(&a->o, "-J is a line each: no -f, -0");
	a->topic = operands[0];
	if (!a->json && (format = format_parse(a->format ? a->format : "%b", &f)) == NULL)
		return opt_usage(&a->o, "-f: %s", f.text);
	if (format != NULL && format_has(format, 'r')) {
		format_free(format);
		return opt_usage(&a->o, "-f: %%r: what a tail prints has no receipt");
	}
	a->store = store_open(a->spool, false, &f);
	status = a->store == NULL ? opt_fault(&a->o, &f) : follow(a, format);
	format_free(format);
	return status;
}

/* --- test ------------------------------------------------------------------------------- */

/* Does it fit? With a line about it. */
static bool
try(struct args *a, const struct match_message *m, const char *pattern, char *filter)
{
	const char *why;
	size_t at;
	int which;
	struct match *match = match_compile(pattern, &filter, filter != NULL, &why, &at, &which);
	bool fits = match != NULL && match_fits(match, m);

	match_free(match);
	if (!a->quiet) {
		table_word(a->table, fits ? "yes" : "no");
		table_word(a->table, pattern != NULL ? "route" : "filter");
		table_word(a->table, pattern != NULL ? pattern : filter);
		(void)table_row(a->table);       /* table_end() tells */
	}
	return fits;
}

static bool
try_all(struct args *a, const struct match_message *m)
{
	bool route = a->sub.pattern == NULL || try(a, m, a->sub.pattern, NULL);
	bool any = a->sub.nfilters == 0;

	for (size_t i = 0; i < a->sub.nfilters; i++)
		any = try(a, m, NULL, a->filters[i]) || any;
	return route && any;
}

static int
test(struct args *a, char **operands, int n)
{
	static const struct column columns[] = { { "FITS", false }, { "WHAT", false },
		{ "", false } };
	struct match_message m = {
		.route = n > 0 ? operands[0] : NULL, .key = a->head.key,
		.priority = a->priority, .attrs = a->head.attrs, .nattrs = a->head.nattrs,
	};
	struct fault f;
	bool fits;

	if (n > 1)
		return opt_usage(&a->o, "one ROUTE");
	if (n == 1 && !route_put_valid(operands[0]))
		return opt_usage(&a->o, "%.300s: not a route (words between dots, without "
		    "spaces, of at most 255 bytes)", operands[0]);
	a->table = table_begin(stdout, columns, 3);
	if (a->table == NULL) {
		fault_errno(&f, "table");
		return opt_fault(&a->o, &f);
	}
	fits = try_all(a, &m);
	if (table_end(a->table) == 0)
		return fits ? ST_OK : ST_NOTHING;
	report_stdout(&f);
	return opt_fault(&a->o, &f);
}

/* --- which ------------------------------------------------------------------------------ */

static int
run(struct args *a, const struct tool *verb, char **operands, int n)
{
	if (verb == &add_tool)
		return add(a, operands, n);
	if (verb == &rm_tool)
		return rm(a, operands, n);
	if (verb == &ls_tool)
		return ls(a, operands);
	return verb == &tail_tool ? tail(a, operands, n) : test(a, operands, n);
}

int
main(int argc, char **argv)
{
	struct fault f;
	struct args a = { .priority = PRIORITY_DEFAULT, .f = &f };
	const struct tool *verb;
	int id, r;

	std_hold();
	reporter = &a.o;
	verb = opt_verb(&a.o, &tool, argc, argv);
	if (verb == NULL)
		return a.o.status;
	while ((id = opt_next(&a.o)) > 0)
		if ((r = set(&a, id)) != 0)
			return r;
	if (id < 0)
		return a.o.status;
	r = run(&a, verb, argv + a.o.index, argc - a.o.index);
	store_close(a.store);
	return r;
}
