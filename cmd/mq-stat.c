/* SPDX-License-Identifier: ISC
 *
 * mq-stat: how much waits in the queues, and how long. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ages.h"
#include "buffer.h"
#include "check.h"
#include "fault.h"
#include "figures.h"
#include "json.h"
#include "opt.h"
#include "prometheus.h"
#include "report.h"
#include "screen.h"
#include "std.h"
#include "store.h"
#include "table.h"
#include "trace.h"
#include "units.h"
#include "whole.h"

static const struct opt_use uses[] = {
	{ 'c', "a line for a monitoring system, exit 0, 1, 2 or 3 as it wants it" },
	{ 'J', "a JSON object a line, with all there is to tell" },
	{ 'o', "these fields, of the names below" },
	{ 'O', NULL },
	{ 's', NULL },
	{ 'v', "say on stderr how drain and workers were reckoned" },
	{ 'w', "again every second: a full screen on a terminal, q ends it" },
	{ OPT_AGES, "how old are the ready and leased messages of one QUEUE?" },
	{ OPT_BY, "with --ages: a row for each value of an attribute or other FIELD" },
	{ OPT_ESTIMATE, "at once, from counters: without ages, and not exact" },
	{ OPT_PROMETHEUS, "for node_exporter's textfile collector, best with -O" },
	{ OPT_SORT, "the most of FIELD first; of `queue' by name" },
	{ 0, NULL },
};

static const struct tool tool = {
	"mq-stat", "count messages, tell their age and how fast they come and go",
	"[-J | -o FIELDS | -c CHECK | --prometheus] [options] [QUEUE ...]\n"
	"--ages [-J] [--by FIELD] QUEUE",
	"CHECK: terms with commas between, as oldest<60:300 (a warning from 60 on,\n"
	"critical from 300), in>5, dead=0.\n"
	"FIELDS: ready leased later blocked dead published unrouted dropped oldest\n"
	"oldest_ready oldest_total in out drain workers. Below a topic stand its\n"
	"subscriptions, but with one QUEUE -o prints its values alone: plain numbers,\n"
	"ages in seconds, 999999999 for a drain that never ends.", uses, NULL,
};

#define SHOWN_MAX 32

struct args {
	struct opt o;
	const char *spool;
	bool json, verbose, prometheus, estimate;
	const char *output;      /* -O; NULL: standard output */
	const char *check;       /* -c */
	struct check *checking;
	bool aged;               /* --ages */
	const char *by_value;    /* --by */
	struct ages *ages;
	const char *kind;        /* of what --ages tells them apart */
	bool named;              /* the queue's name leads the row */
	bool sorted;
	enum figure by;          /* FIGURES: the name */
	enum figure shown[SHOWN_MAX];
	size_t n;
	struct column columns[SHOWN_MAX + 2];
	bool live;               /* -w */
	struct screen *screen;   /* NULL: not a terminal */
	struct traces *traces;
	char note[200];          /* what went wrong in this frame */
	struct store *store;
	bool listed;             /* came from store_each(): each sub after its topic */
	const char *under;
	struct figures *rows;
	size_t nrows, room;
	struct buffer line;
	int status;
};

static int
set_fields(struct args *a)
{
	const char *list = a->o.arg, *word;
	char why[100];
	size_t len;

	for (a->n = 0; word_next(&list, &word, &len); a->n++) {
		enum figure i = figure_find(word, len);

		if (i == FIGURES || a->n == SHOWN_MAX) {
			snprintf(why, sizeof why, "no such field: %.*s",
			    len < 40 ? (int)len : 40, word);
			return opt_bad(&a->o, why);
		}
		a->shown[a->n] = i;
	}
	return 0;
}

static int
set_sort(struct args *a)
{
	a->sorted = true;
	a->by = figure_find(a->o.arg, strlen(a->o.arg));
	if (a->by == FIGURES && strcmp(a->o.arg, "queue") != 0)
		return opt_bad(&a->o, "no such field");
	return 0;
}

