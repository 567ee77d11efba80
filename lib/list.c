/* SPDX-License-Identifier: ISC */
#include "list.h"

#include <bsd/stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "activity.h"
#include "dir.h"
#include "hold.h"
#include "lease.h"
#include "message.h"
#include "settle.h"
#include "timed.h"
#include "topic.h"
#include "why.h"

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

enum opened
list_read(struct queue *q, int fd, struct message **m)
{
	enum opened r = message_read(fd, m);

	if (r != MESSAGE_OK || message_resolve(*m, q->store->path) == 0)
		return r;
	message_close(*m);
	return MESSAGE_ERROR;
}

/* --- walking ------------------------------------------------------------------ */

struct walk {
	struct queue *q;
	enum where where;
	int64_t bucket;
	const char *parent;
	int (*fn)(const struct place *, void *);
	void *arg;
	struct fault *f;
};

static int
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

static int
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

static int
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

/* The directories in which messages that count as one of `states` may lie. */
static unsigned
dirs_of(unsigned states)
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

/* Its time to live is over, and nobody has come by yet to drop it. */
static bool
over(const struct place *p, int64_t now)
{
	return p->name.expiry != 0 && p->name.expiry <= now && p->where != IN_CUR &&
	    p->where != IN_DLQ && p->where != IN_DONE;
}

static int
each_place(const struct place *p, void *arg)
{
	struct each *e = arg;
	enum state state = place_state(p, e->now);
	int r = 0;

	if ((e->states & state) == 0 || over(p, e->now))
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

	return list_places(q, dirs_of(states), each_place, &e, f);
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
	int r = walk_places(q, dirs_of(states), find_place, &e, f);

	/* it may have moved between two directories while they were read */
	return r != 0 ? r : walk_places(q, dirs_of(states), find_place, &e, f);
}

/* Where it stands now: the caller may have cut off messages before it since.
 * 1, 0 it is not there, -1 */
static int
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

/* --- changing what was found ------------------------------------------------------------ */

static int
carry_entry(struct queue *q, const struct entry *e, struct place *to, struct fault *f)
{
	struct place p;
	uint32_t k;
	int r;

	if (queue_ready(q, f) < 0 || queue_lock(q, f) < 0)
		return -1;
	r = entry_place(q, e, &p, f);
	if (r != 1) {
		queue_unlock(q);
		return r;
	}
	k = (uint32_t)(e->order - p.name.seq);
	to->name.first = p.name.ranged ? k : 0;
	to->name.count = 1;
	if (p.name.count == 1) {
		r = settle_carry(q, &p, to, f);
	} else {
		settle_announce(q, to);
		r = hold_split(q, &p, k, k + 1, to, NULL, f);
		settle_announce(q, to);
	}
	queue_unlock(q);
	return r;
}

int
entry_remove(struct queue *q, const struct entry *e, struct fault *f)
{
	const struct place *p = e->place;
	struct place to = settle_end(q, &p->name, OUT_DROPPED);
	int r = carry_entry(q, e, &to, f);

	if (r == 1) {
		why_remove(q, &to.name, e->state == DEAD);
		if (e->state != DEAD)
			activity_left(q, &p->name, EV_REMOVED, 1);
	}
	return r;
}

/* Alone under a name of its own, in the dead letters, then across. */
static int
revive_into(struct queue *q, const struct entry *e, struct queue *to, struct fault *f)
{
	struct place p, alone;
	struct lease *l;
	int r;

	if (queue_conf(to, f) == NULL || queue_ready(q, f) < 0 || queue_ready(to, f) < 0 ||
	    queue_lock(q, f) < 0)
		return -1;
	r = entry_place(q, e, &p, f);
	alone = p;
	if (r == 1 && p.name.count > 1) {
		uint32_t k = (uint32_t)(e->order - p.name.seq);

		r = hold_split(q, &p, k, k + 1, &alone, NULL, f);
	}
	queue_unlock(q);
	l = r == 1 ? lease_new(q, &alone, NULL, f) : NULL;
	if (l == NULL)
		return r == 1 ? -1 : r;
	r = move_place(l, to, f);
	lease_free(l);
	return r;
}

