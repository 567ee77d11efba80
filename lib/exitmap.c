/* SPDX-License-Identifier: ISC */
#include "exitmap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "units.h"

static const struct {
	const char *word;
	enum verdict verdict;
} actions[] = {
	{ "ack", VERDICT_ACK },
	{ "bury", VERDICT_BURY },
	{ "retry", VERDICT_RETRY },
	{ "stop", VERDICT_STOP },
};

void
exitmap_defaults(struct exitmap *m)
{
	for (int code = 0; code < EXIT_CODES; code++) {
		m->verdict[code] = VERDICT_RETRY;
		m->delay[code] = -1;
		m->given[code] = false;
	}
	m->verdict[0] = VERDICT_ACK;
	m->verdict[65] = m->verdict[100] = VERDICT_BURY;
	m->verdict[126] = m->verdict[127] = VERDICT_STOP;
}

static int
action_parse(const char *text, enum verdict *verdict, int64_t *delay)
{
	*delay = -1;
	for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
		if (strcmp(text, actions[i].word) == 0) {
			*verdict = actions[i].verdict;
			return 0;
		}
	if (strncmp(text, "retry:", 6) != 0)
		return -1;
	*verdict = VERDICT_RETRY;
	return duration_parse(text + 6, delay) ? 0 : -1;
}

/* Reads a code at *text and moves past it; -1: there is none. */
static int
code_parse(const char **text)
{
	int code = 0;

	if (!isdigit((unsigned char)**text))
		return -1;
	for (; isdigit((unsigned char)**text); (*text)++)
		if ((code = code * 10 + (**text - '0')) >= EXIT_CODES)
			return -1;
	return code;
}

/* Marks the codes of `3,4-9` up to `end`. */
static int
codes_parse(const char *text, const char *end, unsigned char marks[static EXIT_CODES])
{
	int from, to;

	for (;; text++) {
		if ((from = to = code_parse(&text)) < 0)
			return -1;
		if (*text == '-' && (text++, to = code_parse(&text)) < from)
			return -1;
		memset(marks + from, 1, (size_t)(to - from) + 1);
		if (text == end)
			return 0;
		if (*text != ',')
			return -1;
	}
}

int
exitmap_set(struct exitmap *m, const char *rule, struct fault *f)
{
	const char *equals = strchr(rule, '=');
	unsigned char marks[EXIT_CODES] = { 0 };
	enum verdict verdict;
	int64_t delay;

	if (equals == NULL)
		return fault_set(f, ST_USAGE, "no `=': want CODES=ACTION");
	if (codes_parse(rule, equals, marks) < 0)
		return fault_set(f, ST_USAGE, "bad exit codes: want 0 to 255, as 3,4-9");
	if (action_parse(equals + 1, &verdict, &delay) < 0)
		return fault_set(f, ST_USAGE,
			"bad action: want ack, retry, retry:DUR, bury or stop");
	for (int code = 0; code < EXIT_CODES; code++)
		if (marks[code]) {
			m->verdict[code] = verdict;
			m->delay[code] = delay;
			m->given[code] = true;
		}
	return 0;
}

void
exitmap_jobs(struct exitmap *m)
{
	for (int code = 126; code <= 127; code++)
		if (!m->given[code])
			m->verdict[code] = VERDICT_BURY;
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

bool
exitmap_runs_jobs(char *const *command)
{
	size_t n = 0;

	while (command[n] != NULL)
		n++;
	if (n < 2 || strcmp(command[n - 1], "--worker") != 0)
		return false;
	if (strcmp(base_name(command[n - 2]), "mq-run") == 0)
		return true;
	return n > 2 && strcmp(command[n - 2], "run") == 0 &&
		strcmp(base_name(command[n - 3]), "mq") == 0;
}

int
exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
