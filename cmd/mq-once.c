/* SPDX-License-Identifier: ISC
 *
 * mq-once: runs a command unless its key was handled already. */
#include <bsd/stdlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "errand.h"
#include "fault.h"
#include "opt.h"
#include "report.h"
#include "std.h"
#include "store.h"
#include "table.h"
#include "units.h"

#define KEEP (INT64_C(7) * 24 * 60 * 60 * 1000)

static const struct opt_use uses[] = {
	{ 's', NULL },
	{ 'v', "say what was skipped, and why" },
	{ 'V', "only if NUMBER is greater than the last one handled for KEY" },
	{ 'w', "while another one handles KEY, wait: the default" },
	{ 'W', "the same, at most DUR; 0: not at all" },
	{ 'x', "remember KEY for DUR; default 7d" },
	{ OPT_FORGET, "forget KEY" },
	{ OPT_LIST, "list the keys, which are known until when" },
	{ 0, NULL },
};

static const struct tool tool = {
	"mq-once", "run a command once for each key",
	"[options] QUEUE KEY [--] COMMAND [ARG ...]\n[options] --forget KEY QUEUE\n"
	"--list QUEUE",
	"Exits as COMMAND does; 0 where KEY was handled already.", uses, NULL,
};

struct args {
	struct opt o;
	const char *spool, *forget;
	bool list, verbose;
	int run_only;            /* the last option that is for a COMMAND, or 0 */
	int64_t version, wait, keep;
};

/* --- options ------------------------------------------------------------------- */

static int
set_number(struct args *a)
{
	uint64_t n;

	if (!count_parse(a->o.arg, INT64_MAX, &n))
		return opt_bad(&a->o, "not a number from 0 to 9223372036854775807");
	a->version = (int64_t)n;
	return 0;
}

static int
set(struct args *a, int id)
{
	switch (id) {
	case 's':
		a->spool = a->o.arg;
		break;
	case 'v':
		a->verbose = true;
		break;
	case 'V':
		a->run_only = id;
		return set_number(a);
	case 'w':
		a->wait = WAIT_ENDLESS;
		break;
	case 'W':
		if (!duration_parse(a->o.arg, &a->wait))
			return opt_bad(&a->o, "not a duration");
		break;
	case 'x':
		a->run_only = id;
		if (!duration_parse(a->o.arg, &a->keep) || a->keep == 0)
			return opt_bad(&a->o, "not a duration over 0");
		break;
	case OPT_FORGET:
		a->forget = a->o.arg;
		break;
	case OPT_LIST:
		a->list = true;
		break;
	}
	return 0;
}

static int
check(struct args *a, char **operands, int n)
{
	const char *key = a->forget != NULL ? a->forget : n > 1 ? operands[1] : "?";

	if (a->list && a->forget != NULL)
		return opt_usage(&a->o, "--list and --forget: one of them");
	if ((a->list || a->forget != NULL) && a->run_only != 0)
		return opt_usage(&a->o, "-V and -x are for a COMMAND");
	if (n == 0)
		return opt_usage(&a->o, "no QUEUE given");
	if (a->list || a->forget != NULL) {
		if (n > 1)
			return opt_usage(&a->o, "one QUEUE, and no more");
	} else if (n == 1) {
		return opt_usage(&a->o, "no KEY given");
	} else if (n == 2 || operands[2][0] == '\0') {
		return opt_usage(&a->o, "no COMMAND given");
	}
	if (!a->list && !key_valid(key))
		return opt_usage(&a->o, "KEY is 1 to 1024 bytes without newline");
	return 0;
}

/* --- running ---------------------------------------------------------------------- */

static void
say(const struct args *a, const char *key, const struct handled *h)
{
	char until[TIME_SIZE];
	struct fault f;

	if (!a->verbose)
		return;
	time_print(h->expiry, until);
	if (a->version >= 0)
		fault_set(&f, ST_OK, "%.300s: skipped: version %lld is not newer than %lld, "
		    "which was handled", key, (long long)a->version, (long long)h->version);
	else
		fault_set(&f, ST_OK, "%.300s: skipped: handled already (remembered until %s)",
		    key, until);
	opt_fault(&a->o, &f);
}

/* 1 there is nothing to do, 0 run it, -1 */
static int
skip(const struct args *a, struct queue *q, const char *key, struct fault *f)
{
	struct handled h;
	int r = queue_handled(q, key, &h, f);

	if (r != 1 || a->version > h.version)
		return r < 0 ? -1 : 0;
	say(a, key, &h);
	return 1;
}