int
entry_revive(struct queue *q, const struct entry *e, struct queue *other, int64_t due,
    struct fault *f)
{
	const struct place *p = e->place;
	struct place to = settle_ready(&p->name);
	int64_t now = now_ms();

	if (other != NULL && other != q)
		return revive_into(q, e, other, f);
	to.name.untried = to.name.deliveries;    /* tries are counted anew */
	to.name.due = to.name.expiry = 0;
	if (due > now) {
		to.where = IN_LATER;
		to.name.due = due;
		to.name.joins = to.name.group != 0;      /* as a delayed put does */
		to.bucket = bucket_down(now, due);
	}
	return carry_entry(q, e, &to, f);
}

struct clearing {
	struct queue *q;
	unsigned states;
	int64_t now;
	uint64_t removed;
	struct fault *f;
};

static int
clear_place(const struct place *p, void *arg)
{
	struct clearing *c = arg;
	struct place to = settle_end(c->q, &p->name, OUT_DROPPED);
	int r;

	if ((c->states & place_state(p, c->now)) == 0)
		return 0;
	r = settle_carry(c->q, p, &to, c->f);
	if (r != 1)
		return r;
	why_remove(c->q, &p->name, p->where == IN_DLQ);
	if (p->where != IN_DLQ)
		activity_left(c->q, &p->name, EV_REMOVED, p->name.count);
	c->removed += p->name.count;
	return 0;
}

int
queue_clear(struct queue *q, unsigned states, uint64_t *removed, struct fault *f)
{
	struct clearing c = { .q = q, .states = states, .now = now_ms(), .f = f };
	int r;

	if (queue_conf(q, f) == NULL || queue_ready(q, f) < 0)
		return -1;
	/* what waits behind a head first: else it would come up behind our back */
	r = walk_places(q, states & BLOCKED, clear_place, &c, f);
	if (r == 0)
		r = walk_places(q, dirs_of(states & ~(unsigned)BLOCKED), clear_place, &c, f);
	*removed = c.removed;
	return r < 0 ? -1 : 0;
}

/* --- over yet? ----------------------------------------------------------------------------- */

static int
busy_place(const struct place *p, void *arg)
{
	if (over(p, *(const int64_t *)arg))
		return 0;
	return p->where != IN_LATER || name_tries(&p->name) > 0;
}

/* In none of its subscriptions, and none is on its way there. */
static int
topic_busy(struct queue *q, unsigned dirs, int64_t now, struct fault *f)
{
	int r = topic_walk(q, dirs, busy_place, &now, f);

	if (r != 0)
		return r;
	if (topic_lock(q, f) < 0)
		return -1;
	for (int i = 0; r == 0 && i < 2; i++)
		r = topic_walk(q, dirs, busy_place, &now, f);
	queue_unlock(q);
	return r;
}

int
queue_busy(struct queue *q, bool held, struct fault *f)
{
	unsigned dirs = held ? LEASED : READY | LEASED | LATER | BLOCKED;
	int64_t now = now_ms();
	int r;

	if (queue_ready(q, f) < 0)
		return -1;
	if (queue_is_topic(q))
		return topic_busy(q, dirs, now, f);
	r = walk_places(q, dirs, busy_place, &now, f);
	if (r != 0)
		return r;
	/* one may have moved behind the eye's back: look again, alone */
	if (queue_lock(q, f) < 0)
		return -1;
	r = walk_places(q, dirs, busy_place, &now, f);
	if (r == 0)
		r = walk_places(q, dirs, busy_place, &now, f);
	queue_unlock(q);
	return r;
}

struct fating {
	enum fate fate;
	const char *how;
};