static int
set(struct args *a, int id)
{
	switch (id) {
	case 'c':
		a->check = a->o.arg;
		break;
	case 'J':
		a->json = true;
		break;
	case 'o':
		return set_fields(a);
	case 'O':
		a->output = a->o.arg;
		break;
	case OPT_AGES:
		a->aged = true;
		break;
	case OPT_BY:
		a->by_value = a->o.arg;
		if (!attr_name_valid(a->o.arg + (a->o.arg[0] == '@')))
			return opt_bad(&a->o, "not the name of a field or an attribute");
		break;
	case OPT_ESTIMATE:
		a->estimate = true;
		break;
	case OPT_PROMETHEUS:
		a->prometheus = true;
		break;
	case 's':
		a->spool = a->o.arg;
		break;
	case 'v':
		a->verbose = true;
		break;
	case 'w':
		a->live = true;
		break;
	case OPT_SORT:
		return set_sort(a);
	}
	return 0;
}

static int
check(struct args *a, char **queues, int n)
{
	static const enum figure all[] = { F_READY, F_LEASED, F_LATER, F_DEAD, F_OLDEST,
		F_IN, F_OUT, F_DRAIN, F_WORKERS };

	if (a->json && a->n > 0)
		return opt_usage(&a->o, "-J has all fields: no -o");
	if (a->check != NULL && (a->json || a->n > 0 || a->sorted))
		return opt_usage(&a->o, "-c prints a line of its own: no -J, -o or --sort");
	if (a->prometheus && (a->json || a->n > 0 || a->sorted || a->check != NULL))
		return opt_usage(&a->o, "--prometheus prints all: no -J, -o, -c or --sort");
	if (a->aged && (a->n > 0 || a->sorted || a->check != NULL || a->prometheus ||
	    a->estimate || n != 1))
		return opt_usage(&a->o, "--ages is of one QUEUE, and goes with --by and -J");
	if (a->by_value != NULL && !a->aged)
		return opt_usage(&a->o, "--by is for --ages");
	if (a->live && (a->verbose || a->aged || a->prometheus || a->check != NULL))
		return opt_usage(&a->o, "-w goes with -J, -o, --sort and --estimate alone");
	if (a->output != NULL && !a->prometheus)
		return opt_usage(&a->o, "-O is for --prometheus");
	for (; *queues != NULL; queues++)
		if (!queue_name_valid(*queues))
			return opt_usage(&a->o, "%s: not a queue's name", *queues);
	a->named = a->n == 0 || n != 1 || a->live;
	if (a->n == 0) {
		memcpy(a->shown, all, sizeof all);
		a->n = sizeof all / sizeof *all;
	}
	a->columns[0] = (struct column){ "QUEUE", false };
	for (size_t i = 0; i < a->n; i++)
		a->columns[i + a->named] = (struct column){ figure_head(a->shown[i]), true };
	a->columns[a->n + a->named] = (struct column){ "LAST MINUTE", false };
	return 0;
}

/* --- looking ------------------------------------------------------------------- */

static int
add_row(struct args *a, struct queue *q, struct fault *f)
{
	if (a->nrows == a->room) {
		size_t room = a->room > 0 ? 2 * a->room : 16;
		void *rows = reallocarray(a->rows, room, sizeof *a->rows);

		if (rows == NULL)
			return fault_errno(f, "%s", queue_name(q));
		a->rows = rows;
		a->room = room;
	}
	if (figures_read(q, a->estimate, &a->rows[a->nrows], f) < 0)
		return -1;
	if (a->json && !a->estimate && holders_look(q, &a->rows[a->nrows].holders, f) < 0)
		return -1;
	a->nrows++;
	return 0;
}

/* Nagios reads standard output alone. */
static void
trouble(struct args *a, const struct fault *f)
{
	if (a->screen != NULL)
		snprintf(a->note, sizeof a->note, "%.199s", f->text);
	else if (a->checking == NULL || check_trouble(a->checking, f->text) < 0)
		report_fault(&a->o, f, &a->status);
}

