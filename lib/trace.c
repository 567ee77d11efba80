/* SPDX-License-Identifier: ISC */
#include "trace.h"

#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <stdlib.h>
#include <string.h>

#include "store.h"

#define EACH 5                           /* samples a character */
#define SAMPLES (TRACE_WIDTH * EACH)

struct trace {
	char name[QUEUE_NAME_SIZE];
	double v[SAMPLES];               /* the newest last */
};

struct traces {
	struct trace *v;
	size_t n, room;
};

struct traces *
traces_new(void)
{
	return calloc(1, sizeof(struct traces));
}

static struct trace *
find(const struct traces *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].name, name) == 0)
			return &t->v[i];
	return NULL;
}

int
trace_add(struct traces *t, const char *name, double value)
{
	struct trace *one = find(t, name);

	if (one == NULL && t->n == t->room) {
		size_t room = t->room > 0 ? 2 * t->room : 16;
		void *v = reallocarray(t->v, room, sizeof *t->v);

		if (v == NULL)
			return -1;
		t->v = v;
		t->room = room;
	}
	if (one == NULL) {
		one = &t->v[t->n++];
		*one = (struct trace){ .v = { 0 } };
		strlcpy(one->name, name, sizeof one->name);
	}
	memmove(one->v, one->v + 1, (SAMPLES - 1) * sizeof *one->v);
	one->v[SAMPLES - 1] = value;
	return 0;
}

static double
highest(const double *v, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = v[i] > most ? v[i] : most;
	return most;
}

void
trace_draw(const struct traces *t, const char *name, bool utf8, char out[static TRACE_SIZE])
{
	static const char *const ascii[] = { " ", ".", ".", ":", ":", "-", "=", "+", "#" };
	static const char *const blocks[] = { " ", "\u2581", "\u2582", "\u2583", "\u2584",
		"\u2585", "\u2586", "\u2587", "\u2588" };
	const struct trace *one = find(t, name);
	double most = one != NULL ? highest(one->v, SAMPLES) : 0;

	out[0] = '\0';
	for (size_t i = 0; i < TRACE_WIDTH; i++) {
		double v = most > 0 ? highest(one->v + i * EACH, EACH) : 0;
		int level = v > 0 ? 1 + (int)(v / most * 7.001) : 0;

		strlcat(out, utf8 ? blocks[level] : ascii[level], TRACE_SIZE);
	}
}

void
traces_free(struct traces *t)
{
	if (t == NULL)
		return;
	free(t->v);
	free(t);
}
