/* SPDX-License-Identifier: ISC
 *
 * match: what a subscription wants, compiled: a pattern (route.h) and filters
 * (filter.h), of which any will do. Both must fit.
 *
 * A filter sees what is known of a message when it is published, without its
 * file: `key`, `priority`, `route`, and every other name is an attribute, as is
 * one led by @. What a message only has in a queue, and its body, is refused. */
#ifndef MQ_MATCH_H
#define MQ_MATCH_H

#include <stdbool.h>
#include <stddef.h>

struct attr;                     /* store.h */
struct match;

struct match_message {
	const char *route, *key; /* NULL: none */
	int priority;
	const struct attr *attrs;
	size_t nattrs;
};

/* pattern NULL: any route; n 0: any message. NULL: *why (a constant) is wrong
 * with the pattern (*which is -1) or with that filter, *at where in it. */
struct match *match_compile(const char *pattern, char *const *filters, size_t n,
	const char **why, size_t *at, int *which);
/* Allocates nothing and reads no file. */
bool match_fits(const struct match *, const struct match_message *);
/* The two halves of it, for saying which does not. */
bool match_fits_route(const struct match *, const struct match_message *);
bool match_fits_filters(const struct match *, const struct match_message *);
void match_free(struct match *);

#endif
