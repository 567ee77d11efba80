/* SPDX-License-Identifier: ISC */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

#define TERMS_MAX 32
#define NUMBER_SIZE 40

struct term {
	enum figure figure;
	char op;
	double warn, crit;               /* the same where only one was given */
	char want[2 * NUMBER_SIZE];      /* as given, with its op */
};

struct check {
	struct term terms[TERMS_MAX];
	size_t n;
	size_t queues;
	bool seen[CHECK_UNKNOWN + 1];    /* verdicts */
	struct buffer said, perf;
};

/* --- parsing ---------------------------------------------------------------------- */

/* Digits, with a point among them or not. */
static bool
decimal(const char *text, double *out)
{
	size_t digits = strspn(text, "0123456789");
	const char *rest = text + digits;

	if (digits == 0 || digits > 15)
		return false;
	if (*rest == '.') {
		size_t more = strspn(rest + 1, "0123456789");

		if (more == 0 || more > 9)
			return false;
		rest += 1 + more;
	}
	*out = strtod(text, NULL);
	return *rest == '\0';
}

static bool
threshold(enum figure_unit unit, const char *s, size_t len, double *out)
{
	char text[NUMBER_SIZE];
	int64_t ms;

	if (len == 0 || len >= sizeof text)
		return false;
	memcpy(text, s, len);
	text[len] = '\0';
	if (unit == UNIT_SECONDS && duration_parse(text, &ms)) {
		*out = (double)ms / 1000;
		return true;
	}
	return decimal(text, out);
}

static int
bad_term(struct fault *f, const char *s, size_t len, const char *why)
{
	return fault_set(f, ST_USAGE, "%.*s: %s", len < 60 ? (int)len : 60, s, why);
}

static int
parse_term(struct term *t, const char *s, size_t len, struct fault *f)
{
	size_t name = strcspn(s, "<>=,"), first;
	const char *value = s + name + 1, *end = s + len;

	if (len == 0)
		return fault_set(f, ST_USAGE, "nothing to check");
	if (name >= len)
		return bad_term(f, s, len, "not FIELD<N, FIELD>N or FIELD=N");
	t->figure = figure_find(s, name);
	if (t->figure == FIGURES)
		return bad_term(f, s, len, "no such field");
	t->op = s[name];
	first = strcspn(value, ":,");
	if (!threshold(figure_unit(t->figure), value, first, &t->warn))
		return bad_term(f, s, len, "not a number");
	t->crit = t->warn;
	snprintf(t->want, sizeof t->want, "%c%.*s", t->op, (int)(end - value), value);
	value += first;
	if (value == end)
		return 0;
	if (t->op == '=')
		return bad_term(f, s, len, "= has one number");
	if (!threshold(figure_unit(t->figure), value + 1, (size_t)(end - value - 1), &t->crit))
		return bad_term(f, s, len, "not a number");
	if (t->op == '<' ? t->crit < t->warn : t->crit > t->warn)
		return bad_term(f, s, len, "critical before it is a warning");
	return 0;
}

struct check *
check_parse(const char *expr, struct fault *f)
{
	struct check *c = calloc(1, sizeof *c);
	size_t len;

	if (c == NULL) {
		fault_errno(f, "check");
		return NULL;
	}
	for (const char *s = expr;; s += len + 1) {
		len = strcspn(s, ",");
		if (c->n == TERMS_MAX)
			fault_set(f, ST_USAGE, "more than %d terms", TERMS_MAX);
		if (c->n == TERMS_MAX || parse_term(&c->terms[c->n], s, len, f) < 0) {
			check_free(c);
			return NULL;
		}
		c->n++;
		if (s[len] == '\0')
			return c;
	}
}

void
check_free(struct check *c)
{
	if (c == NULL)
		return;
	buffer_free(&c->said);
	buffer_free(&c->perf);
	free(c);
}

/* --- judging ------------------------------------------------------------------------ */

static bool
holds(char op, double value, double limit)
{
	return op == '<' ? value < limit : op == '>' ? value > limit : value == limit;
}

static enum verdict
judge_value(const struct term *t, double value)
{
	if (!holds(t->op, value, t->crit))
		return CHECK_CRITICAL;
	return holds(t->op, value, t->warn) ? CHECK_OK : CHECK_WARNING;
}

/* Whole but for rates, as it is printed elsewhere. */
static double
value_of(const struct term *t, double value)
{
	return figure_unit(t->figure) == UNIT_RATE ? value : (double)(int64_t)value;
}

