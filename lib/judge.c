/* SPDX-License-Identifier: ISC */
#include "judge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "units.h"

static void
judge(struct judgement *j, enum verdict verdict, int64_t delay)
{
	j->verdict = verdict;
	j->delay = delay;
	j->why = (struct why){ .reason = j->reason, .tail = j->tail };
}

static void
keep_tail(struct judgement *j, const struct stream *s)
{
	j->why.tail_len = stream_tail(s, j->tail);
}

static bool
blank(char c)
{
	return (unsigned char)c <= ' ' || c == 0x7f;
}

/* Appends `: ` and the last line that is not blank, control characters as
 * blanks, to the reason. */
static void
add_last_line(struct judgement *j)
{
	const char *end = j->tail + j->why.tail_len, *start;
	size_t at = strlen(j->reason), room = REASON_SIZE - 3 - at;

	while (end > j->tail && blank(end[-1]))
		end--;
	for (start = end; start > j->tail && start[-1] != '\n';)
		start--;
	while (start < end && blank(*start))
		start++;
	if (start == end)
		return;
	if ((size_t)(end - start) > room)
		for (end = start + room; (*end & 0xc0) == 0x80 && end > start;)
			end--;
	j->reason[at++] = ':';
	j->reason[at++] = ' ';
	for (; start < end; start++)
		j->reason[at++] = blank(*start) ? ' ' : *start;
	j->reason[at] = '\0';
}

void
judge_end(struct judgement *j, const struct exitmap *map, int status,
	const struct stream *s)
{
	int code = exit_code(status);
	const char *name;

	judge(j, map->verdict[code], map->delay[code]);
	if (!WIFSIGNALED(status))
		snprintf(j->reason, sizeof j->reason, "exit %d", code);
	else if ((name = sigabbrev_np(WTERMSIG(status))) != NULL)
		snprintf(j->reason, sizeof j->reason, "signal %s", name);
	else
		snprintf(j->reason, sizeof j->reason, "signal %d", WTERMSIG(status));
	if (j->verdict == VERDICT_ACK)
		return;
	keep_tail(j, s);
	add_last_line(j);
}

void
judge_limit(struct judgement *j, int64_t limit_ms, const struct stream *s)
{
	char limit[32];

	judge(j, VERDICT_RETRY, -1);
	duration_print(limit_ms, limit, sizeof limit);
	snprintf(j->reason, sizeof j->reason, "ran longer than %s", limit);
	keep_tail(j, s);
}

void
judge_unstarted(struct judgement *j, const struct exitmap *map, const char *command,
	int error)
{
	int code = error == ENOENT || error == ENOTDIR ? 127 : 126;

	/* it is COMMAND itself, not a job that it was to run */
	judge(j, map->given[code] ? map->verdict[code] : VERDICT_STOP, map->delay[code]);
	snprintf(j->reason, sizeof j->reason, "%s: cannot be run: %s", command,
		strerror(error));
}

void
judge_plain(struct judgement *j, enum verdict verdict, const char *reason)
{
	judge(j, verdict, -1);
	snprintf(j->reason, sizeof j->reason, "%s", reason ? reason : "");
	if (reason == NULL)
		j->why.reason = NULL;
}
