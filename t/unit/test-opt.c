/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <unistd.h>

#include "fault.h"
#include "opt.h"
#include "unit.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define WORDS 10
#define OUTPUT 16384

static const struct opt_use take_uses[] = {
	{ 'n', "lease up to N messages" }, { 'w', NULL }, { 'j', NULL },
	{ 'O', NULL }, { 's', NULL }, { 't', NULL }, { OPT_ACK, NULL },
	{ OPT_STATE, "it's [a:b] \\ here, and it goes on for so long that it has "
		"to be wrapped" }, { 0, NULL },
};
static const struct tool take = { "mq-take", "lease messages",
	"[options] QUEUE ...\n[options] QUEUE -- COMMAND", "More.", take_uses, NULL };

static const struct opt_use conf_uses[] = {
	{ OPT_SPOOL, NULL }, { 's', NULL }, { 0, NULL },
};
static const struct tool conf = { "mq-conf", "settings", "QUEUE", NULL,
	conf_uses, NULL };

static const struct opt_use retry_uses[] = {
	{ 'R', NULL }, { 't', NULL }, { OPT_ALL, NULL }, { 0, NULL },
};
static const struct tool retry = { "mq-dlq retry", "back to ready",
	"[options] QUEUE:ID ...", NULL, retry_uses, NULL };
static const struct tool show = { "mq-dlq show", "print a dead letter",
	"QUEUE:ID", NULL, NULL, NULL };
static const struct tool *const verbs[] = { &retry, &show, NULL };
static const struct tool dlq = { "mq-dlq", "dead letters", NULL, NULL, NULL,
	verbs };

static char out_text[OUTPUT], err_text[OUTPUT];

/* Parses like a command and writes what it got: `n=5 w QUEUE`, or `!64`. */
static void
parse(const struct tool *t, char **argv, char *got, size_t size)
{
	struct opt o;
	int argc = 0, c;
	size_t n = 0;

	while (argv[argc] != NULL)
		argc++;
	got[0] = '\0';
	if (t->verbs == NULL)
		opt_begin(&o, t, argc, argv);
	else if (opt_verb(&o, t, argc, argv) == NULL) {
		snprintf(got, size, "!%d", o.status);
		return;
	}
	while ((c = opt_next(&o)) > 0) {
		if (c < 256)
			n += (size_t)snprintf(got + n, size - n, "%c", c);
		else
			n += (size_t)snprintf(got + n, size - n, "+%d", c - OPT_ACK);
		if (o.arg != NULL)
			n += (size_t)snprintf(got + n, size - n, "=%s", o.arg);
		n += (size_t)snprintf(got + n, size - n, " ");
	}
	if (c < 0)
		n += (size_t)snprintf(got + n, size - n, "!%d ", o.status);
	for (int i = o.index; c == 0 && i < argc; i++)
		n += (size_t)snprintf(got + n, size - n, "%s ", argv[i]);
	if (n > 0)
		got[n - 1] = '\0';
}

static int
redirect(FILE *stream, int fd)
{
	int saved;

	fflush(stream);
	saved = dup(fileno(stream));
	dup2(fd, fileno(stream));
	return saved;
}

static void
restore(FILE *stream, int saved, FILE *from, char *text)
{
	fflush(stream);
	clearerr(stream);
	dup2(saved, fileno(stream));
	close(saved);
	rewind(from);
	text[fread(text, 1, OUTPUT - 1, from)] = '\0';
	fclose(from);
}

/* parse() with what it printed in out_text and err_text. */
static void
captured(const struct tool *t, char **argv, char *got, size_t size)
{
	FILE *out = tmpfile(), *err = tmpfile();
	int saved_out, saved_err;

	if (out == NULL || err == NULL)
		abort();
	saved_out = redirect(stdout, fileno(out));
	saved_err = redirect(stderr, fileno(err));
	parse(t, argv, got, size);
	restore(stdout, saved_out, out, out_text);
	restore(stderr, saved_err, err, err_text);
}

struct row {
	const char *words[WORDS], *want;
};

static void
parse_rows(const struct tool *t, const struct row *rows, size_t count)
{
	char got[256];

	for (size_t i = 0; i < count; i++) {
		char *argv[WORDS + 2] = { NULL };

		argv[0] = strdup(t->name);
		for (size_t k = 0; k < WORDS && rows[i].words[k] != NULL; k++)
			argv[k + 1] = strdup(rows[i].words[k]);
		captured(t, argv, got, sizeof got);
		CHECK_STR(got, rows[i].want);
		for (size_t k = 0; argv[k] != NULL; k++)
			free(argv[k]);
	}
}

