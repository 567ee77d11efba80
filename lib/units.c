/* SPDX-License-Identifier: ISC */
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define COUNT(a) (sizeof(a) / sizeof *(a))

struct unit {
	const char *name;
	uint64_t value;
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits at *s into *n, at most max; *s goes behind them. */
static bool
take_digits(const char **s, uint64_t max, uint64_t *n)
{
	const char *p = *s;

	*n = 0;
	for (; is_digit(*p); p++) {
		uint64_t d = (uint64_t)(*p - '0');

		if (d > max || *n > (max - d) / 10)
			return false;
		*n = *n * 10 + d;
	}
	if (p == *s)
		return false;
	*s = p;
	return true;
}

/* WHOLE[.FRACTION] at *s as whole + part / scale, the fraction in at most
 * `places` digits besides zeros at its end. */
static bool
take_decimal(const char **s, uint64_t max, int places, uint64_t *whole,
	uint64_t *part, uint64_t *scale)
{
	const char *end;

	*part = 0;
	*scale = 1;
	if (!take_digits(s, max, whole))
		return false;
	if (**s != '.')
		return true;
	end = ++*s;
	while (is_digit(*end))
		end++;
	if (end == *s)
		return false;
	for (const char *last = end; *s < end; ++*s) {
		while (last > *s && last[-1] == '0')
			last--;
		if (*s >= last)
			continue;
		if (places-- == 0)
			return false;
		*part = *part * 10 + (uint64_t)(**s - '0');
		*scale *= 10;
	}
	return true;
}

static const struct unit *
unit_named(const struct unit *u, size_t n, const char *name)
{
	for (; n > 0; u++, n--)
		if (strcmp(u->name, name) == 0)
			return u;
	return NULL;
}

/* n in the largest unit (the last) that divides it; "0" as it is. */
static void
print_exact(const struct unit *u, size_t count, uint64_t n, char *out,
	size_t size)
{
	size_t i = count - 1;

	while (i > 0 && n % u[i].value != 0)
		i--;
	if (n == 0)
		snprintf(out, size, "0");
	else
		snprintf(out, size, "%" PRIu64 "%s", n / u[i].value, u[i].name);
}

static const struct unit durations[] = {
	{ "ms", 1 }, { "s", SECOND }, { "m", MINUTE }, { "h", HOUR }, { "d", DAY },
};

bool
duration_parse(const char *s, int64_t *ms)
{
	uint64_t whole, part, scale, total;
	const struct unit *u;

	if (!take_decimal(&s, DURATION_MAX, 10, &whole, &part, &scale))
		return false;
	u = unit_named(durations, COUNT(durations), *s == '\0' ? "s" : s);
	if (u == NULL || whole > DURATION_MAX / u->value ||
	    part * u->value % scale != 0)
		return false;
	total = whole * u->value + part * u->value / scale;
	if (total > DURATION_MAX)
		return false;
	*ms = (int64_t)total;
	return true;
}

void
duration_print(int64_t ms, char *out, size_t size)
{
	print_exact(durations, COUNT(durations), ms > 0 ? (uint64_t)ms : 0, out,
		size);
}

void
age_print(int64_t ms, char *out, size_t size)
{
	if (ms < 0)
		ms = 0;
	if (ms < MINUTE)
		snprintf(out, size, "%" PRId64 "s", ms / SECOND);
	else if (ms < HOUR)
		snprintf(out, size, "%" PRId64 "m", ms / MINUTE);
	else if (ms < DAY)
		snprintf(out, size, "%" PRId64 "h", ms / HOUR);
	else
		snprintf(out, size, "%" PRId64 "d", ms / DAY);
}

/* Exactly `width` digits, from min to max; *s goes behind them. */
static bool
take_field(const char **s, int width, int min, int max, int *n)
{
	*n = 0;
	for (int i = 0; i < width; i++, ++*s) {
		if (!is_digit(**s))
			return false;
		*n = *n * 10 + (**s - '0');
	}
	return *n >= min && *n <= max;
}

static bool
take_char(const char **s, const char *any)
{
	if (**s == '\0' || strchr(any, **s) == NULL)
		return false;
	++*s;
	return true;
}

static int
month_days(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

/* A fraction of a second in ms, rounded down; none is 0. */
static bool
take_fraction(const char **s, int *ms)
{
	int weight = 100;

	*ms = 0;
	if (!take_char(s, "."))
		return true;
	if (!is_digit(**s))
		return false;
	for (; is_digit(**s); ++*s) {
		*ms += (**s - '0') * weight;
		weight /= 10;
	}
	return true;
}

static bool
take_offset(const char **s, int64_t *ms)
{
	bool west = **s == '-';
	int h, m;

	*ms = 0;
	if (take_char(s, "Zz"))
		return true;
	if (!take_char(s, "+-") || !take_field(s, 2, 0, 23, &h) ||
	    !take_char(s, ":") || !take_field(s, 2, 0, 59, &m))
		return false;
	*ms = (h * HOUR + m * MINUTE) * (west ? -1 : 1);
	return true;
}

/* The calendar by hand: gmtime(3) and timegm(3) read the zone's file first. */
struct date {
	int year, month, day;
};

/* Days since 1970-01-01; a year is counted from its March. */
static int64_t
days_of(int year, int month, int day)
{
	int y = month <= 2 ? year - 1 : year, era = y / 400, of_era = y - era * 400;
	int of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return (int64_t)era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 +
	    of_year - 719468;
}

static struct date
date_of(int64_t days)
{
	int64_t z = days + 719468, era = z / 146097, of_era = z - era * 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	int m = (int)((5 * of_year + 2) / 153);
	struct date d = {
		.year = (int)(year + era * 400) + (m >= 10),
		.month = m < 10 ? m + 3 : m - 9,
		.day = (int)of_year - (153 * m + 2) / 5 + 1,
	};

	return d;
}

static bool
take_date(const char **s, struct tm *tm)
{
	int year, month, day;

	if (!take_field(s, 4, 0, 9999, &year) || !take_char(s, "-") ||
	    !take_field(s, 2, 1, 12, &month) || !take_char(s, "-") ||
	    !take_field(s, 2, 1, month_days(year, month), &day))
		return false;
	*tm = (struct tm){ .tm_year = year - 1900, .tm_mon = month - 1,
		.tm_mday = day };
	return true;
}

static bool
rfc3339_parse(const char *s, int64_t *out)
{
	struct tm tm;
	int second, fraction;
	int64_t offset, minute;

	if (!take_date(&s, &tm) || !take_char(&s, "Tt ") ||
	    !take_field(&s, 2, 0, 23, &tm.tm_hour) || !take_char(&s, ":") ||
	    !take_field(&s, 2, 0, 59, &tm.tm_min) || !take_char(&s, ":") ||
	    !take_field(&s, 2, 0, 60, &second) ||
	    !take_fraction(&s, &fraction) || !take_offset(&s, &offset) ||
	    *s != '\0')
		return false;
	minute = days_of(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday) * DAY +
	    tm.tm_hour * HOUR + tm.tm_min * MINUTE - offset;
	if (second == 60 && minute % DAY != DAY - MINUTE)
		return false;
	*out = minute + second * SECOND + fraction;
	return *out >= 0 && *out <= TIME_MAX;
}

/* HH:MM[:SS] of today, or of tomorrow if that is over. */
static bool
clock_parse(const char *s, int64_t now, int64_t *out)
{
	time_t today = (time_t)(now / SECOND);
	struct tm tm;
	int h, m, sec = 0;

	if (!take_field(&s, 2, 0, 23, &h) || !take_char(&s, ":") ||
	    !take_field(&s, 2, 0, 59, &m))
		return false;
	if (take_char(&s, ":") && !take_field(&s, 2, 0, 59, &sec))
		return false;
	if (*s != '\0' || localtime_r(&today, &tm) == NULL)
		return false;
	for (int day = tm.tm_mday, last = day + 1; day <= last; day++) {
		struct tm at = { .tm_year = tm.tm_year, .tm_mon = tm.tm_mon,
			.tm_mday = day, .tm_hour = h, .tm_min = m,
			.tm_sec = sec, .tm_isdst = -1 };

		*out = mktime(&at) * SECOND;
		if (*out > now)
			return true;
	}
	return false;
}

bool
time_parse(const char *s, int64_t now, int64_t *ms)
{
	int64_t t;

	if (!rfc3339_parse(s, &t) && !clock_parse(s, now, &t))
		return false;
	*ms = t;
	return true;
}

static char *
put_digits(char *p, int64_t v, int width)
{
	for (int i = width - 1; i >= 0; i--, v /= 10)
		p[i] = (char)('0' + v % 10);
	return p + width;
}

void
time_print(int64_t ms, char out[static TIME_SIZE])
{
	struct date d;
	int64_t rest;
	char *p = out;

	ms = ms < 0 ? 0 : ms > TIME_MAX ? TIME_MAX : ms;
	d = date_of(ms / DAY);
	rest = ms % DAY;
	p = put_digits(p, d.year, 4);
	*p++ = '-';
	p = put_digits(p, d.month, 2);
	*p++ = '-';
	p = put_digits(p, d.day, 2);
	*p++ = 'T';
	p = put_digits(p, rest / HOUR, 2);
	*p++ = ':';
	p = put_digits(p, rest % HOUR / MINUTE, 2);
	*p++ = ':';
	p = put_digits(p, rest % MINUTE / SECOND, 2);
	*p++ = '.';
	p = put_digits(p, rest % SECOND, 3);
	memcpy(p, "Z", 2);
}

static const struct unit sizes[] = {
	{ "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 },
	{ "T", UINT64_C(1) << 40 },
};

bool
size_parse(const char *s, uint64_t *bytes)
{
	const struct unit *u;
	uint64_t n;

	if (!take_digits(&s, UINT64_MAX, &n))
		return false;
	u = unit_named(sizes, COUNT(sizes), s);
	if (u == NULL || n > UINT64_MAX / u->value)
		return false;
	*bytes = n * u->value;
	return true;
}

void
size_print(uint64_t bytes, char *out, size_t size)
{
	print_exact(sizes, COUNT(sizes), bytes, out, size);
}

static const struct unit rates[] = { { "/s", 1 }, { "/m", 60 }, { "/h", 3600 } };

#define RATE_WHOLE UINT64_C(1000000000)
#define RATE_PLACES 6        /* both together stay exact in a double */
#define RATE_SCALE UINT64_C(1000000)

bool
rate_parse(const char *s, double *per_second)
{
	uint64_t whole, part, scale;
	const struct unit *u;

	if (!take_decimal(&s, RATE_WHOLE, RATE_PLACES, &whole, &part, &scale))
		return false;
	u = unit_named(rates, COUNT(rates), *s == '\0' ? "/s" : s);
	if (u == NULL)
		return false;
	*per_second = (double)(whole * scale + part) / (double)(scale * u->value);
	return true;
}

/* n / scale of a unit, if rate_parse() makes exactly `rate` of it. */
static bool
rate_in(double rate, uint64_t unit, uint64_t scale, uint64_t *n)
{
	double each = (double)(scale * unit);

	*n = (uint64_t)(rate * each + 0.5);
	return *n <= RATE_WHOLE * scale && !((double)*n / each < rate) &&
		!((double)*n / each > rate);
}

static void
rate_write(uint64_t n, uint64_t scale, const char *unit, char *out, size_t size)
{
	char digits[24];
	int places = 0;

	for (uint64_t k = scale; k > 1; k /= 10)
		places++;
	snprintf(digits, sizeof digits, "%06" PRIu64,
		n % scale * (RATE_SCALE / scale));
	snprintf(out, size, "%" PRIu64 "%s%.*s%s", n / scale,
		places > 0 ? "." : "", places, digits, unit);
}

void
rate_print(double per_second, char *out, size_t size)
{
	double rate = per_second > 0 ? per_second : 0;
	uint64_t n;

	if (rate > (double)RATE_WHOLE)
		rate = (double)RATE_WHOLE;
	if (rate < 1e-12) {
		snprintf(out, size, "0");
		return;
	}
	for (uint64_t scale = 1; scale <= RATE_SCALE; scale *= 10)
		for (size_t i = 0; i < COUNT(rates); i++)
			if (rate_in(rate, rates[i].value, scale, &n)) {
				rate_write(n, scale, rates[i].name, out, size);
				return;
			}
	rate_in(rate, 1, RATE_SCALE, &n);
	rate_write(n, RATE_SCALE, "/s", out, size);
}

bool
count_parse(const char *s, uint64_t max, uint64_t *out)
{
	uint64_t n;

	if (!take_digits(&s, max, &n) || *s != '\0')
		return false;
	*out = n;
	return true;
}

/* --- lists ------------------------------------------------------------------------- */

bool
word_next(const char **list, const char **word, size_t *len)
{
	if (*list == NULL)
		return false;
	*word = *list;
	*len = strcspn(*list, ",");
	*list = (*list)[*len] == ',' ? *list + *len + 1 : NULL;
	return true;
}

bool
word_is(const char *word, size_t len, const char *name)
{
	return strncmp(word, name, len) == 0 && name[len] == '\0';
}