/* One queue; others follow, whatever becomes of it. */
static int
look(const char *name, void *arg)
{
	struct args *a = arg;
	struct fault f = { 0 };
	struct queue *q = queue_open(a->store, name, QUEUE_MUST, &f);

	/* what was listed may be gone since */
	if ((q == NULL || add_row(a, q, &f) < 0) && !(a->listed && f.status == ST_NOQUEUE))
		trouble(a, &f);
	queue_close(q);
	return 0;
}

/* One of a list, if it is a subscription of the topic a->under. */
static int
look_under(const char *name, void *arg)
{
	struct args *a = arg;
	size_t n = strlen(a->under);

	return strncmp(name, a->under, n) != 0 || name[n] != '/' ? 0 : look(name, a);
}

/* A queue that was asked for, and what stands below it. */
static void
look_named(struct args *a, const char *name)
{
	size_t before = a->nrows;
	struct fault f;

	a->listed = false;
	look(name, a);
	a->listed = true;
	a->under = name;
	if (a->nrows > before && a->rows[before].topic && (a->named || a->json) &&
	    store_each(a->store, look_under, a, &f) < 0)
		trouble(a, &f);
}

static void
look_all(struct args *a, char **queues)
{
	struct fault f;

	a->listed = true;
	if (*queues == NULL && store_each(a->store, look, a, &f) < 0)
		trouble(a, &f);
	for (; *queues != NULL; queues++)
		look_named(a, *queues);
}

static int
by_figure(const void *x, const void *y, void *arg)
{
	const struct args *a = arg;
	const struct figures *g = x, *h = y;
	double v = 0, w = 0;

	if (a->by != FIGURES) {
		(void)figure_value(g, a->by, &v);
		(void)figure_value(h, a->by, &w);
	}
	if (v != w)
		return v > w ? -1 : 1;
	return strcmp(g->name, h->name);
}

/* --- printing ------------------------------------------------------------------ */

/* Is it a subscription of that topic, which may be NULL? */
static bool
is_under(const struct figures *g, const struct figures *topic)
{
	size_t n = topic != NULL ? strlen(topic->name) : 0;

	return topic != NULL && strncmp(g->name, topic->name, n) == 0 && g->name[n] == '/';
}

/* What waits and is worked on, drawn. */
static void
print_trace(struct args *a, const struct figures *g, struct table *t)
{
	const struct counts *c = &g->counts;
	char drawn[TRACE_SIZE];

	(void)trace_add(a->traces, g->name, (double)(c->ready + c->leased + c->blocked));
	trace_draw(a->traces, g->name, table_utf8(t), drawn);
	table_word(t, drawn);
}

static int
print_row(struct args *a, const struct figures *g, const struct figures *topic,
    struct table *t)
{
	char text[QUEUE_NAME_SIZE + 16];
	bool people = table_screen(t), below = people && !a->sorted && is_under(g, topic);

	snprintf(text, sizeof text, "%s%s%s", below ? "  " : "",
	    below ? strchr(g->name, '/') + 1 : g->name,
	    g->counts.paused && people ? " (paused)" : "");
	if (a->named)
		table_word(t, text);
	for (size_t i = 0; i < a->n; i++)
		figure_print(g, a->shown[i], t);
	if (a->screen != NULL)
		print_trace(a, g, t);
	return table_row(t);
}

static int
print_table(struct args *a, struct fault *f)
{
	struct table *t = table_begin(stdout, a->columns,
	    a->n + a->named + (a->screen != NULL));
	size_t room = a->screen != NULL ? (size_t)screen_rows(a->screen) : SIZE_MAX;
	const struct figures *topic = NULL;
	int r = 0;

	if (t == NULL)
		return fault_errno(f, "table");
	room = room > 5 ? room - 4 : 1;          /* the head, and what stands below */
	for (size_t i = 0; r == 0 && i < a->nrows && i < room; i++) {
		topic = a->rows[i].topic ? &a->rows[i] : topic;
		r = print_row(a, &a->rows[i], topic, t);
	}
	r |= table_end(t);
	return r < 0 ? report_stdout(f) : 0;
}

static int
print_json(struct args *a, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < a->nrows; i++) {
		if (json_print_figures(&a->rows[i], &a->line) < 0)
			return fault_errno(f, "%s", a->rows[i].name);
		r = report_write(&a->line, f);
	}
	return r == 0 ? report_flush(f) : r;
}

