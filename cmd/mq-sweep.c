/* SPDX-License-Identifier: ISC
 *
 * mq-sweep: returns what has expired, releases what is due, repairs what a
 * crash left; --verify looks for what must not be. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fault.h"
#include "opt.h"
#include "report.h"
#include "std.h"
#include "store.h"

static const struct opt_use uses[] = {
	{ 'N', "say what would be done" },
	{ 's', NULL },
	{ 'v', "say what was done" },
	{ 'w', "go on, sleeping until the next deadline" },
	{ OPT_VERIFY, "verify every invariant; 1 and a line for each breach" },
	{ 0, NULL },
};

static const struct tool tool = {
	"mq-sweep", "return, release, repair and verify", "[options] [QUEUE ...]",
	"Without QUEUE all queues of the spool.", uses, NULL,
};

#define ROUND_MS 10000           /* -w: looks at least that often */
#define FULL_MS 300000           /* -w: sweeps all that often */

struct args {
	struct opt o;
	struct store *store;
	const char *spool;
	bool dry, verify, verbose, wait;
	enum sweep_how how;
	char **queues;
	int64_t next;            /* earliest of all queues; 0: none known */
	int status;
};

static void
say_line(const char *line, void *arg)
{
	(void)arg;
	printf("%s\n", line);
}

static void
say_count(const char *name, uint64_t n, const char *what)
{
	if (n > 0)
		printf("%s: %" PRIu64 " %s\n", name, n, what);
}

static void
say_swept(const char *name, const struct swept *n)
{
	say_count(name, n->recovered, "interrupted changes finished or undone");
	say_count(name, n->returned, "leases that ran out returned");
	say_count(name, n->released, "due messages released");
	say_count(name, n->expired, "messages dropped, their time to live over");
	say_count(name, n->stale, "files of dead writers and old reasons removed");
	say_count(name, n->forgotten, "settled messages and keys forgotten");
	fflush(stdout);
}

/* One that was not asked for by name may have been removed meanwhile. */
static void
trouble(struct args *a, const struct fault *f)
{
	if (f->status != ST_NOQUEUE || *a->queues != NULL)
		report_fault(&a->o, f, &a->status);
}

static void
sweep(struct args *a, struct queue *q)
{
	struct swept n;
	struct fault f;
	int64_t next = 0;

	if (queue_sweep(q, a->how, &n, &next, &f) < 0) {
		trouble(a, &f);
		return;
	}
	if (a->dry || a->verbose)
		say_swept(queue_name(q), &n);
	if (next != 0 && (a->next == 0 || next < a->next))
		a->next = next;
}

static void
verify(struct args *a, struct queue *q)
{
	struct fault f;
	int n = queue_verify(q, say_line, NULL, &f);

	if (n < 0)
		trouble(a, &f);
	else if (n > 0 && a->status == ST_OK)
		a->status = ST_NOTHING;
}

static void
verify_spool(struct args *a)
{
	struct fault f;
	int n = store_verify(a->store, say_line, NULL, &f);

	if (n < 0)
		report_fault(&a->o, &f, &a->status);
	else if (n > 0 && a->status == ST_OK)
		a->status = ST_NOTHING;
}

static int
one(const char *name, void *arg)
{
	struct args *a = arg;
	struct fault f;
	struct queue *q = queue_open(a->store, name, QUEUE_MUST, &f);

	if (q == NULL) {
		trouble(a, &f);
		return 0;
	}
	if (a->verify)
		verify(a, q);
	else
		sweep(a, q);
	queue_close(q);
	return 0;
}

/* A topic's sweep is that of its subscriptions too. */
static int
each(const char *name, void *arg)
{
	return strchr(name, '/') != NULL ? 0 : one(name, arg);
}

static void
all(struct args *a)
{
	struct fault f;

	a->next = 0;
	if (a->how == SWEEP_ALL && !a->verify && store_tidy(a->store, &f) < 0)
		report_fault(&a->o, &f, &a->status);
	if (a->verify && *a->queues == NULL)
		verify_spool(a);
	for (char **name = a->queues; *name != NULL; name++)
		one(*name, a);
	if (*a->queues == NULL && store_each(a->store, each, a, &f) < 0)
		report_fault(&a->o, &f, &a->status);
}

static void
sleep_ms(int64_t ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/* Until a signal ends it. The spool may come later than this does. */
static int
forever(struct args *a)
{
	int64_t full = 0;

	for (;;) {
		int64_t now = now_ms(), ms = ROUND_MS;
		struct fault f;

		store_close(a->store);
		a->store = store_open(a->spool, false, &f);
		if (a->store == NULL)
			return opt_fault(&a->o, &f);
		a->how = now >= full || now < full - FULL_MS ? SWEEP_ALL : SWEEP_TIMED;
		if (a->how == SWEEP_ALL)
			full = now + FULL_MS;
		all(a);
		now = now_ms();
		if (a->next != 0 && a->next - now + 1 < ms)
			ms = a->next - now + 1;
		sleep_ms(ms < 10 ? 10 : ms);
	}
}

static int
set(struct args *a, int id)
{
	switch (id) {
	case 'N':
		a->dry = true;
		a->how = SWEEP_DRY;
		break;
	case 's':
		a->spool = a->o.arg;
		break;
	case 'v':
		a->verbose = true;
		break;
	case 'w':
		a->wait = true;
		break;
	case OPT_VERIFY:
		a->verify = true;
		break;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct args a = { .how = SWEEP_ALL };
	struct fault f;
	int id;

	std_hold();
	opt_begin(&a.o, &tool, argc, argv);
	while ((id = opt_next(&a.o)) > 0)
		set(&a, id);
	if (id < 0)
		return a.o.status;
	if (a.dry + a.verify + a.wait > 1)
		return opt_usage(&a.o, "-N, -w, --verify: one of them");
	a.queues = argv + a.o.index;
	a.store = store_open(a.spool, false, &f);
	if (a.store == NULL)
		return opt_fault(&a.o, &f);
	if (a.wait)
		return forever(&a);
	all(&a);
	store_close(a.store);
	if (report_flush(&f) < 0)
		return opt_fault(&a.o, &f);
	return a.status;
}