static void
forms(void)
{
	static const struct row rows[] = {
		{ { NULL }, "" },
		{ { "q" }, "q" },
		{ { "-n5", "q" }, "n=5 q" },
		{ { "-n", "5", "q" }, "n=5 q" },
		{ { "--count=5", "q" }, "n=5 q" },
		{ { "--count", "5", "q" }, "n=5 q" },
		{ { "--count=", "q" }, "n= q" },
		{ { "-n", "", "q" }, "n= q" },
		{ { "-n", "-w", "q" }, "n=-w q" },
		{ { "-n", "--", "q" }, "n=-- q" },
		{ { "-wn5", "q" }, "w n=5 q" },
		{ { "-wn", "5", "q" }, "w n=5 q" },
		{ { "-ww", "q" }, "w w q" },
		{ { "--ack", "-w", "q" }, "+0 w q" },
		{ { "--wait", "--jobs=4" }, "w j=4" },
		{ { "--count=a=b" }, "n=a=b" },
	};

	parse_rows(&take, rows, COUNT(rows));
}

static void
ends(void)
{
	static const struct row rows[] = {
		{ { "q", "-n5" }, "q -n5" },
		{ { "-w", "q", "--", "-w" }, "w q -- -w" },
		{ { "--", "-w", "q" }, "-w q" },
		{ { "--", "--", "q" }, "-- q" },
		{ { "-w", "--" }, "w" },
		{ { "-w", "-", "-w" }, "w - -w" },
		{ { "", "-w" }, " -w" },
	};

	parse_rows(&take, rows, COUNT(rows));
}

static void
refused(void)
{
	static const struct row rows[] = {
		{ { "-Q" }, "!64" }, { { "-wQ" }, "w !64" }, { { "-R", "5" }, "!64" },
		{ { "--rate=5" }, "!64" }, { { "--nope" }, "!64" }, { { "-n" }, "!64" },
		{ { "--count" }, "!64" }, { { "--ack=1" }, "!64" },
		{ { "--wait=1" }, "!64" }, { { "--coun=1" }, "!64" },
		{ { "--counts=1" }, "!64" }, { { "--=1" }, "!64" }, { { "---" }, "!64" },
		{ { "-w-" }, "w !64" }, { { "-\xc3\xa9" }, "!64" }, { { "-n=5" }, "n==5" },
		{ { "--help=x" }, "!64" }, { { "--completions" }, "!64" },
		{ { "--completions=tcsh" }, "!64" },
	};

	parse_rows(&take, rows, COUNT(rows));
}

static void
spool(void)
{
	static const struct row on_take[] = {
		{ { "-s", "d", "q" }, "s=d q" }, { { "--spool", "d", "q" }, "s=d q" },
		{ { "--spool=d", "q" }, "s=d q" },
	};
	static const struct row on_conf[] = {
		{ { "-s", "d", "q" }, "s=d q" }, { { "--spool", "q" }, "+26 q" },
		{ { "--spool=d", "q" }, "s=d q" }, { { "--spool=d", "--spool" },
			"s=d +26" },
	};

	CHECK(OPT_SPOOL - OPT_ACK == 26);
	parse_rows(&take, on_take, COUNT(on_take));
	parse_rows(&conf, on_conf, COUNT(on_conf));
}

static void
with_verbs(void)
{
	static const struct row rows[] = {
		{ { "retry", "-R5", "--all", "q" }, "R=5 +11 q" },
		{ { "--", "retry", "q" }, "q" },
		{ { "show", "q:1" }, "q:1" }, { { NULL }, "!64" }, { { "nope" }, "!64" },
		{ { "retr" }, "!64" }, { { "" }, "!64" }, { { "-R5", "retry" }, "!64" },
		{ { "--help" }, "!0" }, { { "retry", "--help" }, "!0" },
		{ { "show", "-R5" }, "!64" }, { { "retry", "--completions=bash" }, "!64" },
	};

	CHECK(OPT_ALL - OPT_ACK == 11);
	parse_rows(&dlq, rows, COUNT(rows));
}

