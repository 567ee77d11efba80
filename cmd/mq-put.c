/* SPDX-License-Identifier: ISC
 *
 * mq-put: puts messages into a queue and prints their ids once they are
 * durable. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "input.h"
#include "json.h"
#include "opt.h"
#include "putopt.h"
#include "report.h"
#include "std.h"
#include "store.h"

static const struct opt_use uses[] = {
	{ '0', "each NUL-ended record of the input is a message" },
	{ 'a', NULL },
	{ 'A', "attach FILE: copied into the spool, removed with the message" },
	{ 'b', "the whole input at once, or nothing of it" },
	{ 'd', "not before DUR from now" },
	{ 'D', "not before TIME" },
	{ 'i', "put it once: a repeat within the queue's dedup= puts nothing" },
	{ 'J', "each line of the input is a JSON object with its own settings" },
	{ 'k', "after the earlier messages of KEY, one at a time" },
	{ 'l', "each line of the input is a message" },
	{ 'm', "the message is TEXT" },
	{ 'p', NULL },
	{ 'q', "print no ids" },
	{ 'r', "words between dots, for the subscriptions of a topic" },
	{ 's', NULL },
	{ 'S', NULL },
	{ 'w', "if the queue is full, wait for room" },
	{ 'W', "the same, at most DUR; 0: not at all" },
	{ 'x', "drop it if it was not taken within DUR" },
	{ OPT_FRESH, "with -i: 1 if it was put before" },
	{ OPT_LINK, NULL },
	{ OPT_UNIQUE, "with -i: once as long as the first is there" },
	{ 0, NULL },
};

static const struct tool tool = {
	"mq-put", "put messages into a queue", "[options] QUEUE [FILE ...]",
	"Without FILE, or where it is -, standard input is read. Prints the id of\n"
	"each message, a line each, once it is durable.", uses, NULL,
};

struct args {
	struct opt o;
	const char *spool, *text;
	bool records, json, quiet, fresh;
	bool repeated;
	uint64_t unrouted;
	char end;
	struct put_spec spec;    /* as given */
	struct put_spec now;     /* -J: of the file that is being filled */
	int64_t since;           /* -J: what its delays count from */
	struct put *put;
	struct queue *q;
};

/* --- options ------------------------------------------------------------------- */

static int
set_attachment(struct args *a)
{
	const char **list = reallocarray(a->spec.attach, a->spec.nattach + 1, sizeof *list);

	if (list == NULL)
		return opt_bad(&a->o, strerror(errno));
	a->spec.attach = list;
	list[a->spec.nattach++] = a->o.arg;
	return 0;
}

static int
set(struct args *a, int id)
{
	switch (id) {
	case '0':
	case 'l':
		a->records = true;
		a->end = id == 'l' ? '\n' : '\0';
		break;
	case 'A':
		return set_attachment(a);
	case 'b':
		a->spec.batch = true;
		break;
	case 'J':
		a->json = true;
		a->end = '\n';
		break;
	case OPT_LINK:
		a->spec.attach_link = true;
		break;
	case OPT_FRESH:
		a->fresh = true;
		break;
	case 'm':
		a->text = a->o.arg;
		break;
	case 'q':
		a->quiet = true;
		break;
	case 's':
		a->spool = a->o.arg;
		break;
	default:
		return putopt_set(&a->o, &a->spec);
	}
	return 0;
}

static int
check(struct args *a, int operands)
{
	if (operands < 1)
		return opt_usage(&a->o, "no QUEUE given");
	if (a->text != NULL && operands > 1)
		return opt_usage(&a->o, "-m and FILE: one of them");
	if (a->json && a->records)
		return opt_usage(&a->o, "-J is lines: no -l, -0");
	if (a->text != NULL && (a->records || a->json || a->spec.batch))
		return opt_usage(&a->o, "-m is one message: no -l, -0, -J, -b");
	if (a->spec.nattach > 0 && (a->records || a->json || a->spec.batch || operands > 2))
		return opt_usage(&a->o, "-A is for one message");
	if (a->spec.attach_link && a->spec.nattach == 0)
		return opt_usage(&a->o, "--link goes with -A");
	if ((a->fresh || a->spec.unique) && a->spec.idempotency == NULL)
		return opt_usage(&a->o, "--fresh and --unique go with -i");
	if (a->spec.idempotency != NULL && (a->records || a->json || a->spec.batch || operands > 2))
		return opt_usage(&a->o, "-i is for one message");
	return 0;
}

