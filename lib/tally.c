/* SPDX-License-Identifier: ISC */
#include "tally.h"

#include <bsd/stdlib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Where the text stands, or would. */
static size_t
place_of(const struct tally *t, const char *text, bool *found)
{
	size_t low = 0, high = t->n;

	*found = false;
	while (low < high && !*found) {
		size_t middle = low + (high - low) / 2;
		int c = strcmp(text, t->rows[middle].text);

		if (c > 0)
			low = middle + 1;
		else
			high = middle;
		*found = c == 0;
	}
	return *found ? high : low;
}

int
tally_add(struct tally *t, const char *text)
{
	size_t room = t->room > 0 ? t->room * 2 : 16, i;
	struct tally_row *rows;
	bool found;
	char *copy;

	i = place_of(t, text, &found);
	if (found) {
		t->rows[i].n++;
		return 0;
	}
	if (t->n == t->room) {
		if ((rows = reallocarray(t->rows, room, sizeof *rows)) == NULL)
			return -1;
		t->rows = rows;
		t->room = room;
	}
	if ((copy = strdup(text)) == NULL)
		return -1;
	memmove(&t->rows[i + 1], &t->rows[i], (t->n - i) * sizeof *t->rows);
	t->rows[i].text = copy;
	t->rows[i].n = 1;
	t->n++;
	return 0;
}

static int
by_number(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return strcmp(x->text, y->text);
}

void
tally_sort(struct tally *t)
{
	if (t->n > 1)
		qsort(t->rows, t->n, sizeof *t->rows, by_number);
}

void
tally_free(struct tally *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->rows[i].text);
	free(t->rows);
	*t = (struct tally){ 0 };
}
