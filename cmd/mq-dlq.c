/* SPDX-License-Identifier: ISC
 *
 * mq-dlq: looks at dead letters, and brings them back or removes them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "columns.h"
#include "edit.h"
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
#include "tally.h"
#include "units.h"

/* --- the verbs -------------------------------------------------------------------- */

static const struct opt_use ls_uses[] = {
	{ 'F', "only what EXPR matches; repeated: or" },
	{ 'J', "a JSON object a line" },
	{ 's', NULL },
	{ OPT_BY, "a count for each `why'" },
	{ 0, NULL },
};
static const struct opt_use show_uses[] = { { 's', NULL }, { 0, NULL } };
static const struct opt_use retry_uses[] = {
	{ 'F', "with --all: only what EXPR matches; repeated: or" },
	{ 'R', "spread them over time, no more than RATE" },
	{ 's', NULL },
	{ 't', "into another QUEUE of the spool" },
	{ OPT_ALL, "all dead letters of QUEUE" },
	{ 0, NULL },
};
static const struct opt_use rm_uses[] = {
	{ 'F', "with --all: only what EXPR matches; repeated: or" },
	{ 's', NULL },
	{ OPT_ALL, "all dead letters of QUEUE" },
	{ 0, NULL },
};

static const struct tool ls_tool = {
	"mq-dlq ls", "list dead letters", "[-J] [-F EXPR] [--by why] QUEUE",
	"id, when it died, tries, why, key, first bytes.", ls_uses, NULL,
};
static const struct tool show_tool = {
	"mq-dlq show", "print one with all that is known of it", "QUEUE:ID",
	"Header, what went wrong each time, the body.", show_uses, NULL,
};
static const struct tool retry_tool = {
	"mq-dlq retry", "back to ready, tries counted anew",
	"[-R RATE | -t QUEUE] QUEUE:ID ...\n[-R RATE | -t QUEUE] --all [-F EXPR] QUEUE",
	NULL, retry_uses, NULL,
};
static const struct tool edit_tool = {
	"mq-dlq edit", "change the body in $EDITOR, then retry", "QUEUE:ID",
	"Prints the new message's id. What was not changed stays where it is: 1.",
	show_uses, NULL,
};
static const struct tool rm_tool = {
	"mq-dlq rm", "remove dead letters", "QUEUE:ID ...\n--all [-F EXPR] QUEUE",
	NULL, rm_uses, NULL,
};
static const struct tool *const verbs[] = {
	&ls_tool, &show_tool, &retry_tool, &edit_tool, &rm_tool, NULL,
};
static const struct tool tool = {
	"mq-dlq", "dead letters", "ls [-J] [-F EXPR] [--by why] QUEUE\n"
	"show QUEUE:ID\nretry [-R RATE] QUEUE:ID ... | --all [-F EXPR] QUEUE\n"
	"edit QUEUE:ID\nrm QUEUE:ID ... | --all [-F EXPR] QUEUE",
	"EXPR as in mq-ls(1), as -F 'why*=timeout,age>1d'.", NULL, verbs,
};

#define SHOWN "id,when,tries,why,key,body"

struct dead {                    /* one that is being edited, kept open */
	struct put_spec spec;
	struct message *m;
	const char *body;
	size_t len;
};

struct args {
	struct opt o;
	const char *spool;
	bool json, by_why, all;
	double rate;             /* a second; 0: at once */
	int64_t now;
	uint64_t revived;
	const char *to;          /* retry -t */
	struct queue *target;
	struct filter *filter;
	struct columns columns;
	struct table *table;
	struct tally tally;
	struct buffer text;
	struct store *store;
	struct queue *q;
	struct record record;
	int (*act)(struct args *, const struct entry *, struct fault *);
	struct dead dead;
	struct fault *f;
	int status;
};