/* A bar on the terminal while a large file is copied in. */
static void
progress(const char *name, uint64_t done, uint64_t total)
{
	char bar[41];
	size_t n = total == 0 ? 0 : (size_t)(done * 40 / total);

	if (total < 64 * 1024 * 1024)
		return;
	memset(bar, '#', sizeof bar);
	bar[n < 40 ? n : 40] = '\0';
	fprintf(stderr, "\r%.30s [%-40s] %3u%%%s", name, bar,
	    (unsigned)(total == 0 ? 100 : done * 100 / total), done >= total ? "\n" : "");
}

/* --- putting ---------------------------------------------------------------------- */

static void
print_ids(struct id first, uint32_t n)
{
	char id[ID_LEN + 1];

	for (uint32_t k = 0; k < n; k++) {
		id_print(id_add(first, k), id);
		id[ID_LEN] = '\n';
		fwrite(id, 1, sizeof id, stdout);
	}
}

/* Publishes what was added; prints the ids. */
static int
commit(struct args *a, struct fault *f)
{
	while (put_count(a->put) > 0) {
		struct put_done done;

		if (put_commit(a->put, &done, f) < 0)
			return -1;
		a->repeated |= done.repeat;
		if (done.unrouted)
			a->unrouted += done.count;
		if (!a->quiet)
			print_ids(done.first, done.repeat ? 1 : done.count);
		if (report_flush(f) < 0)
			return -1;
	}
	return 0;
}

static int
add(struct args *a, const char *body, size_t len, struct fault *f)
{
	struct fault over;

	if (put_full(a->put, len) && commit(a, f) < 0)
		return -1;
	if (put_add(a->put, body, len, f) == 0)
		return 0;
	/* what came before it is put, unless it is all or nothing */
	if (!a->spec.batch && commit(a, &over) < 0)
		*f = over;
	return -1;
}

static int
put_records(struct args *a, struct input *in, const char *path, struct fault *f)
{
	const char *data;
	size_t len;
	int r;

	for (;;) {
		if (!a->spec.batch && put_count(a->put) > 0 && input_would_wait(in) &&
		    commit(a, f) < 0)
			return -1;
		r = input_record(in, &data, &len);
		if (r < 0)
			return fault_errno(f, "%s", path);
		if (r == 0)
			return 0;
		if (add(a, data, len, f) < 0)
			return -1;
	}
}

/* What differs in its header or times begins a new file. */
static int
add_json(struct args *a, const char *line, size_t len, struct fault *f)
{
	struct json_put m;
	int r = 0;

	if (put_count(a->put) == 0 && !a->spec.batch)
		a->since = now_ms();
	if (json_read(line, len, &a->spec, a->since, &m, f) < 0)
		return -1;
	if (put_count(a->put) > 0 && !json_put_alike(&m.spec, &a->now))
		r = a->spec.batch ? fault_set(f, ST_DATA, "another header, and -b wants one "
		    "for all") : commit(a, f);
	if (r == 0 && put_count(a->put) == 0) {
		struct put_spec old = a->now;

		a->now = m.spec;
		m.spec = old;
	}
	if (r == 0)
		r = add(a, m.body, m.len, f);
	json_put_free(&m);
	return r;
}

/* The place of the fault goes before it. */
static int
at_line(const char *path, uint64_t n, struct fault *f)
{
	struct fault why = *f;
	bool file = strcmp(path, "-") != 0;

	return fault_set(f, why.status, "%.200s%sline %llu: %.250s", file ? path : "",
	    file ? ": " : "", (unsigned long long)n, why.text);
}

static bool
blank(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (strchr(" \t\r", line[i]) == NULL || line[i] == '\0')
			return false;
	return true;
}

