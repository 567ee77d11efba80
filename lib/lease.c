/* SPDX-License-Identifier: ISC */
#include "lease.h"

#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "activity.h"
#include "dir.h"
#include "hold.h"
#include "list.h"
#include "ready.h"
#include "settle.h"
#include "timed.h"
#include "why.h"

/* --- what it is -------------------------------------------------------------------- */

void
lease_free(struct lease *l)
{
	if (l == NULL)
		return;
	message_close(l->m);
	queue_close(l->q);
	free(l);
}

uint32_t
lease_count(const struct lease *l)
{
	return l->place.name.count;
}

uint32_t
lease_first(const struct lease *l)
{
	return l->place.name.first;
}

struct id
lease_id(const struct lease *l, uint32_t k)
{
	return id_add(l->place.name.id, l->place.name.first + k);
}

uint32_t
lease_tries(const struct lease *l)
{
	return name_tries(&l->place.name);
}

int
lease_priority(const struct lease *l)
{
	return l->place.name.priority;
}

int64_t
lease_expiry(const struct lease *l)
{
	return l->place.name.expiry;
}

int64_t
lease_until(const struct lease *l)
{
	return l->place.bucket;
}

struct queue *
lease_queue(const struct lease *l)
{
	return l->q;
}

const char *
lease_queue_name(const struct lease *l)
{
	return l->q->name;
}

/* --- receipts ------------------------------------------------------------------------ */

void
lease_receipt(const struct lease *l, uint32_t k, char out[static RECEIPT_SIZE])
{
	struct name n = l->place.name;
	char text[NAME_SIZE];

	n.first += k;
	n.count = 1;
	name_print(&n, text);
	snprintf(out, RECEIPT_SIZE, "%s/%s/cur/%" PRId64 "/%s", l->q->store->path,
	    l->q->name, n.lease, text);
}

struct receipt {
	char spool[4096];
	char queue[QUEUE_NAME_SIZE];
	struct place place;
};

/* The last component of text, which is cut off; NULL if there is none. */
static char *
cut_last(char *text)
{
	char *slash = strrchr(text, '/');

	if (slash == NULL)
		return NULL;
	*slash = '\0';
	return slash + 1;
}

/* Is what looks like a spool the topic of a subscription of that name? Then its
 * name is cut off. A spool's own directory has no sub/NAME/tmp. */