/* Its exit status, or -1. */
static int
run_command(const struct args *a, struct turn *t, char **words, struct fault *f)
{
	struct errand *e = errand_start(words, f);
	struct fault why;
	int status;

	if (e == NULL)
		return -1;
	if (turn_note(t, errand_pid(e), &why) < 0)
		opt_fault(&a->o, &why);
	status = errand_wait(e);
	if (status == 0 && turn_remember(t, a->version, a->keep, &why) < 0)
		return fault_set(f, why.status, "the command has succeeded, but this could "
		    "not be remembered: %.300s", why.text);
	return status;
}

static int
run(const struct args *a, struct queue *q, const char *key, char **words, struct fault *f)
{
	struct turn *t = NULL;
	int r = skip(a, q, key, f);

	if (r != 0)
		return r < 0 ? -1 : ST_OK;
	r = turn_take(q, key, a->wait, &t, f);
	if (r == 0)
		return fault_set(f, ST_TRYAGAIN, "%.300s: another one is at work on it", key);
	if (r == 1)
		r = skip(a, q, key, f) == 1 ? ST_OK : run_command(a, t, words, f);
	turn_end(t);
	return r;
}

/* --- looking and forgetting -------------------------------------------------------- */

static int
forget(const struct args *a, struct queue *q, struct fault *f)
{
	struct turn *t;
	int r = turn_take(q, a->forget, a->wait, &t, f);

	if (r == 0)
		return fault_set(f, ST_TRYAGAIN, "%.300s: another one is at work on it",
		    a->forget);
	if (r < 0)
		return -1;
	r = turn_forget(t, f);
	turn_end(t);
	if (r == 0)
		return fault_set(f, ST_NOTHING, "%.300s: is not known", a->forget);
	return r < 0 ? -1 : ST_OK;
}

struct known {
	int64_t expiry, version;
	size_t key;              /* where it stands in the text */
};

struct list {
	struct known *v;
	size_t n, room;
	struct buffer text;
};

static int
note(const struct handled *h, void *arg)
{
	struct list *l = arg;

	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct known *v = reallocarray(l->v, room, sizeof *v);

		if (v == NULL)
			return -1;
		l->v = v;
		l->room = room;
	}
	l->v[l->n++] = (struct known){ h->expiry, h->version, l->text.len };
	return buffer_add(&l->text, h->key, strlen(h->key) + 1);
}

static int
by_expiry(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->expiry != y->expiry)
		return x->expiry < y->expiry ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int
print(const struct list *l, struct fault *f)
{
	static const struct column columns[] = { { "KEY", false }, { "VERSION", true },
		{ "UNTIL", false } };
	struct table *t = table_begin(stdout, columns, 3);

	if (t == NULL)
		return fault_errno(f, "list");
	for (size_t i = 0; i < l->n; i++) {
		table_word(t, l->text.data + l->v[i].key);
		if (l->v[i].version < 0)
			table_none(t);
		else
			table_number(t, (uint64_t)l->v[i].version);
		table_time(t, l->v[i].expiry);
		if (table_row(t) < 0)
			break;
	}
	return table_end(t) < 0 ? report_stdout(f) : 0;
}

static int
list(struct queue *q, struct fault *f)
{
	struct list l = { 0 };
	int r = queue_each_handled(q, note, &l, f);

	if (r == 0 && l.n > 0) {
		qsort(l.v, l.n, sizeof *l.v, by_expiry);
		r = print(&l, f);
	}
	free(l.v);
	buffer_free(&l.text);
	return r < 0 ? -1 : ST_OK;
}

/* --- all of it ---------------------------------------------------------------------- */

static int
act(const struct args *a, char **operands, struct fault *f)
{
	bool runs = !a->list && a->forget == NULL;
	struct store *s = store_open(a->spool, runs, f);
	struct queue *q = s == NULL ? NULL :
		queue_open(s, operands[0], runs ? QUEUE_MAKE : QUEUE_MUST, f);
	int r = -1;

	if (q != NULL)
		r = a->list ? list(q, f) : a->forget != NULL ? forget(a, q, f) :
			run(a, q, operands[1], operands + 2, f);
	queue_close(q);
	store_close(s);
	return r;
}

int
main(int argc, char **argv)
{
	struct args a = { .version = -1, .wait = WAIT_ENDLESS, .keep = KEEP };
	struct fault f;
	char **operands;
	int id, n, r;

	std_hold();
	opt_begin(&a.o, &tool, argc, argv);
	while ((id = opt_next(&a.o)) > 0)
		if ((r = set(&a, id)) != 0)
			return r;
	if (id < 0)
		return a.o.status;
	operands = argv + a.o.index;
	n = argc - a.o.index;
	if (n > 2 && strcmp(operands[2], "--") == 0) {
		operands[2] = operands[1];       /* the command has a word before it */
		operands[1] = operands[0];
		operands++;
		n--;
	}
	if ((r = check(&a, operands, n)) != 0)
		return r;
	r = act(&a, operands, &f);
	return r < 0 ? opt_fault(&a.o, &f) : r;
}