static int
set(struct args *a, int id)
{
	switch (id) {
	case 'F':
		return optmsg_filter(&a->o, &a->filter);
	case 'J':
		a->json = true;
		break;
	case 'R':
		if (!rate_parse(a->o.arg, &a->rate) || a->rate <= 0)
			return opt_bad(&a->o, "not a rate (500/s, 60/m)");
		break;
	case 's':
		a->spool = a->o.arg;
		break;
	case 't':
		a->to = a->o.arg;
		if (!queue_name_valid(a->to))
			return opt_bad(&a->o, "not a queue's name");
		break;
	case OPT_ALL:
		a->all = true;
		break;
	case OPT_BY:
		if (strcmp(a->o.arg, "why") != 0)
			return opt_bad(&a->o, "only `why' can be counted");
		a->by_why = true;
		break;
	}
	return 0;
}

/* --- finding them ----------------------------------------------------------------- */

/* fn with each dead letter of a->q that the filter fits. */
static int
each(struct args *a, int (*fn)(const struct entry *, void *), struct fault *f)
{
	int r;

	a->f = f;
	record_begin(&a->record, a->q);
	r = queue_each(a->q, DEAD, fn, a, f);
	record_end(&a->record);
	return r;
}

/* 1 if the filter fits, 0, -1 */
static int
fits(struct args *a, const struct entry *e)
{
	bool fit;

	record_set(&a->record, e);
	fit = filter_match(a->filter, record_get, &a->record);
	if (a->record.failed.status == 0)
		return fit;
	*a->f = a->record.failed;
	return -1;
}

/* Opens the queue of QUEUE:ID and calls fn with the dead letter. */
static int
find(struct args *a, const char *operand, int (*fn)(const struct entry *, void *),
    struct fault *f)
{
	char name[QUEUE_NAME_SIZE];
	struct id id;
	int r;

	a->f = f;
	if (!operand_id(operand, name, &id))
		return fault_set(f, ST_USAGE, "%.300s: not QUEUE:ID", operand);
	if (a->q == NULL || strcmp(queue_name(a->q), name) != 0) {
		queue_close(a->q);
		a->q = queue_open(a->store, name, QUEUE_MUST, f);
	}
	if (a->q == NULL)
		return -1;
	record_begin(&a->record, a->q);
	r = queue_find(a->q, id, DEAD, fn, a, f);
	record_end(&a->record);
	if (r == 0)
		return fault_set(f, ST_NOTHING, "%s: no such dead letter", operand);
	return r < 0 ? -1 : 0;
}

/* --- ls ----------------------------------------------------------------------------- */

static int
print_json(struct args *a)
{
	struct view v;

	record_view(&a->record, &v);
	if (json_print(&v, &a->text) < 0)
		return fault_errno(a->f, "message");
	return report_write(&a->text, a->f);
}

static int
count_why(struct args *a)
{
	const char *why = record_reason(&a->record);

	if (tally_add(&a->tally, why != NULL ? why : "") < 0)
		return fault_errno(a->f, "reasons");
	return 0;
}

static int
ls_entry(const struct entry *e, void *arg)
{
	struct args *a = arg;
	int r = fits(a, e);

	if (r <= 0)
		return r;
	if (a->json)
		return print_json(a);
	if (a->by_why)
		return count_why(a);
	return columns_row(&a->columns, &a->record, a->table) < 0 ? report_stdout(a->f) : 0;
}

static int
print_tally(struct args *a, struct fault *f)
{
	tally_sort(&a->tally);
	for (size_t i = 0; i < a->tally.n; i++) {
		const struct tally_row *row = &a->tally.rows[i];

		table_number(a->table, row->n);
		table_word(a->table, row->text[0] != '\0' ? row->text : NULL);
		if (table_row(a->table) < 0)
			return report_stdout(f);
	}
	return 0;
}

static int
ls_queue(struct args *a, const char *name, struct fault *f)
{
	static const struct column counts[] = { { "COUNT", true }, { "WHY", false } };
	int r;

	a->q = queue_open(a->store, name, QUEUE_MUST, f);
	if (a->q == NULL || columns_parse(&a->columns, SHOWN, f) < 0)
		return -1;
	a->table = a->by_why ? table_begin(stdout, counts, 2) :
	    table_begin(stdout, a->columns.heads, a->columns.n);
	if (a->table == NULL)
		return fault_errno(f, "list");
	r = each(a, ls_entry, f);
	if (r == 0)
		r = print_tally(a, f);
	if ((a->json ? fflush(stdout) : table_end(a->table)) != 0 && r == 0)
		r = report_stdout(f);
	return r;
}

