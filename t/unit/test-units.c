/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "unit.h"
#include "units.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define UNTOUCHED -7

static void
duration_good(void)
{
	static const struct { const char *text; int64_t ms; } rows[] = {
		{ "0", 0 }, { "90", 90000 }, { "1.5s", 1500 }, { "0.1s", 100 },
		{ "0.7", 700 }, { "0.001", 1 }, { "500ms", 500 }, { "5m", 300000 },
		{ "2h", 7200000 }, { "1d", 86400000 }, { "1.5d", 129600000 },
		{ "0.25h", 900000 }, { "0.0009765625d", 84375 }, { "1.000000000000000000000s", 1000 },
		{ "1.0ms", 1 }, { "007", 7000 },
		{ "36525d", DURATION_MAX }, { "3155760000", DURATION_MAX },
		{ "3155760000000ms", DURATION_MAX }, { "4.35s", 4350 },
		{ "0.29s", 290 }, { "1.001s", 1001 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ms = UNTOUCHED;

		CHECK_ROW(duration_parse(rows[i].text, &ms), rows[i].text);
		CHECK_ROW(ms == rows[i].ms, rows[i].text);
	}
}

static void
duration_bad(void)
{
	static const char *const rows[] = {
		"", " ", "s", "-1", "+1", " 1", "1 ", "1 s", "1.", ".5", ".", "1..5",
		"1.5.5", "1,5", "0x10", "1e3", "1S", "1sec", "1w", "5ms5", "1m30s",
		"0.0001s", "1.5ms", "0.00000000001d", "0.0009765625h", "0.3333333h", "36526d", "36525.00001d",
		"3155760000001ms", "99999999999999999999", "18446744073709551616",
		"18446744073709551617ms", "1\n", "inf", "nan", "\xd9\xa1",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ms = UNTOUCHED;

		CHECK_ROW(!duration_parse(rows[i], &ms), rows[i]);
		CHECK_ROW(ms == UNTOUCHED, rows[i]);
	}
}

static void
duration_round_trip(void)
{
	static const struct { int64_t ms; const char *text; } rows[] = {
		{ 0, "0" }, { 1, "1ms" }, { 1500, "1500ms" }, { 30000, "30s" },
		{ 90000, "90s" }, { 300000, "5m" }, { 3600000, "1h" },
		{ 86400000, "1d" }, { 90000000, "25h" }, { -5, "0" },
		{ DURATION_MAX, "36525d" }, { DURATION_MAX - 1, "3155759999999ms" },
	};
	char text[32];

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ms = UNTOUCHED;

		duration_print(rows[i].ms, text, sizeof text);
		CHECK_STR(text, rows[i].text);
		CHECK_ROW(duration_parse(text, &ms), text);
		CHECK_ROW(ms == rows[i].ms || rows[i].ms < 0, text);
	}
}

static void
ages(void)
{
	static const struct { int64_t ms; const char *text; } rows[] = {
		{ -1, "0s" }, { 0, "0s" }, { 999, "0s" }, { 12000, "12s" },
		{ 59999, "59s" }, { 60000, "1m" }, { 200000, "3m" },
		{ 3599999, "59m" }, { 18000000, "5h" }, { 86399999, "23h" },
		{ 172800000, "2d" }, { INT64_MAX, "106751991167d" },
	};
	char text[32];

	for (size_t i = 0; i < COUNT(rows); i++) {
		age_print(rows[i].ms, text, sizeof text);
		CHECK_STR(text, rows[i].text);
	}
}

static void
time_good(void)
{
	static const struct { const char *text, *print; } rows[] = {
		{ "2026-11-30T14:00:00Z", "2026-11-30T14:00:00.000Z" },
		{ "2026-11-30t14:00:00z", "2026-11-30T14:00:00.000Z" },
		{ "2026-11-30 14:00:00.5Z", "2026-11-30T14:00:00.500Z" },
		{ "2026-11-30T14:00:00.1239999Z", "2026-11-30T14:00:00.123Z" },
		{ "2026-11-30T14:00:00.001Z", "2026-11-30T14:00:00.001Z" },
		{ "2026-11-30T14:00:00+01:00", "2026-11-30T13:00:00.000Z" },
		{ "2026-11-30T23:30:00-01:30", "2026-12-01T01:00:00.000Z" },
		{ "2026-11-30T14:00:00-00:00", "2026-11-30T14:00:00.000Z" },
		{ "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z" },
		{ "1969-12-31T23:30:00-01:00", "1970-01-01T00:30:00.000Z" },
		{ "2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z" },
		{ "2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z" },
		{ "2038-01-19T03:14:08Z", "2038-01-19T03:14:08.000Z" },
		{ "2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z" },
		{ "2016-12-31T15:59:60.25-08:00", "2017-01-01T00:00:00.250Z" },
		{ "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z" },
	};
	char text[TIME_SIZE];

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ms, again;

		CHECK_ROW(time_parse(rows[i].text, 0, &ms), rows[i].text);
		time_print(ms, text);
		CHECK_STR(text, rows[i].print);
		CHECK_ROW(time_parse(text, 0, &again) && again == ms, text);
	}
}

