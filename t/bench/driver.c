/* SPDX-License-Identifier: ISC
 *
 * driver: what a process does with one message at a time, by lib/store.h, without
 * the start of a process for each. The spool is $MQ_SPOOL.
 *
 *	driver put [-S] N QUEUE         N messages, a file each
 *	driver take N QUEUE             takes and acks N, one by one
 *	driver depth ROUNDS [-r N QUEUE] ...
 *
 * depth opens each queue in turn, takes one message, acks it, closes, round after
 * round, and prints for each queue the median in microseconds of opening and
 * taking. A queue that comes to its end is given N again by one bulk put. */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "store.h"

#define QUEUES 16

static struct fault fault;

static void
check(bool good)
{
	if (!good)
		errx(1, "%s", fault.text);
}

static void
put(struct queue *q, long n, bool nosync, bool bulk)
{
	static const struct put_spec sync = { .priority = PRIORITY_DEFAULT,
		.head.version = -1 };
	struct put_spec spec = sync;
	char body[100];
	struct put *p;
	struct put_done done;

	spec.nosync = nosync;
	memset(body, 'x', sizeof body);
	p = put_begin(q, &spec, &fault);
	check(p != NULL);
	for (long k = 0; k < n; k++) {
		check(put_add(p, body, sizeof body, &fault) == 0);
		if (!bulk || k == n - 1 || put_full(p, sizeof body))
			check(put_commit(p, &done, &fault) == 0);
	}
	put_end(p);
}

static struct lease *
take(struct queue *q)
{
	struct take_spec spec = { .want = 1 };
	struct lease *l;
	int r = queue_take(q, &spec, &l, &fault);

	check(r >= 0);
	if (r == 0)
		errx(1, "%s: nothing there", queue_name(q));
	return l;
}

static void
ack(struct lease *l)
{
	check(lease_ack(l, &fault) == 1);
	lease_free(l);
}

/* --- one take from a backlog ---------------------------------------------------- */

struct backlog {
	const char *name;
	long n, left;                    /* n 0: never filled again */
	double *us;
};

/* Returns how long it was to open and take. */
static double
one(struct store *s, const char *name)
{
	double begin = now_us(), us;
	struct queue *q = queue_open(s, name, QUEUE_MUST, &fault);
	struct lease *l;

	check(q != NULL);
	l = take(q);
	us = now_us() - begin;
	ack(l);
	queue_close(q);
	return us;
}

static void
fill(struct store *s, struct backlog *b)
{
	struct queue *q = queue_open(s, b->name, QUEUE_MUST, &fault);

	check(q != NULL);
	put(q, b->n, true, true);
	queue_close(q);
	b->left = b->n;
}

static int
depth(struct store *s, long rounds, char **args)
{
	struct backlog all[QUEUES];
	size_t n = 0;

	for (; *args != NULL; n++) {
		if (n == QUEUES)
			errx(64, "too many queues");
		all[n] = (struct backlog) { 0 };
		if (strcmp(*args, "-r") == 0 && args[1] != NULL && args[2] != NULL) {
			all[n].n = all[n].left = number(args[1], 2);
			args += 2;
		}
		all[n].name = *args++;
		all[n].us = need(calloc((size_t)rounds, sizeof *all[n].us));
	}
	for (long r = 0; r < rounds; r++)
		for (size_t i = 0; i < n; i++) {
			all[i].us[r] = one(s, all[i].name);
			if (all[i].n > 0 && --all[i].left == 1)
				fill(s, &all[i]);
		}
	for (size_t i = 0; i < n; i++)
		printf("%.1f %s\n", quantile(all[i].us, (size_t)rounds, 0.5), all[i].name);
	return 0;
}

int
main(int argc, char **argv)
{
	bool nosync = argc > 2 && strcmp(argv[2], "-S") == 0;
	char **args = argv + 2 + nosync;
	struct store *s = store_open(NULL, true, &fault);
	struct queue *q;
	long n;

	check(s != NULL);
	if (argc < 4 + nosync)
		errx(64, "usage: driver put|take|depth ...; see its source");
	n = number(args[0], 1);
	if (strcmp(argv[1], "depth") == 0)
		return depth(s, n, args + 1);
	q = queue_open(s, args[1], QUEUE_MAKE, &fault);
	check(q != NULL);
	if (strcmp(argv[1], "put") == 0)
		put(q, n, nosync, false);
	else
		for (long k = 0; k < n; k++)
			ack(take(q));
	queue_close(q);
	store_close(s);
	return 0;
}
