/* SPDX-License-Identifier: ISC */
#include "list.h"

#include <bsd/stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "why.h"

enum opened
list_read(struct queue *q, int fd, struct message **m)
{
	enum opened r = message_read(fd, m);

	if (r != MESSAGE_OK || message_resolve(*m, q->store->path) == 0)
		return r;
	message_close(*m);
	return MESSAGE_ERROR;
}
/* --- in order -------------------------------------------------------------------- */

struct places {
	struct place *p;
	size_t n, room;
};

static int
add_place(const struct place *p, void *arg)
{
	struct places *l = arg;

	if (l->n == l->room) {
		size_t room = l->room ? l->room * 2 : 64;
		void *n = reallocarray(l->p, room, sizeof *l->p);

		if (n == NULL)
			return -1;
		l->p = n;
		l->room = room;
	}
	l->p[l->n++] = *p;
	return 0;
}

static int
by_order(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	uint64_t i = name_order(&x->name), j = name_order(&y->name);

	if (i != j)
		return i < j ? -1 : 1;
	return memcmp(&x->name.id, &y->name.id, sizeof x->name.id);
}

static void
sort_places(struct places *l)
{
	if (l->n > 1)
		qsort(l->p, l->n, sizeof *l->p, by_order);
}

struct numbers {
	uint64_t *v;
	size_t n, room;
};

static int
add_number(struct numbers *s, uint64_t v)
{
	if (s->n == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		void *n = reallocarray(s->v, room, sizeof *s->v);

		if (n == NULL)
			return -1;
		s->v = n;
		s->room = room;
	}
	s->v[s->n++] = v;
	return 0;
}

/* Of what lies in cur/, later/, done/ and grp/ only so many of the oldest are held at
 * once; for the next ones the directories are read again. */
#define TIMED_MOST 65536
#define PIECE 1024

struct listing {
	struct queue *q;
	unsigned states;
	struct places timed, now;
	size_t given;                    /* of timed */
	bool more;                       /* than are in timed */
	bool begun;
	uint64_t last;                   /* begun: the last one taken out of timed */
	struct numbers segs;
	int (*fn)(const struct place *, void *);
	void *arg;
	struct fault *f;
};

static int
note_segment(const char *text, void *arg)
{
	struct walk *w = arg;
	uint64_t seg;

	return segment_parse(text, &seg) ? add_number(w->arg, seg) : 0;
}

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int
list_segments(struct listing *l)
{
	struct walk w = { .q = l->q, .arg = &l->segs, .f = l->f };
	char path[PLACE_DIR_SIZE];

	for (int p = 0; (l->states & READY) && p < PRIORITIES; p++) {
		snprintf(path, sizeof path, "new/%d", p);
		if (walk_dir(&w, path, note_segment) < 0)
			return -1;
	}
	if ((l->states & DEAD) && walk_dir(&w, "dlq", note_segment) < 0)
		return -1;
	if (l->segs.n > 1)
		qsort(l->segs.v, l->segs.n, sizeof *l->segs.v, by_value);
	return 0;
}

static int
load_segment(struct listing *l, uint64_t seg)
{
	struct walk w = { .q = l->q, .fn = add_place, .arg = &l->now, .f = l->f };
	char path[PLACE_DIR_SIZE], text[SEG_LEN + 1];

	segment_print(seg, text);
	w.where = IN_NEW;
	for (int p = 0; (l->states & READY) && p < PRIORITIES; p++) {
		snprintf(path, sizeof path, "new/%d/%s", p, text);
		if (walk_dir(&w, path, walk_name) < 0)
			return -1;
	}
	w.where = IN_DLQ;
	snprintf(path, sizeof path, "dlq/%s", text);
	return l->states & DEAD ? walk_dir(&w, path, walk_name) : 0;
}

static int
give(struct listing *l)
{
	int r = 0;

	sort_places(&l->now);
	for (size_t i = 0; i < l->now.n && r == 0; i++)
		r = l->fn(&l->now.p[i], l->arg);
	l->now.n = 0;
	return r;
}

static void
cut_timed(struct listing *l)
{
	sort_places(&l->timed);
	if (l->timed.n <= TIMED_MOST)
		return;
	l->timed.n = TIMED_MOST;
	l->more = true;
}

static int
add_timed(const struct place *p, void *arg)
{
	struct listing *l = arg;

	if (l->begun && name_order(&p->name) <= l->last)
		return 0;
	if (add_place(p, &l->timed) < 0)
		return -1;
	if (l->timed.n >= 2 * TIMED_MOST)
		cut_timed(l);
	return 0;
}

/* The oldest of those after `last`. */
static int
load_timed(struct listing *l)
{
	l->timed.n = l->given = 0;
	l->more = false;
	if (walk_places(l->q, l->states & (LEASED | LATER | DONE | BLOCKED), add_timed, l,
		l->f) < 0)
		return -1;
	cut_timed(l);
	return 0;
}

/* Adds what lies in cur/, later/ and done/ before that segment, `most` of it. */
static int
merge_timed(struct listing *l, uint64_t seg, size_t most)
{
	for (; l->now.n < most; l->given++) {
		const struct place *p;

		if (l->given == l->timed.n && l->more && load_timed(l) < 0)
			return -1;
		if (l->given == l->timed.n)
			return 0;
		p = &l->timed.p[l->given];
		if (name_segment(&p->name) >= seg)
			return 0;
		if (add_place(p, &l->now) < 0)
			return -1;
		l->begun = true;
		l->last = name_order(&p->name);
	}
	return 0;
}