static int
print_prometheus(struct args *a, struct fault *f)
{
	if (prometheus_print(a->rows, a->nrows, &a->line) < 0)
		return fault_errno(f, "prometheus");
	if (a->output != NULL)
		return whole_write(a->output, &a->line, f);
	return report_write(&a->line, f) < 0 ? -1 : report_flush(f);
}

static void
explain(const struct args *a, const struct figures *g)
{
	char drain[EXPLAINED_SIZE], workers[EXPLAINED_SIZE];
	struct fault f;

	if (g->topic || !g->known)
		return;
	figures_explain(g, drain, workers);
	fault_set(&f, 0, "%s: %s", g->name, drain);
	opt_fault(&a->o, &f);
	fault_set(&f, 0, "%s: %s", g->name, workers);
	opt_fault(&a->o, &f);
}

/* Always one line, and 0 to 3; what cannot be told is 3. */
static int
print_check(struct args *a, int verdict)
{
	struct fault f;

	if (verdict < 0) {
		fault_errno(&f, "check");
		report_fault(&a->o, &f, &a->status);
		return CHECK_UNKNOWN;
	}
	if (report_write(&a->line, &f) < 0 || report_flush(&f) < 0) {
		report_fault(&a->o, &f, &a->status);
		return CHECK_UNKNOWN;
	}
	return verdict;
}

static int
check_all(struct args *a)
{
	for (size_t i = 0; i < a->nrows; i++)
		if (check_queue(a->checking, &a->rows[i]) < 0)
			return print_check(a, -1);
	return print_check(a, check_line(a->checking, &a->line));
}

static int
check_fault(struct args *a, const struct fault *f)
{
	return print_check(a, check_unknown(f->text, &a->line));
}

static void
print(struct args *a)
{
	struct fault f;

	if (a->sorted)
		qsort_r(a->rows, a->nrows, sizeof *a->rows, by_figure, a);
	for (size_t i = 0; a->verbose && i < a->nrows; i++)
		explain(a, &a->rows[i]);
	if ((a->prometheus ? print_prometheus(a, &f) : a->json ? print_json(a, &f) :
	    print_table(a, &f)) < 0)
		report_fault(&a->o, &f, &a->status);
}

/* --- ages ---------------------------------------------------------------------- */

/* A queue, or a subscription of a->under. */
static int
age_queue(struct args *a, const char *name, const char *label, struct fault *f)
{
	struct queue *q = queue_open(a->store, name, QUEUE_MUST, f);
	int r = q != NULL ? ages_look(a->ages, q, a->by_value, label, f) : -1;

	if (r == 0)
		r = queue_is_topic(q);
	queue_close(q);
	return r;
}

static int
age_under(const char *name, void *arg)
{
	struct args *a = arg;
	size_t n = strlen(a->under);
	struct fault f = { 0 };

	if (strncmp(name, a->under, n) != 0 || name[n] != '/')
		return 0;
	if (age_queue(a, name, name + n + 1, &f) < 0 && f.status != ST_NOQUEUE)
		report_fault(&a->o, &f, &a->status);
	return 0;
}

static int
print_age_row(const struct age_row *row, void *arg)
{
	struct args *a = arg;
	struct fault f;

	if (json_print_ages(a->under, a->kind, a->by_value != NULL, row, &a->line) < 0)
		return -1;
	return report_write(&a->line, &f);
}

static int
print_ages(struct args *a, const char *name)
{
	struct fault f = { 0 };
	int r;

	a->under = name;
	a->ages = ages_new(&f);
	r = a->ages == NULL ? -1 : age_queue(a, name, NULL, &f);
	a->kind = a->by_value != NULL ? a->by_value : r == 1 ? "subscription" : "state";
	if (r == 1)
		r = store_each(a->store, age_under, a, &f);
	if (r == 0 && (a->json ? ages_each(a->ages, print_age_row, a) :
	    ages_print(a->ages, stdout)) < 0)
		r = report_stdout(&f);
	if (r == 0)
		r = report_flush(&f);
	if (r < 0)
		report_fault(&a->o, &f, &a->status);
	ages_free(a->ages);
	return a->status;
}

