/* SPDX-License-Identifier: ISC */
#include <signal.h>

#include "exitmap.h"
#include "unit.h"

static void
defaults(void)
{
	struct exitmap m;

	exitmap_defaults(&m);
	CHECK(m.verdict[0] == VERDICT_ACK);
	CHECK(m.verdict[65] == VERDICT_BURY && m.verdict[100] == VERDICT_BURY);
	CHECK(m.verdict[126] == VERDICT_STOP && m.verdict[127] == VERDICT_STOP);
	CHECK(m.verdict[1] == VERDICT_RETRY && m.verdict[137] == VERDICT_RETRY);
	CHECK(m.delay[1] == -1);
}

static void
rules(void)
{
	struct exitmap m;
	struct fault f;

	exitmap_defaults(&m);
	CHECK(exitmap_set(&m, "3,4-9=bury", &f) == 0);
	CHECK(m.verdict[2] == VERDICT_RETRY && m.verdict[10] == VERDICT_RETRY);
	for (int code = 3; code <= 9; code++)
		CHECK(m.verdict[code] == VERDICT_BURY);
	CHECK(exitmap_set(&m, "75=retry:5m", &f) == 0);
	CHECK(m.verdict[75] == VERDICT_RETRY && m.delay[75] == 300000);
	CHECK(exitmap_set(&m, "75=retry", &f) == 0);
	CHECK(m.delay[75] == -1);
	CHECK(exitmap_set(&m, "0-255=ack", &f) == 0);
	CHECK(m.verdict[255] == VERDICT_ACK);
	CHECK(exitmap_set(&m, "0=stop", &f) == 0);
	CHECK(m.verdict[0] == VERDICT_STOP);
}

static void
refused(void)
{
	static const char *const bad[] = {
		"", "=", "1", "1=", "=ack", "1=foo", "1=retry:", "1=retry:x", "256=ack",
		"1-=ack", "-1=ack", "9-4=ack", "1,=ack", ",1=ack", "1 =ack", "a=ack",
		"99999999999=ack", "1=ack ", "1=ack=2", "1--2=ack", "1-2-3=ack",
	};
	struct exitmap m, before;
	struct fault f;

	exitmap_defaults(&m);
	before = m;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		f.status = 0;
		CHECK_ROW(exitmap_set(&m, bad[i], &f) == -1 && f.status == ST_USAGE, bad[i]);
		CHECK_ROW(memcmp(&m, &before, sizeof m) == 0, bad[i]);
	}
}

static void
codes(void)
{
	CHECK(exit_code(0x0300) == 3);           /* as wait(2) gives them */
	CHECK(exit_code(SIGKILL) == 137);
	CHECK(exit_code(SIGSEGV | 0x80) == 139);
}

static void
jobs(void)
{
	static char *const yes[][5] = { { "mq-run", "--worker" }, { "/usr/bin/mq-run", "--worker" },
		{ "nice", "mq-run", "--worker" }, { "mq", "run", "--worker" } };
	static char *const no[][5] = { { "mq-run" }, { "--worker" }, { "mq-runs", "--worker" },
		{ "run", "--worker" }, { "xmq", "run", "--worker" }, { "mq-run", "--worker", "x" } };
	struct exitmap m;
	struct fault f;

	for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
		CHECK_ROW(exitmap_runs_jobs(yes[i]), yes[i][0]);
	for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
		CHECK_ROW(!exitmap_runs_jobs(no[i]), no[i][0]);
	exitmap_defaults(&m);
	CHECK(exitmap_set(&m, "127=stop", &f) == 0);
	exitmap_jobs(&m);
	CHECK(m.verdict[126] == VERDICT_BURY && m.verdict[127] == VERDICT_STOP);
}

int
main(void)
{
	unit_run("exitmap: the defaults", defaults);
	unit_run("exitmap: codes and actions", rules);
	unit_run("exitmap: what is refused changes nothing", refused);
	unit_run("exitmap: a signal is 128+N", codes);
	unit_run("exitmap: 126 and 127 of a job", jobs);
	return unit_done();
}
