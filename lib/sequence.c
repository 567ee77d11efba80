/* SPDX-License-Identifier: ISC */
#include "sequence.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dir.h"

struct highest {
	uint64_t seq;                    /* above all names seen */
	uint64_t seg;                    /* highest segment seen */
	bool some;
};

static int
see_name(const char *text, void *arg)
{
	struct highest *h = arg;
	struct held held;
	struct name n;

	if (strchr(text, '+') != NULL && held_parse(text, &held))
		n = held.goal.name;
	else if (!name_parse(text, &n) || n.seq == SEQ_NONE)
		return 0;
	if (name_order(&n) + n.count > h->seq)
		h->seq = name_order(&n) + n.count;
	return 0;
}

static int
see_segment(const char *text, void *arg)
{
	struct highest *h = arg;
	uint64_t seg;

	if (segment_parse(text, &seg) && (!h->some || seg > h->seg)) {
		h->seg = seg;
		h->some = true;
	}
	return 0;
}

/* -1 with errno; a directory that is not there holds nothing. */
static int
see_dir(struct queue *q, const char *path, int (*fn)(const char *, void *), void *arg)
{
	int fd = dir_open(q->fd, path), r;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -1;
	r = dir_each(fd, fn, arg);
	close(fd);
	return r;
}

static int
see_highest_segment(struct queue *q, const char *dir, struct highest *h)
{
	char path[PLACE_DIR_SIZE], seg[SEG_LEN + 1];

	h->some = false;
	if (see_dir(q, dir, see_segment, h) < 0)
		return -1;
	if (!h->some)
		return 0;
	segment_print(h->seg, seg);
	snprintf(path, sizeof path, "%s/%s", dir, seg);
	if (h->seq < h->seg << SEG_BITS)         /* also if it is empty */
		h->seq = h->seg << SEG_BITS;
	return see_dir(q, path, see_name, h);
}

struct buckets {
	struct queue *q;
	const char *dir;
	struct highest *h;
};

static int
see_bucket(const char *text, void *arg)
{
	struct buckets *b = arg;
	char path[PLACE_DIR_SIZE];
	uint64_t ms;

	if (!number_parse(text, INT64_MAX, &ms))
		return 0;
	snprintf(path, sizeof path, "%s/%s", b->dir, text);
	return see_dir(b->q, path, see_name, b->h);
}

static int
see_group_segment(const char *text, void *arg)
{
	struct buckets *b = arg;
	char path[PLACE_DIR_SIZE];
	uint64_t seg;

	if (!segment_parse(text, &seg))
		return 0;
	snprintf(path, sizeof path, "%.24s/%s", b->dir, text);
	return see_dir(b->q, path, see_name, b->h);
}

static int
see_group(const char *text, void *arg)
{
	struct buckets *b = arg, in = *b;
	char path[PLACE_DIR_SIZE];

	if (strlen(text) != 16)
		return 0;
	snprintf(path, sizeof path, "grp/%.16s", text);
	in.dir = path;
	return see_dir(b->q, path, see_group_segment, &in);
}

struct above_subs {
	struct queue *topic;
	struct highest *h;
};

static int
see_sub(const char *name, void *arg)
{
	struct above_subs *a = arg;
	struct queue sub = { .store = a->topic->store, .fd = -1 };
	struct fault f;
	uint64_t seq;
	int fd, r;

	if (!part_name_valid(name))
		return 0;
	fd = dir_open(a->topic->fd, "sub");
	sub.fd = fd < 0 ? -1 : dir_open(fd, name);
	if (fd >= 0)
		close(fd);
	if (sub.fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -1;
	snprintf(sub.name, sizeof sub.name, "%.100s/%.100s", a->topic->name, name);
	r = sequence_above(&sub, &seq, &f);
	close(sub.fd);
	if (r == 0 && seq > a->h->seq)
		a->h->seq = seq;
	return r;
}

/* A topic's SEQ are those of its subscriptions too. */
static int
see_subs(struct queue *q, struct highest *h)
{
	return see_dir(q, "sub", see_sub, &(struct above_subs){ q, h });
}

int
sequence_above(struct queue *q, uint64_t *seq, struct fault *f)
{
	static const char *const bucketed[] = { "cur", "later", "done" };
	struct highest h = { .seq = 1 };
	char dir[PLACE_DIR_SIZE];

	for (int p = 0; p < PRIORITIES; p++) {
		snprintf(dir, sizeof dir, "new/%d", p);
		if (see_highest_segment(q, dir, &h) < 0)
			return queue_fault(q, f, dir);
	}
	if (see_highest_segment(q, "dlq", &h) < 0)
		return queue_fault(q, f, "dlq");
	for (size_t i = 0; i < sizeof bucketed / sizeof *bucketed; i++) {
		struct buckets b = { q, bucketed[i], &h };

		if (see_dir(q, bucketed[i], see_bucket, &b) < 0)
			return queue_fault(q, f, bucketed[i]);
	}
	if (see_dir(q, "grp", see_group, &(struct buckets){ q, "grp", &h }) < 0)
		return queue_fault(q, f, "grp");
	if (see_dir(q, "hold", see_name, &h) < 0 || see_dir(q, "tmp", see_name, &h) < 0 ||
	    see_dir(q, "out", see_name, &h) < 0)
		return queue_fault(q, f, "hold");
	if (see_subs(q, &h) < 0)
		return queue_fault(q, f, "sub");
	*seq = h.seq;
	return 0;
}

uint64_t
sequence_next(struct queue *q, uint32_t count)
{
	return atomic_fetch_add(&queue_counter(q)->seq, count);
}