/* --- again and again ----------------------------------------------------------- */

#define SECOND 1000

/* As the spool is now: it may have been made since. */
static int
look_again(struct args *a, char **queues, struct fault *f)
{
	store_close(a->store);
	a->store = store_open(a->spool, false, f);
	if (a->store == NULL)
		return -1;
	a->nrows = 0;
	a->note[0] = '\0';
	look_all(a, queues);
	if (a->sorted)
		qsort_r(a->rows, a->nrows, sizeof *a->rows, by_figure, a);
	return 0;
}

static void
sort_by(struct args *a, int key)
{
	static const struct {
		int key;
		enum figure by;
	} keys[] = {
		{ 'r', F_READY }, { 'l', F_LEASED }, { 'd', F_DEAD }, { 'o', F_OLDEST },
		{ 'i', F_IN }, { 'u', F_OUT }, { 'n', FIGURES },
	};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].key == key) {
			a->by = keys[i].by;
			a->sorted = key != 'n';
		}
}

/* Until q; 0, or -1 with the fault. */
static int
watch(struct args *a, char **queues, struct fault *f)
{
	bool paused = false;
	int key = 0, r = 0;

	while (key >= 0 && key != 'q' && r == 0) {
		if (!paused)
			r = look_again(a, queues, f);
		screen_frame(a->screen);
		if (r == 0)
			r = print_table(a, f);
		printf("%s\nq ends, space %s; sort: Ready Leased Dead Oldest In oUt Name",
		    a->note, paused ? "goes on" : "pauses");
		if (r == 0)
			r = report_flush(f);
		key = r == 0 ? screen_key(a->screen, SECOND) : -1;
		paused ^= key == ' ';
		sort_by(a, key);
	}
	return r;
}

/* Where there is no terminal: until it is killed, or nobody reads. */
static int
repeat(struct args *a, char **queues, struct fault *f)
{
	for (;;) {
		int r = look_again(a, queues, f);

		if (r == 0)
			r = a->json ? print_json(a, f) : print_table(a, f);
		if (r == 0 && !a->json && putchar('\n') == EOF)
			r = report_stdout(f);
		if (r == 0)
			r = report_flush(f);
		if (r < 0)
			return -1;
		usleep(SECOND * 1000);
	}
}

static int
live(struct args *a, char **queues)
{
	struct fault f = { 0 };
	int r = -1;

	a->traces = traces_new();
	if (a->traces == NULL)
		fault_errno(&f, "screen");
	else if (!a->json && (a->screen = screen_begin(&f)) != NULL)
		r = watch(a, queues, &f);
	else if (f.status == 0)
		r = repeat(a, queues, &f);
	screen_end(a->screen);
	a->screen = NULL;
	traces_free(a->traces);
	if (r < 0)
		report_fault(&a->o, &f, &a->status);
	return a->status;
}

/* The exit status. */
static int
run(struct args *a, char **queues)
{
	struct fault f;

	if (a->check != NULL && (a->checking = check_parse(a->check, &f)) == NULL)
		return check_fault(a, &f);
	if (a->live)
		return live(a, queues);
	a->store = store_open(a->spool, false, &f);
	if (a->store == NULL)
		return a->check != NULL ? check_fault(a, &f) : opt_fault(&a->o, &f);
	if (a->aged)
		return print_ages(a, queues[0]);
	look_all(a, queues);
	if (a->check != NULL)
		return check_all(a);
	print(a);
	return a->status;
}

int
main(int argc, char **argv)
{
	struct args a = { 0 };
	int id, r;

	std_hold();
	opt_begin(&a.o, &tool, argc, argv);
	while ((id = opt_next(&a.o)) > 0)
		if ((r = set(&a, id)) != 0)
			return r;
	if (id < 0)
		return a.o.status;
	r = check(&a, argv + a.o.index, argc - a.o.index);
	if (r == 0)
		r = run(&a, argv + a.o.index);
	store_close(a.store);
	check_free(a.checking);
	buffer_free(&a.line);
	free(a.rows);
	return r;
}
