/* SPDX-License-Identifier: ISC
 *
 * tally: how often each text came. Start from a zeroed struct. */
#ifndef MQ_TALLY_H
#define MQ_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally_row {
	char *text;
	uint64_t n;
};

struct tally {
	struct tally_row *rows;  /* sorted by text, until tally_sort() */
	size_t n, room;
};

/* -1 with errno ENOMEM. Not after tally_sort(). */
int tally_add(struct tally *, const char *text);
/* The most frequent first, among equals by text. */
void tally_sort(struct tally *);
void tally_free(struct tally *);

#endif