static int
ls(struct args *a, char **operands, int n)
{
	struct fault f;

	if (n != 1 || !queue_name_valid(operands[0]))
		return opt_usage(&a->o, "one QUEUE");
	if (a->json && a->by_why)
		return opt_usage(&a->o, "-J and --by: one of them");
	return ls_queue(a, operands[0], &f) < 0 ? opt_fault(&a->o, &f) : 0;
}

/* --- show ----------------------------------------------------------------------------- */

static int
add_why(struct args *a, struct id id)
{
	char *why = NULL;
	int r = entry_why(a->q, id, &why, a->f);

	if (r == 1 && (buffer_byte(&a->text, '\n') < 0 || buffer_text(&a->text, why) < 0))
		r = fault_errno(a->f, "why");
	if (r == 1)
		free(why);
	return r;
}

static int
show_entry(const struct entry *e, void *arg)
{
	struct args *a = arg;
	struct view v;

	record_set(&a->record, e);
	record_view(&a->record, &v);
	if (view_header(&v, &a->text) < 0 || add_why(a, e->id) < 0 ||
	    buffer_byte(&a->text, '\n') < 0 ||
	    (v.body != NULL && buffer_add(&a->text, v.body, v.len) < 0))
		return fault_errno(a->f, "message");
	if (a->record.failed.status != 0) {
		*a->f = a->record.failed;
		return -1;
	}
	return 1;
}

static int
show(struct args *a, char **operands, int n)
{
	struct fault f;

	if (n != 1)
		return opt_usage(&a->o, "one QUEUE:ID");
	if (find(a, operands[0], show_entry, &f) < 0)
		return opt_fault(&a->o, &f);
	if (report_write(&a->text, &f) < 0 || report_flush(&f) < 0)
		return opt_fault(&a->o, &f);
	return ST_OK;
}

/* --- retry and rm ----------------------------------------------------------------------- */

/* With a rate: one now, the next ones after it. */
static int
revive(struct args *a, const struct entry *e, struct fault *f)
{
	int64_t due = 0;

	if (a->rate > 0)
		due = a->now + (int64_t)((double)a->revived * 1000 / a->rate);
	a->revived++;
	if (a->to != NULL && strcmp(a->to, queue_name(a->q)) == 0)
		return fault_set(f, ST_USAGE, "-t %s: it is in that queue", a->to);
	if (a->to != NULL && a->target == NULL)
		a->target = queue_open(queue_store(a->q), a->to, QUEUE_MAKE, f);
	if (a->to != NULL && a->target == NULL)
		return -1;
	return entry_revive(a->q, e, a->target, due, f);
}

static int
drop(struct args *a, const struct entry *e, struct fault *f)
{
	return entry_remove(a->q, e, f);
}

static int
act_on_found(const struct entry *e, void *arg)
{
	struct args *a = arg;

	return a->act(a, e, a->f);
}

static int
act_on_each(const struct entry *e, void *arg)
{
	struct args *a = arg;
	int r = fits(a, e);

	if (r == 1)
		r = a->act(a, e, a->f);
	return r < 0 ? -1 : 0;
}

static int
act_on_all(struct args *a, const char *name, struct fault *f)
{
	uint64_t n;

	a->q = queue_open(a->store, name, QUEUE_MUST, f);
	if (a->q == NULL)
		return -1;
	if (a->act == drop && a->filter == NULL)
		return queue_clear(a->q, DEAD, &n, f);
	return each(a, act_on_each, f);
}

static int
act(struct args *a, char **operands, int n)
{
	struct fault f;

	if (!a->all && a->filter != NULL)
		return opt_usage(&a->o, "-F goes with --all");
	if (a->to != NULL && a->rate > 0)
		return opt_usage(&a->o, "-R and -t: one of them");
	if (a->all && (n != 1 || !queue_name_valid(operands[0])))
		return opt_usage(&a->o, "--all: of one QUEUE");
	if (n < 1)
		return opt_usage(&a->o, "no QUEUE:ID given");
	if (a->all && act_on_all(a, operands[0], &f) < 0)
		report_fault(&a->o, &f, &a->status);
	for (; !a->all && *operands != NULL; operands++)
		if (find(a, *operands, act_on_found, &f) < 0)
			report_fault(&a->o, &f, &a->status);
	return a->status;
}

