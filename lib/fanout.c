/* SPDX-License-Identifier: ISC */
#include "fanout.h"

#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "admit.h"
#include "attach.h"
#include "dedup.h"
#include "deliver.h"
#include "dir.h"
#include "vacancy.h"
#include "sequence.h"
#include "subs.h"

#define MANY_LOCKS 100
#define NS UINT64_C(1000000000)

struct fanout {
	struct queue *topic;
	struct subs *subs;
	struct place out;
	size_t *hit;                     /* which of the subs it fits */
	size_t n;
	size_t *held;                    /* those of them that are locked */
	size_t nheld;
	uint64_t count, bytes;           /* reserved in each of these */
	bool dead;
};

/* --- whom it fits ----------------------------------------------------------------- */

static bool
fits(struct fanout *fo, const struct sub *s, const struct match_message *m)
{
	if (s->match != NULL && !match_fits(s->match, m))
		return false;
	if (!s->ephemeral || sub_alive(fo->topic, s))
		return true;
	fo->dead = true;
	return false;
}

struct fanout *
fanout_plan(struct queue *topic, const struct head *h, const struct place *out,
    struct fault *f)
{
	struct match_message m = { .route = h->route, .key = h->key,
		.priority = out->name.priority, .attrs = h->attrs, .nattrs = h->nattrs };
	struct fanout *fo = calloc(1, sizeof *fo);

	if (fo == NULL || subs_load(topic, &fo->subs, f) < 0) {
		if (fo == NULL)
			fault_errno(f, "%s", topic->name);
		free(fo);
		return NULL;
	}
	fo->topic = topic;
	fo->out = *out;
	fo->hit = calloc(fo->subs->n + 1, sizeof *fo->hit);
	fo->held = calloc(fo->subs->n + 1, sizeof *fo->held);
	if (fo->hit == NULL || fo->held == NULL) {
		fault_errno(f, "%s", topic->name);
		fanout_end(fo);
		return NULL;
	}
	for (size_t i = 0; i < fo->subs->n; i++)
		if (fits(fo, &fo->subs->v[i], &m))
			fo->hit[fo->n++] = i;
	return fo;
}

size_t
fanout_matched(const struct fanout *fo)
{
	return fo->n;
}

bool
fanout_met_dead(const struct fanout *fo)
{
	return fo->dead;
}

static void
unlock_held(struct fanout *fo)
{
	while (fo->nheld > 0)
		queue_unlock(fo->subs->v[fo->held[--fo->nheld]].q);
}

void
fanout_end(struct fanout *fo)
{
	if (fo == NULL)
		return;
	unlock_held(fo);
	free(fo->hit);
	free(fo->held);
	free(fo);
}

/* --- room ---------------------------------------------------------------------------- */

static void
more_descriptors(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &l);
	}
}

/* All with a limit are locked, in the order of their names. */
static int
lock_limited(struct fanout *fo, struct fault *f)
{
	size_t limited = 0;

	for (size_t i = 0; i < fo->n; i++)
		limited += fo->subs->v[fo->hit[i]].limited;
	if (limited > MANY_LOCKS)
		more_descriptors();
	for (size_t i = 0; limited > 0 && i < fo->n; i++) {
		struct sub *s = &fo->subs->v[fo->hit[i]];

		if (!s->limited)
			continue;
		if (sub_open(fo->topic, s, f) == NULL) {
			if (f->status == ST_NOQUEUE)
				continue;
			return -1;
		}
		if (queue_lock(s->q, f) < 0)
			return -1;
		fo->held[fo->nheld++] = fo->hit[i];
	}
	return 0;
}

static bool
drops(const struct queue *q)
{
	return q->conf.full == FULL_DROP_OLDEST;
}

/* In the first `upto` of those that drop, or do not. */
static void
give_back(struct fanout *fo, bool dropping, size_t upto)
{
	for (size_t i = 0; i < upto; i++) {
		struct queue *q = fo->subs->v[fo->held[i]].q;

		if (vacancy_limited(q) && drops(q) == dropping)
			vacancy_give(q, fo->count, fo->bytes);
	}
}

/* In those that drop, or in those that do not. 1, 0 and *full, -1 */
static int
reserve(struct fanout *fo, bool dropping, struct queue **full, struct fault *f)
{
	for (size_t i = 0; i < fo->nheld; i++) {
		struct queue *q = fo->subs->v[fo->held[i]].q;
		int r;

		if (!vacancy_limited(q) || drops(q) != dropping)
			continue;
		r = admit(q, fo->count, fo->bytes, f);
		if (r == 1)
			continue;
		give_back(fo, dropping, i);
		if (r == 0)
			*full = queue_ref(q);
		return r;
	}
	return 1;
}

