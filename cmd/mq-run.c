/* SPDX-License-Identifier: ISC
 *
 * mq-run: queues a command with its arguments, directory and variables; and runs
 * one that was queued. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "fault.h"
#include "id.h"
#include "input.h"
#include "opt.h"
#include "putopt.h"
#include "report.h"
#include "runexec.h"
#include "runjob.h"
#include "std.h"
#include "store.h"

static const struct opt_use uses[] = {
	{ 'a', NULL },
	{ 'd', "not before DUR from now" },
	{ 'D', "not before TIME" },
	{ 'i', "queue it once: a repeat within the queue's dedup= does nothing" },
	{ 'k', "after the earlier jobs of KEY, one at a time" },
	{ 'p', NULL },
	{ 'q', "print no id" },
	{ 'r', "words between dots, for the subscriptions of a topic" },
	{ 's', NULL },
	{ 'S', NULL },
	{ 'w', "if the queue is full, wait for room" },
	{ 'W', "the same, at most DUR; 0: not at all" },
	{ 'x', "drop it if it was not begun within DUR" },
	{ OPT_ENV, "take the variable NAME along, or NAME=VALUE; repeatable" },
	{ OPT_FRESH, "with -i: 1 if it was queued before" },
	{ OPT_UNIQUE, "with -i: once as long as the first is there" },
	{ OPT_WORKER, "run the job on standard input, as the COMMAND of mq-take" },
	{ 0, NULL },
};

static const struct tool tool = {
	"mq-run", "queue commands", "[options] QUEUE COMMAND [ARG ...]\n--worker",
	"Queues COMMAND with its ARGs, the directory, the umask and PATH, and prints\n"
	"the id. To run what is queued:  mq-take QUEUE -- mq-run --worker",
	uses, NULL,
};

struct args {
	struct opt o;
	const char *spool;
	bool quiet, fresh, worker;
	int put_only;            /* the last option that is not for --worker, or 0 */
	struct put_spec spec;
	char **vars;             /* NULL-ended */
	size_t nvars;
};

/* --- options ------------------------------------------------------------------- */

static int
add_variable(struct args *a, const char *text)
{
	char **list = reallocarray(a->vars, a->nvars + 2, sizeof *list);

	if (list == NULL)
		return -1;
	a->vars = list;
	list[a->nvars] = runexec_variable(text);
	list[a->nvars + 1] = NULL;
	return list[a->nvars++] == NULL ? -1 : 0;
}

static int
set(struct args *a, int id)
{
	switch (id) {
	case 'q':
		a->quiet = true;
		break;
	case 's':
		a->spool = a->o.arg;
		break;
	case OPT_ENV:
		if (!runexec_variable_valid(a->o.arg))
			return opt_bad(&a->o, "not NAME or NAME=VALUE");
		if (add_variable(a, a->o.arg) < 0)
			return opt_bad(&a->o, strerror(errno));
		break;
	case OPT_FRESH:
		a->fresh = true;
		break;
	case OPT_WORKER:
		a->worker = true;
		return 0;
	default:
		if (putopt_set(&a->o, &a->spec) != 0)
			return ST_USAGE;
	}
	a->put_only = id;
	return 0;
}

static int
check(struct args *a, char **operands)
{
	if (a->worker && a->put_only != 0)
		return opt_usage(&a->o, "--worker takes no other option");
	if (a->worker)
		return *operands == NULL ? 0 :
			opt_usage(&a->o, "--worker takes its command from standard input");
	if (operands[0] == NULL)
		return opt_usage(&a->o, "no QUEUE given");
	if (operands[1] == NULL || operands[1][0] == '\0')
		return opt_usage(&a->o, "no COMMAND given");
	if ((a->fresh || a->spec.unique) && a->spec.idempotency == NULL)
		return opt_usage(&a->o, "--fresh and --unique go with -i");
	return 0;
}

/* --- queueing -------------------------------------------------------------------- */

