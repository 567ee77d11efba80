/* SPDX-License-Identifier: ISC */
#include "runjob.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

#define MAGIC "mq-run "
#define VERSION "1"
#define UMASK_MAX 0777

static size_t
count(char *const *list)
{
	size_t n = 0;

	while (list != NULL && list[n] != NULL)
		n++;
	return n;
}

static int
add(struct buffer *b, const char *s)
{
	return buffer_add(b, s, strlen(s) + 1);
}

int
runjob_pack(const struct runjob *j, struct buffer *b)
{
	char text[64];
	int r;

	snprintf(text, sizeof text, MAGIC VERSION " %zu", count(j->argv));
	r = add(b, text);
	for (size_t i = 0; j->argv[i] != NULL; i++)
		r |= add(b, j->argv[i]);
	r |= add(b, j->dir);
	snprintf(text, sizeof text, "%04o", (unsigned)j->umask & UMASK_MAX);
	r |= add(b, text);
	for (size_t i = 0; j->vars != NULL && j->vars[i] != NULL; i++)
		r |= add(b, j->vars[i]);
	return r;
}

/* What is left to read; it ends with a NUL, or is empty. */
struct rest {
	const char *p, *end;
};

static const char *
next(struct rest *rest)
{
	const char *s = rest->p;

	if (s >= rest->end)
		return NULL;
	rest->p = s + strlen(s) + 1;
	return s;
}

/* At most `most` strings; as many as there are, and then a NULL. */
static char **
list_of(struct rest *rest, size_t most)
{
	char **list = reallocarray(NULL, most + 1, sizeof *list);
	size_t n = 0;

	while (list != NULL && n < most && (list[n] = (char *)next(rest)) != NULL)
		n++;
	if (list != NULL)
		list[n] = NULL;
	return list;
}

static bool
umask_parse(const char *s, mode_t *mask)
{
	size_t n = strlen(s);

	if (n < 1 || n > 4 || strspn(s, "01234567") != n)
		return false;
	*mask = (mode_t)strtoul(s, NULL, 8);
	return *mask <= UMASK_MAX;
}

/* Only names that can be: a value without one would be lost. */
static bool
vars_good(char *const *vars)
{
	for (; *vars != NULL; vars++)
		if (**vars == '\0' || **vars == '=')
			return false;
	return true;
}

/* The first line: how many ARGs; 0: not that. */
static uint64_t
head_parse(const char *s, size_t len, struct fault *f)
{
	size_t n = sizeof MAGIC - 1, version;
	uint64_t argc;

	if (s == NULL || strncmp(s, MAGIC, n) != 0) {
		fault_set(f, ST_DATA, "not a job of mq-run");
		return 0;
	}
	version = strcspn(s + n, " ");
	if (version != sizeof VERSION - 1 || strncmp(s + n, VERSION, version) != 0) {
		fault_set(f, ST_DATA, "a job of another version of mq-run: %.20s", s);
		return 0;
	}
	if (s[n + version] == '\0' || !count_parse(s + n + version + 1, len, &argc))
		argc = 0;
	if (argc == 0)
		fault_set(f, ST_DATA, "a damaged job of mq-run: how many arguments?");
	return argc;
}

static size_t
strings(const struct rest *rest)
{
	size_t n = 0;

	for (const char *p = rest->p; p < rest->end; p += strlen(p) + 1)
		n++;
	return n;
}

static int
body_parse(struct rest *rest, uint64_t argc, struct runjob *j, struct fault *f)
{
	const char *mask;

	if (strings(rest) < argc + 2)
		return fault_set(f, ST_DATA, "a damaged job of mq-run: it is cut short");
	j->argv = list_of(rest, argc);
	j->dir = next(rest);
	mask = next(rest);
	j->vars = list_of(rest, strings(rest));
	if (j->argv == NULL || j->vars == NULL)
		return fault_set(f, ST_TRYAGAIN, "out of memory");
	if (*j->argv[0] == '\0')
		return fault_set(f, ST_DATA, "a damaged job of mq-run: no command");
	if (*j->dir != '/')
		return fault_set(f, ST_DATA, "a damaged job of mq-run: its directory");
	if (!umask_parse(mask, &j->umask))
		return fault_set(f, ST_DATA, "a damaged job of mq-run: its umask");
	if (!vars_good(j->vars))
		return fault_set(f, ST_DATA, "a damaged job of mq-run: its environment");
	return 0;
}

int
runjob_parse(const char *body, size_t len, struct runjob *j, struct fault *f)
{
	struct rest rest = { body, body + len };
	uint64_t argc;

	*j = (struct runjob){ 0 };
	if (len == 0 || body[len - 1] != '\0')
		return fault_set(f, ST_DATA, "not a job of mq-run");
	argc = head_parse(next(&rest), len, f);
	if (argc == 0)
		return -1;
	if (body_parse(&rest, argc, j, f) == 0)
		return 0;
	runjob_free(j);
	return -1;
}

void
runjob_free(struct runjob *j)
{
	free((void *)j->argv);
	free((void *)j->vars);
	*j = (struct runjob){ 0 };
}
