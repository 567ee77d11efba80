/* SPDX-License-Identifier: ISC
 *
 * mq-cat: prints a message: its body, its header, or one attribute. */
#include <stdio.h>
#include <string.h>

#include "buffer.h"
#include "fault.h"
#include "opt.h"
#include "record.h"
#include "report.h"
#include "std.h"
#include "store.h"
#include "view.h"

static const struct opt_use uses[] = {
	{ 'H', "the header, lines of `name: value'" },
	{ 'o', "one attribute; 1 if it has none of that name" },
	{ 's', "the spool, for QUEUE:ID" },
	{ OPT_ATTACHMENT, "the path of each attachment; 1 if it has none" },
	{ 0, NULL },
};

static const struct tool tool = {
	"mq-cat", "print a message", "[-H | -o NAME | --attachment] RECEIPT | QUEUE:ID",
	"Prints the body, byte for byte.", uses, NULL,
};

struct args {
	struct opt o;
	const char *spool, *name;
	bool header, attachment;
	struct fault *f;
	struct queue *q;
};

static int
set(struct args *a, int id)
{
	switch (id) {
	case 'H':
		a->header = true;
		break;
	case OPT_ATTACHMENT:
		a->attachment = true;
		break;
	case 'o':
		a->name = a->o.arg + (a->o.arg[0] == '@');
		if (!attr_name_valid(a->name))
			return opt_bad(&a->o, "not an attribute's name");
		break;
	case 's':
		a->spool = a->o.arg;
		break;
	}
	return 0;
}

/* --- printing ----------------------------------------------------------------- */

static int
print_attr(const struct args *a, const struct view *v)
{
	const char *value = head_attr_get(v->head, a->name);

	if (value == NULL)
		return fault_set(a->f, ST_NOTHING, "%s: has no such attribute", a->name);
	puts(value);
	return 0;
}

static int
print_attachments(const struct args *a, const struct view *v)
{
	const struct head *h = v->head;

	for (size_t i = 0; i < h->nattachments; i++)
		puts(h->attachments[i]);
	return h->nattachments > 0 ? 0 : fault_set(a->f, ST_NOTHING, "has no attachment");
}

static int
print_header(const struct args *a, const struct view *v)
{
	struct buffer b = { 0 };
	int r = view_header(v, &b);

	if (r < 0)
		fault_errno(a->f, "header");
	else
		fwrite(b.data, 1, b.len, stdout);
	buffer_free(&b);
	return r;
}

static int
print(const struct args *a, const struct view *v)
{
	int r = 0;

	if (a->name != NULL)
		r = print_attr(a, v);
	else if (a->attachment)
		r = print_attachments(a, v);
	else if (a->header)
		r = print_header(a, v);
	else
		fwrite(v->body, 1, v->len, stdout);
	return r == 0 ? report_flush(a->f) : r;
}

/* --- finding ------------------------------------------------------------------- */

static int
print_entry(const struct entry *e, void *arg)
{
	struct args *a = arg;
	struct record r;
	struct view v;
	int done;

	record_begin(&r, a->q);
	record_set(&r, e);
	record_view(&r, &v);
	if (r.failed.status != 0) {
		*a->f = r.failed;
		done = -1;
	} else if (v.body == NULL) {
		done = fault_set(a->f, ST_DATA, "torn, not a whole message file");
	} else {
		done = print(a, &v) < 0 ? -1 : 1;
	}
	record_end(&r);
	return done;
}

static int
by_id(struct args *a, const char *operand)
{
	char name[QUEUE_NAME_SIZE];
	struct store *s;
	struct id id;
	int r = -1;

	if (!operand_id(operand, name, &id))
		return fault_set(a->f, ST_USAGE, "%.300s: neither RECEIPT nor QUEUE:ID", operand);
	s = store_open(a->spool, false, a->f);
	a->q = s == NULL ? NULL : queue_open(s, name, QUEUE_MUST, a->f);
	if (a->q != NULL) {
		r = queue_find(a->q, id, STATES_ALL, print_entry, a, a->f);
		queue_close(a->q);
	}
	store_close(s);
	if (r == 0)
		return fault_set(a->f, ST_NOTHING, "%s: no such message", operand);
	return r < 0 ? -1 : 0;
}

static int
by_receipt(struct args *a, const char *operand)
{
	struct lease *l = lease_by_receipt(operand, NULL, a->f);
	char receipt[RECEIPT_SIZE];
	struct view v;
	int r = -1;

	if (l != NULL && view_lease(&v, l, 0, receipt, a->f) == 0)
		r = print(a, &v);
	lease_free(l);
	return r;
}

int
main(int argc, char **argv)
{
	struct fault f;
	struct args a = { .f = &f };
	const char *operand;
	int id, r;

	std_hold();
	opt_begin(&a.o, &tool, argc, argv);
	while ((id = opt_next(&a.o)) > 0)
		if ((r = set(&a, id)) != 0)
			return r;
	if (id < 0)
		return a.o.status;
	if (a.header + a.attachment + (a.name != NULL) > 1)
		return opt_usage(&a.o, "-H, -o, --attachment: one of them");
	if (argc - a.o.index != 1)
		return opt_usage(&a.o, "one RECEIPT or QUEUE:ID");
	operand = argv[a.o.index];
	r = operand[0] == '/' ? by_receipt(&a, operand) : by_id(&a, operand);
	return r < 0 ? opt_fault(&a.o, &f) : 0;
}
