/* SPDX-License-Identifier: ISC */
#include "walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dir.h"

const char *
state_word(enum state s)
{
	switch (s) {
	case READY:
		return "ready";
	case LEASED:
		return "leased";
	case LATER:
		return "later";
	case BLOCKED:
		return "blocked";
	case DEAD:
		return "dead";
	case DONE:
		return "done";
	default:
		return "";
	}
}

enum state
place_state(const struct place *p, int64_t now)
{
	switch (p->where) {
	case IN_CUR:
		return p->bucket <= now ? READY : LEASED;
	case IN_LATER:
		return p->name.due <= now ? READY : LATER;
	case IN_GRP:
		return BLOCKED;
	case IN_DLQ:
		return DEAD;
	case IN_DONE:
		return DONE;
	default:
		return READY;
	}
}

bool
place_over(const struct place *p, int64_t now)
{
	return p->name.expiry != 0 && p->name.expiry <= now && p->where != IN_CUR &&
	    p->where != IN_DLQ && p->where != IN_DONE;
}

/* --- walking ------------------------------------------------------------------ */

int
walk_name(const char *text, void *arg)
{
	struct walk *w = arg;
	struct place p = { .where = w->where, .bucket = w->bucket };

	if (!name_parse(text, &p.name) || !place_fits(&p))
		return 0;
	return w->fn(&p, w->arg);
}

static bool
absent(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

int
walk_dir(struct walk *w, const char *path, int (*each)(const char *, void *))
{
	int fd = dir_open(w->q->fd, path), r;

	if (fd < 0)
		return absent(errno) ? 0 : queue_fault(w->q, w->f, path);
	w->f->status = 0;
	r = dir_each(fd, each, w);
	if (r < 0 && w->f->status == 0)
		queue_fault(w->q, w->f, path);
	close(fd);
	return r;
}

int
walk_segment(const char *text, void *arg)
{
	struct walk *w = arg;
	char path[PLACE_DIR_SIZE];
	uint64_t seg;

	if (!segment_parse(text, &seg))
		return 0;
	snprintf(path, sizeof path, "%s/%s", w->parent, text);
	return walk_dir(w, path, walk_name);
}

static int
walk_bucket(const char *text, void *arg)
{
	struct walk *w = arg;
	char path[PLACE_DIR_SIZE];
	uint64_t ms;

	if (!number_parse(text, INT64_MAX, &ms))
		return 0;
	w->bucket = (int64_t)ms;
	snprintf(path, sizeof path, "%s/%s", w->parent, text);
	return walk_dir(w, path, walk_name);
}

static int
walk_ready(struct walk *w)
{
	char path[PLACE_DIR_SIZE];

	w->where = IN_NEW;
	for (int p = 0; p < PRIORITIES; p++) {
		int r;

		snprintf(path, sizeof path, "new/%d", p);
		w->parent = path;
		r = walk_dir(w, path, walk_segment);
		if (r != 0)
			return r;
	}
	return 0;
}

static int
walk_group(const char *text, void *arg)
{
	struct walk *w = arg;
	char path[PLACE_DIR_SIZE];

	if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
		return 0;
	snprintf(path, sizeof path, "grp/%.16s", text);
	w->parent = path;
	return walk_dir(w, path, walk_segment);
}

static int
walk_blocked(struct walk *w)
{
	w->where = IN_GRP;
	return walk_dir(w, "grp", walk_group);
}

static int
walk_dead(struct walk *w)
{
	w->where = IN_DLQ;
	w->parent = "dlq";
	return walk_dir(w, "dlq", walk_segment);
}

static int
walk_timed(struct walk *w, unsigned states)
{
	static const struct {
		enum state state;
		enum where where;
		const char *dir;
	} timed[] = {
		{ LEASED, IN_CUR, "cur" }, { LATER, IN_LATER, "later" },
		{ DONE, IN_DONE, "done" },
	};

	for (size_t i = 0; i < sizeof timed / sizeof *timed; i++) {
		int r;

		if ((states & timed[i].state) == 0)
			continue;
		w->where = timed[i].where;
		w->parent = timed[i].dir;
		r = walk_dir(w, timed[i].dir, walk_bucket);
		if (r != 0)
			return r;
	}
	return 0;
}

int
walk_places(struct queue *q, unsigned states, int (*fn)(const struct place *, void *),
    void *arg, struct fault *f)
{
	struct walk w = { .q = q, .fn = fn, .arg = arg, .f = f };
	int r = 0;

	if (states & READY)
		r = walk_ready(&w);
	w.bucket = 0;
	if (r == 0)
		r = walk_timed(&w, states);
	w.bucket = 0;
	if (r == 0 && (states & BLOCKED))
		r = walk_blocked(&w);
	if (r == 0 && (states & DEAD))
		r = walk_dead(&w);
	return r;
}

int
walk_segment_of(struct queue *q, uint64_t seg, int (*fn)(const struct place *, void *),
    void *arg, struct fault *f)
{
	struct walk w = { .q = q, .where = IN_NEW, .fn = fn, .arg = arg, .f = f };
	char path[PLACE_DIR_SIZE], text[SEG_LEN + 1];
	int r = 0;

	segment_print(seg, text);
	for (int p = 0; r == 0 && p < PRIORITIES; p++) {
		snprintf(path, sizeof path, "new/%d/%s", p, text);
		r = walk_dir(&w, path, walk_name);
	}
	return r;
}
