/* SPDX-License-Identifier: ISC
 *
 * test-rates: scripted scenarios by a clock of their own, with known answers, and
 * (test-rates time) what a call costs. */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rates.h"
#include "unit.h"

#define START UINT64_C(1000003)          /* ms; no round second */

static struct rates *r;
static struct activity a;

static void
begin(void)
{
	memset(r, 0, sizeof *r);
}

static double
rate(enum event e, enum span s)
{
	return a.recent[e][s] / a.seconds[s];
}

/* `per_second` messages for ms, spread evenly. */
static void
flow(enum event e, uint64_t from, uint64_t ms, uint64_t per_second)
{
	for (uint64_t t = 0, done = 0; t < ms; t++)
		for (; done < (t + 1) * per_second / 1000; done++)
			rates_count_at(r, e, 1, from + t);
}

static void
steady(void)
{
	begin();
	flow(EV_PUT, START, 1200000, 300);
	for (uint64_t late = 0; late < 1000; late += 250) {
		rates_read(r, START + 1200000 + late, &a);
		for (enum span s = SPAN_1M; s < SPANS; s++)
			CHECK(unit_near(rate(EV_PUT, s), 300));
	}
	rates_read(r, START + 1200000 + 1000000, &a);
	for (enum span s = 0; s < SPANS; s++)
		CHECK(rate(EV_PUT, s) == 0);
	CHECK(a.total[EV_PUT] == 360000);
}

/* From the first event on, though no shorter than five seconds. */
static void
young(void)
{
	begin();
	rates_count_at(r, EV_PUT, 50, START);
	rates_read(r, START + 1, &a);
	CHECK(unit_near(rate(EV_PUT, SPAN_1M), 10));
	flow(EV_PUT, START + 1, 20000, 300);
	rates_read(r, START + 20000, &a);
	CHECK(unit_near(rate(EV_PUT, SPAN_1M), 302.5));
	CHECK(unit_near(rate(EV_PUT, SPAN_15M), 302.5));
}

static void
ends(void)
{
	begin();
	flow(EV_ACKED, START, 90000, 100);
	rates_read(r, START + 90000 + 30000, &a);
	CHECK(unit_near(rate(EV_ACKED, SPAN_1M), 50));
	CHECK(unit_near(a.recent[EV_ACKED][SPAN_5M], 9000));
	rates_read(r, START + 90000 + 61000, &a);
	CHECK(rate(EV_ACKED, SPAN_1M) == 0);
	CHECK(unit_near(a.recent[EV_ACKED][SPAN_5M], 9000));
}

static void
bulk_and_past(void)
{
	begin();
	rates_count_at(r, EV_PUT, 1000000, START);
	rates_count_at(r, EV_PUT, 7, START - 30000);
	rates_read(r, START + 100, &a);
	CHECK(a.total[EV_PUT] == 1000007);
	CHECK(a.recent[EV_PUT][SPAN_1M] == 1000007);
	CHECK(unit_near(a.recent[EV_PUT][SPAN_10S], 1000000));
	CHECK(unit_near(a.seconds[SPAN_1M], 30.1));
	/* far too late to have a place: only the total has it */
	rates_count_at(r, EV_PUT, 5, START - 800000);
	rates_read(r, START + 100, &a);
	CHECK(a.total[EV_PUT] == 1000012);
	CHECK(a.recent[EV_PUT][SPAN_1M] == 1000007);
}

static void
spreads(void)
{
	begin();
	for (int ms = 1; ms <= 10000; ms++)
		rates_held_at(r, ms, 3, START);
	rates_waited_at(r, 0, 10, START);
	rates_waited_at(r, -5, 10, START);
	rates_read(r, START, &a);
	CHECK(a.held.count == 30000);
	CHECK(unit_near(a.held.mean, 5.0005));
	CHECK(unit_near(a.held.recent, 5.0005));
	CHECK(unit_near(a.held.p50, 5));
	CHECK(unit_near(a.held.p95, 9.5));
	CHECK(unit_near(a.held.p99, 9.9));
	CHECK(a.held.below[0] == 7 * 3);
	CHECK(a.held.below[SPREAD_STEPS - 1] == 30000);
	CHECK(a.waited.count == 20 && a.waited.p99 == 0 && a.waited.mean == 0);
	/* the recent mean forgets what is long ago */
	rates_held_at(r, 100, 1, START + 1000000);
	rates_read(r, START + 1000000, &a);
	CHECK(unit_near(a.held.recent, 0.1));
	CHECK(unit_near(a.held.mean, 5));
	rates_held_at(r, INT64_C(1) << 40, 1, START + 1000000);
	rates_read(r, START + 1000000, &a);
	CHECK(a.held.count == 30002);
}

/* Two processes turn the same cells over, at the same moments. */
static void
together(void)
{
	pid_t pid;
	int status;

	begin();
	pid = fork();
	for (uint64_t i = 0; i < 400000; i++)
		rates_count_at(r, EV_PUT, 1, START + i / 4);
	if (pid == 0)
		_exit(0);
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	rates_read(r, START + 99999, &a);
	CHECK(a.total[EV_PUT] == 800000);
	/* one of them may be done with a cell when the other begins: only what
	 * is newer than it replaces it */
	CHECK(a.recent[EV_PUT][SPAN_5M] == 800000);
}

/* A page of noise is not this boot's meter, but must not hurt either. */
static void
noise(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof *r; i++) {
		x = x * 1103515245 + 12345;
		((unsigned char *)r)[i] = (unsigned char)(x >> 16);
	}
	rates_read(r, START, &a);
	rates_count_at(r, EV_PUT, 1, START);
	rates_held_at(r, 5, 1, START);
	CHECK(a.seconds[SPAN_1M] > 0);
}

/* "test-rates time": ns a call. */
static int
cost(void)
{
	enum { N = 1000000 };
	uint64_t t = rates_now();

	for (int i = 0; i < N; i++)
		rates_count(r, EV_PUT, 1);
	printf("put %.0f ns\n", (double)(rates_now() - t) * 1e6 / N);
	t = rates_now();
	for (int i = 0; i < N; i++) {
		rates_count(r, EV_TAKEN, 1);
		rates_waited(r, i % 1000, 1);
	}
	printf("take %.0f ns\n", (double)(rates_now() - t) * 1e6 / N);
	t = rates_now();
	for (int i = 0; i < N; i++) {
		rates_count(r, EV_ACKED, 1);
		rates_held(r, i % 1000, 1);
	}
	printf("ack %.0f ns\n", (double)(rates_now() - t) * 1e6 / N);
	return 0;
}

int
main(int argc, char **argv)
{
	(void)argv;
	r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r == MAP_FAILED)
		abort();
	if (argc > 1)
		return cost();
	unit_run("rates: 300 a second for 20 minutes", steady);
	unit_run("rates: a young meter", young);
	unit_run("rates: what ended is forgotten in time", ends);
	unit_run("rates: a million at once; what was put earlier", bulk_and_past);
	unit_run("rates: mean and quantiles", spreads);
	unit_run("rates: two processes", together);
	unit_run("rates: garbage", noise);
	return unit_done();
}
