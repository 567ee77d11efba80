/* SPDX-License-Identifier: ISC
 *
 * Any text up to a NUL as a pattern, and what follows as a route: matched as the
 * definition says. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "match.h"
#include "route.h"

#define WORDS 300

struct words {
	size_t n;
	const char *text[WORDS];
	size_t len[WORDS];
};

static void
split(const char *s, struct words *w)
{
	for (w->n = 0; s != NULL && *s != '\0' && w->n < WORDS; w->n++) {
		w->text[w->n] = s;
		w->len[w->n] = strcspn(s, ".");
		s += w->len[w->n];
		if (*s == '\0') {
			w->n++;
			break;
		}
		if (*++s == '\0') {      /* a dot at the end: one more, empty */
			w->n++;
			w->text[w->n] = s;
			w->len[w->n] = 0;
		}
	}
}

static bool
is(const struct words *w, size_t i, char c)
{
	return w->len[i] == 1 && *w->text[i] == c;
}

/* A row of the table at a time: fits[k], the pattern so far fits k words. */
static bool
defined(const char *pattern, const char *route)
{
	static struct words p, r;
	bool fits[WORDS + 2] = { true };

	split(pattern, &p);
	split(route, &r);
	for (size_t i = 0; i < p.n; i++) {
		if (is(&p, i, '#')) {
			for (size_t k = 1; k <= r.n; k++)
				fits[k] = fits[k] || fits[k - 1];
			continue;
		}
		for (size_t k = r.n; k > 0; k--)
			fits[k] = fits[k - 1] && (is(&p, i, '*') ||
			    (p.len[i] == r.len[k - 1] &&
			    memcmp(p.text[i], r.text[k - 1], p.len[i]) == 0));
		fits[0] = false;
	}
	return fits[r.n];
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 2), *route;
	const char *why;
	struct route *r;
	struct match *m;
	size_t at = 0;
	int which;

	memcpy(text, data, size);
	text[size] = text[size + 1] = '\0';
	route = text + strlen(text) + (strlen(text) < size);
	r = route_compile(text, &why, &at);
	assert((r == NULL) == (why != NULL));
	if (r == NULL)
		assert(at <= strlen(text));
	else if (strlen(route) <= ROUTE_MAX)
		assert(route_match(r, route) == defined(text, route));
	route_free(r);
	m = match_compile(NULL, &route, 1, &why, &at, &which);
	if (m != NULL)
		(void)match_fits(m, &(struct match_message){ .route = text, .key = text });
	else
		assert(which == 0 && at <= strlen(route));
	match_free(m);
	free(text);
	return 0;
}
