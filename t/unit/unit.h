/* SPDX-License-Identifier: ISC
 *
 * unit: checks for programs that test pure code. A program runs its tests
 * with unit_run(), one TAP line each, and ends with `return unit_done()`.
 * A check that fails says where, and the test goes on. */
#ifndef MQ_UNIT_H
#define MQ_UNIT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The condition holds; ROW tells which line of a table it was about. */
#define CHECK(cond) unit_check((cond), #cond, "", __FILE__, __LINE__)
#define CHECK_ROW(cond, row) unit_check((cond), #cond, (row), __FILE__, __LINE__)
#define CHECK_STR(got, want) unit_str((got), (want), __FILE__, __LINE__)

static int unit_tests, unit_bad_tests, unit_checks, unit_bad_checks;

static inline void
unit_check(bool good, const char *cond, const char *row, const char *file,
	int line)
{
	unit_checks++;
	if (good)
		return;
	unit_bad_checks++;
	printf("# %s:%d: %s%s%s\n", file, line, cond, *row ? ": " : "", row);
}

static inline void
unit_str(const char *got, const char *want, const char *file, int line)
{
	unit_checks++;
	if (strcmp(got, want) == 0)
		return;
	unit_bad_checks++;
	printf("# %s:%d: got '%s', want '%s'\n", file, line, got, want);
}

/* Within a twentieth of what is wanted; says both where not. */
static inline bool
unit_near(double got, double want)
{
	double off = got > want ? got - want : want - got;

	if (off <= 0.05 * want)
		return true;
	printf("# got %g, want %g\n", got, want);
	return false;
}

static inline void
unit_run(const char *name, void (*test)(void))
{
	unit_checks = unit_bad_checks = 0;
	test();
	if (unit_checks == 0)
		unit_check(false, "has checks", "", name, 0);
	unit_bad_tests += unit_bad_checks > 0;
	printf("%sok %d - %s\n", unit_bad_checks > 0 ? "not " : "",
		++unit_tests, name);
	fflush(stdout);
}

static inline int
unit_done(void)
{
	printf("1..%d\n", unit_tests);
	return unit_bad_tests > 0;
}

#endif
