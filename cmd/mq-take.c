/* SPDX-License-Identifier: ISC
 *
 * mq-take: leases messages and prints their receipts, or works them off with
 * a command. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exitmap.h"
#include "fault.h"
#include "format.h"
#include "handout.h"
#include "opt.h"
#include "std.h"
#include "store.h"
#include "units.h"
#include "work.h"

static const struct opt_use uses[] = {
	{ '0', "NUL ends receipts and bodies, also in a batch" },
	{ 'B', "one COMMAND for up to N messages, as lines" },
	{ 'e', "end of COMMAND: ack, retry, retry:DUR, bury or stop" },
	{ 'f', "print FMT: %r %i %b %k %n %p %q %a{NAME} %% \\t \\n" },
	{ 'j', "N COMMANDs at once; 0: one a core" },
	{ 'J', "print a JSON object a line" },
	{ 'L', "each delivery's output in DIR/ID.TRIES.log" },
	{ 'n', "N messages; default 1, with COMMAND all" },
	{ 'R', "start no more COMMANDs than RATE, as 500/s" },
	{ 's', NULL },
	{ 'T', "kill a COMMAND that runs longer, as a retry" },
	{ 'v', "a line a delivery on stderr" },
	{ 'w', "wait for messages, as long as it takes" },
	{ 'W', "wait at most DUR; 0: not at all" },
	{ 'x', "the lease; default the queue's" },
	{ OPT_ACK, "ack at once and print the bodies: at most once" },
	{ OPT_NO_BRAKE, NULL },
	{ OPT_SINGLE, "75 if another such pool runs" },
	{ OPT_STRICT, NULL },
	{ OPT_SYSLOG, NULL },
	{ 0, NULL },
};

static const struct tool tool = {
	"mq-take", "lease messages, or work them off with a command",
	"[options] QUEUE ... [-- COMMAND [ARG ...]]\n"
	"[options] QUEUE:ID ... [-- COMMAND [ARG ...]]",
	NULL, uses, NULL,
};

struct args {
	struct opt o;
	const char *spool, *format;
	bool nul, ack, json;
	int pool_only;           /* the last option that wants a COMMAND, or 0 */
	struct work work;
};

static struct opt *reporter;     /* for complain(): the library's callback */

static void
complain(const struct fault *f)
{
	opt_fault(reporter, f);
}

/* --- options ------------------------------------------------------------------ */

static bool
positive(const char *text, int64_t *ms)
{
	return duration_parse(text, ms) && *ms > 0;
}

static int
set_exit(struct args *a)
{
	struct fault f;

	if (exitmap_set(&a->work.exits, a->o.arg, &f) < 0)
		return opt_bad(&a->o, f.text);
	return 0;
}

static int
set_number(struct args *a, int id)
{
	uint64_t n;

	if (!count_parse(a->o.arg, UINT32_MAX, &n) || (n == 0 && id != 'j'))
		return opt_bad(&a->o, "not a number that can be used here");
	if (id == 'j' && n > 10000)
		return opt_bad(&a->o, "more than 10000");
	if (id == 'j')
		a->work.jobs = (unsigned)n;
	else if (id == 'n')
		a->work.count = n;
	else
		a->work.batch = (uint32_t)n;
	return 0;
}

static int
set_duration(struct args *a, int id)
{
	struct work *w = &a->work;

	if (id == 'W')
		return duration_parse(a->o.arg, &w->wait) ? 0 :
			opt_bad(&a->o, "not a duration");
	return positive(a->o.arg, id == 'x' ? &w->lease : &w->run_limit) ? 0 :
		opt_bad(&a->o, "not a duration over 0");
}

static int
set_flag(struct args *a, int id)
{
	switch (id) {
	case '0':
		a->nul = true;
		break;
	case 'J':
		a->json = true;
		break;
	case 'v':
		a->work.verbose = true;
		break;
	case 'w':
		a->work.wait = WAIT_FOREVER;
		break;
	case OPT_ACK:
		a->ack = true;
		break;
	case OPT_NO_BRAKE:
		a->work.no_brake = true;
		break;
	case OPT_SINGLE:
		a->work.single = true;
		break;
	case OPT_STRICT:
		a->work.strict = true;
		break;
	case OPT_SYSLOG:
		a->work.syslog = true;
		break;
	}
	return 0;
}

static int
set(struct args *a, int id)
{
	switch (id) {
	case 'e':
		return set_exit(a);
	case 'f':
		a->format = a->o.arg;
		return 0;
	case 's':
		a->spool = a->o.arg;
		return 0;
	case 'L':
		a->work.log_dir = a->o.arg;
		return 0;
	case 'R':
		if (!rate_parse(a->o.arg, &a->work.rate) || a->work.rate <= 0)
			return opt_bad(&a->o, "not a rate, as 500/s");
		return 0;
	case 'j':
	case 'n':
	case 'B':
		return set_number(a, id);
	case 'T':
	case 'W':
	case 'x':
		return set_duration(a, id);
	default:
		return set_flag(a, id);
	}
}

