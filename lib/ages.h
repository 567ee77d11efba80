/* SPDX-License-Identifier: ISC
 *
 * ages: how old messages that are ready or leased are, as Postfix's qshape shows
 * it: for each group of them how many are younger than a second, ten, ... */
#ifndef MQ_AGES_H
#define MQ_AGES_H

#include <stdio.h>

#include "store.h"

struct ages;

struct ages *ages_new(struct fault *);           /* NULL */
/* Counts those of a queue; grouped by that field of -F (an attribute), by `label`
 * if that is NULL, by their state if both are. -1 */
int ages_look(struct ages *, struct queue *, const char *by, const char *label,
	struct fault *);
/* The sum, then each group, the largest first: its name, how many, and how many
 * of each age. -1 with errno. */
int ages_print(const struct ages *, FILE *);
void ages_free(struct ages *);

#endif
