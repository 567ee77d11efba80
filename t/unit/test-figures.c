/* SPDX-License-Identifier: ISC
 *
 * test-figures: scripted scenarios with known answers, by a clock of their own. */

#include "figures.h"
#include "rates.h"
#include "unit.h"

#define START UINT64_C(5000000)          /* ms */

static struct rates r;
static struct figures g;

static void
begin(void)
{
	memset(&r, 0, sizeof r);
	g = (struct figures){ .known = true };
	g.counts.oldest = g.counts.oldest_ready = g.counts.oldest_total = 0;
}

/* At that many ms after the start, n of the event in each ms of the 1000 of a
 * second spread evenly. */
static void
tick(uint64_t ms, unsigned put, unsigned acked, int64_t held)
{
	uint64_t at = START + ms, second = ms % 1000;
	unsigned in = (unsigned)((second + 1) * put / 1000 - second * put / 1000);
	unsigned out = (unsigned)((second + 1) * acked / 1000 - second * acked / 1000);

	if (in > 0)
		rates_count_at(&r, EV_PUT, in, at);
	if (out > 0) {
		rates_count_at(&r, EV_ACKED, out, at);
		rates_held_at(&r, held, out, at);
	}
}

static void
look(uint64_t ms, uint64_t ready)
{
	rates_read(&r, START + ms, &g.activity);
	g.counts.ready = ready;
	figures_reckon(&g);
}

static double
value(enum figure f)
{
	double v = -1;

	CHECK(figure_value(&g, f, &v));
	return v;
}

/* 300 a second, held 0.2 s: 60 workers. */
static void
workers(void)
{
	begin();
	for (uint64_t ms = 0; ms < 120000; ms++)
		tick(ms, 300, 300, 200);
	look(120000, 60);
	CHECK(unit_near(value(F_IN), 300));
	CHECK(unit_near(value(F_OUT), 300));
	CHECK(unit_near(value(F_WORKERS), 60));
	CHECK(value(F_DRAIN) >= NEVER);
	CHECK(g.trend == STEADY);
	/* as soon as ten seconds after the first */
	begin();
	for (uint64_t ms = 0; ms < 10000; ms++)
		tick(ms, 300, 300, 200);
	look(10000, 60);
	CHECK(unit_near(value(F_WORKERS), 60));
}

/* 12,000 wait, 500 go and 100 come a second: 30 s. */
static void
drain(void)
{
	begin();
	for (uint64_t ms = 0; ms < 90000; ms++)
		tick(ms, 100, 500, 100);
	look(90000, 12000);
	CHECK(unit_near(value(F_DRAIN), 30));
	CHECK(unit_near(value(F_WORKERS), 10));
	CHECK(g.trend == DRAINING);
	look(90000, 0);
	CHECK(value(F_DRAIN) == 0);
}

/* 1,000 at once, then 200 a second go: after t seconds 1000 - 200 t are left, and
 * it takes 5 - t more. */
static void
burst(void)
{
	begin();
	rates_count_at(&r, EV_PUT, 1000, START - 1);
	for (uint64_t ms = 0; ms < 1000; ms++)
		tick(ms, 0, 200, 10);
	look(1000, 800);
	CHECK(unit_near(value(F_DRAIN), 4) || unit_near(value(F_DRAIN), 5));
	for (uint64_t ms = 1000; ms < 2500; ms++)
		tick(ms, 0, 200, 10);
	look(2500, 500);
	CHECK(unit_near(value(F_DRAIN), 2.5));
	CHECK(g.trend == GROWING);
}

static void
unknown(void)
{
	double v;

	begin();
	look(0, 5);
	CHECK(value(F_IN) == 0 && value(F_OUT) == 0 && value(F_WORKERS) == 0);
	CHECK(value(F_DRAIN) >= NEVER);
	rates_count_at(&r, EV_PUT, 5, START);
	look(100, 5);
	CHECK(value(F_IN) == 1);
	CHECK(!figure_value(&g, F_WORKERS, &v));
	CHECK(g.trend == STEADY);
	g.known = false;
	CHECK(!figure_value(&g, F_IN, &v) && !figure_value(&g, F_DROPPED, &v));
	CHECK(figure_value(&g, F_READY, &v) && v == 5);
	g = (struct figures){ .known = true, .topic = true };
	CHECK(figure_value(&g, F_IN, &v) && !figure_value(&g, F_OUT, &v));
}

static void
names(void)
{
	for (int i = 0; i < FIGURES; i++) {
		const char *name = figure_name((enum figure)i);

		CHECK(figure_find(name, strlen(name)) == (enum figure)i);
	}
	CHECK(figure_find("read", 4) == FIGURES);
	CHECK(figure_find("readyx", 5) == F_READY);
	CHECK(figure_find("", 0) == FIGURES);
}

static void
explained(void)
{
	char d[EXPLAINED_SIZE], w[EXPLAINED_SIZE];

	begin();
	for (uint64_t ms = 0; ms < 90000; ms++)
		tick(ms, 100, 500, 100);
	look(90000, 12000);
	figures_explain(&g, d, w);
	CHECK_STR(d, "drain: 12000 ready or leased / 400.0/s net = 30 s");
	CHECK_STR(w, "workers: 100.0/s in x 0.100 s held = 10.00: 10");
}

int
main(void)
{
	unit_run("workers: 300/s held 0.2 s are 60", workers);
	unit_run("drain: 12,000 at 400/s net are 30 s", drain);
	unit_run("drain: a burst being worked off", burst);
	unit_run("figures: what is not known", unknown);
	unit_run("figures: by their names", names);
	unit_run("figures_explain", explained);
	return unit_done();
}
