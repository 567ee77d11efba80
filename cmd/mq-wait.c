/* SPDX-License-Identifier: ISC
 *
 * mq-wait: blocks until a queue is done, or messages are settled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "input.h"
#include "opt.h"
#include "report.h"
#include "std.h"
#include "store.h"
#include "units.h"

static const struct opt_use uses[] = {
	{ 's', NULL },
	{ 'v', "say what became of each message" },
	{ 'W', "75 after DUR" },
	{ OPT_HELD, "until nothing is leased" },
	{ 0, NULL },
};

static const struct tool tool = {
	"mq-wait", "wait until messages are settled",
	"[-W DUR] [--held] QUEUE\n[-W DUR] QUEUE:ID ... | -", NULL, uses, NULL,
};

#define LOOK_MS 1000             /* at least that often, whatever wakes or not */

struct one {                     /* a message waited for */
	char operand[QUEUE_NAME_SIZE + ID_LEN + 1];
	struct queue *q;
	struct id id;
	bool seen, over;
};

struct args {
	struct opt o;
	struct store *store;
	const char *spool;
	bool held, verbose;
	int64_t until;           /* 0: no end */
	struct one *list;
	size_t n, left;
	int status;
};

static void
worse(struct args *a, int status)
{
	if (a->status == ST_OK || a->status == ST_NOTHING)
		a->status = status;
}

/* How long to sleep at most; 0: time is up */
static int
sleep_for(const struct args *a)
{
	int64_t left;

	if (a->until == 0)
		return LOOK_MS;
	left = a->until - steady_ms();
	return left <= 0 ? 0 : left < LOOK_MS ? (int)left : LOOK_MS;
}

/* --- a queue ------------------------------------------------------------------------ */

static int
wait_queue(struct args *a, const char *name, struct fault *f)
{
	struct queue *q = queue_open(a->store, name, QUEUE_MUST, f);
	struct changes *c = q == NULL ? NULL : changes_new(f);
	int r = -1, ms;

	while (c != NULL) {
		changes_watch(c, q);
		r = queue_busy(q, a->held, f);
		if (r <= 0)
			break;
		ms = sleep_for(a);
		if (ms == 0) {
			a->status = ST_TRYAGAIN;
			break;
		}
		changes_sleep(c, ms);
	}
	changes_free(c);
	queue_close(q);
	return r < 0 ? -1 : 0;
}

/* --- messages ----------------------------------------------------------------------- */

static void
settled(struct args *a, struct one *m, bool good, const char *how)
{
	m->over = true;
	a->left--;
	if (a->verbose || !good)
		fprintf(good ? stdout : stderr, "%s%s%s: %s\n", good ? "" : a->o.tool->name,
		    good ? "" : ": ", m->operand, how);
	if (!good)
		worse(a, ST_NOTHING);
}

static int
look(struct args *a, struct one *m, struct fault *f)
{
	enum fate fate;
	const char *how;

	if (queue_fate(m->q, m->id, &fate, &how, f) < 0)
		return -1;
	switch (fate) {
	case FATE_WAITING:
		m->seen = true;
		break;
	case FATE_ACKED:
		settled(a, m, true, how);
		break;
	case FATE_LOST:
		settled(a, m, false, how);
		break;
	case FATE_UNKNOWN:
		settled(a, m, m->seen, m->seen ? "acked" : "unknown (set keep=)");
		break;
	}
	return 0;
}

static int
wait_messages(struct args *a, struct fault *f)
{
	struct changes *c = changes_new(f);
	int r = c == NULL ? -1 : 0, ms;

	while (r == 0) {
		for (size_t i = 0; i < a->n; i++)        /* one queue is the rule */
			if (!a->list[i].over) {
				changes_watch(c, a->list[i].q);
				break;
			}
		for (size_t i = 0; i < a->n && r == 0; i++)
			if (!a->list[i].over)
				r = look(a, &a->list[i], f);
		if (r < 0 || a->left == 0)
			break;
		ms = sleep_for(a);
		if (ms == 0) {
			worse(a, ST_TRYAGAIN);
			break;
		}
		changes_sleep(c, ms);
	}
	changes_free(c);
	return r;
}

static int
add(struct args *a, const char *operand, struct fault *f)
{
	char name[QUEUE_NAME_SIZE];
	struct one *m = reallocarray(a->list, a->n + 1, sizeof *m);

	if (m == NULL)
		return fault_errno(f, "%s", operand);
	a->list = m;
	m = &a->list[a->n];
	memset(m, 0, sizeof *m);
	if (!operand_id(operand, name, &m->id))
		return fault_set(f, ST_USAGE, "%.300s: not QUEUE:ID", operand);
	snprintf(m->operand, sizeof m->operand, "%s", operand);
	if (a->n > 0 && strcmp(queue_name(a->list[a->n - 1].q), name) == 0)
		m->q = a->list[a->n - 1].q;
	else
		m->q = queue_open(a->store, name, QUEUE_MUST, f);
	if (m->q == NULL)
		return -1;
	a->n++;
	a->left++;
	return 0;
}

static int
add_input(struct args *a, struct fault *f)
{
	char text[QUEUE_NAME_SIZE + ID_LEN + 2];
	struct input in;
	const char *data;
	size_t len;
	int r;

	input_open(&in, "-", '\n', sizeof text);
	while ((r = input_record(&in, &data, &len)) == 1) {
		if (len == 0)
			continue;
		snprintf(text, sizeof text, "%.*s", (int)len, data);
		if (add(a, strlen(text) == len ? text : "", f) < 0)
			return -1;
	}
	input_close(&in);
	return r < 0 ? fault_errno(f, "standard input") : 0;
}

static int
run(struct args *a, char **words, int n, struct fault *f)
{
	a->store = store_open(a->spool, false, f);
	if (a->store == NULL)
		return -1;
	if (n == 1 && queue_name_valid(words[0]))
		return wait_queue(a, words[0], f);
	if (a->held)
		return opt_usage(&a->o, "--held wants a QUEUE");
	for (; *words != NULL; words++)
		if ((strcmp(*words, "-") == 0 ? add_input(a, f) : add(a, *words, f)) < 0)
			return -1;
	if (a->n == 0)
		return ST_NOTHING;
	return wait_messages(a, f);
}

int
main(int argc, char **argv)
{
	struct args a = { 0 };
	struct fault f;
	int64_t ms;
	int id, r;

	std_hold();
	opt_begin(&a.o, &tool, argc, argv);
	while ((id = opt_next(&a.o)) > 0) {
		a.held |= id == OPT_HELD;
		a.verbose |= id == 'v';
		if (id == 's')
			a.spool = a.o.arg;
		if (id == 'W' && !duration_parse(a.o.arg, &ms))
			return opt_bad(&a.o, "not a duration");
		if (id == 'W')
			a.until = steady_ms() + ms;
	}
	if (id < 0)
		return a.o.status;
	if (argc == a.o.index)
		return opt_usage(&a.o, "no QUEUE given");
	r = run(&a, argv + a.o.index, argc - a.o.index, &f);
	if (r >= 0 && report_flush(&f) < 0)
		r = -1;
	if (r < 0)
		return opt_fault(&a.o, &f);
	return r != 0 ? r : a.status;
}
