/* SPDX-License-Identifier: ISC */
#include "why.h"

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dir.h"
#include "units.h"

static void
print_line(FILE *o, const char *s, size_t max)
{
	for (size_t i = 0; i < max && s[i] != '\0'; i++)
		fputc((unsigned char)s[i] < ' ' ? ' ' : s[i], o);
}

static void
print_tail(FILE *o, const char *tail, size_t len)
{
	bool start = true;

	for (size_t i = 0; i < len; i++) {
		if (start)
			fputc('\t', o);
		fputc(tail[i], o);
		start = tail[i] == '\n';
	}
	if (!start)
		fputc('\n', o);
}

static char *
format(uint32_t tries, const struct why *why, size_t *len)
{
	char *text = NULL, time[TIME_SIZE];
	FILE *o = open_memstream(&text, len);
	size_t tail = why->tail == NULL ? 0 : why->tail_len;

	if (o == NULL)
		return NULL;
	time_print(now_ms(), time);
	fprintf(o, "%s %u ", time, tries);
	print_line(o, why->reason == NULL ? "no reason given" : why->reason, WHY_REASON);
	fputc('\n', o);
	if (tail > WHY_TAIL)
		print_tail(o, why->tail + (tail - WHY_TAIL), WHY_TAIL);
	else
		print_tail(o, why->tail, tail);
	if (fclose(o) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

void
why_append(struct queue *q, struct id id, uint32_t tries, const struct why *why)
{
	char name[ID_LEN + 1], *text;
	struct stat st;
	size_t len;
	int dir = queue_dir(q, "why", true), fd;

	if (dir < 0 || why == NULL)
		return;
	text = format(tries, why, &len);
	if (text == NULL)
		return;
	id_print(id, name);
	fd = file_make(dir, name, O_WRONLY | O_APPEND, q->conf.mode);
	if (fd >= 0) {
		if (fstat(fd, &st) == 0 && st.st_size > WHY_MAX)
			(void)ftruncate(fd, 0);
		(void)write_all(fd, text, len);
		close(fd);
	}
	free(text);
}

void
why_remove(struct queue *q, const struct name *n, bool sure)
{
	char name[ID_LEN + 1];
	int dir;

	if (!sure && n->deliveries < 2 && n->untried == 0)
		return;                  /* it never failed */
	dir = queue_dir(q, "why", false);
	for (uint32_t k = n->first; dir >= 0 && k < n->first + n->count; k++) {
		id_print(id_add(n->id, k), name);
		(void)unlinkat(dir, name, 0);
	}
}

int
why_read(struct queue *q, struct id id, char **text, struct fault *f)
{
	char name[ID_LEN + 1];
	int dir = queue_dir(q, "why", false);
	size_t len;

	if (dir < 0)
		return errno == ENOENT ? 0 : queue_fault(q, f, "why");
	id_print(id, name);
	*text = dir_read(dir, name, 2 * WHY_MAX, &len);
	if (*text == NULL)
		return errno == ENOENT ? 0 : queue_fault(q, f, "why");
	return 1;
}
