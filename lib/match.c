/* SPDX-License-Identifier: ISC */
#include "match.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "route.h"
#include "store.h"

struct match {
	struct route *route;     /* NULL: any */
	struct filter *filter;
};

/* What filters elsewhere know and here do not. */
static const char *
refused(const char *field)
{
	static const char *const fields[] = {
		"id", "queue", "state", "tries", "age", "due", "size", "holder", "put_time",
		"expires", "when", "why", "version", "receipt", "reason", "body",
	};

	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (strcmp(field, fields[i]) == 0)
			return "only attributes, key, priority and route can be asked for "
			    "(an attribute of that name: with @)";
	return NULL;
}

static const char *
add(struct match *m, const char *expr, size_t *at)
{
	size_t n = 0;

	while ((unsigned char)expr[n] >= ' ' && expr[n] != 0x7f)
		n++;
	if (expr[n] != '\0') {
		*at = n;
		return "a control character (in quotes: \\n \\t)";
	}
	return filter_add_of(&m->filter, expr, refused, at);
}

struct match *
match_compile(const char *pattern, char *const *filters, size_t n, const char **why,
    size_t *at, int *which)
{
	struct match *m = calloc(1, sizeof *m);

	*why = m == NULL ? "out of memory" : NULL;
	*at = 0;
	*which = -1;
	if (m != NULL && pattern != NULL)
		m->route = route_compile(pattern, why, at);
	for (size_t i = 0; i < n && *why == NULL; i++) {
		*which = (int)i;
		*why = add(m, filters[i], at);
	}
	if (*why == NULL)
		return m;
	match_free(m);
	return NULL;
}

void
match_free(struct match *m)
{
	if (m == NULL)
		return;
	route_free(m->route);
	filter_free(m->filter);
	free(m);
}

static const char *
attribute(const struct match_message *m, const char *name)
{
	for (size_t i = 0; i < m->nattrs; i++)
		if (strcmp(m->attrs[i].name, name) == 0)
			return m->attrs[i].value;
	return NULL;
}

static const char *
priority(int n)
{
	static const char digits[] = "0\0001\0002\0003\0004\0005\0006\0007\0008\0009";

	return n >= 0 && n < PRIORITIES ? digits + 2 * n : NULL;
}

static const char *
get(const char *field, size_t *len, void *arg)
{
	const struct match_message *m = arg;
	const char *value;

	if (*field == '@')
		value = attribute(m, field + 1);
	else if (strcmp(field, "key") == 0)
		value = m->key;
	else if (strcmp(field, "priority") == 0)
		value = priority(m->priority);
	else if (strcmp(field, "route") == 0)
		value = m->route;
	else
		value = attribute(m, field);
	*len = value != NULL ? strlen(value) : 0;
	return value;
}

bool
match_fits_route(const struct match *m, const struct match_message *message)
{
	return m->route == NULL || route_match(m->route, message->route);
}

bool
match_fits_filters(const struct match *m, const struct match_message *message)
{
	return filter_match(m->filter, get, (void *)(uintptr_t)message);
}

bool
match_fits(const struct match *m, const struct match_message *message)
{
	return match_fits_route(m, message) && match_fits_filters(m, message);
}
