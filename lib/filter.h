/* SPDX-License-Identifier: ISC
 *
 * filter: which messages are meant, by their fields.
 *
 *	TERM[,TERM...]           all of them
 *	TERM:   FIELD OP VALUE, has:FIELD, !has:FIELD
 *	OP:     = !=             the same, or not
 *	        ^= $= *=         begins with, ends with, has in it
 *	        < <= > >=        less or more
 *	VALUE:  to the next comma; or "in double quotes", \" \\ \n \t in it
 *
 * Where both sides are decimal numbers (`-12.50`) = != < <= > >= compare them
 * as such, exactly, whatever their length; else as bytes. A field that a
 * message does not have fits != and !has: alone. What FIELDs there are is the
 * caller's business; a name may be led by @ (an attribute, also where another
 * field has its name). VALUE of `age` is a duration, compared as seconds. */
#ifndef MQ_FILTER_H
#define MQ_FILTER_H

#include <stdbool.h>
#include <stddef.h>

struct filter;

/* The value of a field and its length; NULL: it has none. Stays valid until
 * the next call. */
typedef const char *filter_get(const char *field, size_t *len, void *arg);

/* Adds EXPR as one more alternative (a further -F) to *f, which is NULL at
 * first. NULL: done. Else what is wrong, *at where in the text, for a caret
 * under it; *f is then as it was. */
const char *filter_add(struct filter **f, const char *expr, size_t *at);
/* The same where not every field is known: `refuse` says why one is not, else
 * NULL. */
const char *filter_add_of(struct filter **f, const char *expr,
	const char *(*refuse)(const char *field), size_t *at);
/* Any of the alternatives; no filter (NULL) fits everything. */
bool filter_match(const struct filter *f, filter_get *get, void *arg);
void filter_free(struct filter *);

#endif
