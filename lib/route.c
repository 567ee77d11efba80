/* SPDX-License-Identifier: ISC */
#include "route.h"

#include <stdlib.h>
#include <string.h>

enum kind { WORD, ONE, ANY };

struct word {
	enum kind kind;
	const char *text;
	size_t len;
};

/* No two ANY follow one another, and none comes before a ONE. */
struct route {
	char *text;
	size_t n;
	struct word words[];
};

/* Of the word at s; NULL: good. */
static const char *
check_word(const char *s, size_t len, size_t *at)
{
	size_t wild = strcspn(s, "*#.");

	for (*at = 0; *at < len; ++*at)
		if ((unsigned char)s[*at] <= ' ' || s[*at] == 0x7f)
			return "no spaces or control characters";
	if (len == 0)
		return "a word is missing here";
	*at = wild;
	return wild < len && len > 1 ? "* and # are a word of their own, between dots" : NULL;
}

static const char *
check(const char *pattern, size_t *at)
{
	const char *why = NULL;
	size_t len;

	*at = ROUTE_MAX;
	if (strlen(pattern) > ROUTE_MAX)
		return "longer than 255 bytes";
	for (const char *s = pattern; *pattern != '\0' && why == NULL; s += len + 1) {
		len = strcspn(s, ".");
		why = check_word(s, len, at);
		*at += (size_t)(s - pattern);
		if (s[len] == '\0')
			break;
	}
	return why;
}

static void
add(struct route *r, const char *text, size_t len)
{
	struct word w = { WORD, text, len }, *last = &r->words[r->n];

	if (len == 1 && *text == '*')
		w.kind = ONE;
	else if (len == 1 && *text == '#')
		w.kind = ANY;
	if (r->n > 0 && last[-1].kind == ANY) {
		if (w.kind == ANY)
			return;
		if (w.kind == ONE) {     /* `#.*` is `*.#` */
			*last = last[-1];
			last[-1] = w;
			r->n++;
			return;
		}
	}
	*last = w;
	r->n++;
}

struct route *
route_compile(const char *pattern, const char **why, size_t *at)
{
	struct route *r;
	size_t words = 1;

	*why = check(pattern, at);
	if (*why != NULL)
		return NULL;
	for (const char *s = pattern; *s != '\0'; s++)
		words += *s == '.';
	*why = "out of memory";
	*at = 0;
	r = calloc(1, sizeof *r + words * sizeof *r->words);
	if (r == NULL || (r->text = strdup(pattern)) == NULL) {
		free(r);
		return NULL;
	}
	*why = NULL;
	for (const char *s = r->text; *r->text != '\0'; s++) {
		size_t len = strcspn(s, ".");

		add(r, s, len);
		s += len;
		if (*s == '\0')
			break;
	}
	return r;
}

void
route_free(struct route *r)
{
	if (r == NULL)
		return;
	free(r->text);
	free(r);
}

static bool
fits(const struct word *w, const char *text, size_t len)
{
	return w->kind == ONE || (w->len == len && memcmp(w->text, text, len) == 0);
}

/* The word at s has been dealt with; NULL: it was the last. */
static const char *
after(const char *s, size_t len)
{
	return s[len] == '.' ? s + len + 1 : NULL;
}

/* What an ANY takes is tried from none upwards, and only for the last one met:
 * that an earlier one took too little is never why the rest does not fit. */
bool
route_match(const struct route *r, const char *route)
{
	const char *s = route != NULL && *route != '\0' ? route : NULL;
	const char *again = NULL;        /* where the last ANY ends so far */
	size_t i = 0, back = 0;          /* the word after it */

	while (s != NULL) {
		size_t len = strcspn(s, ".");

		if (i < r->n && r->words[i].kind == ANY) {
			back = ++i;
			again = s;
			if (i == r->n)
				return true;
		} else if (i < r->n && fits(&r->words[i], s, len)) {
			i++;
			s = after(s, len);
		} else if (back > 0) {
			again = s = after(again, strcspn(again, "."));
			i = back;
		} else {
			return false;
		}
	}
	while (i < r->n && r->words[i].kind == ANY)
		i++;
	return i == r->n;
}
