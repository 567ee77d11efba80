/* SPDX-License-Identifier: ISC */
#include "conf.h"

#include <stdio.h>
#include <string.h>

#include "units.h"

#define HOUR UINT64_C(3600000)
#define DAY (24 * HOUR)
#define YEAR (365 * DAY)
#define TERA (UINT64_C(1) << 40)
#define COUNT_MAX UINT64_C(1000000000000)

enum kind { DURATION, COUNT, SIZE, RATE, CHOICE, UNROUTED, SWITCH, MODE, GROUP };

/* name (and member), kind, built-in default, least, most */
#define SETTINGS(X) \
	X(lease, DURATION, "30s", 1, YEAR) \
	X(tries, COUNT, "5", 1, 1000000) \
	X(backoff, DURATION, "1s", 0, YEAR) \
	X(backoff_max, DURATION, "1h", 0, YEAR) \
	X(ttl, DURATION, "0", 0, DURATION_MAX) \
	X(keep, DURATION, "0", 0, DURATION_MAX) \
	X(max_size, SIZE, "1M", 1, 64 << 20) \
	X(limit, COUNT, "0", 0, COUNT_MAX) \
	X(limit_bytes, SIZE, "0", 0, 1024 * TERA) \
	X(full, CHOICE, "reject", 0, 0) \
	X(max_leased, COUNT, "0", 0, COUNT_MAX) \
	X(rate, RATE, "0", 0, 0) \
	X(unrouted, UNROUTED, "accept", 0, 0) \
	X(dedup, DURATION, "5m", 0, 30 * DAY) \
	X(sync, SWITCH, "yes", 0, 0) \
	X(paused, SWITCH, "no", 0, 0) \
	X(create, SWITCH, "yes", 0, 0) \
	X(mode, MODE, "0600", 0600, 0666) \
	X(group, GROUP, "", 0, 0)

struct setting {
	const char *name;
	enum kind kind;
	size_t offset;               /* of its member in struct conf */
	const char *initial;
	uint64_t min, max;
};

#define ROW(name, kind, initial, min, max) \
	{ #name, kind, offsetof(struct conf, name), initial, min, max },
static const struct setting settings[] = { SETTINGS(ROW) };

#define NAME(name, kind, initial, min, max) #name,
static const char *const names[] = { SETTINGS(NAME) NULL };

#define SETTING_COUNT (sizeof settings / sizeof *settings)

static const char *const fulls[] = {
	[FULL_REJECT] = "reject", [FULL_BLOCK] = "block",
	[FULL_DROP_OLDEST] = "drop-oldest", NULL
};

static const char *const unrouteds[] = {
	[UNROUTED_ACCEPT] = "accept", [UNROUTED_REJECT] = "reject", NULL
};

static const char *const switches[] = { "no", "yes", NULL };

static bool
duration_set(const struct setting *s, int64_t *to, const char *text)
{
	int64_t ms;

	if (!duration_parse(text, &ms) || (uint64_t)ms < s->min ||
	    (uint64_t)ms > s->max)
		return false;
	*to = ms;
	return true;
}

static bool
number_set(const struct setting *s, uint64_t *to, const char *text)
{
	uint64_t n;

	if (s->kind == SIZE ? !size_parse(text, &n) :
	    !count_parse(text, s->max, &n))
		return false;
	if (n < s->min || n > s->max)
		return false;
	*to = n;
	return true;
}

static int
word_index(const char *const *words, const char *text)
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	return -1;
}

static bool
choice_set(enum full *to, const char *text)
{
	int i = word_index(fulls, text);

	if (i >= 0)
		*to = (enum full)i;
	return i >= 0;
}

static bool
unrouted_set(enum unrouted *to, const char *text)
{
	int i = word_index(unrouteds, text);

	if (i >= 0)
		*to = (enum unrouted)i;
	return i >= 0;
}

static bool
switch_set(bool *to, const char *text)
{
	int i = word_index(switches, text);

	if (i >= 0)
		*to = i == 1;
	return i >= 0;
}

static bool
mode_set(const struct setting *s, mode_t *to, const char *text)
{
	size_t len = strlen(text);
	mode_t mode = 0;

	if (len < 3 || len > 4 || strspn(text, "01234567") != len)
		return false;
	for (; *text != '\0'; text++)
		mode = mode * 8 + (mode_t)(*text - '0');
	if ((mode & s->min) != s->min || (mode & ~s->max) != 0)
		return false;
	*to = mode;
	return true;
}

static bool
group_set(char to[static sizeof ((struct conf *)0)->group], const char *text)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	size_t len = strlen(text);

	if (len >= sizeof ((struct conf *)0)->group ||
	    strspn(text, good) != len || text[0] == '-' || text[0] == '.')
		return false;
	memcpy(to, text, len + 1);
	return true;
}

static bool
value_set(const struct setting *s, struct conf *c, const char *text)
{
	void *to = (char *)c + s->offset;

	switch (s->kind) {
	case DURATION:
		return duration_set(s, to, text);
	case COUNT:
	case SIZE:
		return number_set(s, to, text);
	case RATE:
		return rate_parse(text, to);
	case CHOICE:
		return choice_set(to, text);
	case UNROUTED:
		return unrouted_set(to, text);
	case SWITCH:
		return switch_set(to, text);
	case MODE:
		return mode_set(s, to, text);
	case GROUP:
		return group_set(to, text);
	}
	return false;
}