/* What it says on stderr, without the lines of usage. */
static const char *
complaint(const struct tool *t, const char *a, const char *b)
{
	char *argv[] = { strdup(t->name), a ? strdup(a) : NULL,
		b ? strdup(b) : NULL, NULL };
	char got[256];

	captured(t, argv, got, sizeof got);
	for (size_t i = 0; i < 3; i++)
		free(argv[i]);
	CHECK_ROW(strstr(err_text, "\ntry ") != NULL, err_text);
	CHECK_ROW(strstr(err_text, "\nusage: ") != NULL, err_text);
	CHECK_STR(out_text, "");
	err_text[strcspn(err_text, "\n")] = '\0';
	return err_text;
}

static void
messages(void)
{
	CHECK_STR(complaint(&take, "-Q", NULL), "mq-take: unknown option -Q");
	CHECK_STR(complaint(&take, "--nope=1", NULL), "mq-take: unknown option --nope");
	CHECK_STR(complaint(&take, "--a\x1b\n", NULL), "mq-take: unknown option --a??");
	CHECK_STR(complaint(&take, "-\n", NULL), "mq-take: unknown option -?");
	CHECK_STR(complaint(&take, "-R", "5"), "mq-take: -R: not an option of mq-take");
	CHECK_STR(complaint(&take, "--rate", "5"),
		"mq-take: --rate: not an option of mq-take");
	CHECK_STR(complaint(&take, "-n", NULL), "mq-take: -n: needs N");
	CHECK_STR(complaint(&take, "--count", NULL), "mq-take: --count: needs N");
	CHECK_STR(complaint(&take, "--ack=1", NULL), "mq-take: --ack: takes no argument");
	CHECK_STR(complaint(&dlq, "nope", NULL), "mq-dlq: unknown verb nope");
	CHECK_STR(complaint(&dlq, "retry", "-Q"), "mq-dlq retry: unknown option -Q");
	CHECK_STR(complaint(&dlq, "-R", "retry"), "mq-dlq: -R: comes after the verb");
}

static void
usage(void)
{
	char *argv[] = { strdup("mq-take"), strdup("-Q"), NULL };
	char got[256];

	captured(&take, argv, got, sizeof got);
	CHECK_STR(err_text, "mq-take: unknown option -Q\n"
		"usage: mq-take [options] QUEUE ...\n"
		"       mq-take [options] QUEUE -- COMMAND\n"
		"try mq-take --help\n");
	free(argv[0]);
	free(argv[1]);
}

static void
help(void)
{
	char *argv[] = { strdup("mq-take"), strdup("--help"), NULL };
	char got[256];

	captured(&take, argv, got, sizeof got);
	CHECK_STR(got, "!0");
	CHECK_STR(err_text, "");
	CHECK_STR(out_text,
		"usage: mq-take [options] QUEUE ...\n"
		"       mq-take [options] QUEUE -- COMMAND\n"
		"lease messages\n"
		"\n"
		"  -n, --count N       lease up to N messages\n"
		"  -w, --wait          wait, as long as it takes\n"
		"  -j, --jobs N        N at once; 0: one a core\n"
		"  -O, --output FILE   write to FILE, whole or not at all\n"
		"  -s, --spool DIR     the spool; default $MQ_SPOOL\n"
		"  -t, --to QUEUE      move to QUEUE\n"
		"      --ack           ack at once: at most once\n"
		"      --state STATES  it's [a:b] \\ here, and it goes on for so long that it has\n"
		"                      to be wrapped\n"
		"      --help          this text\n"
		"      --version       print the version\n"
		"\n"
		"More.\n");
	free(argv[0]);
	free(argv[1]);
}

static void
help_of_verbs(void)
{
	char *argv[] = { strdup("mq-dlq"), strdup("--help"), NULL };
	char got[256];

	captured(&dlq, argv, got, sizeof got);
	CHECK_STR(out_text,
		"usage: mq-dlq VERB [options] ...\n"
		"dead letters\n"
		"\n"
		"      --help     this text\n"
		"      --version  print the version\n"
		"\n"
		"  retry  back to ready\n"
		"  show   print a dead letter\n");
	free(argv[0]);
	free(argv[1]);
}

static void
version(void)
{
	char *argv[] = { strdup("mq-dlq"), strdup("retry"), strdup("--version"), NULL };
	char got[256];

	captured(&dlq, argv, got, sizeof got);
	CHECK_STR(got, "!0");
	CHECK_ROW(strncmp(out_text, "mq-dlq (mq) ", 12) == 0, out_text);
	for (size_t i = 0; i < 3; i++)
		free(argv[i]);
}

