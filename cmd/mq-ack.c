/* SPDX-License-Identifier: ISC
 *
 * mq-ack: settles what mq-take leased: acks, retries, gives back, extends,
 * buries. */
#include <stdbool.h>
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
	{ '0', "NUL ends the receipts read from standard input" },
	{ 'd', "retry after DUR" },
	{ 'K', "to the dead letters" },
	{ 'm', "the reason, with -K or --retry" },
	{ 's', "ignored: a receipt carries its own spool" },
	{ 't', "move to QUEUE of the same spool" },
	{ 'u', "give back untried, at once" },
	{ 'x', "extend the lease to DUR from now" },
	{ OPT_RETRY, "back to its place after the backoff, or after -d DUR" },
	{ 0, NULL },
};

static const struct tool tool = {
	"mq-ack", "ack messages, or settle them otherwise", "[options] RECEIPT ...\n"
	"[options] -", "Without option each message is acked, and is gone.", uses, NULL,
};

enum how { ACK, RETRY, GIVE_BACK, EXTEND, BURY, MOVE };

#define RECEIPTS 1024            /* settled together */

struct args {
	struct opt o;
	enum how how;
	bool chosen;
	char end;
	int64_t delay, lease;
	const char *reason, *to;
	struct queue *target;
	struct lease *batch[RECEIPTS];
	size_t n;
	uint64_t seen;
	int status;
};

static int
choose(struct args *a, enum how how)
{
	if (a->chosen && a->how != how)
		return opt_usage(&a->o, "one of --retry, -u, -x, -K, -t");
	a->how = how;
	a->chosen = true;
	return 0;
}

static int
set(struct args *a, int id)
{
	switch (id) {
	case '0':
		a->end = '\0';
		break;
	case 'd':
		if (!duration_parse(a->o.arg, &a->delay))
			return opt_bad(&a->o, "not a duration");
		break;
	case 'K':
		return choose(a, BURY);
	case 'm':
		a->reason = a->o.arg;
		break;
	case 't':
		a->to = a->o.arg;
		return choose(a, MOVE);
	case 'u':
		return choose(a, GIVE_BACK);
	case 'x':
		if (!duration_parse(a->o.arg, &a->lease) || a->lease == 0)
			return opt_bad(&a->o, "not a duration over 0");
		return choose(a, EXTEND);
	case OPT_RETRY:
		return choose(a, RETRY);
	}
	return 0;
}

static int
check(struct args *a, int operands)
{
	if (operands < 1)
		return opt_usage(&a->o, "no RECEIPT given");
	if (a->delay >= 0 && a->how != RETRY)
		return opt_usage(&a->o, "-d goes with --retry");
	if (a->reason != NULL && a->how != BURY && a->how != RETRY)
		return opt_usage(&a->o, "-m goes with -K or --retry");
	if (a->to != NULL && !queue_name_valid(a->to))
		return opt_usage(&a->o, "-t: not a queue's name");
	return 0;
}

/* --- settling ----------------------------------------------------------------------- */

/* Says it, and remembers the worst: anything over lost leases. */
static int
move(struct args *a, struct lease *l, struct fault *f)
{
	struct store *s = queue_store(lease_queue(l));

	if (a->target != NULL && queue_store(a->target) != s) {
		queue_close(a->target);
		a->target = NULL;
	}
	if (a->target == NULL)
		a->target = queue_open(s, a->to, QUEUE_MAKE, f);
	return a->target == NULL ? -1 : lease_move(l, a->target, f);
}

static int
settle(struct args *a, struct lease *l, struct fault *f)
{
	struct why why = { .reason = a->reason };

	switch (a->how) {
	case RETRY:
		return lease_retry(l, a->delay, a->reason == NULL ? NULL : &why, f);
	case GIVE_BACK:
		return lease_giveback(l, f);
	case EXTEND:
		return lease_extend(l, a->lease, f);
	case BURY:
		return lease_bury(l, &why, f);
	case MOVE:
		return move(a, l, f);
	default:
		return lease_ack(l, f);
	}
}

static void
lost(const struct lease *l, struct fault *f)
{
	char id[ID_LEN + 1];

	id_print(lease_id(l, 0), id);
	fault_set(f, ST_NOTHING, "%s:%s%s: lease lost", lease_queue_name(l), id,
	    lease_count(l) > 1 ? " and those after it" : "");
}

static int
by_place(const void *a, const void *b)
{
	return lease_compare(*(struct lease *const *)a, *(struct lease *const *)b);
}

/* Neighbours of one delivery are settled as one range. */
static void
settle_batch(struct args *a)
{
	struct fault f = { 0 };
	size_t i, j;

	if (a->n > 1)
		qsort(a->batch, a->n, sizeof *a->batch, by_place);
	for (i = 0; i < a->n; i = j) {
		struct lease *l = a->batch[i];
		int r;

		for (j = i + 1; j < a->n && lease_join(l, a->batch[j]); j++)
			continue;
		r = settle(a, l, &f);
		if (r == 0)
			lost(l, &f);
		if (r <= 0)
			report_fault(&a->o, &f, &a->status);
	}
	for (i = a->n; i-- > 0;)
		lease_free(a->batch[i]);
	a->n = 0;
}

static void
add(struct args *a, const char *receipt)
{
	struct fault f;
	struct lease *like = a->n > 0 ? a->batch[a->n - 1] : NULL;
	struct lease *l = lease_by_receipt(receipt, like, &f);

	a->seen++;
	if (l == NULL) {
		report_fault(&a->o, &f, &a->status);
		return;
	}
	a->batch[a->n++] = l;
	if (a->n == RECEIPTS)
		settle_batch(a);
}

static void
add_from(struct args *a, struct input *in)
{
	char text[RECEIPT_SIZE];
	const char *data;
	struct fault f;
	size_t len;
	int r;

	for (;;) {
		if (a->n > 0 && input_would_wait(in))
			settle_batch(a);
		r = input_record(in, &data, &len);
		if (r < 0) {
			fault_errno(&f, "standard input");
			report_fault(&a->o, &f, &a->status);
		}
		if (r <= 0)
			return;
		if (len == 0)
			continue;
		snprintf(text, sizeof text, "%.*s", (int)len, data);
		add(a, strlen(text) == len ? text : "");
	}
}

int
main(int argc, char **argv)
{
	static struct args a = { .end = '\n', .delay = -1 };
	struct input in;
	int id, r;

	std_hold();
	opt_begin(&a.o, &tool, argc, argv);
	while ((id = opt_next(&a.o)) > 0)
		if ((r = set(&a, id)) != 0)
			return r;
	if (id < 0)
		return a.o.status;
	r = check(&a, argc - a.o.index);
	if (r != 0)
		return r;
	for (int i = a.o.index; i < argc; i++) {
		if (strcmp(argv[i], "-") == 0) {
			input_open(&in, "-", a.end, RECEIPT_SIZE);
			add_from(&a, &in);
			input_close(&in);
		} else {
			add(&a, argv[i]);
		}
	}
	settle_batch(&a);
	queue_close(a.target);
	return a.status == ST_OK && a.seen == 0 ? ST_NOTHING : a.status;
}
