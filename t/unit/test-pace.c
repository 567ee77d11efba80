/* SPDX-License-Identifier: ISC */
#include "pace.h"
#include "unit.h"

#define S (1000000000LL)

static struct id
id(uint64_t n)
{
	return (struct id){ 1, n };
}

static void
no_limit(void)
{
	struct pace p;

	pace_init(&p, 0, true, 5 * S);
	for (int i = 0; i < 1000; i++) {
		CHECK(pace_next(&p, 5 * S) <= 5 * S);
		pace_started(&p, 5 * S);
	}
}

static void
rate(void)
{
	struct pace p;
	int64_t now = S, started = 0;

	pace_init(&p, 500, true, now);
	while (now < 2 * S) {
		if (pace_next(&p, now) <= now) {
			pace_started(&p, now);
			started++;
		} else {
			CHECK(pace_next(&p, now) > now);
			now = pace_next(&p, now);
		}
	}
	CHECK(started >= 499 && started <= 505);
	/* an idle time is not saved up */
	now += 100 * S;
	for (started = 0; pace_next(&p, now) <= now; started++)
		pace_started(&p, now);
	CHECK(started == 5);
}

static void
brake(void)
{
	struct pace p;
	int64_t now = S, pauses[] = { 1, 2, 4, 8, 16, 32, 60, 60 };

	pace_init(&p, 0, true, now);
	for (uint64_t i = 0; i < 9; i++)
		CHECK(!pace_failure(&p, id(i), now));
	CHECK(pace_next(&p, now) <= now);
	CHECK(pace_failure(&p, id(9), now));
	for (size_t i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
		CHECK(pace_next(&p, now) == now + pauses[i] * S);
		now = pace_next(&p, now);
		pace_started(&p, now);
		CHECK(!pace_failure(&p, id(100 + i), now));
	}
	pace_success(&p);
	CHECK(pace_next(&p, now) <= now);
	for (uint64_t i = 0; i < 9; i++)
		CHECK(!pace_failure(&p, id(i), now));
	CHECK(pace_failure(&p, id(9), now));
}

static void
poison(void)
{
	struct pace p;

	pace_init(&p, 0, true, S);
	for (int i = 0; i < 100; i++)
		CHECK(!pace_failure(&p, id(7), S));
	for (uint64_t i = 0; i < 100; i++) {
		CHECK(!pace_failure(&p, id(i), S));
		pace_success(&p);
	}
	pace_init(&p, 0, false, S);
	for (uint64_t i = 0; i < 100; i++)
		CHECK(!pace_failure(&p, id(i), S));
}

int
main(void)
{
	unit_run("pace: no limit", no_limit);
	unit_run("pace: a rate", rate);
	unit_run("pace: the brake", brake);
	unit_run("pace: poison, luck and --no-brake do not brake", poison);
	return unit_done();
}
