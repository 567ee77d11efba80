/* SPDX-License-Identifier: ISC
 *
 * mq-ls: lists queues, or the messages in them. */
#include <stdio.h>
#include <string.h>

#include "buffer.h"
#include "columns.h"
#include "fault.h"
#include "filter.h"
#include "json.h"
#include "opt.h"
#include "optmsg.h"
#include "record.h"
#include "report.h"
#include "std.h"
#include "store.h"
#include "table.h"
#include "units.h"

static const struct opt_use uses[] = {
	{ 'F', "only what EXPR matches; repeated: or" },
	{ 'J', "a JSON object a line" },
	{ 'o', "these fields, of the names below" },
	{ 's', NULL },
	{ OPT_STATE, "these of ready,leased,later,blocked,dead,done" },
	{ 0, NULL },
};

static const struct tool tool = {
	"mq-ls", "list queues or messages", "[-J] [-o FIELDS] [-F EXPR] "
	"[--state STATES] [QUEUE ...]",
	"Without QUEUE the queues, else their messages, the oldest first.\n"
	"FIELDS: id queue state priority tries age due key route version size holder\n"
	"since user command put_time expires when why body, and @NAME, an attribute.\n"
	"EXPR: FIELD=VALUE, != ^= $= *= < <= > >=, has:FIELD, !has:FIELD, and by commas.",
	uses, NULL,
};

#define SHOWN "id,state,priority,tries,age,due,key,size,holder,body"
#define SHOWN_LEASED "id,tries,since,due,holder,user,command,key,body"

struct args {
	struct opt o;
	const char *spool;
	bool json, fields;       /* -o was given */
	unsigned states;
	struct filter *filter;
	struct columns columns;
	struct table *table;
	struct record record;
	struct buffer line;
	struct fault *f;
	int status;
};

static int
set_states(struct args *a)
{
	const char *list = a->o.arg, *word;
	size_t len;

	for (a->states = 0; word_next(&list, &word, &len);) {
		unsigned state = 1;

		while (state < STATES_ALL && !word_is(word, len, state_word(state)))
			state <<= 1;
		if (state > STATES_ALL)
			return opt_bad(&a->o, "not of ready,leased,later,blocked,dead,done");
		a->states |= state;
	}
	return 0;
}

/* The last -o counts. */
static int
set_fields(struct args *a, const char *list)
{
	struct fault f;

	columns_free(&a->columns);
	return columns_parse(&a->columns, list, &f) < 0 ? opt_bad(&a->o, f.text) : 0;
}

static int
set(struct args *a, int id)
{
	switch (id) {
	case 'F':
		return optmsg_filter(&a->o, &a->filter);
	case 'J':
		a->json = true;
		break;
	case 'o':
		a->fields = true;
		return set_fields(a, a->o.arg);
	case 's':
		a->spool = a->o.arg;
		break;
	case OPT_STATE:
		return set_states(a);
	}
	return 0;
}

static int
check(struct args *a, char **queues)
{
	if (a->json && a->fields)
		return opt_usage(&a->o, "-J has all fields: no -o");
	if (*queues == NULL && (a->fields || a->filter != NULL || a->states != 0))
		return opt_usage(&a->o, "-o, -F and --state want a QUEUE");
	for (; *queues != NULL; queues++)
		if (!queue_name_valid(*queues))
			return opt_usage(&a->o, "%s: not a queue's name", *queues);
	if (a->states == 0)
		a->states = STATES_ALL & ~DONE;
	if (a->fields)
		return 0;
	return set_fields(a, a->states == LEASED ? SHOWN_LEASED : SHOWN);
}

/* --- printing ------------------------------------------------------------------ */

static int
print_json(struct args *a)
{
	struct view v;

	record_view(&a->record, &v);
	if (json_print(&v, &a->line) < 0)
		return fault_errno(a->f, "message");
	return report_write(&a->line, a->f);
}

static int
print_entry(const struct entry *e, void *arg)
{
	struct args *a = arg;
	int r = 0;

	record_set(&a->record, e);
	if (filter_match(a->filter, record_get, &a->record)) {
		if (a->json)
			r = print_json(a);
		else if (columns_row(&a->columns, &a->record, a->table) < 0)
			r = report_stdout(a->f);
	}
	if (a->record.failed.status == 0)
		return r;
	*a->f = a->record.failed;
	return -1;
}

static int
print_messages(struct args *a, struct store *s, const char *name)
{
	struct queue *q = queue_open(s, name, QUEUE_MUST, a->f);
	int r;

	if (q == NULL)
		return -1;
	record_begin(&a->record, q);
	r = queue_each(q, a->states, print_entry, a, a->f);
	record_end(&a->record);
	queue_close(q);
	return r;
}

static int
print_queue(const char *name, void *arg)
{
	struct args *a = arg;

	if (!a->json) {
		table_word(a->table, name);
		return table_row(a->table) < 0 ? report_stdout(a->f) : 0;
	}
	if (json_print_queue(name, &a->line) < 0)
		return fault_errno(a->f, "queue");
	return report_write(&a->line, a->f);
}

static void
list(struct args *a, struct store *s, char **queues)
{
	static const struct column name = { "QUEUE", false };
	bool all = *queues == NULL;

	a->table = table_begin(stdout, all ? &name : a->columns.heads, all ? 1 : a->columns.n);
	if (a->table == NULL) {
		fault_errno(a->f, "list");
		report_fault(&a->o, a->f, &a->status);
		return;
	}
	if (all && store_each(s, print_queue, a, a->f) < 0)
		report_fault(&a->o, a->f, &a->status);
	for (; *queues != NULL && !ferror(stdout); queues++)
		if (print_messages(a, s, *queues) < 0)
			report_fault(&a->o, a->f, &a->status);
	if ((a->json ? fflush(stdout) : table_end(a->table)) != 0 && a->status != ST_IO) {
		report_stdout(a->f);
		report_fault(&a->o, a->f, &a->status);
	}
}

int
main(int argc, char **argv)
{
	struct args a = { 0 };
	struct store *s;
	struct fault f;
	int id, r;

	std_hold();
	opt_begin(&a.o, &tool, argc, argv);
	while ((id = opt_next(&a.o)) > 0)
		if ((r = set(&a, id)) != 0)
			return r;
	if (id < 0)
		return a.o.status;
	r = check(&a, argv + a.o.index);
	if (r != 0)
		return r;
	a.f = &f;
	s = store_open(a.spool, false, &f);
	if (s == NULL)
		return opt_fault(&a.o, &f);
	list(&a, s, argv + a.o.index);
	store_close(s);
	return a.status;
}