static void
time_bad(void)
{
	static const char *const rows[] = {
		"", "2026", "2026-11-30", "2026-11-30T14:00Z", "2026-11-30T14:00:00",
		"2026-11-31T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
		"2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z",
		"2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z",
		"2026-01-01T00:00:60Z", "2026-01-01T00:00:00.Z", "2026-1-1T00:00:00Z",
		"2026-01-01_00:00:00Z", "2026-01-01T00:00:00+0100",
		"2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+01:60",
		"2026-01-01T00:00:00Zx", " 2026-01-01T00:00:00Z", "+026-01-01T00:00:00Z",
		"1969-12-31T23:59:59Z", "1970-01-01T00:00:00+00:01",
		"9999-12-31T23:59:59-00:01", "9999-12-31T23:59:60Z",
		"24:00", "2:00", "02:60", "02:00:60", "02:00:", "02:00:00Z", "0200",
		"02:00 ", "-2:00", "now",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ms = UNTOUCHED;

		CHECK_ROW(!time_parse(rows[i], 0, &ms), rows[i]);
		CHECK_ROW(ms == UNTOUCHED, rows[i]);
	}
}

static void
time_local(void)
{
	static const struct { const char *zone, *now, *text, *want; } rows[] = {
		{ "UTC", "2026-11-30T01:59:59.999Z", "02:00", "2026-11-30T02:00:00.000Z" },
		{ "UTC", "2026-11-30T02:00:00Z", "02:00", "2026-12-01T02:00:00.000Z" },
		{ "UTC", "2026-12-31T12:00:00Z", "02:00:07", "2027-01-01T02:00:07.000Z" },
		{ "CET-1", "2026-11-30T23:30:00Z", "02:00", "2026-12-01T01:00:00.000Z" },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-28T12:00:00Z", "06:00",
			"2026-03-29T04:00:00.000Z" },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-24T12:00:00Z", "06:00",
			"2026-10-25T05:00:00.000Z" },
	};
	char text[TIME_SIZE];

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t now = 0, ms = 0;

		setenv("TZ", rows[i].zone, 1);
		tzset();
		CHECK(time_parse(rows[i].now, 0, &now));
		CHECK_ROW(time_parse(rows[i].text, now, &ms), rows[i].text);
		time_print(ms, text);
		CHECK_STR(text, rows[i].want);
	}
}

static void
time_outside(void)
{
	char text[TIME_SIZE];

	time_print(INT64_MIN, text);
	CHECK_STR(text, "1970-01-01T00:00:00.000Z");
	time_print(INT64_MAX, text);
	CHECK_STR(text, "9999-12-31T23:59:59.999Z");
}

static void
sizes(void)
{
	static const struct { const char *text; uint64_t bytes; const char *print; }
	rows[] = {
		{ "0", 0, "0" }, { "512", 512, "512" }, { "1024", 1024, "1K" },
		{ "64K", 65536, "64K" }, { "10M", 10485760, "10M" },
		{ "2G", UINT64_C(2) << 30, "2G" }, { "2048G", UINT64_C(2) << 40, "2T" },
		{ "0G", 0, "0" }, { "1025", 1025, "1025" },
		{ "18446744073709551615", UINT64_MAX, "18446744073709551615" },
		{ "16777215T", UINT64_C(16777215) << 40, "16777215T" },
	};
	static const char *const bad[] = {
		"", "K", "-1", "+1", " 1", "1 ", "1k", "1KB", "1.5G", "0x1", "1KK",
		"18446744073709551616", "16777216T", "99999999999999999999K",
	};
	char text[32];

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t n = 9;

		CHECK_ROW(size_parse(rows[i].text, &n), rows[i].text);
		CHECK_ROW(n == rows[i].bytes, rows[i].text);
		size_print(n, text, sizeof text);
		CHECK_STR(text, rows[i].print);
		CHECK_ROW(size_parse(text, &n) && n == rows[i].bytes, text);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		uint64_t n = 9;

		CHECK_ROW(!size_parse(bad[i], &n) && n == 9, bad[i]);
	}
}

static bool
same(double a, double b)
{
	return memcmp(&a, &b, sizeof a) == 0;
}

static void
rates_good(void)
{
	static const struct { const char *text; double rate; const char *print; }
	rows[] = {
		{ "500/s", 500, "500/s" }, { "60/m", 1, "1/s" }, { "5", 5, "5/s" },
		{ "1000/h", 1000.0 / 3600, "1000/h" }, { "0", 0, "0" },
		{ "0.5/s", 0.5, "30/m" }, { "0.1", 0.1, "6/m" }, { "0/h", 0, "0" },
		{ "0.001/s", 0.001, "3.6/h" }, { "1.25/h", 1.25 / 3600, "1.25/h" },
		{ "7/m", 7.0 / 60, "7/m" }, { "1000000000", 1e9, "1000000000/s" },
		{ "999999999.999999", 999999999.999999, "999999999.999999/s" },
		{ "0.000001/h", 0.000001 / 3600, "0.000001/h" },
		{ "2.50/s", 2.5, "150/m" },
	};
	char text[40];

	for (size_t i = 0; i < COUNT(rows); i++) {
		double rate = -1, again = -1;

		CHECK_ROW(rate_parse(rows[i].text, &rate), rows[i].text);
		CHECK_ROW(same(rate, rows[i].rate), rows[i].text);
		rate_print(rate, text, sizeof text);
		CHECK_STR(text, rows[i].print);
		CHECK_ROW(rate_parse(text, &again) && same(rate, again), text);
	}
}