/* --- edit ------------------------------------------------------------------------------ */

static int
open_found(const struct entry *e, void *arg)
{
	struct args *a = arg;
	struct dead *d = &a->dead;
	uint32_t k;
	int r = entry_open(a->q, e, &d->m, &k, a->f);

	if (r <= 0)
		return r;
	d->spec.head = *message_head(d->m);
	d->spec.priority = e->priority;
	return message_body(d->m, k, &d->body, &d->len, a->f) < 0 ? -1 : 1;
}

static int
still_there(const struct entry *e, void *arg)
{
	(void)e;
	(void)arg;
	return 1;
}

/* Puts the new text and prints its id; then the dead one goes. */
static int
replace(struct args *a, const char *operand, const struct edit *e, struct fault *f)
{
	struct put *p = put_begin(a->q, &a->dead.spec, f);
	char text[ID_LEN + 1];
	struct put_done done;
	int r = -1;

	if (p != NULL && put_add(p, e->text, e->len, f) == 0)
		r = put_commit(p, &done, f);
	put_end(p);
	if (r < 0)
		return -1;
	id_print(done.first, text);
	puts(text);
	a->act = drop;
	if (find(a, operand, act_on_found, f) < 0)
		report_fault(&a->o, f, &a->status);
	return 0;
}

static int
edit_body(struct args *a, const char *operand, struct fault *f)
{
	const struct conf *c = queue_conf(a->q, f);
	struct edit e;
	size_t n;
	int r;

	if (c == NULL)
		return -1;
	r = edit_run(&e, a->dead.body, a->dead.len, c->max_size, f);
	if (r != 1) {
		edit_end(&e, false);
		return r < 0 ? -1 : fault_set(f, ST_NOTHING, "%s: not changed", operand);
	}
	r = find(a, operand, still_there, f);
	if (r == 0)
		r = replace(a, operand, &e, f);
	n = r < 0 ? strlen(f->text) : 0;
	if (r < 0)
		snprintf(f->text + n, sizeof f->text - n, " (your text is in %.200s)", e.path);
	edit_end(&e, r < 0);
	return r;
}

static int
edit(struct args *a, char **operands, int n)
{
	struct fault f;
	int r;

	if (n != 1)
		return opt_usage(&a->o, "one QUEUE:ID");
	r = find(a, operands[0], open_found, &f);
	if (r == 0)
		r = edit_body(a, operands[0], &f);
	message_close(a->dead.m);
	if (r < 0)
		report_fault(&a->o, &f, &a->status);
	report_end(&a->o, &a->status);
	return a->status;
}

/* --- which ------------------------------------------------------------------------------ */

static int
run(struct args *a, const struct tool *verb, char **operands, int n)
{
	if (verb == &ls_tool)
		return ls(a, operands, n);
	if (verb == &show_tool)
		return show(a, operands, n);
	if (verb == &edit_tool)
		return edit(a, operands, n);
	a->act = verb == &rm_tool ? drop : revive;
	return act(a, operands, n);
}

int
main(int argc, char **argv)
{
	struct args a = { .status = ST_OK };
	const struct tool *verb;
	struct fault f;
	int id, r;

	std_hold();
	verb = opt_verb(&a.o, &tool, argc, argv);
	if (verb == NULL)
		return a.o.status;
	while ((id = opt_next(&a.o)) > 0)
		if ((r = set(&a, id)) != 0)
			return r;
	if (id < 0)
		return a.o.status;
	a.now = now_ms();
	a.store = store_open(a.spool, false, &f);
	if (a.store == NULL)
		return opt_fault(&a.o, &f);
	r = run(&a, verb, argv + a.o.index, argc - a.o.index);
	queue_close(a.q);
	queue_close(a.target);
	store_close(a.store);
	return r;
}