static bool
wants_command(int id)
{
	return id == OPT_NO_BRAKE || id == OPT_SINGLE || id == OPT_STRICT || id == OPT_SYSLOG ||
		(id < OPT_ACK && strchr("BejLRTv", id) != NULL);
}

/* false: leave with a->o.status. */
static bool
options(struct args *a, int argc, char **argv)
{
	int id;

	a->work.jobs = 1;
	a->work.err = STDERR_FILENO;
	a->work.complain = complain;
	exitmap_defaults(&a->work.exits);
	opt_begin(&a->o, &tool, argc, argv);
	while ((id = opt_next(&a->o)) > 0) {
		if ((a->o.status = set(a, id)) != 0)
			return false;
		if (wants_command(id))
			a->pool_only = id;
	}
	return id == 0;
}

/* --- the two ways ----------------------------------------------------------------- */

static int
work(struct args *a, struct store *store, char **operands, size_t n)
{
	struct fault f = { 0 };
	int status;

	a->work.end = a->nul ? '\0' : '\n';
	status = work_run(store, operands, n, &a->work, &f);
	if (status != ST_OK && f.text[0] != '\0')
		opt_fault(&a->o, &f);
	return status;
}

static int
print(struct args *a, struct store *store, char **operands, size_t n,
	const struct format *format)
{
	struct handout h = {
		.count = a->work.count > 0 ? a->work.count : 1, .wait = a->work.wait,
		.lease = a->work.lease, .format = format, .end = a->nul ? '\0' : '\n',
		.ack = a->ack, .fd = STDOUT_FILENO, .complain = complain,
	};
	struct fault f = { 0 };
	int status = handout_run(store, operands, n, &h, &f);

	if (status > 128) {
		signal(status - 128, SIG_DFL);
		raise(status - 128);
	}
	if (status != ST_OK && f.text[0] != '\0')
		opt_fault(&a->o, &f);
	return status;
}

static int
parse_and_print(struct args *a, struct store *store, char **operands, size_t n)
{
	const char *text = a->format ? a->format : a->ack ? "%b" : "%r";
	struct format *format;
	struct fault f;
	int status;

	if (a->json)
		return print(a, store, operands, n, NULL);
	format = format_parse(text, &f);
	if (format == NULL)
		return opt_fault(&a->o, &f);
	if (!a->ack && !format_has(format, 'r'))
		status = opt_usage(&a->o, "-f without %%r would lose the receipt (or use --ack)");
	else
		status = print(a, store, operands, n, format);
	format_free(format);
	return status;
}

/* What does not go together. */
static int
check(struct args *a, char **operands, size_t n)
{
	const char *colon;

	if (n == 0)
		return opt_usage(&a->o, "the queue is missing");
	if (a->work.command == NULL && a->pool_only != 0)
		return opt_usage(&a->o, "an option that is for a COMMAND, and none given");
	if (a->work.command != NULL && (a->ack || a->json || a->format != NULL))
		return opt_usage(&a->o, "-f, -J and --ack are for printing, not with a COMMAND");
	if (a->json && (a->nul || a->format != NULL))
		return opt_usage(&a->o, "-J is a line each: no -f, -0");
	if (a->work.command != NULL && a->nul && a->work.batch == 0)
		return opt_usage(&a->o, "-0 with a COMMAND is for -B");
	for (char *const *c = a->work.command; c != NULL && *c != NULL; c++)
		if (a->work.batch > 0 && strcmp(*c, "{}") == 0)
			return opt_usage(&a->o, "{} and -B exclude one another");
	colon = strchr(operands[0], ':');
	if (colon != NULL && a->work.wait != WAIT_NOT)
		return opt_usage(&a->o, "-w and -W are for queues, not for a QUEUE:ID");
	if (colon != NULL && a->work.count == 0)
		a->work.count = n;
	return 0;
}

/* Operands up to `--` are queues, the rest is COMMAND. */
static int
operands_split(struct args *a, char **operands, size_t *n)
{
	for (*n = 0; operands[*n] != NULL && strcmp(operands[*n], "--") != 0;)
		++*n;
	if (operands[*n] == NULL)
		return 0;
	if (operands[*n + 1] == NULL)
		return opt_usage(&a->o, "the COMMAND is missing");
	a->work.command = operands + *n + 1;
	if (exitmap_runs_jobs(a->work.command))
		exitmap_jobs(&a->work.exits);
	return 0;
}

static int
run(struct args *a, char **operands, size_t n)
{
	struct fault f;
	struct store *store = store_open(a->spool, false, &f);
	int status;

	if (store == NULL)
		return opt_fault(&a->o, &f);
	if (a->work.command != NULL)
		status = work(a, store, operands, n);
	else
		status = parse_and_print(a, store, operands, n);
	store_close(store);
	return status;
}

int
main(int argc, char **argv)
{
	struct args a = { 0 };
	char **operands;
	size_t n;
	int r;

	std_hold();
	reporter = &a.o;
	if (!options(&a, argc, argv))
		return a.o.status;
	operands = argv + a.o.index;
	if ((r = operands_split(&a, operands, &n)) != 0)
		return r;
	if ((r = check(&a, operands, n)) != 0)
		return r;
	return run(&a, operands, n);
}
