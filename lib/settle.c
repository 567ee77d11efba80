/* SPDX-License-Identifier: ISC */
#include "settle.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "activity.h"
#include "attach.h"
#include "dedup.h"
#include "fanout.h"
#include "group.h"
#include "ready.h"
#include "vacancy.h"
#include "timed.h"
#include "why.h"

static void
without_lease(struct name *n)
{
	n->lease = 0;
	n->pid = n->uid = 0;
	n->since = 0;
	n->outcome = OUT_NONE;
	n->settled = 0;
}

struct place
settle_ready(const struct name *n)
{
	struct place p = { .where = IN_NEW, .name = *n };

	without_lease(&p.name);
	p.name.joins = p.name.fanout = false;
	return p;
}

struct place
settle_dead(const struct name *n)
{
	struct place p = settle_ready(n);

	p.where = IN_DLQ;
	return p;
}

struct place
settle_end(struct queue *q, const struct name *n, enum outcome outcome)
{
	struct place p = settle_ready(n);
	int64_t now = now_ms();

	p.where = GONE;
	if (q->conf.keep == 0)
		return p;
	p.where = IN_DONE;
	p.bucket = bucket_up(now, q->conf.keep);
	p.name.outcome = outcome;
	p.name.settled = now;
	return p;
}

void
settle_announce(struct queue *q, const struct place *to)
{
	timed_announce(q, to);
	ready_announce(q, to, true);
}

static int
carry(struct queue *q, const struct place *from, const struct place *to, struct fault *f)
{
	int r;

	if (to->where == GONE)
		return queue_unlink(q, from, f);
	settle_announce(q, to);
	r = queue_move(q, from, to, f);
	if (r == 1)
		settle_announce(q, to);
	return r;
}

/* Of a group: a head that ends brings up the next, what comes from outside
 * joins as a put does. */
static int
carry_grouped(struct queue *q, const struct place *from, const struct place *to,
    struct fault *f)
{
	struct place at;
	int r;

	if (group_head(from) && group_head(to))
		return carry(q, from, to, f);
	if (queue_lock(q, f) < 0)
		return -1;
	if (group_head(from))
		r = group_end(q, from, to, f);
	else if (to->where == IN_NEW)
		r = group_join(q, from, &to->name, &at, f);
	else if (to->where == IN_CUR)
		r = group_lead(q, from, to, f);
	else
		r = carry(q, from, to, f);
	queue_unlock(q);
	return r;
}

/* In a queue with a limit what comes or goes is counted, under the lock. */
static int
carry_counted(struct queue *q, const struct place *from, const struct place *to,
    struct fault *f)
{
	uint64_t bytes;
	int r;

	if (queue_lock(q, f) < 0)
		return -1;
	bytes = vacancy_bytes(q, from);
	r = from->name.group != 0 ? carry_grouped(q, from, to, f) : carry(q, from, to, f);
	if (r == 1)
		vacancy_moved(q, from->where, to->where, from->name.count, bytes);
	queue_unlock(q);
	return r;
}

static int
carry_any(struct queue *q, const struct place *from, const struct place *to,
    struct fault *f)
{
	int r;

	if (vacancy_limited(q) && vacancy_counts(from->where) != vacancy_counts(to->where))
		return carry_counted(q, from, to, f);
	if (from->name.group != 0)
		return carry_grouped(q, from, to, f);
	if (from->name.count == 1)
		return carry(q, from, to, f);
	if (queue_lock(q, f) < 0)
		return -1;
	r = carry(q, from, to, f);
	queue_unlock(q);
	return r;
}

int
settle_carry(struct queue *q, const struct place *from, const struct place *to,
    struct fault *f)
{
	bool ends = to->where == GONE || to->where == IN_DONE;
	char **names = NULL;
	size_t n = 0;
	int r;

	if (fanout_blocks(q, &from->name))
		return 0;
	if (ends && attach_used(q))
		names = attach_of(q, from, &n);
	r = carry_any(q, from, to, f);
	if (r == 1)
		attach_release(q, names, n);
	else
		attach_names_free(names, n);
	return r;
}

static void
bury_all(struct queue *q, const struct name *n, const char *reason)
{
	struct why why = { .reason = reason };

	for (uint32_t k = n->first; k < n->first + n->count; k++)
		why_append(q, id_add(n->id, k), name_tries(n), &why);
	activity_left(q, n, EV_BURIED, n->count);
}

/* Does the process live that prints it? It has the file locked. */
static bool
still_printed(struct queue *q, const struct place *p)
{
	int fd = place_open(q, p, O_RDONLY);
	bool busy = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return busy;
}

/* Acked while it was printed, at most once: with its process it is gone. */
static int
end_printed(struct queue *q, const struct place *p, struct fault *f)
{
	struct place to = settle_end(q, &p->name, OUT_ACKED);
	int r;

	if (still_printed(q, p)) {
		to = *p;
		to.bucket = bucket_up(now_ms(), q->conf.lease);
		return settle_carry(q, p, &to, f) < 0 ? -1 : 0;
	}
	r = settle_carry(q, p, &to, f);
	if (r == 1) {
		why_remove(q, &p->name, false);
		activity_acked(q, 0, p->name.count);
	}
	return r;
}

int
settle_expired_lease(struct queue *q, const struct place *p, struct fault *f)
{
	bool over = name_tries(&p->name) >= q->conf.tries;
	struct place to = over ? settle_dead(&p->name) : settle_ready(&p->name);
	int r;

	if (p->name.outcome != OUT_NONE)
		return end_printed(q, p, f);
	r = settle_carry(q, p, &to, f);
	if (r != 1)
		return r;
	if (over)
		bury_all(q, &p->name, "lease ran out");
	rates_count(&q->meter->rates, EV_RETURNED, p->name.count);
	return 1;
}

int
settle_due(struct queue *q, const struct place *p, struct fault *f)
{
	struct place to = settle_ready(&p->name);

	if (name_tries(&to.name) > 0)    /* a retry: its age is from its put */
		to.name.due = 0;
	return settle_carry(q, p, &to, f);
}

int
settle_expired(struct queue *q, const struct place *p, struct fault *f)
{
	struct place to = settle_end(q, &p->name, OUT_EXPIRED);
	int r = settle_carry(q, p, &to, f);

	if (r == 1) {
		why_remove(q, &p->name, p->where == IN_DLQ);
		activity_left(q, &p->name, EV_EXPIRED, p->name.count);
	}
	return r;
}

static int
forget_key(struct queue *q, const struct name *n, struct fault *f)
{
	int r = dedup_forget(q, n->id, f);

	queue_unlock(q);
	return r < 0 ? -1 : 1;
}

int
settle_torn(struct queue *q, const struct place *p, struct fault *f)
{
	struct place to = settle_dead(&p->name);
	int r = settle_carry(q, p, &to, f);

	if (r != 1)
		return r;
	bury_all(q, &p->name, "torn: not a whole message file");
	/* nor does its idempotency key count: a repeat is the first */
	return q->topic != NULL || queue_lock(q, f) < 0 ? r : forget_key(q, &p->name, f);
}
