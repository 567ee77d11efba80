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
#include "report.h"
#include "std.h"
#include "store.h"
#include "table.h"
#include "units.h"

static const struct opt_use uses[] = {
	{ 'J', "a JSON object a line, with all there is to tell" },
	{ 'o', "these fields, of the names below" },
	{ 's', NULL },
	{ 0, NULL },
};

static const struct tool tool = {
	"mq-stat", "count messages and tell their age", "[-J | -o FIELDS] [QUEUE ...]",
	"FIELDS: ready leased later blocked dead published unrouted dropped oldest\n"
	"oldest_ready oldest_total. Below a topic stand its subscriptions, but with one\n"
	"QUEUE -o prints its values alone: plain numbers, ages in seconds.", uses, NULL,
};

enum what {
	READY_N, LEASED_N, LATER_N, BLOCKED_N, DEAD_N, PUBLISHED_N, UNROUTED_N, DROPPED_N,
	OLDEST, OLDEST_READY, OLDEST_TOTAL,
};

static const struct {
	const char *name;
	struct column column;
} fields[] = {
	[READY_N] = { "ready", { "READY", true } },
	[LEASED_N] = { "leased", { "LEASED", true } },
	[LATER_N] = { "later", { "LATER", true } },
	[BLOCKED_N] = { "blocked", { "BLOCKED", true } },
	[DEAD_N] = { "dead", { "DEAD", true } },
	[PUBLISHED_N] = { "published", { "PUBLISHED", true } },
	[UNROUTED_N] = { "unrouted", { "UNROUTED", true } },
	[DROPPED_N] = { "dropped", { "DROPPED", true } },
	[OLDEST] = { "oldest", { "OLDEST", true } },
	[OLDEST_READY] = { "oldest_ready", { "OLDEST READY", true } },
	[OLDEST_TOTAL] = { "oldest_total", { "OLDEST TOTAL", true } },
};
#define NFIELDS (sizeof fields / sizeof *fields)
#define SHOWN_MAX 32

struct shown {                   /* a row */
	const char *name;
	struct counts counts;
	struct totals totals;
	bool known;              /* the totals are */
	bool topic;
};

struct args {
	struct opt o;
	const char *spool;
	bool json, named;        /* the queue's name leads the row */
	bool listed;             /* came from store_each(): each sub after its topic */
	bool topic;              /* the one printed last was one */
	const char *under;
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
	const char *list = a->o.arg, *word;
	size_t len, i;
	char why[100];

	for (a->n = 0; word_next(&list, &word, &len); a->n++) {
		for (i = 0; i < NFIELDS && !word_is(word, len, fields[i].name);)
			i++;
		if (i == NFIELDS || a->n == SHOWN_MAX) {
			snprintf(why, sizeof why, "no such field: %.*s",
			    len < 40 ? (int)len : 40, word);
			return opt_bad(&a->o, why);
		}
		a->shown[a->n] = (enum what)i;
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

/* --- printing ------------------------------------------------------------------ */

static void
print_field(struct table *t, enum what what, const struct shown *s)
{
	const struct counts *c = &s->counts;
	const uint64_t numbers[] = {
		c->ready, c->leased, c->later, c->blocked, c->dead, s->totals.published,
		s->totals.unrouted, s->totals.dropped,
	};
	const int64_t ages[] = { c->oldest, c->oldest_ready, c->oldest_total };
	int64_t age;

	if (what >= PUBLISHED_N && what <= DROPPED_N && !s->known) {
		table_none(t);
	} else if (what < OLDEST) {
		table_number(t, numbers[what]);
	} else {
		age = ages[what - OLDEST];
		table_age(t, age < 0 && !table_screen(t) ? 0 : age);
	}
}

static int
print_row(struct args *a, const struct shown *s, struct fault *f)
{
	char text[QUEUE_NAME_SIZE + 16];
	bool people = table_screen(a->table), below = people && a->listed && strchr(s->name, '/') != NULL;

	snprintf(text, sizeof text, "%s%s%s", below ? "  " : "",
	    below ? strchr(s->name, '/') + 1 : s->name,
	    s->counts.paused && people ? " (paused)" : "");
	if (a->named)
		table_word(a->table, text);
	for (size_t i = 0; i < a->n; i++)
		print_field(a->table, a->shown[i], s);
	return table_row(a->table) < 0 ? report_stdout(f) : 0;
}

static int
print_json(struct args *a, const struct shown *s, struct fault *f)
{
	if (json_print_counts(s->name, &s->counts, s->known ? &s->totals : NULL, s->topic,
	    &a->line) < 0)
		return fault_errno(f, "%s", s->name);
	return report_write(&a->line, f);
}

static int
print_queue(struct args *a, struct queue *q, struct fault *f)
{
	struct shown s = { .name = queue_name(q), .topic = queue_is_topic(q) };
	int r = queue_count(q, &s.counts, f);

	if (r == 0)
		r = queue_totals(q, &s.totals, f);
	s.known = r == 1;
	if (r < 0)
		return -1;
	return a->json ? print_json(a, &s, f) : print_row(a, &s, f);
}

/* One queue; others follow, whatever becomes of it, unless nobody reads. */
static int
print(const char *name, void *arg)
{
	struct args *a = arg;
	struct fault f = { 0 };
	struct queue *q = queue_open(a->store, name, QUEUE_MUST, &f);

	/* what was listed may be gone since */
	if ((q == NULL && !(a->listed && f.status == ST_NOQUEUE)) ||
	    (q != NULL && print_queue(a, q, &f) < 0))
		report_fault(&a->o, &f, &a->status);
	a->topic = q != NULL && queue_is_topic(q);
	queue_close(q);
	return ferror(stdout) != 0;
}

/* One of a list, if it is a subscription of the topic a->under. */
static int
print_under(const char *name, void *arg)
{
	struct args *a = arg;
	size_t n = strlen(a->under);

	return strncmp(name, a->under, n) != 0 || name[n] != '/' ? 0 : print(name, a);
}

/* A queue that was asked for, and what stands below it. */
static int
print_named(struct args *a, const char *name)
{
	struct fault f;

	a->listed = false;
	if (print(name, a) != 0)
		return 1;
	a->listed = true;
	a->under = name;
	if (a->topic && (a->named || a->json) && store_each(a->store, print_under, a, &f) < 0)
		report_fault(&a->o, &f, &a->status);
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
		report_fault(&a->o, &f, &a->status);
		return;
	}
	a->listed = true;
	if (*queues == NULL && store_each(a->store, print, a, &f) < 0)
		report_fault(&a->o, &f, &a->status);
	while (r == 0 && *queues != NULL)
		r = print_named(a, *queues++);
	if ((a->json ? fflush(stdout) : table_end(a->table)) != 0 && r == 0) {
		report_stdout(&f);
		report_fault(&a->o, &f, &a->status);
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
