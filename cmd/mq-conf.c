/* SPDX-License-Identifier: ISC
 *
 * mq-conf: shows and sets the settings of a queue, or the spool's defaults. */
#include <stdio.h>
#include <string.h>

#include "conf.h"
#include "fault.h"
#include "opt.h"
#include "report.h"
#include "std.h"
#include "store.h"

static const struct opt_use uses[] = {
	{ 's', NULL },
	{ OPT_CREATE, "make the queue if there is none" },
	{ OPT_DEFAULTS, "the defaults of the whole spool" },
	{ OPT_SPOOL, "print which spool is used" },
	{ 0, NULL },
};

static const struct tool tool = {
	"mq-conf", "show or set a queue's settings",
	"[--create] QUEUE [NAME=VALUE ... | NAME]\n--defaults [NAME=VALUE ... | NAME]\n--spool",
	"NAME= goes back to the default.", uses, NULL,
};

struct args {
	struct opt o;
	const char *spool;
	bool create, defaults, where;
	char **words;            /* after QUEUE */
	int nwords;
};

static void
show_one(const struct conf *c, const char *name, bool bare)
{
	char value[256];

	if (conf_value(c, name, value, sizeof value))
		printf(bare ? "%.0s%s\n" : "%s=%s\n", name, value);
}

/* 0, or 64: no such setting */
static int
show(struct args *a, const struct conf *c)
{
	char value[256];

	if (a->nwords == 1 && !conf_value(c, a->words[0], value, sizeof value))
		return opt_usage(&a->o, "%s: no such setting", a->words[0]);
	if (a->nwords == 1)
		show_one(c, a->words[0], true);
	for (const char *const *n = conf_names(); a->nwords == 0 && *n != NULL; n++)
		show_one(c, *n, false);
	return 0;
}

/* Whether they are assignments: all or none of the words. -1 neither. */
static int
setting(const struct args *a)
{
	int n = 0;

	for (int i = 0; i < a->nwords; i++)
		n += strchr(a->words[i], '=') != NULL;
	if (n == 0 && a->nwords <= 1)
		return 0;
	return n == a->nwords ? 1 : -1;
}

static int
defaults(struct args *a, struct fault *f)
{
	struct store *s = store_open(a->spool, setting(a) == 1, f);
	struct conf c;
	int r = -1;

	if (s == NULL)
		return -1;
	if (setting(a) == 1)
		r = store_configure(s, a->words, (size_t)a->nwords, f);
	else if (store_conf(s, &c, f) == 0)
		r = show(a, &c);
	store_close(s);
	return r;
}

static int
one_queue(struct args *a, const char *name, struct fault *f)
{
	struct store *s = queue_name_check(name, f) < 0 ? NULL :
	    store_open(a->spool, a->create, f);
	const struct conf *c;
	struct queue *q = NULL;
	int r = -1;

	if (s != NULL)
		q = queue_open(s, name, a->create ? QUEUE_FORCE : QUEUE_MUST, f);
	if (q != NULL && setting(a) == 1)
		r = queue_configure(q, a->words, (size_t)a->nwords, f);
	else if (q != NULL && a->create && a->nwords == 0)
		r = 0;
	else if (q != NULL && (c = queue_conf(q, f)) != NULL)
		r = show(a, c);
	queue_close(q);
	store_close(s);
	return r;
}

static int
print_spool(struct args *a, struct fault *f)
{
	struct store *s = store_open(a->spool, false, f);

	if (s == NULL)
		return -1;
	printf("%s\n", store_path(s));
	store_close(s);
	return 0;
}

static int
run(struct args *a, int argc, char **argv, struct fault *f)
{
	int first = a->o.index + (a->defaults ? 0 : 1);

	if (a->where) {
		if (argc > a->o.index || a->defaults || a->create)
			return opt_usage(&a->o, "--spool goes alone");
		return print_spool(a, f);
	}
	if (a->defaults && a->create)
		return opt_usage(&a->o, "--create wants a QUEUE");
	if (argc < first)
		return opt_usage(&a->o, "no QUEUE given");
	a->words = argv + first;
	a->nwords = argc - first;
	if (setting(a) < 0)
		return opt_usage(&a->o, "NAME=VALUE ..., or one NAME");
	return a->defaults ? defaults(a, f) : one_queue(a, argv[a->o.index], f);
}

int
main(int argc, char **argv)
{
	struct args a = { 0 };
	struct fault f;
	int id, r;

	std_hold();
	opt_begin(&a.o, &tool, argc, argv);
	while ((id = opt_next(&a.o)) > 0) {
		a.create |= id == OPT_CREATE;
		a.defaults |= id == OPT_DEFAULTS;
		a.where |= id == OPT_SPOOL;
		if (id == 's')
			a.spool = a.o.arg;
	}
	if (id < 0)
		return a.o.status;
	r = run(&a, argc, argv, &f);
	if (r == 0)
		r = report_flush(&f);
	return r < 0 ? opt_fault(&a.o, &f) : r;
}
