/* SPDX-License-Identifier: ISC
 *
 * ages: how old messages that are ready or leased are, as Postfix's qshape shows
 * it: for each group of them how many are younger than a second, ten, ... */
#ifndef MQ_AGES_H
#define MQ_AGES_H

#include <stdbool.h>
#include <stdio.h>

#include "store.h"

struct ages;

struct ages *ages_new(struct fault *);           /* NULL */
/* Counts those of a queue; grouped by that field of -F (an attribute), by `label`
 * if that is NULL, by their state if both are. -1 */
int ages_look(struct ages *, struct queue *, const char *by, const char *label,
	struct fault *);

#define AGE_BINS 10
/* In seconds, what the ages counted in bin i are below; 0: it is the last. */
unsigned ages_below(size_t i);

struct age_row {
	const char *name;                /* NUL-ended too; NULL: they have none */
	size_t len;
	bool sum;                        /* of all; `name` says so */
	uint64_t all, bin[AGE_BINS];
};
/* The sum, then each group, the largest first; stops when fn returns != 0 and
 * returns that. */
int ages_each(const struct ages *, int (*fn)(const struct age_row *, void *), void *);
/* The same as a table. -1 with errno. */
int ages_print(const struct ages *, FILE *);
void ages_free(struct ages *);

#endif