static void
number_print(double value, char out[static NUMBER_SIZE])
{
	char *end;

	snprintf(out, NUMBER_SIZE, "%.3f", value);
	for (end = out + strlen(out); end[-1] == '0'; end--)
		end[-1] = '\0';
	if (end[-1] == '.')
		end[-1] = '\0';
}

/* What stands in front of `|' may have none of it, nor break the line. */
static int
say(struct check *c, const char *text)
{
	if (c->said.len > 0 && buffer_text(&c->said, ", ") < 0)
		return -1;
	for (; *text != '\0'; text++)
		if (buffer_byte(&c->said, (unsigned char)*text < ' ' || *text == '|' ||
		    *text == 0x7f ? '?' : *text) < 0)
			return -1;
	return 0;
}

/* QUEUE.FIELD=VALUE[s];WARN;CRIT;0 - the plugins' ranges: N is 0 to N, N: from N on */
static int
add_perf(struct check *c, const struct term *t, const char *queue, double value)
{
	bool seconds = figure_unit(t->figure) == UNIT_SECONDS;
	char v[NUMBER_SIZE], warn[NUMBER_SIZE], crit[NUMBER_SIZE], text[512];
	const char *after = t->op == '>' ? ":" : "";

	number_print(value, v);
	number_print(t->warn, warn);
	number_print(t->crit, crit);
	if (t->op == '=')
		snprintf(text, sizeof text, " %s.%s=%s%s;;%s:%s;0", queue,
		    figure_name(t->figure), v, seconds ? "s" : "", crit, crit);
	else
		snprintf(text, sizeof text, " %s.%s=%s%s;%s%s;%s%s;0", queue,
		    figure_name(t->figure), v, seconds ? "s" : "", warn, after, crit, after);
	return buffer_text(&c->perf, text);
}

static int
check_term(struct check *c, const struct term *t, const struct figures *g)
{
	char text[QUEUE_NAME_SIZE + 256], v[NUMBER_SIZE];
	enum verdict verdict;
	double value;

	if (!figure_value(g, t->figure, &value)) {
		if (g->topic && g->known)
			return 0;
		c->seen[CHECK_UNKNOWN] = true;
		snprintf(text, sizeof text, "%s: %s is not known", g->name,
		    figure_name(t->figure));
		return say(c, text);
	}
	value = value_of(t, value);
	verdict = judge_value(t, value);
	c->seen[verdict] = true;
	if (add_perf(c, t, g->name, value) < 0)
		return -1;
	if (verdict == CHECK_OK)
		return 0;
	number_print(value, v);
	snprintf(text, sizeof text, "%s: %s is %s, not %s", g->name, figure_name(t->figure),
	    t->figure == F_DRAIN && value >= NEVER ? "never" : v, t->want);
	return say(c, text);
}

int
check_queue(struct check *c, const struct figures *g)
{
	c->queues++;
	for (size_t i = 0; i < c->n; i++)
		if (check_term(c, &c->terms[i], g) < 0)
			return -1;
	return 0;
}

int
check_trouble(struct check *c, const char *text)
{
	c->seen[CHECK_UNKNOWN] = true;
	return say(c, text);
}

/* --- the line ------------------------------------------------------------------------ */

static enum verdict
worst(const struct check *c)
{
	if (c->seen[CHECK_CRITICAL])
		return CHECK_CRITICAL;
	if (c->seen[CHECK_WARNING])
		return CHECK_WARNING;
	return c->seen[CHECK_UNKNOWN] || c->queues == 0 ? CHECK_UNKNOWN : CHECK_OK;
}

int
check_line(const struct check *c, struct buffer *out)
{
	static const char *const words[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN" };
	enum verdict v = worst(c);
	char good[64] = "no queue";
	int r;

	if (c->queues > 0)
		snprintf(good, sizeof good, "%zu queue%s", c->queues,
		    c->queues == 1 ? "" : "s");
	r = buffer_text(out, "MQ ");
	r |= buffer_text(out, words[v]);
	r |= buffer_text(out, " - ");
	r |= c->said.len > 0 ? buffer_add(out, c->said.data, c->said.len) :
	    buffer_text(out, good);
	if (c->perf.len > 0) {
		r |= buffer_text(out, " |");
		r |= buffer_add(out, c->perf.data, c->perf.len);
	}
	r |= buffer_byte(out, '\n');
	return r < 0 ? -1 : (int)v;
}

int
check_unknown(const char *text, struct buffer *out)
{
	struct check c = { 0 };
	int r = check_trouble(&c, text);

	if (r == 0)
		r = check_line(&c, out);
	buffer_free(&c.said);
	return r;
}