static void
receipt_topic(struct receipt *r, char *spool, const char *part)
{
	char sub[RECEIPT_SIZE + 16], *topic = strrchr(spool, '/');

	strlcpy(r->queue, part, sizeof r->queue);
	if (topic == NULL || !part_name_valid(topic + 1))
		return;
	snprintf(sub, sizeof sub, "%s/sub/%s/tmp", spool, part);
	if (faccessat(AT_FDCWD, sub, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	snprintf(r->queue, sizeof r->queue, "%.100s/%.100s", topic + 1, part);
	*topic = '\0';
}

/* Is SPOOL/QUEUE that one? */
static bool
of_queue(const char *path, const struct queue *q, struct receipt *r)
{
	size_t n = strlen(q->store->path);

	if (strncmp(path, q->store->path, n) != 0 || path[n] != '/' ||
	    strcmp(path + n + 1, q->name) != 0)
		return false;
	strlcpy(r->spool, q->store->path, sizeof r->spool);
	strlcpy(r->queue, q->name, sizeof r->queue);
	return true;
}

static bool
receipt_parse(const char *text, struct receipt *r, const struct lease *like)
{
	char copy[RECEIPT_SIZE], *part;
	uint64_t bucket;

	if (text[0] != '/' || path_has_dots(text) ||
	    strlcpy(copy, text, sizeof copy) >= sizeof copy)
		return false;
	r->place = (struct place){ .where = IN_CUR };
	part = cut_last(copy);
	if (part == NULL || !name_parse(part, &r->place.name) || !place_fits(&r->place) ||
	    r->place.name.count != 1 || r->place.name.outcome != OUT_NONE)
		return false;
	part = cut_last(copy);
	if (part == NULL || !number_parse(part, INT64_MAX, &bucket) ||
	    bucket != (uint64_t)r->place.name.lease)
		return false;
	r->place.bucket = (int64_t)bucket;
	part = cut_last(copy);
	if (part == NULL || strcmp(part, "cur") != 0)
		return false;
	if (like != NULL && of_queue(copy, like->q, r))
		return true;
	part = cut_last(copy);
	if (part == NULL || !part_name_valid(part))
		return false;
	receipt_topic(r, copy, part);
	return strlcpy(r->spool, copy[0] == '\0' ? "/" : copy, sizeof r->spool) <
	    sizeof r->spool;
}

static struct queue *
receipt_queue(const struct receipt *r, const struct lease *like, struct fault *f)
{
	struct store *s;
	struct queue *q;

	if (like != NULL && strcmp(like->q->name, r->queue) == 0 &&
	    strcmp(like->q->store->path, r->spool) == 0)
		return queue_ref(like->q);
	s = store_open(r->spool, false, f);
	if (s == NULL)
		return NULL;
	if (s->fd < 0) {
		fault_set(f, ST_USAGE, "not a receipt: there is no spool %s", r->spool);
		store_close(s);
		return NULL;
	}
	q = queue_open(s, r->queue, QUEUE_MUST, f);
	if (q == NULL) {
		if (f->status == ST_NOQUEUE)
			f->status = ST_NOTHING;
		store_close(s);
		return NULL;
	}
	q->own_store = true;
	return q;
}

struct lease *
lease_by_receipt(const char *text, const struct lease *like, struct fault *f)
{
	struct receipt r;
	struct queue *q;
	struct lease *l;

	if (!receipt_parse(text, &r, like)) {
		fault_set(f, ST_USAGE, "%.200s: not a receipt", text);
		return NULL;
	}
	q = receipt_queue(&r, like, f);
	if (q == NULL)
		return NULL;
	l = lease_new(q, &r.place, NULL, f);
	queue_close(q);
	return l;
}

int
lease_compare(const struct lease *a, const struct lease *b)
{
	const struct name *x = &a->place.name, *y = &b->place.name;

	if (a->q != b->q)
		return (uintptr_t)a->q < (uintptr_t)b->q ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	if (x->lease != y->lease)
		return x->lease < y->lease ? -1 : 1;
	if (x->deliveries != y->deliveries)
		return x->deliveries < y->deliveries ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

bool
lease_join(struct lease *a, const struct lease *b)
{
	struct name *x = &a->place.name;
	const struct name *y = &b->place.name;

	if (a->q != b->q || !name_same_delivery(x, y) || !x->ranged || !y->ranged ||
	    y->first != x->first + x->count)
		return false;
	x->count += y->count;
	return true;
}

/* --- finding it again ------------------------------------------------------------------ */

struct search {
	struct lease *l;
	int64_t bucket;
	int (*fn)(const struct place *, uint32_t lo, uint32_t hi, void *);
	void *arg;
	struct fault *f;
};

/* Is this name (a part of) our delivery? Then fn gets it and the part. */
static int
search_name(const char *text, void *arg)
{
	struct search *s = arg;
	const struct name *mine = &s->l->place.name;
	struct place p = { .where = IN_CUR, .bucket = s->bucket };
	int64_t lo, hi, shift;

	if (!name_parse(text, &p.name) || !name_part_of_delivery(mine, &p.name, &shift))
		return 0;
	lo = (int64_t)mine->first - shift;
	hi = lo + mine->count;
	if (lo < (int64_t)p.name.first)
		lo = p.name.first;
	if (hi > (int64_t)p.name.first + p.name.count)
		hi = (int64_t)p.name.first + p.name.count;
	return lo < hi ? s->fn(&p, (uint32_t)lo, (uint32_t)hi, s->arg) : 0;
}

static int
search_bucket(int64_t bucket, void *arg)
{
	struct search *s = arg;
	char path[PLACE_DIR_SIZE];
	int fd, r;

	snprintf(path, sizeof path, "cur/%" PRId64, bucket);
	fd = dir_open(s->l->q->fd, path);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -1;
	s->bucket = bucket;
	r = dir_each(fd, search_name, s);
	close(fd);
	return r;
}

/* Each leased range that covers a part of the lease, wherever it is now. Under
 * the lock. fn's result != 0 ends it. */
static int
search(struct lease *l, int (*fn)(const struct place *, uint32_t, uint32_t, void *),
    void *arg, struct fault *f)
{
	struct search s = { .l = l, .fn = fn, .arg = arg, .f = f };
	struct fault g;
	int r = timed_buckets(l->q, "cur", search_bucket, &s, &g);

	if (r < 0 && f->status == 0)
		*f = g;
	return r;
}

/* --- settling ---------------------------------------------------------------------------- */

/* What becomes of it: where it goes, and how its name changes. */
struct goal {
	struct lease *l;
	struct place to;                 /* range not set */
	uint32_t done;                   /* messages carried there */
	struct place last;               /* where the last of them is now */
	struct fault *f;
};

static int
carry_part(struct goal *g, const struct place *p, uint32_t lo, uint32_t hi)
{
	struct queue *q = g->l->q;
	struct place to = g->to;
	int r;

	to.name.seq = p->name.seq;
	to.name.id = p->name.id;
	to.name.first = lo;
	to.name.count = hi - lo;
	to.name.ranged = p->name.ranged;
	if (hi - lo == p->name.count && p->where == to.where && p->bucket == to.bucket &&
	    p->name.outcome == to.name.outcome) {
		to = *p;
		r = 1;
	} else if (hi - lo == p->name.count) {
		r = settle_carry(q, p, &to, g->f);
	} else {
		settle_announce(q, &to);
		r = hold_split(q, p, lo, hi, &to, NULL, g->f);
		settle_announce(q, &to);
	}
	if (r == 1) {
		g->done += hi - lo;
		g->last = to;
	}
	return r < 0 ? -1 : 0;
}

/* What the search found: carried only when it is over, for a directory that is
 * read may show again what was moved into it. */
struct parts {
	struct part {
		struct place place;
		uint32_t lo, hi;
	} *v;
	size_t n, room;
};

static int
note_part(const struct place *p, uint32_t lo, uint32_t hi, void *arg)
{
	struct parts *l = arg;

	if (l->n == l->room) {
		size_t room = l->room ? l->room * 2 : 4;
		void *v = reallocarray(l->v, room, sizeof *l->v);

		if (v == NULL)
			return -1;
		l->v = v;
		l->room = room;
	}
	l->v[l->n++] = (struct part){ *p, lo, hi };
	return 0;
}

static int
carry_found(struct goal *g)
{
	struct queue *q = g->l->q;
	struct parts found = { 0 };
	int r;

	if (queue_lock(q, g->f) < 0)
		return -1;
	g->f->status = 0;
	r = search(g->l, note_part, &found, g->f);
	for (size_t i = 0; r == 0 && i < found.n; i++)
		r = carry_part(g, &found.v[i].place, found.v[i].lo, found.v[i].hi);
	queue_unlock(q);
	free(found.v);
	return r;
}

/* 1 all of the lease is at its goal, 0 some of it was lost, -1 */
static int
carry_lease(struct goal *g)
{
	struct lease *l = g->l;
	const struct name *n = &l->place.name;
	struct place to = g->to;
	int r = 0;

	if (l->place.where == GONE)
		return 1;
	if (queue_ready(l->q, g->f) < 0)
		return -1;
	to.name.first = n->first;
	to.name.count = n->count;
	r = settle_carry(l->q, &l->place, &to, g->f);
	if (r == 1) {
		g->done = n->count;
		g->last = to;
		return 1;
	}
	if (r == 0 && l->place.where == IN_CUR)
		r = carry_found(g);
	return r < 0 ? -1 : g->done == n->count;
}

int
lease_ack(struct lease *l, struct fault *f)
{
	struct goal g = { .l = l, .f = f };
	int64_t taken = l->taken != 0 ? l->taken : l->place.name.since;
	int r;

	g.to = settle_end(l->q, &l->place.name, OUT_ACKED);
	r = carry_lease(&g);
	if (g.done > 0) {
		why_remove(l->q, &l->place.name, false);
		activity_acked(l->q, taken, g.done);
	}
	return r;
}

static void
note_why(struct lease *l, const struct why *why)
{
	if (why == NULL)
		return;
	for (uint32_t k = 0; k < lease_count(l); k++)
		why_append(l->q, lease_id(l, k), lease_tries(l), why);
}

int
lease_bury(struct lease *l, const struct why *why, struct fault *f)
{
	struct goal g = { .l = l, .to = settle_dead(&l->place.name), .f = f };
	int r = carry_lease(&g);

	if (g.done > 0) {
		note_why(l, why);
		rates_count(&l->q->meter->rates, EV_BURIED, g.done);
	}
	return r;
}

/* backoff x 2^(tries-1), capped, and up to half of it more. */
static int64_t
backoff(const struct conf *c, uint32_t tries)
{
	int64_t d = c->backoff, extra;

	for (uint32_t i = 1; i < tries && d < c->backoff_max; i++)
		d *= 2;
	if (d > c->backoff_max)
		d = c->backoff_max;
	extra = d / 2 < UINT32_MAX ? d / 2 : UINT32_MAX - 1;
	return d + arc4random_uniform((uint32_t)extra + 1);
}

int
lease_retry(struct lease *l, int64_t delay, const struct why *why, struct fault *f)
{
	struct goal g = { .l = l, .to = settle_ready(&l->place.name), .f = f };
	const struct conf *c = queue_conf(l->q, f);
	int64_t now = now_ms();
	int r;

	if (c == NULL)
		return -1;
	if (lease_tries(l) >= c->tries) {
		r = lease_bury(l, why, f);
		return r == 1 ? RETRY_BURIED : r;
	}
	if (delay < 0)
		delay = backoff(c, lease_tries(l));
	g.to.name.due = 0;
	if (delay > 0) {
		g.to.where = IN_LATER;
		g.to.name.due = now + delay;
		g.to.bucket = bucket_down(now, now + delay);
	}
	r = carry_lease(&g);
	if (g.done > 0) {
		note_why(l, why);
		rates_count(&l->q->meter->rates, EV_RETRIED, g.done);
	}
	return r == 1 ? RETRIED : r;
}

int
lease_giveback(struct lease *l, struct fault *f)
{
	struct goal g = { .l = l, .to = settle_ready(&l->place.name), .f = f };

	g.to.name.untried++;
	return carry_lease(&g);
}

static void
extended_to(struct lease *l, const struct place *p)
{
	if (!id_equal(l->place.name.id, p->name.id)) {
		message_close(l->m);
		l->m = NULL;
	}
	l->place = *p;
}

int
lease_extend(struct lease *l, int64_t lease, struct fault *f)
{
	struct goal g = { .l = l, .to = l->place, .f = f };
	int r;

	g.to.bucket = bucket_up(now_ms(), lease);
	if (g.to.bucket == l->place.bucket && queue_has(l->q, &l->place))
		return 1;
	r = carry_lease(&g);
	if (r != 1)
		return r;
	l->place.bucket = g.to.bucket;
	if (g.last.name.count == g.done) /* one name, which may be another's or a copy's */
		extended_to(l, &g.last);
	return 1;
}

int
lease_consume(struct lease *l, struct fault *f)
{
	struct goal g = { .l = l, .to = l->place, .f = f };
	int r;

	if (lease_message(l, f) == NULL)
		return f->status == ST_NOTHING ? 0 : -1;
	/* While it is held nobody sweeps it. Shared: other parts of the file may be
	 * held by others, or by this process. */
	while (flock(l->m->fd, LOCK_SH) < 0)
		if (errno != EINTR)
			return queue_fault(l->q, f, "message");
	if (g.to.name.group != 0) {      /* the next of its key waits for its end */
		g.to.name.outcome = OUT_ACKED;
		g.to.name.settled = now_ms();
	} else {
		g.to.where = IN_TMP;
		g.to.bucket = 0;
	}
	r = carry_lease(&g);
	if (r == 1)
		l->place = g.to;
	return r;
}

/* --- parts ------------------------------------------------------------------------------------ */

/* One of them is ours alone and locked: a rename is enough. */
static int
split_consumed(struct lease *l, const struct place *rest, struct fault *f)
{
	int r = queue_move(l->q, &l->place, rest, f);

	if (r == 1)
		l->place.where = GONE;   /* its part was printed */
	return r;
}

static int
split_leased(struct lease *l, uint32_t at, struct place *rest, struct fault *f)
{
	int r;

	if (queue_lock(l->q, f) < 0)
		return -1;
	r = hold_split(l->q, &l->place, at, l->place.name.first + l->place.name.count,
	    rest, NULL, f);
	queue_unlock(l->q);
	return r;
}

static struct message *
message_again(const struct message *m, struct fault *f)
{
	struct message *copy = NULL;
	int fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 3);

	if (fd < 0 || message_read(fd, &copy) != MESSAGE_OK)
		fault_errno(f, "message");
	return copy;
}

int
lease_split(struct lease *l, uint32_t at, struct lease **rest, struct fault *f)
{
	struct place p = l->place;
	struct message *m = NULL;
	int r;

	p.name.first += at;
	p.name.count -= at;
	if (l->m != NULL && (m = message_again(l->m, f)) == NULL)
		return -1;
	r = l->place.where == IN_TMP ? split_consumed(l, &p, f) :
	    split_leased(l, p.name.first, &p, f);
	if (r != 1) {
		message_close(m);
		return r;
	}
	l->place.name.count = at;
	if (!id_equal(p.name.id, l->place.name.id)) {    /* a copy: opened when needed */
		message_close(m);
		m = NULL;
	}
	*rest = lease_new(l->q, &p, m, f);
	if (*rest == NULL)
		return -1;
	(*rest)->taken = l->taken;
	return 1;
}

/* --- its bodies -------------------------------------------------------------------------------- */

static int
found_at(const struct place *p, uint32_t lo, uint32_t hi, void *arg)
{
	(void)lo;
	(void)hi;
	*(struct place *)arg = *p;
	return 1;
}

struct message *
lease_message(struct lease *l, struct fault *f)
{
	struct place p = l->place;
	int fd, r;

	if (l->m != NULL)
		return l->m;
	fd = place_open(l->q, &p, O_RDONLY);
	if (fd < 0 && errno == ENOENT) {         /* moved, or a part of a range */
		if (queue_ready(l->q, f) < 0 || queue_lock(l->q, f) < 0)
			return NULL;
		f->status = 0;
		r = search(l, found_at, &p, f);
		fd = r == 1 ? place_open(l->q, &p, O_RDONLY) : -1;
		queue_unlock(l->q);
		if (r == 0)
			fault_set(f, ST_NOTHING, "lease lost");
		if (r <= 0)
			return NULL;
	}
	if (fd < 0 || list_read(l->q, fd, &l->m) != MESSAGE_OK)
		queue_fault(l->q, f, "message");
	return l->m;
}

static int
sealed_copy(const char *body, size_t len)
{
	int fd = memfd_create("mq-message", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	if (write_all(fd, body, len) < 0 || lseek(fd, 0, SEEK_SET) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int
lease_stdin(struct lease *l, uint32_t k, struct fault *f)
{
	struct message *m = lease_message(l, f);
	const char *body;
	size_t len;
	int fd;

	if (m == NULL || message_body(m, l->place.name.first + k, &body, &len, f) < 0)
		return -1;
	fd = sealed_copy(body, len);
	return fd < 0 ? fault_errno(f, "message") : fd;
}
