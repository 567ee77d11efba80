/* SPDX-License-Identifier: ISC
 *
 * route: the topic patterns of AMQP 0-9-1.
 *
 * A route is words between dots, as `order.paid.br`; none at all is a route of
 * no words, and so is an empty one. In a pattern `*` stands for one word, `#`
 * for none or more, each alone between its dots and anywhere; every other word
 * for itself, byte for byte. The pattern of no words, an empty one, matches the
 * route of no words alone. What no route can have is refused: an empty word
 * (`a..b`), spaces, control characters, more than 255 bytes; and so are `*` and
 * `#` within a word, of which AMQP says nothing. */
#ifndef MQ_ROUTE_H
#define MQ_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#define ROUTE_MAX 255

struct route;

/* NULL: *why (a constant; else NULL) and *at, where in the pattern. Out of memory
 * too. */
struct route *route_compile(const char *pattern, const char **why, size_t *at);
/* `route` may be NULL: no words. Allocates nothing; takes no more steps than
 * words of the pattern times bytes of the route. */
bool route_match(const struct route *, const char *route);
void route_free(struct route *);

#endif
