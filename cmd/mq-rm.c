/* SPDX-License-Identifier: ISC
 *
 * mq-rm: removes messages by id or by state, or a whole queue. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fault.h"
#include "input.h"
#include "opt.h"
#include "report.h"
#include "std.h"
#include "store.h"

static const struct opt_use uses[] = {
	{ 's', NULL },
	{ 'v', "say how many were removed" },
	{ OPT_READY, "what is ready" },
	{ OPT_LATER, "what is delayed or waits for a retry" },
	{ OPT_DEAD, "the dead letters" },
	{ OPT_ALL, "all of these" },
	{ OPT_QUEUE, "the queue itself" },
	{ OPT_FORCE, "leased messages too; a queue that has messages" },
	{ 0, NULL },
};

static const struct tool tool = {
	"mq-rm", "remove messages or a queue",
	"[options] QUEUE:ID ... | -\n[--ready] [--later] [--dead] [--all] QUEUE\n--queue QUEUE",
	NULL, uses, NULL,
};

struct args {
	struct opt o;
	struct store *store;
	const char *spool;
	unsigned states;
	bool queue, force, verbose;
	uint64_t seen, removed;
	int status;
};

/* --- by id -------------------------------------------------------------------- */

struct found {
	struct queue *q;
	bool force, leased;
	struct fault *f;
};

static int
remove_found(const struct entry *e, void *arg)
{
	struct found *r = arg;

	if (e->state == LEASED && !r->force) {
		r->leased = true;
		return 1;
	}
	return entry_remove(r->q, e, r->f);
}

static int
remove_id(struct args *a, const char *operand, struct fault *f)
{
	char name[QUEUE_NAME_SIZE];
	struct found r = { .force = a->force, .f = f };
	struct id id;
	int done;

	if (!operand_id(operand, name, &id))
		return fault_set(f, ST_USAGE, "%.300s: not QUEUE:ID", operand);
	r.q = queue_open(a->store, name, QUEUE_MUST, f);
	if (r.q == NULL)
		return -1;
	done = queue_find(r.q, id, STATES_ALL & ~DONE, remove_found, &r, f);
	queue_close(r.q);
	if (done == 0)
		return fault_set(f, ST_NOTHING, "%s: no such message", operand);
	if (r.leased)
		return fault_set(f, ST_TRYAGAIN, "%s: is leased (--force removes it)", operand);
	if (done > 0)
		a->removed++;
	return done;
}

static void
by_id(struct args *a, const char *operand)
{
	struct fault f;

	a->seen++;
	if (remove_id(a, operand, &f) < 0)
		report_fault(&a->o, &f, &a->status);
}

static void
by_input(struct args *a)
{
	char text[QUEUE_NAME_SIZE + ID_LEN + 2];
	struct input in;
	const char *data;
	struct fault f;
	size_t len;
	int r;

	input_open(&in, "-", '\n', sizeof text);
	while ((r = input_record(&in, &data, &len)) == 1) {
		if (len == 0)
			continue;
		snprintf(text, sizeof text, "%.*s", (int)len, data);
		by_id(a, strlen(text) == len ? text : "");
	}
	if (r < 0) {
		fault_errno(&f, "standard input");
		report_fault(&a->o, &f, &a->status);
	}
	input_close(&in);
}

/* --- by state ------------------------------------------------------------------- */

static void
by_queue(struct args *a, const char *name)
{
	struct queue *q;
	struct fault f;
	uint64_t n = 0;
	int r;

	a->seen++;
	q = queue_open(a->store, name, QUEUE_MUST, &f);
	if (q == NULL) {
		report_fault(&a->o, &f, &a->status);
		return;
	}
	r = a->queue ? queue_destroy(q, a->force, &f) : queue_clear(q, a->states, &n, &f);
	if (r < 0)
		report_fault(&a->o, &f, &a->status);
	a->removed += n;
	queue_close(q);
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
	case OPT_READY:
		a->states |= READY;
		break;
	case OPT_LATER:
		a->states |= LATER;
		break;
	case OPT_DEAD:
		a->states |= DEAD;
		break;
	case OPT_ALL:
		a->states |= READY | LATER | DEAD | BLOCKED;
		break;
	case OPT_QUEUE:
		a->queue = true;
		break;
	case OPT_FORCE:
		a->force = true;
		break;
	}
	return 0;
}

static int
check(struct args *a, char **words, int n)
{
	if (n < 1)
		return opt_usage(&a->o, "nothing to remove given");
	if (a->queue && a->states != 0)
		return opt_usage(&a->o, "--queue goes without a state");
	for (int i = 0; i < n && (a->queue || a->states != 0); i++)
		if (!queue_name_valid(words[i]))
			return opt_usage(&a->o, "%s: not a queue's name", words[i]);
	if (!a->queue && a->states == 0 && strchr(words[0], ':') == NULL &&
	    strcmp(words[0], "-") != 0)
		return opt_usage(&a->o, "%s: which of its messages? (--ready, --later, "
		    "--dead, --all; or --queue)", words[0]);
	if (a->force && a->states != 0)
		a->states |= LEASED;
	return 0;
}

int
main(int argc, char **argv)
{
	struct args a = { 0 };
	struct fault f;
	int id, r;

	std_hold();
	opt_begin(&a.o, &tool, argc, argv);
	while ((id = opt_next(&a.o)) > 0)
		set(&a, id);
	if (id < 0)
		return a.o.status;
	r = check(&a, argv + a.o.index, argc - a.o.index);
	if (r != 0)
		return r;
	a.store = store_open(a.spool, false, &f);
	if (a.store == NULL)
		return opt_fault(&a.o, &f);
	for (char **w = argv + a.o.index; *w != NULL; w++) {
		if (a.queue || a.states != 0)
			by_queue(&a, *w);
		else if (strcmp(*w, "-") == 0)
			by_input(&a);
		else
			by_id(&a, *w);
	}
	store_close(a.store);
	if (a.verbose)
		printf("%" PRIu64 " removed\n", a.removed);
	if (report_flush(&f) < 0)
		return opt_fault(&a.o, &f);
	return a.status == ST_OK && a.seen == 0 ? ST_NOTHING : a.status;
}