int
fanout_reserve(struct fanout *fo, uint64_t count, uint64_t bytes, struct queue **full,
    struct fault *f)
{
	int r = lock_limited(fo, f);

	if (r < 0)
		return -1;
	fo->count = count;
	fo->bytes = bytes;
	r = reserve(fo, false, full, f);
	if (r != 1)
		return r;
	r = reserve(fo, true, full, f);
	if (r != 1)
		give_back(fo, false, fo->nheld);
	return r;
}

void
fanout_cancel(struct fanout *fo)
{
	give_back(fo, false, fo->nheld);
	give_back(fo, true, fo->nheld);
	unlock_held(fo);
}

/* --- the commit and the links ------------------------------------------------------------ */

/* Those who look in a subscription hear of it from here. */
static void
tell(struct queue *topic, const struct place *out)
{
	struct meter *m = topic->meter;
	int p = out->name.priority;

	atomic_store(&m->fan_low[p], name_segment(&out->name));
	atomic_fetch_add(&m->fan[p], 1);
	if (out->name.due > 0)
		atomic_fetch_add(&m->fan_due, 1);
}

/* 1 all have it and it is not in out/ any more; -1 */
static int
deliver_all(struct fanout *fo, const struct place *out, bool again, struct fault *f)
{
	int r = 1;

	tell(fo->topic, out);
	for (size_t i = 0; i < fo->n && r == 1; i++)
		r = deliver(fo->topic, out, &fo->subs->v[fo->hit[i]], again, f);
	tell(fo->topic, out);
	if (r == 1 && queue_unlink(fo->topic, out, f) < 0)
		r = -1;
	return r < 0 ? -1 : 1;
}

int
fanout_run(struct fanout *fo, uint64_t seq, bool *committed, struct fault *f)
{
	struct place at = fo->out;
	int r;

	at.name.seq = seq;
	*committed = false;
	r = queue_move(fo->topic, &fo->out, &at, f);     /* the commit */
	if (r != 1)
		return r;
	*committed = true;
	return deliver_all(fo, &at, false, f);
}

/* --- finishing what others began ------------------------------------------------------------ */

struct names {
	struct name *v;
	size_t n, room;
};

static int
collect(const char *text, void *arg)
{
	struct names *l = arg;
	struct name n;

	if (!name_parse(text, &n))
		return 0;                /* --verify tells of it */
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 16;
		void *v = reallocarray(l->v, room, sizeof *l->v);

		if (v == NULL)
			return -1;
		l->v = v;
		l->room = room;
	}
	l->v[l->n++] = n;
	return 0;
}

/* Those with a SEQ first, in its order; then by id. */
static int
by_order(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	if (x->id.hi != y->id.hi)
		return x->id.hi < y->id.hi ? -1 : 1;
	return x->id.lo < y->id.lo ? -1 : x->id.lo > y->id.lo;
}

/* It has its SEQ. 0, -1 */
static int
finish(struct queue *topic, const struct place *out, const struct head *h, struct fault *f)
{
	struct fanout *fo = fanout_plan(topic, h, out, f);
	int r;

	if (fo == NULL)
		return -1;
	if (fo->n == 0) {
		rates_count(&topic->meter->rates, EV_UNROUTED, out->name.count);
		r = queue_unlink(topic, out, f);
	} else {
		r = deliver_all(fo, out, true, f);
	}
	fanout_end(fo);
	if (r == 1)
		rates_count(&topic->meter->rates, EV_PUT, out->name.count);
	return r < 0 ? -1 : 0;
}

/* Nobody can have confirmed it: it was torn, or there is no room. */
static int
drop(struct queue *topic, const struct place *out, struct fault *f)
{
	if (out->name.seq == SEQ_NONE && dedup_forget(topic, out->name.id, f) < 0)
		return -1;
	return queue_unlink(topic, out, f) < 0 ? -1 : 0;
}

/* It got its name since the meter was made, so in this boot: it would have a SEQ if
 * it had been confirmed. Where the clock has jumped, nobody knows. */
static bool
unconfirmed(struct queue *topic, int fd)
{
	struct timespec now;
	struct stat st;
	uint64_t named;

	clock_gettime(CLOCK_REALTIME, &now);
	if (fstat(fd, &st) < 0)
		return false;
	named = (uint64_t)st.st_ctim.tv_sec * NS + (uint64_t)st.st_ctim.tv_nsec;
	return named > topic->meter->made && named <= (uint64_t)now.tv_sec * NS +
	    (uint64_t)now.tv_nsec;
}

