/* SPDX-License-Identifier: ISC */
#include "ages.h"

#include <bsd/stdlib.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "record.h"
#include "table.h"

#define BINS AGE_BINS

static const struct {
	int64_t below;                   /* ms */
	const char *head;
} bins[BINS] = {
	{ 1000, "<1s" }, { 10 * 1000, "<10s" }, { 60 * 1000, "<1m" }, { 300 * 1000, "<5m" },
	{ 1800 * 1000, "<30m" }, { 7200 * 1000, "<2h" }, { 43200 * 1000, "<12h" },
	{ 86400 * 1000, "<1d" }, { 604800 * 1000, "<7d" }, { INT64_MAX, "7d+" },
};

struct shape {
	struct shape *next;              /* of the same slot */
	char *name;                      /* NULL: they have none */
	size_t len;
	uint64_t all, bin[BINS];
};

struct ages {
	struct shape sum;
	struct shape **v;
	size_t n, room;
	struct shape **slots;            /* of the same, by a hash of the name */
	size_t nslots;                   /* a power of two, or 0 */
	struct shape *last;              /* neighbours are often alike */
};

struct ages *
ages_new(struct fault *f)
{
	struct ages *a = calloc(1, sizeof *a);

	if (a == NULL)
		fault_errno(f, "ages");
	return a;
}

static int
by_name(const struct shape *a, const struct shape *b)
{
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	if (a->name == NULL || b->name == NULL)
		return (a->name != NULL) - (b->name != NULL);
	return memcmp(a->name, b->name, a->len);
}

static struct shape **
slot_of(const struct ages *a, const struct shape *s)
{
	uint64_t hash = s->name != NULL ? XXH3_64bits(s->name, s->len) : 0;

	return &a->slots[hash & (a->nslots - 1)];
}

static void
slot_add(struct ages *a, struct shape *s)
{
	struct shape **slot = slot_of(a, s);

	s->next = *slot;
	*slot = s;
}

/* As many slots as there are shapes, at least. */
static int
more_slots(struct ages *a)
{
	size_t n = a->nslots > 0 ? 2 * a->nslots : 64;
	struct shape **slots = calloc(n, sizeof(struct shape *));

	if (slots == NULL)
		return -1;
	free(a->slots);
	a->slots = slots;
	a->nslots = n;
	for (size_t i = 0; i < a->n; i++)
		slot_add(a, a->v[i]);
	return 0;
}

static struct shape *
add_shape(struct ages *a, const struct shape *like)
{
	struct shape *s = calloc(1, sizeof *s);

	if (s == NULL)
		return NULL;
	if (like->name != NULL && (s->name = malloc(like->len + 1)) == NULL)
		goto fail;
	if (a->n == a->room) {
		size_t room = a->room > 0 ? 2 * a->room : 16;
		void *v = reallocarray(a->v, room, sizeof *a->v);

		if (v == NULL)
			goto fail;
		a->v = v;
		a->room = room;
	}
	s->len = like->len;
	if (s->name != NULL) {
		memcpy(s->name, like->name, s->len);
		s->name[s->len] = '\0';
	}
	slot_add(a, s);
	a->v[a->n++] = s;
	return s;
fail:
	free(s->name);
	free(s);
	return NULL;
}

static struct shape *
find(struct ages *a, const char *name, size_t len)
{
	struct shape like = { .name = (char *)name, .len = name != NULL ? len : 0 };

	if (a->last != NULL && by_name(a->last, &like) == 0)
		return a->last;
	if (a->n == a->nslots && more_slots(a) < 0)
		return NULL;
	a->last = *slot_of(a, &like);
	while (a->last != NULL && by_name(a->last, &like) != 0)
		a->last = a->last->next;
	if (a->last == NULL)
		a->last = add_shape(a, &like);
	return a->last;
}

static void
count(struct shape *s, int64_t age)
{
	size_t i = 0;

	while (i < BINS - 1 && age >= bins[i].below)
		i++;
	s->all++;
	s->bin[i]++;
}

struct looking {
	struct ages *ages;
	const char *by, *label;
	struct record record;
};

static int
look_entry(const struct entry *e, void *arg)
{
	struct looking *l = arg;
	const char *name = l->label != NULL ? l->label : state_word(e->state);
	size_t len = strlen(name);
	struct shape *s;

	record_set(&l->record, e);
	if (l->by != NULL)
		name = record_get(l->by, &len, &l->record);
	s = find(l->ages, name, len);
	if (s == NULL)
		return -1;
	count(s, record_age(&l->record));
	count(&l->ages->sum, record_age(&l->record));
	return l->record.failed.status != 0 ? -1 : 0;
}

int
ages_look(struct ages *a, struct queue *q, const char *by, const char *label,
    struct fault *f)
{
	struct looking l = { .ages = a, .by = by, .label = label };
	int r;

	record_begin(&l.record, q);
	r = queue_each(q, READY | LEASED, look_entry, &l, f);
	if (r < 0 && l.record.failed.status != 0)
		*f = l.record.failed;
	record_end(&l.record);
	return r < 0 ? -1 : 0;
}

static int
larger(const void *x, const void *y)
{
	const struct shape *a = *(struct shape *const *)x, *b = *(struct shape *const *)y;

	if (a->all != b->all)
		return a->all > b->all ? -1 : 1;
	return by_name(a, b);
}

unsigned
ages_below(size_t i)
{
	return i < BINS - 1 ? (unsigned)(bins[i].below / 1000) : 0;
}

static struct age_row
row_of(const struct shape *s)
{
	struct age_row row = { .name = s->name, .len = s->len, .all = s->all };

	memcpy(row.bin, s->bin, sizeof row.bin);
	return row;
}

int
ages_each(const struct ages *a, int (*fn)(const struct age_row *, void *), void *arg)
{
	struct age_row row = row_of(&a->sum);
	int r;

	row.name = "ALL";
	row.len = 3;
	row.sum = true;
	r = fn(&row, arg);
	if (a->n > 1)
		qsort(a->v, a->n, sizeof *a->v, larger);
	for (size_t i = 0; r == 0 && i < a->n; i++) {
		row = row_of(a->v[i]);
		r = fn(&row, arg);
	}
	return r;
}

static int
print_row(const struct age_row *row, void *arg)
{
	struct table *t = arg;

	if (row->name != NULL)
		table_text(t, row->name, row->len);
	else
		table_none(t);
	table_number(t, row->all);
	for (size_t i = 0; i < BINS; i++)
		table_number(t, row->bin[i]);
	return table_row(t);
}

int
ages_print(const struct ages *a, FILE *out)
{
	struct column columns[BINS + 2] = { { "", false }, { "ALL", true } };
	struct table *t;
	int r;

	for (size_t i = 0; i < BINS; i++)
		columns[i + 2] = (struct column){ bins[i].head, true };
	t = table_begin(out, columns, BINS + 2);
	if (t == NULL)
		return -1;
	r = ages_each(a, print_row, t);
	return table_end(t) < 0 ? -1 : r;
}

void
ages_free(struct ages *a)
{
	if (a == NULL)
		return;
	for (size_t i = 0; i < a->n; i++) {
		free(a->v[i]->name);
		free(a->v[i]);
	}
	free(a->slots);
	free(a->v);
	free(a);
}