static int
fate_found(const struct entry *e, void *arg)
{
	struct fating *g = arg;

	if (e->state == DONE && strcmp(e->outcome, "acked") == 0) {
		g->fate = FATE_ACKED;
		g->how = e->outcome;
	} else if (over(e->place, now_ms())) {
		g->fate = FATE_LOST;
		g->how = "expired";
	} else if (e->state == DONE || e->state == DEAD) {
		g->fate = FATE_LOST;
		g->how = e->state == DEAD ? "buried" : e->outcome;
	} else {
		g->fate = FATE_WAITING;
		g->how = state_word(e->state);
	}
	return 1;
}

int
queue_fate(struct queue *q, struct id id, enum fate *fate, const char **how,
    struct fault *f)
{
	struct fating g = { FATE_UNKNOWN, "unknown" };
	int r;

	if (queue_ready(q, f) < 0)
		return -1;
	r = queue_find(q, id, STATES_ALL, fate_found, &g, f);
	*fate = g.fate;
	*how = g.how;
	return r < 0 ? -1 : 0;
}

/* --- counting -------------------------------------------------------------------------------- */

struct counting {
	struct counts *c;
	int64_t now;
	uint64_t group, waiting;         /* of the group being read */
};

/* The names of a group come together. */
static void
count_group(struct counting *k, const struct name *n)
{
	if (n->group != k->group)
		k->waiting = 0;
	k->group = n->group;
	k->waiting += n->count;
	if (k->waiting > k->c->longest)
		k->c->longest = k->waiting;
}

static int
count_groups(const char *name, void *arg)
{
	struct walk *w = arg;

	(void)name;
	++*(uint64_t *)w->arg;
	return 0;
}

static void
older(int64_t *age, int64_t a)
{
	if (a > *age)
		*age = a;
}

/* Since its put, or its due time if it was delayed. */
static int64_t
age_of(const struct place *p, int64_t now)
{
	int64_t since = id_time(p->name.id);

	if (p->name.due > since && (p->where != IN_LATER || name_tries(&p->name) == 0))
		since = p->name.due;
	return now > since ? now - since : 0;
}

static void
count_untaken(struct counting *k, const struct name *n)
{
	int64_t age = k->now - id_time(n->id);

	for (int s = 0; s < SPANS; s++)
		if (age <= span_ms((enum span)s))
			k->c->untaken[s] += n->count;
}

static int
count_place(const struct place *p, void *arg)
{
	struct counting *k = arg;
	struct counts *c = k->c;
	uint32_t n = p->name.count;
	int64_t age = age_of(p, k->now);

	if (over(p, k->now))
		return 0;
	switch (place_state(p, k->now)) {
	case READY:
		c->ready += n;
		c->priority[p->name.priority].ready += n;
		older(&c->priority[p->name.priority].oldest, age);
		older(&c->oldest_ready, age);
		older(&c->oldest, age);
		break;
	case LEASED:
		c->leased += n;
		older(&c->oldest, age);
		break;
	case LATER:
		c->later += n;
		if (name_tries(&p->name) > 0) {
			c->retrying += n;
			older(&c->oldest, age);
		}
		break;
	case BLOCKED:
		c->blocked += n;
		older(&c->oldest, age);
		count_group(k, &p->name);
		break;
	case DEAD:
		c->dead += n;
		break;
	case DONE:
		c->done += n;
		return 0;
	default:
		break;
	}
	older(&c->oldest_total, k->now - id_time(p->name.id));
	if (p->name.deliveries == 0)
		count_untaken(k, &p->name);
	return 0;
}

int
queue_count(struct queue *q, struct counts *c, struct fault *f)
{
	struct counting k = { .c = c, .now = now_ms() };
	struct walk groups = { .q = q, .arg = &c->groups, .f = f };

	memset(c, 0, sizeof *c);
	c->oldest = c->oldest_ready = c->oldest_total = -1;
	for (int p = 0; p < PRIORITIES; p++)
		c->priority[p].oldest = -1;
	if (queue_conf(q, f) == NULL)
		return -1;
	c->paused = q->conf.paused;
	if (walk_places(q, STATES_ALL, count_place, &k, f) < 0)
		return -1;
	return walk_dir(&groups, "grp", count_groups);
}