static void
full_disk(void)
{
	char *argv[] = { strdup("mq-take"), strdup("--help"), NULL };
	FILE *full = fopen("/dev/full", "r+"), *err = tmpfile();
	int saved_out, saved_err;
	char got[256];

	if (full == NULL || err == NULL)
		abort();
	saved_out = redirect(stdout, fileno(full));
	saved_err = redirect(stderr, fileno(err));
	parse(&take, argv, got, sizeof got);
	restore(stderr, saved_err, err, err_text);
	dup2(saved_out, fileno(stdout));
	clearerr(stdout);
	close(saved_out);
	fclose(full);
	CHECK_STR(got, "!74");
	CHECK_STR(err_text, "mq-take: standard output: No space left on device\n");
	free(argv[0]);
	free(argv[1]);
}

static void
bad_values(void)
{
	char *argv[] = { strdup("mq-take"), strdup("-n5x\t"), strdup("--jobs=y"), NULL };
	struct fault f = { ST_NOQUEUE, 0, "q: no such queue" };
	FILE *err = tmpfile();
	struct opt o;
	int saved;

	if (err == NULL)
		abort();
	saved = redirect(stderr, fileno(err));
	opt_begin(&o, &take, 3, argv);
	CHECK(opt_next(&o) == 'n' && opt_bad(&o, "not a number") == 64);
	CHECK(opt_next(&o) == 'j' && opt_bad(&o, "not a number") == 64);
	CHECK(opt_fault(&o, &f) == 66);
	restore(stderr, saved, err, err_text);
	CHECK_STR(err_text, "mq-take: -n: 5x?: not a number\n"
		"mq-take: --jobs: y: not a number\n"
		"mq-take: q: no such queue\n");
	for (size_t i = 0; i < 3; i++)
		free(argv[i]);
}

/* Each script names the option, its help and the queues. */
static void
completions(void)
{
	static const char *const rows[][3] = {
		{ "--completions=bash", "-n --count", "complete -F _mq_take mq-take\n" },
		{ "--completions=zsh", "{-n+,--count=}'[lease up to N messages]:N: '",
			"it'\\''s \\[a\\:b\\] \\\\ here" },
		{ "--completions=fish", "-s n -l count -x -d 'lease up to N messages'",
			"it\\'s [a:b] \\\\ here" },
	};
	char got[256];

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *argv[] = { strdup("mq-take"), strdup(rows[i][0]), NULL };

		captured(&take, argv, got, sizeof got);
		CHECK_STR(got, "!0");
		CHECK_ROW(strstr(out_text, rows[i][1]) != NULL, out_text);
		CHECK_ROW(strstr(out_text, rows[i][2]) != NULL, out_text);
		CHECK_ROW(strstr(out_text, "mq-ls 2>/dev/null | cut -f1") != NULL,
			out_text);
		free(argv[0]);
		free(argv[1]);
	}
}

/* "test-opt TOOL ARG ...": as that tool, for a look and for the shells. */
static int
act(int argc, char **argv)
{
	const struct tool *t = strcmp(argv[1], "mq-dlq") == 0 ? &dlq :
		strcmp(argv[1], "mq-conf") == 0 ? &conf : &take;
	char got[256];

	(void)argc;
	parse(t, argv + 1, got, sizeof got);
	fprintf(stderr, "%s\n", got);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		return act(argc, argv);
	unit_run("opt_next: arguments, joined or not", forms);
	unit_run("opt_next: options end at the first operand", ends);
	unit_run("opt_next: refuses with 64", refused);
	unit_run("opt_next: --spool, a flag or a directory", spool);
	unit_run("opt_verb: the verb comes first", with_verbs);
	unit_run("opt_next: says what is wrong", messages);
	unit_run("opt_usage: the usage follows", usage);
	unit_run("--help: aligned, wrapped", help);
	unit_run("--help: lists verbs", help_of_verbs);
	unit_run("--version: names the tool", version);
	unit_run("--help: 74 if it cannot be written", full_disk);
	unit_run("opt_bad, opt_fault: name the option and the tool", bad_values);
	unit_run("--completions: for each shell", completions);
	return unit_done();
}