/* Is there room for one that nobody was told of? 1; 0 it is dropped; -1 */
static int
room_for_dead(struct queue *topic, const struct place *out, struct message *m,
    struct fault *f)
{
	struct fanout *fo = fanout_plan(topic, &m->head, out, f);
	struct queue *full = NULL;
	int r;

	if (fo == NULL)
		return -1;
	r = fanout_reserve(fo, out->name.count, m->length, &full, f);
	if (r == 1)                      /* finish() has it counted anew */
		fanout_cancel(fo);
	fanout_end(fo);
	queue_close(full);
	if (r == 0 && drop(topic, out, f) < 0)
		r = -1;
	return r;
}

/* Flushed, as its publisher may not have done it; then it gets its SEQ. */
static int
finish_dead(struct queue *topic, struct place *out, struct message *m, struct fault *f)
{
	struct place at = *out;
	int r;

	if (flush_unlocked(topic, m->fd, true) < 0)
		return queue_fault(topic, f, "out");
	r = unconfirmed(topic, m->fd) ? room_for_dead(topic, out, m, f) : 1;
	if (r != 1)
		return r < 0 ? -1 : 1;
	at.name.seq = sequence_next(topic, out->name.count);
	r = queue_move(topic, out, &at, f);
	if (r != 1)
		return r;
	return finish(topic, &at, &m->head, f) < 0 ? -1 : 1;
}

/* 1 it was left by a dead one, and is finished or dropped; 0 its publisher is at
 * it, or it is gone; -1 */
static int
finish_name(struct queue *topic, const struct name *n, struct fault *f)
{
	struct place out = { .where = IN_OUT, .name = *n };
	struct message *m = NULL;
	enum opened o;
	int fd = place_open(topic, &out, O_RDONLY), r;

	if (fd < 0)
		return errno == ENOENT || n->seq == SEQ_NONE ? 0 : queue_fault(topic, f, "out");
	if (n->seq == SEQ_NONE &&
	    (flock(fd, LOCK_EX | LOCK_NB) < 0 || !queue_has(topic, &out))) {
		close(fd);
		return 0;
	}
	o = message_read(fd, &m);
	if (o == MESSAGE_OK && n->seq == SEQ_NONE)
		o = message_check(m);
	if (o == MESSAGE_ERROR)
		r = queue_fault(topic, f, "out");
	else if (o == MESSAGE_TORN)
		r = drop(topic, &out, f) < 0 ? -1 : 1;
	else if (n->seq == SEQ_NONE)
		r = finish_dead(topic, &out, m, f);
	else
		r = finish(topic, &out, &m->head, f) < 0 ? -1 : 1;
	message_close(m);
	return r;
}

int
fanout_finish(struct queue *topic, uint64_t *n, struct fault *f)
{
	struct names l = { 0 };
	int dir = queue_dir(topic, "out", false), r = 0;

	if (dir < 0)
		return errno == ENOENT ? 0 : queue_fault(topic, f, "out");
	if (dir_each(dir, collect, &l) < 0)
		r = queue_fault(topic, f, "out");
	if (l.n > 1)
		qsort(l.v, l.n, sizeof *l.v, by_order);
	for (size_t i = 0; i < l.n && r >= 0; i++) {
		r = finish_name(topic, &l.v[i], f);
		if (r == 1 && n != NULL)
			++*n;
	}
	free(l.v);
	return r < 0 ? -1 : 0;
}

/* --- who meets one that is not over ------------------------------------------------------------ */

static int
same_message(const char *text, void *arg)
{
	const struct name *n = arg;
	struct name m;

	return name_parse(text, &m) && m.seq == n->seq && id_equal(m.id, n->id);
}

static bool
in_out(struct queue *topic, const struct name *n)
{
	struct name name = *n;
	int dir = queue_dir(topic, "out", false);

	return dir >= 0 && dir_each(dir, same_message, &name) == 1;
}

void
fanout_help(struct queue *sub)
{
	struct queue *topic = sub->topic;
	struct fault ignored;

	sub->stuck = false;
	if (queue_conf(topic, &ignored) == NULL || queue_ready(topic, &ignored) < 0 ||
	    queue_lock(topic, &ignored) < 0)
		return;
	(void)fanout_finish(topic, NULL, &ignored);
	queue_unlock(topic);
}

bool
fanout_blocks(struct queue *sub, const struct name *n)
{
	if (!n->fanout || sub->topic == NULL || !in_out(sub->topic, n))
		return false;
	if (sub->locked == 0 && sub->topic->locked == 0) {
		fanout_help(sub);
		if (!in_out(sub->topic, n))
			return false;
	}
	sub->stuck = true;
	return true;
}