static void
rates_round_trip(void)
{
	static const char units[] = "smh";
	char text[40];

	srandom(1);
	for (int i = 0; i < 20000; i++) {
		double rate = 0, again = -1;

		snprintf(text, sizeof text, "%ld.%06ld/%c", random() %
			(i % 2 ? 1000000000 : 100), random() % 1000000, units[i % 3]);
		CHECK_ROW(rate_parse(text, &rate), text);
		rate_print(rate, text, sizeof text);
		CHECK_ROW(rate_parse(text, &again) && same(rate, again), text);
	}
}

static void
rates_bad(void)
{
	static const char *const bad[] = {
		"", "/s", "-1/s", "1/", "1/d", "1/S", "1 /s", "1/s ", "1s", ".5/s",
		"1./s", "1e3/s", "inf", "1000000001/s", "0.0000001/s", "1/s/s",
	};
	char text[40];

	for (size_t i = 0; i < COUNT(bad); i++) {
		double rate = -1;

		CHECK_ROW(!rate_parse(bad[i], &rate) && same(rate, -1), bad[i]);
	}
	rate_print(1.0 / 7, text, sizeof text);
	CHECK_STR(text, "0.142857/s");
	rate_print(1e300, text, sizeof text);
	CHECK_STR(text, "1000000000/s");
	rate_print(-3, text, sizeof text);
	CHECK_STR(text, "0");
}

static void
counts(void)
{
	static const struct { const char *text; uint64_t max; bool good; uint64_t n; }
	rows[] = {
		{ "0", 0, true, 0 }, { "1", 0, false, 0 }, { "9", 9, true, 9 },
		{ "10", 9, false, 0 }, { "007", 7, true, 7 }, { "12", 7, false, 0 },
		{ "18446744073709551615", UINT64_MAX, true, UINT64_MAX },
		{ "18446744073709551616", UINT64_MAX, false, 0 },
		{ "4294967295", UINT32_MAX, true, UINT32_MAX },
		{ "4294967296", UINT32_MAX, false, 0 }, { "", 9, false, 0 },
		{ "-1", 9, false, 0 }, { "+1", 9, false, 0 }, { " 1", 9, false, 0 },
		{ "1 ", 9, false, 0 }, { "1a", 9, false, 0 }, { "0x1", 9, false, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t n = 77;
		bool good = count_parse(rows[i].text, rows[i].max, &n);

		CHECK_ROW(good == rows[i].good, rows[i].text);
		CHECK_ROW(n == (good ? rows[i].n : 77), rows[i].text);
	}
}

/* Each word of the list, as `[a][]`. */
static void
words(void)
{
	static const struct { const char *list, *want; } rows[] = {
		{ "a", "[a]" }, { "", "[]" }, { "a,bc", "[a][bc]" }, { ",", "[][]" },
		{ "a,", "[a][]" }, { ",a,,b", "[][a][][b]" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *list = rows[i].list, *word;
		char got[32] = "";
		size_t len;

		while (word_next(&list, &word, &len))
			snprintf(got + strlen(got), sizeof got - strlen(got), "[%.*s]",
			    (int)len, word);
		CHECK_STR(got, rows[i].want);
	}
	CHECK(word_is("ab,c", 2, "ab") && !word_is("ab,c", 1, "ab") &&
	    !word_is("abc", 3, "ab") && word_is("", 0, "") && !word_is("", 0, "a"));
}

int
main(void)
{
	unit_run("duration_parse: durations", duration_good);
	unit_run("duration_parse: refuses what is none", duration_bad);
	unit_run("duration_print: duration_parse() reads it", duration_round_trip);
	unit_run("age_print: rounds down", ages);
	unit_run("time_parse: RFC 3339, there and back", time_good);
	unit_run("time_parse: refuses what is no time", time_bad);
	unit_run("time_parse: the next local HH:MM", time_local);
	unit_run("time_print: stays within its years", time_outside);
	unit_run("size_parse, size_print: sizes", sizes);
	unit_run("rate_parse, rate_print: rates", rates_good);
	unit_run("rate_print: rate_parse() makes the same of it", rates_round_trip);
	unit_run("rate_parse: refuses what is no rate", rates_bad);
	unit_run("count_parse: digits up to a maximum", counts);
	unit_run("word_next, word_is: words between commas", words);
	return unit_done();
}