static int
print_id(struct args *a, struct id id, struct fault *f)
{
	char text[ID_LEN + 1];

	id_print(id, text);
	if (!a->quiet)
		puts(text);
	return fflush(stdout) != 0 || ferror(stdout) ? report_stdout(f) : 0;
}

/* 0, or 1 for a repeat. */
static int
put(struct args *a, struct queue *q, const struct buffer *body, struct fault *f)
{
	struct put *p = put_begin(q, &a->spec, f);
	struct put_done done;
	int r = -1;

	if (p != NULL && put_add(p, body->data, body->len, f) == 0 &&
	    put_commit(p, &done, f) == 0) {
		putopt_say_unrouted(&a->o, queue_name(q), done.unrouted ? 1 : 0);
		r = print_id(a, done.first, f) < 0 ? -1 : done.repeat;
	}
	put_end(p);
	return r;
}

static int
put_into(struct args *a, const char *name, const struct buffer *body, struct fault *f)
{
	struct store *s = queue_name_check(name, f) < 0 ? NULL :
	    store_open(a->spool, true, f);
	struct queue *q = s == NULL ? NULL : queue_open(s, name, QUEUE_MAKE, f);
	int r = q == NULL ? -1 : put(a, q, body, f);

	queue_close(q);
	store_close(s);
	return r;
}

/* The body of the job: what the command is to have of this process. */
static int
job_body(struct args *a, char **command, struct buffer *body, struct fault *f)
{
	struct runjob j = { .argv = command, .vars = a->vars };
	char *dir;
	int r;

	if (runexec_here(&j, &dir, f) < 0)
		return -1;
	r = runjob_pack(&j, body);
	free(dir);
	return r < 0 ? fault_errno(f, "the job") : 0;
}

static int
queue_job(struct args *a, char **operands)
{
	char **command = operands + 1;
	struct buffer body = { 0 };
	struct fault f;
	int r;

	signal(SIGPIPE, SIG_IGN);        /* a lost id must not look like a lost job */
	r = job_body(a, command, &body, &f);
	if (r == 0)
		r = put_into(a, operands[0], &body, &f);
	buffer_free(&body);
	if (r < 0)
		return opt_fault(&a->o, &f);
	return a->fresh && r > 0 ? ST_NOTHING : ST_OK;
}

/* --- running ----------------------------------------------------------------------- */

/* Comes back only if it cannot. */
static int
run_job(struct args *a)
{
	struct input in;
	struct runjob j;
	struct fault f;
	const char *body;
	size_t len;

	if (input_open(&in, "-", '\0', SIZE_MAX / 2) < 0 || input_whole(&in, &body, &len) < 0)
		fault_errno(&f, "standard input");
	else if (runjob_parse(body, len, &j, &f) == 0)
		runexec_become(&j, &f);
	return opt_fault(&a->o, &f);
}

int
main(int argc, char **argv)
{
	struct args a = { .spec = PUTOPT_DEFAULTS };
	char **operands;
	int id, r;

	std_hold();
	opt_begin(&a.o, &tool, argc, argv);
	if (add_variable(&a, "PATH") < 0)
		return opt_usage(&a.o, "%s", strerror(errno));
	while ((id = opt_next(&a.o)) > 0)
		if ((r = set(&a, id)) != 0)
			return r;
	if (id < 0)
		return a.o.status;
	operands = argv + a.o.index;
	/* `mq-run QUEUE -- COMMAND`, as mq-take has it */
	if (operands[0] != NULL && operands[1] != NULL && strcmp(operands[1], "--") == 0) {
		operands[1] = operands[0];
		operands++;
	}
	if ((r = check(&a, operands)) != 0)
		return r;
	r = a.worker ? run_job(&a) : queue_job(&a, operands);
	for (size_t i = 0; i < a.nvars; i++)
		free(a.vars[i]);
	free(a.vars);
	putopt_free(&a.spec);
	return r;
}
