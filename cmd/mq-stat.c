/* SPDX-License-Identifier: ISC
 *
 * mq-stat: how much waits in the queues, and how long. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "fault.h"
#include "json.h"
#include "opt.h"
#include "std.h"
#include "store.h"
#include "table.h"

static const struct opt_use uses[] = {
	{ 'J', "a JSON object a line, with all there is to tell" },
	{ 'o', "these fields, of the names below" },
	{ 's', NULL },
	{ 0, NULL },
};

static const struct tool tool = {
	"mq-stat", "count messages and tell their age", "[-J | -o FIELDS] [QUEUE ...]",
	"FIELDS: ready leased later blocked dead oldest oldest_ready oldest_total.\n"
	"With one QUEUE -o prints these alone: plain numbers, ages in seconds.", uses, NULL,
};

enum what { READY_N, LEASED_N, LATER_N, BLOCKED_N, DEAD_N, OLDEST, OLDEST_READY, OLDEST_TOTAL };

static const struct {
	const char *name;
	struct column column;
} fields[] = {
	[READY_N] = { "ready", { "READY", true } },
	[LEASED_N] = { "leased", { "LEASED", true } },
	[LATER_N] = { "later", { "LATER", true } },
	[BLOCKED_N] = { "blocked", { "BLOCKED", true } },
	[DEAD_N] = { "dead", { "DEAD", true } },
	[OLDEST] = { "oldest", { "OLDEST", true } },
	[OLDEST_READY] = { "oldest_ready", { "OLDEST READY", true } },
	[OLDEST_TOTAL] = { "oldest_total", { "OLDEST TOTAL", true } },
};
#define NFIELDS (sizeof fields / sizeof *fields)
#define SHOWN_MAX 32

struct args {
	struct opt o;
	const char *spool;
	bool json, named;        /* the queue's name leads the row */
	enum what shown[SHOWN_MAX];
	size_t n;
	struct column columns[SHOWN_MAX + 1];
	struct store *store;
	struct table *table;
	struct buffer line;
	int status;
};

static int
set_fields(struct args *a)
{
	const char *s = a->o.arg;
	char why[100];

	for (size_t len; a->n == 0 || s[-1] == ','; s += len + 1) {
		size_t i = 0;

		len = strcspn(s, ",");
		while (i < NFIELDS && (strncmp(fields[i].name, s, len) != 0 ||
		    fields[i].name[len] != '\0'))
			i++;
		if (i == NFIELDS || len == 0 || a->n == SHOWN_MAX) {
			snprintf(why, sizeof why, "unknown field %.*s",
			    len < 40 ? (int)len : 40, s);
			return opt_bad(&a->o, why);
		}
		a->shown[a->n++] = (enum what)i;
	}
	return 0;
}

static int
set(struct args *a, int id)
{
	switch (id) {
	case 'J':
		a->json = true;
		break;
	case 'o':
		a->n = 0;
		return set_fields(a);
	case 's':
		a->spool = a->o.arg;
		break;
	}
	return 0;
}

static int
check(struct args *a, char **queues, int n)
{
	static const enum what all[] = { READY_N, LEASED_N, LATER_N, DEAD_N, OLDEST };

	if (a->json && a->n > 0)
		return opt_usage(&a->o, "-J has all fields: no -o");
	for (; *queues != NULL; queues++)
		if (!queue_name_valid(*queues))
			return opt_usage(&a->o, "%s: not a queue's name", *queues);
	a->named = a->n == 0 || n != 1;
	if (a->n == 0) {
		memcpy(a->shown, all, sizeof all);
		a->n = sizeof all / sizeof *all;
	}
	a->columns[0] = (struct column){ "QUEUE", false };
	for (size_t i = 0; i < a->n; i++)
		a->columns[i + a->named] = fields[a->shown[i]].column;
	return 0;
}

static void
failed(struct args *a, const struct fault *f)
{
	opt_fault(&a->o, f);
	if (a->status == ST_OK)
		a->status = f->status;
}

/* --- printing ------------------------------------------------------------------ */

static int
no_stdout(struct fault *f)
{
	fault_errno(f, "standard output");
	f->status = ST_IO;
	return -1;
}

static void
print_field(struct table *t, enum what what, const struct counts *c)
{
	const uint64_t numbers[] = { c->ready, c->leased, c->later, c->blocked, c->dead };
	const int64_t ages[] = { c->oldest, c->oldest_ready, c->oldest_total };
	int64_t age;

	if (what < OLDEST) {
		table_number(t, numbers[what]);
		return;
	}
	age = ages[what - OLDEST];
	table_age(t, age < 0 && !table_screen(t) ? 0 : age);
}

static int
print_row(struct args *a, const char *name, const struct counts *c, struct fault *f)
{
	char shown[QUEUE_NAME_SIZE + 16];

	snprintf(shown, sizeof shown, "%s%s", name,
	    c->paused && table_screen(a->table) ? " (paused)" : "");
	if (a->named)
		table_word(a->table, shown);
	for (size_t i = 0; i < a->n; i++)
		print_field(a->table, a->shown[i], c);
	return table_row(a->table) < 0 ? no_stdout(f) : 0;
}

static int
print_json(struct args *a, const char *name, const struct counts *c, struct fault *f)
{
	size_t n;

	if (json_print_counts(name, c, &a->line) < 0)
		return fault_errno(f, "%s", name);
	n = a->line.len;
	a->line.len = 0;
	return fwrite(a->line.data, 1, n, stdout) != n ? no_stdout(f) : 0;
}

/* One queue; others follow, whatever becomes of it, unless nobody reads. */
static int
print(const char *name, void *arg)
{
	struct args *a = arg;
	struct fault f = { 0 };
	struct queue *q = queue_open(a->store, name, QUEUE_MUST, &f);
	struct counts c;
	int r = -1;

	if (q != NULL && queue_count(q, &c, &f) == 0)
		r = a->json ? print_json(a, name, &c, &f) : print_row(a, name, &c, &f);
	queue_close(q);
	if (r < 0)
		failed(a, &f);
	return ferror(stdout) != 0;
}

static void
print_all(struct args *a, char **queues)
{
	struct fault f;
	int r = 0;

	a->table = table_begin(stdout, a->columns, a->n + a->named);
	if (a->table == NULL) {
		fault_errno(&f, "table");
		failed(a, &f);
		return;
	}
	if (*queues == NULL && store_each(a->store, print, a, &f) < 0)
		failed(a, &f);
	while (r == 0 && *queues != NULL)
		r = print(*queues++, a);
	if ((a->json ? fflush(stdout) : table_end(a->table)) != 0 && r == 0) {
		no_stdout(&f);
		failed(a, &f);
	}
}

int
main(int argc, char **argv)
{
	struct args a = { 0 };
	struct fault f;
	int id, r;

	std_hold();
	opt_begin(&a.o, &tool, argc, argv);
	while ((id = opt_next(&a.o)) > 0)
		if ((r = set(&a, id)) != 0)
			return r;
	if (id < 0)
		return a.o.status;
	r = check(&a, argv + a.o.index, argc - a.o.index);
	if (r != 0)
		return r;
	a.store = store_open(a.spool, false, &f);
	if (a.store == NULL)
		return opt_fault(&a.o, &f);
	print_all(&a, argv + a.o.index);
	store_close(a.store);
	return a.status;
}
