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
#include "record.h"
#include "std.h"
#include "store.h"
#include "table.h"

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
	const char *spool, *fields;
	bool json;
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
	const char *s = a->o.arg;

	for (size_t n; a->states == 0 || s[-1] == ','; s += n + 1) {
		unsigned state = 1;

		n = strcspn(s, ",");
		while (state < STATES_ALL && (strncmp(state_word(state), s, n) != 0 ||
		    state_word(state)[n] != '\0'))
			state <<= 1;
		if (n == 0 || state > STATES_ALL)
			return opt_bad(&a->o, "not of ready,leased,later,blocked,dead,done");
		a->states |= state;
	}
	return 0;
}

static int
set(struct args *a, int id)
{
	const char *wrong;
	size_t at;

	switch (id) {
	case 'F':
		wrong = filter_add(&a->filter, a->o.arg, &at);
		return wrong != NULL ? opt_caret(&a->o, at, wrong) : 0;
	case 'J':
		a->json = true;
		break;
	case 'o':
		a->fields = a->o.arg;
		break;
	case 's':
		a->spool = a->o.arg;
		break;
	case OPT_STATE:
		a->states = 0;
		return set_states(a);
	}
	return 0;
}

static int
check(struct args *a, char **queues)
{
	struct fault f;

	if (a->json && a->fields != NULL)
		return opt_usage(&a->o, "-J has all fields: no -o");
	if (*queues == NULL && (a->fields != NULL || a->filter != NULL || a->states != 0))
		return opt_usage(&a->o, "-o, -F and --state want a QUEUE");
	for (; *queues != NULL; queues++)
		if (!queue_name_valid(*queues))
			return opt_usage(&a->o, "%s: not a queue's name", *queues);
	if (a->fields == NULL)
		a->fields = a->states == LEASED ? SHOWN_LEASED : SHOWN;
	if (columns_parse(&a->columns, a->fields, &f) < 0)
		return opt_usage(&a->o, "-o: %s", f.text);
	if (a->states == 0)
		a->states = STATES_ALL & ~DONE;
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

static int
print_line(struct args *a)
{
	if (fwrite(a->line.data, 1, a->line.len, stdout) != a->line.len)
		return no_stdout(a->f);
	a->line.len = 0;
	return 0;
}

static int
print_json(struct args *a)
{
	struct view v;

	record_view(&a->record, &v);
	if (json_print(&v, &a->line) < 0)
		return fault_errno(a->f, "message");
	return print_line(a);
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
			r = no_stdout(a->f);
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
		return table_row(a->table) < 0 ? no_stdout(a->f) : 0;
	}
	if (json_print_queue(name, &a->line) < 0)
		return fault_errno(a->f, "queue");
	return print_line(a);
}

static void
list(struct args *a, struct store *s, char **queues)
{
	static const struct column name = { "QUEUE", false };
	bool all = *queues == NULL;

	a->table = table_begin(stdout, all ? &name : a->columns.heads, all ? 1 : a->columns.n);
	if (a->table == NULL) {
		fault_errno(a->f, "list");
		failed(a, a->f);
		return;
	}
	if (all && store_each(s, print_queue, a, a->f) < 0)
		failed(a, a->f);
	for (; *queues != NULL && !ferror(stdout); queues++)
		if (print_messages(a, s, *queues) < 0)
			failed(a, a->f);
	if ((a->json ? fflush(stdout) : table_end(a->table)) != 0 && a->status != ST_IO) {
		no_stdout(a->f);
		failed(a, a->f);
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