static int
put_json(struct args *a, struct input *in, const char *path, struct fault *f)
{
	const char *line;
	size_t len;
	int r;

	for (uint64_t n = 1;; n++) {
		if (!a->spec.batch && put_count(a->put) > 0 && input_would_wait(in) &&
		    commit(a, f) < 0)
			return -1;
		r = input_record(in, &line, &len);
		if (r < 0)
			return fault_errno(f, "%s", path);
		if (r == 0)
			return 0;
		if (len > in->max)
			fault_set(f, ST_DATA, "the line is too long for max_size: "
			    "attach large files with -A");
		else if (blank(line, len) || add_json(a, line, len, f) == 0)
			continue;
		return f->status == ST_DATA ? at_line(path, n, f) : -1;
	}
}

static int
put_whole(struct args *a, struct input *in, const char *path, struct fault *f)
{
	const char *data;
	size_t len;

	if (input_whole(in, &data, &len) < 0)
		return fault_errno(f, "%s", path);
	return add(a, data, len, f);
}

static int
put_file(struct args *a, const char *path, struct fault *f)
{
	const struct conf *c = queue_conf(a->q, f);
	struct input in;
	size_t max;
	int r;

	if (c == NULL)
		return -1;
	max = a->json ? json_line_max(c->max_size) : c->max_size;
	if (input_open(&in, path, a->end, max) < 0) {
		fault_errno(f, "%s", path);
		f->status = f->error == EACCES ? ST_PERMISSION : ST_DATA;
		return -1;
	}
	if (a->json)
		r = put_json(a, &in, path, f);
	else
		r = a->records ? put_records(a, &in, path, f) : put_whole(a, &in, path, f);
	input_close(&in);
	return r;
}

static int
put_all(struct args *a, char **files, struct fault *f)
{
	static char *standard[] = { "-", NULL };

	if (a->text == NULL && *files == NULL && a->spec.nattach > 0)
		a->text = "";            /* the attachment is all there is */
	if (a->text != NULL)
		return add(a, a->text, strlen(a->text), f) < 0 ? -1 : commit(a, f);
	if (*files == NULL)
		files = standard;
	for (; *files != NULL; files++) {
		struct fault over;

		if (put_file(a, *files, f) == 0)
			continue;
		/* what was complete before it is put */
		if (!a->spec.batch && commit(a, &over) < 0)
			*f = over;
		return -1;
	}
	return commit(a, f);
}

static int
run(struct args *a, char **files, struct fault *f)
{
	struct store *s;
	int r = -1;

	if (queue_name_check(files[0], f) < 0 ||
	    (s = store_open(a->spool, true, f)) == NULL)
		return -1;
	a->now = (struct put_spec){ .batch = a->spec.batch, .wait = a->spec.wait,
		.head = { .version = -1 } };
	a->since = now_ms();
	a->q = queue_open(s, files[0], QUEUE_MAKE, f);
	if (a->q != NULL)
		a->put = put_begin(a->q, a->json ? &a->now : &a->spec, f);
	if (a->put != NULL)
		r = put_all(a, files + 1, f);
	put_end(a->put);
	queue_close(a->q);
	store_close(s);
	return r;
}

int
main(int argc, char **argv)
{
	struct args a = { .spec = PUTOPT_DEFAULTS };
	struct fault f;
	int id, r;

	std_hold();
	signal(SIGPIPE, SIG_IGN);        /* a lost id must not look like a lost put */
	opt_begin(&a.o, &tool, argc, argv);
	while ((id = opt_next(&a.o)) > 0)
		if ((r = set(&a, id)) != 0)
			return r;
	if (id < 0)
		return a.o.status;
	r = check(&a, argc - a.o.index);
	if (r != 0)
		return r;
	if (isatty(STDERR_FILENO))
		a.spec.progress = progress;
	r = run(&a, argv + a.o.index, &f);
	putopt_free(&a.spec);
	head_free(&a.now.head);
	free(a.spec.attach);
	free(a.now.idempotency);
	putopt_say_unrouted(&a.o, argv[a.o.index], a.unrouted);
	if (r < 0)
		return opt_fault(&a.o, &f);
	return a.fresh && a.repeated ? ST_NOTHING : ST_OK;
}