static void
value_print(const struct setting *s, const struct conf *c, char *out,
	size_t size)
{
	const void *from = (const char *)c + s->offset;
	const uint64_t *number = from;

	switch (s->kind) {
	case DURATION:
		duration_print(*(const int64_t *)from, out, size);
		break;
	case COUNT:
		snprintf(out, size, "%ju", (uintmax_t)*number);
		break;
	case SIZE:
		size_print(*number, out, size);
		break;
	case RATE:
		rate_print(*(const double *)from, out, size);
		break;
	case CHOICE:
		snprintf(out, size, "%s", fulls[*(const enum full *)from]);
		break;
	case UNROUTED:
		snprintf(out, size, "%s", unrouteds[*(const enum unrouted *)from]);
		break;
	case SWITCH:
		snprintf(out, size, "%s", switches[*(const bool *)from]);
		break;
	case MODE:
		snprintf(out, size, "%04o", (unsigned)*(const mode_t *)from);
		break;
	case GROUP:
		snprintf(out, size, "%s", (const char *)from);
		break;
	}
}

/* What a value must be, for a message. */
static void
value_describe(const struct setting *s, char *out, size_t size)
{
	char least[32], most[32];

	switch (s->kind) {
	case DURATION:
		duration_print((int64_t)s->min, least, sizeof least);
		duration_print((int64_t)s->max, most, sizeof most);
		snprintf(out, size, "a duration from %s to %s", least, most);
		break;
	case COUNT:
		snprintf(out, size, "a number from %ju to %ju",
			(uintmax_t)s->min, (uintmax_t)s->max);
		break;
	case SIZE:
		size_print(s->min, least, sizeof least);
		size_print(s->max, most, sizeof most);
		snprintf(out, size, "a size from %s to %s", least, most);
		break;
	case RATE:
		snprintf(out, size, "a rate like 500/s or 60/m, or 0");
		break;
	case CHOICE:
		snprintf(out, size, "reject, block or drop-oldest");
		break;
	case UNROUTED:
		snprintf(out, size, "accept or reject");
		break;
	case SWITCH:
		snprintf(out, size, "yes or no");
		break;
	case MODE:
		snprintf(out, size, "an octal mode from 0600 to 0666");
		break;
	case GROUP:
		snprintf(out, size, "the name of a group");
		break;
	}
}

static const struct setting *
setting_named(const char *name, size_t len)
{
	for (size_t i = 0; i < SETTING_COUNT; i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return &settings[i];
	return NULL;
}

void
conf_defaults(struct conf *c)
{
	memset(c, 0, sizeof *c);
	for (size_t i = 0; i < SETTING_COUNT; i++)
		value_set(&settings[i], c, settings[i].initial);
}

int
conf_set(struct conf *c, const char *assignment, struct fault *f)
{
	const char *value = strchr(assignment, '=');
	const struct setting *s;
	char want[96];

	if (value == NULL)
		return fault_set(f, ST_USAGE, "%.100s: want NAME=VALUE",
			assignment);
	s = setting_named(assignment, (size_t)(value - assignment));
	if (s == NULL)
		return fault_set(f, ST_USAGE, "%.*s: no such setting",
			value - assignment > 100 ? 100 :
			(int)(value - assignment), assignment);
	value++;
	if (value_set(s, c, *value == '\0' ? s->initial : value))
		return 0;
	value_describe(s, want, sizeof want);
	return fault_set(f, ST_USAGE, "%s=%.100s: want %s", s->name, value, want);
}

#define LINE_MAX_LEN 255

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* One line of a file, without its newline. */
static int
line_read(struct conf *c, const char *line, size_t len, struct fault *f)
{
	char text[LINE_MAX_LEN + 1];

	for (; len > 0 && is_blank(*line); len--)
		line++;
	while (len > 0 && is_blank(line[len - 1]))
		len--;
	if (memchr(line, '\0', len) != NULL)
		return fault_set(f, ST_CONFIG, "has a NUL byte");
	if (len == 0 || *line == '#')
		return 0;
	if (len > LINE_MAX_LEN)
		return fault_set(f, ST_CONFIG, "longer than %d bytes",
			LINE_MAX_LEN);
	memcpy(text, line, len);
	text[len] = '\0';
	return conf_set(c, text, f);
}

int
conf_read(struct conf *c, const char *file, const char *text, size_t len,
	struct fault *f)
{
	struct conf read = *c;
	struct fault why;

	for (size_t at = 0, n, line = 1; at < len; at += n + 1, line++) {
		const char *end = memchr(text + at, '\n', len - at);

		n = end != NULL ? (size_t)(end - text) - at : len - at;
		if (line_read(&read, text + at, n, &why) < 0)
			return fault_set(f, ST_CONFIG, "%s: line %zu: %s", file,
				line, why.text);
	}
	*c = read;
	return 0;
}

const char *const *
conf_names(void)
{
	return names;
}

bool
conf_value(const struct conf *c, const char *name, char *out, size_t size)
{
	const struct setting *s = setting_named(name, strlen(name));

	if (s != NULL)
		value_print(s, c, out, size);
	return s != NULL;
}
