/* SPDX-License-Identifier: ISC */
#include "filter.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store.h"
#include "units.h"

enum op { HAS, HAS_NOT, EQ, NE, BEGINS, ENDS, CONTAINS, LT, LE, GT, GE };

struct term {
	enum op op;
	bool last;               /* of its alternative */
	char *field, *value;
	size_t len;
};

struct filter {
	struct term *terms;
	size_t n;
};

static const char no_memory[] = "out of memory";

/* --- numbers ------------------------------------------------------------------------ */

struct number {
	bool negative;
	const char *whole, *part; /* digits, without zeros before and behind */
	size_t nwhole, npart;
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t
digits(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && is_digit(s[n]))
		n++;
	return n;
}

/* [-]DIGITS[.DIGITS] */
static bool
number_read(const char *s, size_t len, struct number *n)
{
	const char *end = s + len;

	*n = (struct number){ .negative = len > 0 && s[0] == '-' };
	s += n->negative;
	n->whole = s;
	n->nwhole = digits(s, (size_t)(end - s));
	s += n->nwhole;
	if (n->nwhole > 0 && s < end && *s == '.') {
		n->part = ++s;
		n->npart = digits(s, (size_t)(end - s));
		s += n->npart;
		if (n->npart == 0)
			return false;
	}
	if (n->nwhole == 0 || s != end)
		return false;
	for (; n->nwhole > 0 && *n->whole == '0'; n->nwhole--)
		n->whole++;
	while (n->npart > 0 && n->part[n->npart - 1] == '0')
		n->npart--;
	if (n->nwhole == 0 && n->npart == 0)
		n->negative = false;
	return true;
}

static int
bytes_compare(const char *a, size_t alen, const char *b, size_t blen)
{
	size_t len = alen < blen ? alen : blen;
	int c = len > 0 ? memcmp(a, b, len) : 0;

	return c != 0 ? c : alen < blen ? -1 : alen > blen;
}

static int
number_compare(const struct number *a, const struct number *b)
{
	int c;

	if (a->negative != b->negative)
		return a->negative ? -1 : 1;
	if (a->nwhole != b->nwhole)
		c = a->nwhole < b->nwhole ? -1 : 1;
	else
		c = bytes_compare(a->whole, a->nwhole, b->whole, b->nwhole);
	if (c == 0)
		c = bytes_compare(a->part, a->npart, b->part, b->npart);
	return a->negative ? -c : c;
}

static int
compare(const char *a, size_t alen, const char *b, size_t blen)
{
	struct number x, y;

	if (number_read(a, alen, &x) && number_read(b, blen, &y))
		return number_compare(&x, &y);
	return bytes_compare(a, alen, b, blen);
}

/* --- parsing -------------------------------------------------------------------------- */

struct parser {
	const char *s;           /* what is left */
	const char *at;          /* where it is wrong */
	const char *wrong;
	const char *(*refuse)(const char *field);        /* may be NULL */
	struct term t;
};

static bool
refuse(struct parser *p, const char *at, const char *wrong)
{
	p->at = at;
	p->wrong = wrong;
	return false;
}

static bool
parse_field(struct parser *p)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	const char *from = p->s, *wrong;
	size_t n = (*from == '@') + strspn(from + (*from == '@'), letters);

	p->t.field = strndup(from, n);
	if (p->t.field == NULL)
		return refuse(p, from, no_memory);
	if (!attr_name_valid(p->t.field + (*from == '@')))
		return refuse(p, from, "a field's name belongs here");
	wrong = p->refuse != NULL ? p->refuse(p->t.field) : NULL;
	if (wrong != NULL)
		return refuse(p, from, wrong);
	p->s += n;
	return true;
}

static bool
parse_op(struct parser *p)
{
	static const struct {
		const char *text;
		enum op op;
	} ops[] = {
		{ "!=", NE }, { "^=", BEGINS }, { "$=", ENDS }, { "*=", CONTAINS },
		{ "<=", LE }, { ">=", GE }, { "=", EQ }, { "<", LT }, { ">", GT },
	};

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		size_t n = strlen(ops[i].text);

		if (strncmp(p->s, ops[i].text, n) == 0) {
			p->s += n;
			p->t.op = ops[i].op;
			return true;
		}
	}
	if (*p->s == '\0' || *p->s == ',')
		return refuse(p, p->s - strlen(p->t.field),
		    "a word alone says nothing: FIELD=VALUE, has:FIELD (a shell eats > and <)");
	return refuse(p, p->s, "one of = != ^= $= *= < <= > >= belongs here");
}

static char
unescaped(char c)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c == '"' || c == '\\' ? c : '\0';
}

/* Behind the opening quote. */
static bool
parse_quoted(struct parser *p)
{
	const char *open = p->s - 1;
	char *out = p->t.value = malloc(strlen(p->s) + 1);

	if (out == NULL)
		return refuse(p, open, no_memory);
	for (; *p->s != '"'; p->s++) {
		if (*p->s == '\0')
			return refuse(p, open, "this quote is not closed");
		*out = *p->s;
		if (*p->s == '\\' && (*out = unescaped(*++p->s)) == '\0')
			return refuse(p, p->s - 1, "in quotes \\ goes before \" \\ n t");
		out++;
	}
	*out = '\0';
	p->t.len = (size_t)(out - p->t.value);
	p->s++;
	if (*p->s != '\0' && *p->s != ',')
		return refuse(p, p->s, "after the quote a comma or the end belongs");
	return true;
}