/* Gives all that, piece by piece. */
static int
give_timed(struct listing *l, uint64_t seg)
{
	int r = 0;

	do {
		if (merge_timed(l, seg, PIECE) < 0)
			return -1;
		if (l->now.n == 0)
			return 0;
		r = give(l);
	} while (r == 0);
	return r;
}

static int
list_all(struct listing *l)
{
	int r;

	if (load_timed(l) < 0 || list_segments(l) < 0)
		return -1;
	for (size_t i = 0; i < l->segs.n; i++) {
		if (i > 0 && l->segs.v[i] == l->segs.v[i - 1])
			continue;
		r = give_timed(l, l->segs.v[i]);
		if (r != 0)
			return r;
		if (load_segment(l, l->segs.v[i]) < 0 ||
			merge_timed(l, l->segs.v[i] + 1, SIZE_MAX) < 0)
			return -1;
		r = give(l);
		if (r != 0)
			return r;
	}
	return give_timed(l, UINT64_MAX);
}

int
list_places(struct queue *q, unsigned states, int (*fn)(const struct place *, void *),
    void *arg, struct fault *f)
{
	struct listing l = { .q = q, .states = states, .fn = fn, .arg = arg, .f = f };
	int r;

	f->status = 0;
	r = list_all(&l);
	if (r < 0 && f->status == 0)
		fault_errno(f, "%s", q->name);
	free(l.timed.p);
	free(l.now.p);
	free(l.segs.v);
	return r;
}

/* --- messages ------------------------------------------------------------------------ */

unsigned
states_dirs(unsigned states)
{
	return states & READY ? states | LEASED | LATER : states;
}

static struct entry
entry_of(const struct place *p, uint32_t k, enum state state)
{
	const struct name *n = &p->name;
	struct entry e = {
		.state = state, .id = id_add(n->id, k), .order = n->seq + k,
		.priority = n->priority, .tries = name_tries(n),
		.put_time = id_time(n->id), .due = n->due, .expiry = n->expiry,
		.until = p->bucket, .retried = p->where == IN_LATER && name_tries(n) > 0,
		.pid = n->pid, .uid = n->uid, .since = n->since, .outcome = outcome_word(n->outcome),
		.settled = n->settled, .place = p,
	};

	return e;
}

struct each {
	unsigned states;
	int64_t now;
	struct id id;                    /* for queue_find */
	int (*fn)(const struct entry *, void *);
	void *arg;
};

static int
each_place(const struct place *p, void *arg)
{
	struct each *e = arg;
	enum state state = place_state(p, e->now);
	int r = 0;

	if ((e->states & state) == 0 || place_over(p, e->now))
		return 0;
	for (uint32_t k = p->name.first; k < p->name.first + p->name.count && r == 0; k++) {
		struct entry entry = entry_of(p, k, state);

		r = e->fn(&entry, e->arg);
	}
	return r;
}

int
queue_each(struct queue *q, unsigned states, int (*fn)(const struct entry *, void *),
    void *arg, struct fault *f)
{
	struct each e = { .states = states, .now = now_ms(), .fn = fn, .arg = arg };

	return list_places(q, states_dirs(states), each_place, &e, f);
}

static int
find_place(const struct place *p, void *arg)
{
	struct each *e = arg;
	enum state state = place_state(p, e->now);
	struct entry entry;
	int64_t k;

	k = id_offset(p->name.id, e->id, p->name.first + p->name.count);
	if ((e->states & state) == 0 || k < (int64_t)p->name.first)
		return 0;
	entry = entry_of(p, (uint32_t)k, state);
	return e->fn(&entry, e->arg);
}

int
queue_find(struct queue *q, struct id id, unsigned states,
    int (*fn)(const struct entry *, void *), void *arg, struct fault *f)
{
	struct each e = { .states = states, .now = now_ms(), .id = id, .fn = fn, .arg = arg };
	int r = walk_places(q, states_dirs(states), find_place, &e, f);

	/* it may have moved between two directories while they were read */
	return r != 0 ? r : walk_places(q, states_dirs(states), find_place, &e, f);
}

int
entry_place(struct queue *q, const struct entry *e, struct place *p, struct fault *f)
{
	const struct place *then = e->place;
	uint32_t k = (uint32_t)(e->order - then->name.seq);
	uint32_t first = then->name.first, end = first + then->name.count;
	int r;

	*p = *then;
	if (then->name.count == 1)       /* who goes there will see */
		return 1;
	r = queue_look(q, p);
	for (uint32_t j = k + 1; r == 0 && j-- > first;) {
		p->name.first = j;
		p->name.count = end - j;
		r = queue_look(q, p);
	}
	return r < 0 ? queue_fault(q, f, "message") : r;
}

int
entry_open(struct queue *q, const struct entry *e, struct message **m, uint32_t *k,
    struct fault *f)
{
	struct place p;
	char id[ID_LEN + 1];
	int fd, r = entry_place(q, e, &p, f);

	if (r != 1)
		return r;
	fd = place_open(q, &p, O_RDONLY);
	if (fd < 0)
		return errno == ENOENT ? 0 : queue_fault(q, f, "message");
	*k = (uint32_t)(e->order - p.name.seq);
	id_print(e->id, id);
	switch (list_read(q, fd, m)) {
	case MESSAGE_OK:
		return 1;
	case MESSAGE_TORN:
		return fault_set(f, ST_DATA, "%s: torn, not a whole message file", id);
	default:
		return queue_fault(q, f, id);
	}
}

int
entry_why(struct queue *q, struct id id, char **text, struct fault *f)
{
	return why_read(q, id, text, f);
}
