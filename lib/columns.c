/* SPDX-License-Identifier: ISC */
#include "columns.h"

#include <bsd/stdlib.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define BODY_SHOWN 64            /* bytes */
#define COLUMNS_MAX 64

/* --- what they show ------------------------------------------------------------------ */

static void
show_age(struct record *r, struct table *t)
{
	table_age(t, record_age(r));
}

static void
show_due(struct record *r, struct table *t)
{
	int64_t due = record_due(r);

	table_age(t, due == 0 ? -1 : due > r->now ? due - r->now : 0);
}

static void
show_holder(struct record *r, struct table *t)
{
	char holder[32];

	snprintf(holder, sizeof holder, "%u.%u", r->entry->pid, r->entry->uid);
	table_word(t, r->entry->pid != 0 ? holder : NULL);
}

static void
show_since(struct record *r, struct table *t)
{
	table_time(t, r->entry->since);
}

static void
show_user(struct record *r, struct table *t)
{
	const struct holder *h = record_holder(r);

	table_word(t, h != NULL ? h->user : NULL);
}

static void
show_command(struct record *r, struct table *t)
{
	const struct holder *h = record_holder(r);

	table_word(t, h != NULL && h->command[0] != '\0' ? h->command : NULL);
}

static void
show_put_time(struct record *r, struct table *t)
{
	table_time(t, r->entry->put_time);
}

static void
show_expires(struct record *r, struct table *t)
{
	int64_t expiry = r->entry->expiry;

	table_age(t, expiry == 0 ? -1 : expiry > r->now ? expiry - r->now : 0);
}

static void
show_when(struct record *r, struct table *t)
{
	(void)record_reason(r);
	table_time(t, r->when);
}

static void
show_body(struct record *r, struct table *t)
{
	const char *body;
	size_t len;

	if (!record_body(r, &body, &len)) {
		table_none(t);
		return;
	}
	if (table_screen(t) && len > 0 && body[len - 1] == '\n')
		len--;
	table_text(t, body, len < BODY_SHOWN ? len : BODY_SHOWN);
}

static const struct {
	const char *name;
	bool right;
	void (*show)(struct record *, struct table *);   /* NULL: record_get() */
} fields[] = {
	{ "id", false, NULL }, { "queue", false, NULL }, { "state", false, NULL },
	{ "priority", true, NULL }, { "tries", true, NULL }, { "age", true, show_age },
	{ "due", true, show_due }, { "key", false, NULL }, { "route", false, NULL },
	{ "version", true, NULL }, { "size", true, NULL },
	{ "holder", false, show_holder }, { "since", false, show_since },
	{ "user", false, show_user }, { "command", false, show_command }, { "put_time", false, show_put_time },
	{ "expires", true, show_expires }, { "when", false, show_when },
	{ "why", false, NULL }, { "body", false, show_body },
};
#define NFIELDS (sizeof fields / sizeof *fields)

static size_t
field_named(const char *name)
{
	size_t i = 0;

	while (i < NFIELDS && strcmp(fields[i].name, name) != 0)
		i++;
	return i;
}

static void
show(const char *name, struct record *r, struct table *t)
{
	size_t i = field_named(name), len;
	const char *value;

	if (i < NFIELDS && fields[i].show != NULL) {
		fields[i].show(r, t);
		return;
	}
	value = record_get(name, &len, r);
	if (value != NULL)
		table_text(t, value, len);
	else
		table_none(t);
}

int
columns_row(const struct columns *c, struct record *r, struct table *t)
{
	const char *name = c->list;

	for (size_t i = 0; i < c->n; i++) {
		show(name, r, t);
		name += strlen(name) + 1;
	}
	return table_row(t);
}

/* --- which ------------------------------------------------------------------------------ */

/* The names in capitals stand over the columns, behind the names. */
static int
name_heads(struct columns *c, size_t len)
{
	char *head = c->list + len + 1;

	for (size_t i = 0; i <= len; i++)
		head[i] = (char)toupper((unsigned char)c->list[i]);
	c->heads = calloc(c->n, sizeof *c->heads);
	if (c->heads == NULL)
		return -1;
	for (size_t i = 0; i < c->n; i++, head += strlen(head) + 1) {
		size_t f = field_named(c->list + (head - (c->list + len + 1)));

		c->heads[i] = (struct column){ head, f < NFIELDS && fields[f].right };
	}
	return 0;
}

static bool
known(const char *name)
{
	return name[0] == '@' ? attr_name_valid(name + 1) : field_named(name) < NFIELDS;
}

int
columns_parse(struct columns *c, const char *list, struct fault *f)
{
	size_t len = strlen(list);

	*c = (struct columns){ .list = malloc(2 * (len + 1)) };
	if (c->list == NULL)
		return fault_errno(f, "columns");
	memcpy(c->list, list, len + 1);
	for (char *p = c->list, *end; p <= c->list + len; p = end + 1, c->n++) {
		end = p + strcspn(p, ",");
		*end = '\0';
		if (known(p) && c->n < COLUMNS_MAX)
			continue;
		fault_set(f, ST_USAGE, "no such field: %.100s", p);
		columns_free(c);
		return -1;
	}
	if (name_heads(c, len) == 0)
		return 0;
	columns_free(c);
	return fault_errno(f, "columns");
}

void
columns_free(struct columns *c)
{
	free(c->heads);
	free(c->list);
	*c = (struct columns){ 0 };
}