static bool
parse_value(struct parser *p)
{
	if (*p->s == '"') {
		p->s++;
		return parse_quoted(p);
	}
	if (*p->s == '=')
		return refuse(p, p->s, "one = is enough (a value that begins with = wants quotes)");
	p->t.len = strcspn(p->s, ",");
	if (p->t.len == 0 && p->t.op >= LT)
		return refuse(p, p->s, "a value belongs here (the empty one is \"\")");
	p->t.value = strndup(p->s, p->t.len);
	if (p->t.value == NULL)
		return refuse(p, p->s, no_memory);
	p->s += p->t.len;
	return true;
}

/* `1d` becomes `86400`. */
static bool
age_value(struct parser *p, const char *at)
{
	char seconds[32], *text;
	int64_t ms;

	if (p->t.op == BEGINS || p->t.op == ENDS || p->t.op == CONTAINS)
		return refuse(p, at, "an age is more or less, not a text");
	if (strlen(p->t.value) != p->t.len || !duration_parse(p->t.value, &ms))
		return refuse(p, at, "not a duration (90, 1.5s, 5m, 2h, 1d)");
	snprintf(seconds, sizeof seconds, "%lld.%03d", (long long)(ms / 1000), (int)(ms % 1000));
	text = strdup(seconds);
	if (text == NULL)
		return refuse(p, at, no_memory);
	free(p->t.value);
	p->t.value = text;
	p->t.len = strlen(text);
	return true;
}

static bool
parse_has(struct parser *p)
{
	p->t.op = *p->s == '!' ? HAS_NOT : HAS;
	p->s += strlen(p->t.op == HAS ? "has:" : "!has:");
	if (!parse_field(p))
		return false;
	if (*p->s != '\0' && *p->s != ',')
		return refuse(p, p->s, "after has: a name alone belongs");
	return true;
}

/* One term up to its comma or the end. */
static bool
parse_term(struct parser *p)
{
	const char *at;

	if (strncmp(p->s, "has:", 4) == 0 || strncmp(p->s, "!has:", 5) == 0)
		return parse_has(p);
	if (*p->s == '!')
		return refuse(p, p->s, "! goes with has: and =");
	if (!parse_field(p) || !parse_op(p))
		return false;
	at = p->s;
	if (!parse_value(p))
		return false;
	return strcmp(p->t.field, "age") != 0 || age_value(p, at);
}

static void
term_free(struct term *t)
{
	free(t->field);
	free(t->value);
}

static bool
keep(struct parser *p, struct filter *f)
{
	struct term *terms = realloc(f->terms, (f->n + 1) * sizeof *terms);

	if (terms == NULL)
		return refuse(p, p->s, no_memory);
	f->terms = terms;
	terms[f->n++] = p->t;
	p->t = (struct term){ 0 };
	return true;
}

static bool
parse_terms(struct parser *p, struct filter *f)
{
	while (parse_term(p)) {
		p->t.last = *p->s == '\0';
		if (!keep(p, f))
			return false;
		if (*p->s == '\0')
			return true;
		p->s++;
	}
	return false;
}

const char *
filter_add(struct filter **f, const char *expr, size_t *at)
{
	return filter_add_of(f, expr, NULL, at);
}

const char *
filter_add_of(struct filter **f, const char *expr, const char *(*refuse)(const char *),
    size_t *at)
{
	struct parser p = { .s = expr, .refuse = refuse };
	struct filter *all = *f != NULL ? *f : calloc(1, sizeof *all);
	size_t before = all != NULL ? all->n : 0;

	*at = 0;
	if (all == NULL)
		return no_memory;
	if (parse_terms(&p, all)) {
		*f = all;
		return NULL;
	}
	*at = (size_t)(p.at - expr);
	term_free(&p.t);
	while (all->n > before)
		term_free(&all->terms[--all->n]);
	if (*f == NULL)
		filter_free(all);
	return p.wrong;
}

void
filter_free(struct filter *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; i < f->n; i++)
		term_free(&f->terms[i]);
	free(f->terms);
	free(f);
}

/* --- matching --------------------------------------------------------------------------- */

static bool
bytes_match(const struct term *t, const char *value, size_t len)
{
	if (len < t->len)
		return false;
	switch (t->op) {
	case BEGINS:
		return memcmp(value, t->value, t->len) == 0;
	case ENDS:
		return memcmp(value + len - t->len, t->value, t->len) == 0;
	default:
		return memmem(value, len, t->value, t->len) != NULL;
	}
}

static bool
order_match(enum op op, int c)
{
	switch (op) {
	case EQ:
		return c == 0;
	case NE:
		return c != 0;
	case LT:
		return c < 0;
	case LE:
		return c <= 0;
	case GT:
		return c > 0;
	default:
		return c >= 0;
	}
}

static bool
term_match(const struct term *t, filter_get *get, void *arg)
{
	size_t len = 0;
	const char *value = get(t->field, &len, arg);

	if (value == NULL)
		return t->op == NE || t->op == HAS_NOT;
	switch (t->op) {
	case HAS:
		return true;
	case HAS_NOT:
		return false;
	case BEGINS:
	case ENDS:
	case CONTAINS:
		return bytes_match(t, value, len);
	default:
		return order_match(t->op, compare(value, len, t->value, t->len));
	}
}

bool
filter_match(const struct filter *f, filter_get *get, void *arg)
{
	bool fits = true;

	for (size_t i = 0; f != NULL && i < f->n; i++) {
		fits = fits && term_match(&f->terms[i], get, arg);
		if (!f->terms[i].last)
			continue;
		if (fits)
			return true;
		fits = true;
	}
	return f == NULL;
}
