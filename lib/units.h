/* SPDX-License-Identifier: ISC
 *
 * units: durations, times, sizes and rates, as people write them. Parsers
 * return false, the output untouched, if the text is not exactly one value (no
 * white space, no sign, digits on both sides of a point), or does not fit. */
#ifndef MQ_UNITS_H
#define MQ_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `90` (seconds), `1.5s`, `500ms`, `5m`, `2h`, `1d` -> ms. At most 100 years;
 * never negative; a whole number of ms (`1.0001s` is refused). */
#define DURATION_MAX (INT64_C(36525) * 24 * 60 * 60 * 1000)
bool duration_parse(const char *, int64_t *ms);
/* A whole number of the largest unit that is exact, as duration_parse() reads
 * it: `0`, `30s`, `5m`, `1500ms`. */
void duration_print(int64_t ms, char *out, size_t size);
/* For people, rounded down: `0s` `12s` `3m` `5h` `2d`. */
void age_print(int64_t ms, char *out, size_t size);

/* RFC 3339 (`2026-11-30T14:00:00Z`, fractions, `+01:00`, a space or `t` for
 * `T`), or local `HH:MM[:SS]` for the next one after `now` -> ms since 1970.
 * Fractions are rounded down to ms; 23:59:60 UTC, a leap second, is the second
 * after it. From 1970 to 9999. */
#define TIME_MAX INT64_C(253402300799999)
bool time_parse(const char *, int64_t now, int64_t *ms);
/* RFC 3339 in UTC with milliseconds: `2026-11-30T14:00:00.000Z` (24 + NUL). What
 * lies outside of 1970 to 9999 prints as the nearest time in it. */
#define TIME_SIZE 32
void time_print(int64_t ms, char out[static TIME_SIZE]);

/* `512`, `64K`, `10M`, `2G`, `1T` (powers of 1024) -> bytes. */
bool size_parse(const char *, uint64_t *bytes);
void size_print(uint64_t bytes, char *out, size_t size);   /* exact, shortest */

/* `500/s`, `0.5/s`, `60/m`, `1000/h`, or a bare number a second -> a second.
 * At most 10^9 of the unit, at most six decimals. */
bool rate_parse(const char *, double *per_second);
/* As rate_parse() reads it back, exactly if it came from there: `0`, `60/h`. */
void rate_print(double per_second, char *out, size_t size);

/* The next of the words between commas, of which there is one at least, maybe empty;
 * *list moves on, and is NULL behind the last one. false: there is none left. */
bool word_next(const char **list, const char **word, size_t *len);
bool word_is(const char *word, size_t len, const char *name);

/* A decimal number of digits only, no sign, no white space. */
bool count_parse(const char *, uint64_t max, uint64_t *out);

#endif
