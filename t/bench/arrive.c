/* SPDX-License-Identifier: ISC
 *
 * arrive: arrivals and workers as a script wants them, by lib/store.h, one process.
 * The spool is $MQ_SPOOL.
 *
 *	arrive BURST PUTS ACKS HELD MS QUEUE COMMAND [ARG ...]
 *
 * Puts BURST messages at once, then PUTS a second, and takes ACKS a second, each of
 * which it acks HELD ms later; for so many MS. Then it runs COMMAND, and says what the
 * figures of the queue are by arithmetic from what it did itself:
 *
 *	IN60 OUT60 IN10 OUT10 IN1 OUT1 HELD WAITING
 *
 * messages a second in the last 60, 10 and 1 s (or since the first), mean seconds held,
 * how many are there. The burst comes shortly before a full second of the clock: the
 * meter counts by seconds. 75: the machine was too busy for that. */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "store.h"

#define AHEAD 900000                     /* us of a second, when it begins */
#define PAUSE 1000                       /* us between two looks */

struct happened {
	double at;                       /* us */
	long n;                          /* puts; acks below 0 */
};

struct held {
	struct lease *lease;
	double taken;
};

static struct fault fault;
static struct happened *events;
static size_t n_events, room;
static struct held *held;
static size_t first_held, n_held;        /* those from first_held on are held */
static double held_us;                   /* of all acked */
static long acked;

static void
check(bool good)
{
	if (!good)
		errx(1, "%s", fault.text);
}

static void
note(long n)
{
	if (n_events == room) {
		room = room > 0 ? 2 * room : 4096;
		events = need(reallocarray(events, room, sizeof *events));
	}
	events[n_events++] = (struct happened){ now_us(), n };
}

static void
put(struct queue *q, long n)
{
	struct put_spec spec = { .priority = PRIORITY_DEFAULT, .head.version = -1,
		.nosync = true };
	struct put *p = put_begin(q, &spec, &fault);
	struct put_done done;

	check(p != NULL);
	for (long k = 0; k < n; k++) {
		check(put_add(p, "x", 1, &fault) == 0);
		if (k == n - 1 || put_full(p, 1))
			check(put_commit(p, &done, &fault) == 0);
	}
	put_end(p);
	note(n);
}

static bool
take(struct queue *q)
{
	struct take_spec spec = { .want = 1, .lease = 600000 };
	struct held *h = &held[n_held];
	int r;

	h->taken = now_us();
	r = queue_take(q, &spec, &h->lease, &fault);
	check(r >= 0);
	n_held += (size_t)r;
	return r == 1;
}

static void
ack_due(double us)
{
	while (first_held < n_held && now_us() - held[first_held].taken >= us) {
		struct held *h = &held[first_held++];

		check(lease_ack(h->lease, &fault) == 1);
		lease_free(h->lease);
		held_us += now_us() - h->taken;
		acked++;
		note(-1);
	}
}

static void
run(struct queue *q, const long *v)
{
	double puts = (double)v[1] / 1e6, takes = (double)v[2] / 1e6, begin, t;
	long put_so_far = 0, taken = 0;
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	usleep((useconds_t)((AHEAD + 1000000 - ts.tv_nsec / 1000) % 1000000));
	begin = now_us();
	if (v[0] > 0) {
		put(q, v[0]);
		clock_gettime(CLOCK_BOOTTIME, &ts);
		if (ts.tv_nsec / 1000 < AHEAD)
			errx(75, "the burst came late");
	}
	while ((t = now_us() - begin) < (double)v[4] * 1000) {
		for (; put_so_far < (long)(t * puts); put_so_far++)
			put(q, 1);
		while (taken < (long)(t * takes) && take(q))
			taken++;
		ack_due((double)v[3] * 1000);
		usleep(PAUSE);
	}
}

/* --- arithmetic ------------------------------------------------------------------- */

/* Puts (sign 1) or acks (-1) a second in the last us, or since the first event. */
static double
rate(double now, double us, long sign)
{
	double age = now - events[0].at, n = 0;

	for (size_t i = 0; i < n_events; i++)
		if (events[i].n * sign > 0 && events[i].at >= now - us)
			n += (double)(events[i].n * sign);
	return n * 1e6 / (age < us ? age : us);
}

static void
reckon(double now)
{
	static const double spans[] = { 60e6, 10e6, 1e6 };
	long waiting = 0;

	for (size_t i = 0; i < n_events; i++)
		waiting += events[i].n;
	for (size_t i = 0; i < 3; i++)
		printf("%.2f %.2f ", rate(now, spans[i], 1), rate(now, spans[i], -1));
	printf("%.4f %ld\n", acked > 0 ? held_us / 1e6 / (double)acked : 0, waiting);
}

int
main(int argc, char **argv)
{
	struct store *s = store_open(NULL, true, &fault);
	struct queue *q;
	double before;
	long v[5];

	check(s != NULL);
	if (argc < 8)
		errx(64, "usage: arrive BURST PUTS ACKS HELD MS QUEUE COMMAND [ARG ...]");
	for (int i = 0; i < 5; i++)
		v[i] = number(argv[i + 1], 0);
	held = need(calloc((size_t)(v[2] * v[4] / 1000 + 1000), sizeof *held));
	q = queue_open(s, argv[6], QUEUE_MAKE, &fault);
	check(q != NULL);
	run(q, v);
	before = now_us();
	(void)usage_end(start(argv + 7, -1, STDOUT_FILENO));
	reckon((before + now_us()) / 2);
	return 0;
}
