/* SPDX-License-Identifier: ISC */
#include "keyed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "dir.h"

struct keyed
keyed_place(const char *top, const char *key)
{
	XXH128_hash_t h = XXH3_128bits(key, strlen(key));
	struct keyed k;

	snprintf(k.name, sizeof k.name, "%016" PRIx64 "%016" PRIx64, h.high64, h.low64);
	snprintf(k.dir, sizeof k.dir, "%.12s/%.2s", top, k.name);
	return k;
}

int
keyed_read(int dir, const char *name, char target[static KEYED_TARGET])
{
	ssize_t n = readlinkat(dir, name, target, KEYED_TARGET - 1);

	if (n < 0)
		return errno == ENOENT || errno == EINVAL ? 0 : -1;
	target[n] = '\0';
	return 1;
}

int
keyed_look(struct queue *q, const struct keyed *k, char target[static KEYED_TARGET])
{
	int dir = queue_dir(q, k->dir, false);

	if (dir < 0)
		return errno == ENOENT ? 0 : -1;
	return keyed_read(dir, k->name, target);
}

bool
keyed_number(const char **s, uint64_t *out)
{
	char text[24];
	size_t n = strcspn(*s, " ");

	if (n >= sizeof text || (*s)[n] != ' ')
		return false;
	memcpy(text, *s, n);
	text[n] = '\0';
	*s += n + 1;
	return number_parse(text, INT64_MAX, out);
}

int
keyed_drop(struct queue *q, const struct keyed *k)
{
	int dir = queue_dir(q, k->dir, false);

	if (dir >= 0 && unlinkat(dir, k->name, 0) == 0)
		return 0;
	return errno == ENOENT ? 0 : -1;
}

/* --- all of them ------------------------------------------------------------------ */

struct all {
	int top, dir;
	int (*fn)(const char *, void *);
	void *arg;
};

static int
each_key(const char *name, void *arg)
{
	struct all *a = arg;
	char target[KEYED_TARGET];
	int r;

	if (strlen(name) != KEYED_HASH)
		return 0;
	r = keyed_read(a->dir, name, target);
	return r == 1 ? a->fn(target, a->arg) : r;
}

static int
each_bucket(const char *name, void *arg)
{
	struct all *a = arg;
	int r;

	if (strlen(name) != 2)
		return 0;
	a->dir = dir_open(a->top, name);
	if (a->dir < 0)
		return errno == ENOENT ? 0 : -1;
	r = dir_each(a->dir, each_key, a);
	close(a->dir);
	return r;
}

int
keyed_each(struct queue *q, const char *top, int (*fn)(const char *, void *), void *arg)
{
	struct all a = { .top = dir_open(q->fd, top), .fn = fn, .arg = arg };
	int r;

	if (a.top < 0)
		return errno == ENOENT ? 0 : -1;
	r = dir_each(a.top, each_bucket, &a);
	close(a.top);
	return r;
}
