/* SPDX-License-Identifier: ISC
 *
 * put: written in tmp/, renamed into place, flushed once, then confirmed. */
#include <bsd/stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "activity.h"
#include "admit.h"
#include "attach.h"
#include "dedup.h"
#include "dir.h"
#include "fanout.h"
#include "flush.h"
#include "group.h"
#include "message.h"
#include "publish.h"
#include "queue.h"
#include "ready.h"
#include "vacancy.h"
#include "sequence.h"
#include "settle.h"
#include "timed.h"
#include "topicput.h"

struct put {
	struct queue *q;
	const struct put_spec *spec;
	char *body;
	size_t len, room;
	uint32_t *ends;
	uint32_t count, ends_room;
	uint32_t part;                   /* the first so many are being put */
	bool unrouted;                   /* no subscription wanted them */
	struct queue *full;              /* the subscription that is full, or NULL */
};

struct put *
put_begin(struct queue *q, const struct put_spec *spec, struct fault *f)
{
	struct put *p = calloc(1, sizeof *p);

	if (p == NULL) {
		fault_errno(f, "put");
		return NULL;
	}
	p->q = q;
	p->spec = spec;
	return p;
}

void
put_end(struct put *p)
{
	if (p == NULL)
		return;
	queue_close(p->full);
	free(p->body);
	free(p->ends);
	free(p);
}

uint32_t
put_count(const struct put *p)
{
	return p->count;
}

bool
put_full(const struct put *p, size_t len)
{
	if (p->spec->batch || p->count == 0)
		return false;
	return p->count >= FILE_RECORDS || p->len + len > FILE_BYTES;
}

static int
grow(struct put *p, size_t len)
{
	size_t room = p->room ? p->room : 4096;

	while (room < p->len + len)
		room *= 2;
	if (room > p->room) {
		char *b = realloc(p->body, room);

		if (b == NULL)
			return -1;
		p->body = b;
		p->room = room;
	}
	if (p->count == p->ends_room) {
		uint32_t n = p->ends_room ? p->ends_room * 2 : 16;
		uint32_t *e = reallocarray(p->ends, n, sizeof *e);

		if (e == NULL)
			return -1;
		p->ends = e;
		p->ends_room = n;
	}
	return 0;
}

int
put_add(struct put *p, const void *body, size_t len, struct fault *f)
{
	uint64_t max = p->q->conf.max_size;

	if (len > max)
		return fault_set(f, ST_DATA, "the message is over max_size (%llu bytes): "
		    "attach large files with -A", (unsigned long long)max);
	if (p->spec->batch && p->count > 0 && p->len + len > BATCH_BYTES)
		return fault_set(f, ST_DATA, "batch is over 64 MiB");
	if (grow(p, len) < 0)
		return fault_errno(f, "put");
	if (len > 0)
		memcpy(p->body + p->len, body, len);
	p->len += len;
	p->ends[p->count++] = (uint32_t)p->len;
	return 0;
}

/* --- publishing ---------------------------------------------------------------- */

static int
write_file(int fd, const char *head, size_t head_len, const char *body, size_t len)
{
	struct iovec v[2] = {
		{ (void *)(uintptr_t)head, head_len }, { (void *)(uintptr_t)body, len },
	};
	ssize_t n = writev(fd, v, len > 0 ? 2 : 1);

	if (n < 0)
		return -1;
	if ((size_t)n < head_len) {
		if (write_all(fd, head + n, head_len - (size_t)n) < 0)
			return -1;
		n = (ssize_t)head_len;
	}
	n -= (ssize_t)head_len;
	return write_all(fd, body + n, len - (size_t)n);
}

/* The file in tmp/, locked and written; its descriptor. -1 */
static int
write_tmp(struct put *p, const struct head *h, const struct place *tmp, struct fault *f)
{
	struct queue *q = p->q;
	char name[NAME_SIZE], *text;
	int dir, fd, saved;
	size_t len;

	text = message_format(h, p->ends, p->part, p->body, p->ends[p->part - 1], &len);
	if (text == NULL && errno == EMSGSIZE)
		return fault_set(f, ST_DATA, "attributes are over %d bytes", HEADER_MAX);
	dir = text == NULL ? -1 : queue_dir(q, "tmp", true);
	name_print(&tmp->name, name);
	fd = dir < 0 ? -1 : file_make(dir, name, O_WRONLY | O_EXCL, q->conf.mode);
	if (fd < 0) {
		queue_fault(q, f, "tmp");
		free(text);
		return -1;
	}
	if (flock(fd, LOCK_EX) < 0 ||
	    write_file(fd, text, len, p->body, p->ends[p->part - 1]) < 0) {
		saved = errno;
		(void)unlinkat(dir, name, 0);
		close(fd);
		errno = saved;
		queue_fault(q, f, "tmp");
		fd = -1;
	}
	free(text);
	return fd;
}

/* It was visible for a moment: take it back where that is still possible. Not
 * with an idempotency key: a repeat may have been told of it already. */
static int
withdraw(struct put *p, const struct place *at, struct fault *f)
{
	struct place gone = { .where = GONE, .name = at->name };
	struct fault ignored;

	/* nor the first of a new group alone, without the rest of its file */
	return publish_say(f, p->spec->idempotency == NULL && at->name.count == p->part &&
	    settle_carry(p->q, at, &gone, &ignored) == 1 ? "not stored" : "may be stored");
}

static bool
synced(const struct put *p)
{
	return !p->spec->nosync && p->q->conf.sync;
}

static int
flush(struct put *p, int fd, const struct place *at, struct fault *f)
{
	if (!synced(p) || (p->spec->flush != NULL ? flush_add(p->spec->flush, fd) :
	    fsync(fd)) == 0)
		return 0;
	queue_fault(p->q, f, "fsync");
	return withdraw(p, at, f);
}

/* Somebody may have removed the queue under it. */
static int
still_there(struct put *p, const struct place *at, struct fault *f)
{
	if (!queue_gone(p->q))
		return 0;
	fault_set(f, ST_NOQUEUE, "%s: the queue was removed meanwhile", p->q->name);
	return withdraw(p, at, f);
}

/* --- under the lock: groups, limits, idempotency keys ------------------------------ */

/* REPEATED and *first, AGAIN: the key is new; -1 */
static int
look_for_repeat(struct put *p, struct id *first, int64_t now, struct fault *f)
{
	struct dedup d;
	struct place tmp;
	int r = dedup_look(p->q, p->spec->idempotency, now, &d, f);

	if (r != 1)
		return r;
	*first = d.id;
	r = dedup_find_tmp(p->q, d.id, &tmp, f);
	if (r == 1)
		r = dedup_finish(p->q, &tmp, p->spec->idempotency, &d, now, f);
	else if (r == 0)
		return REPEATED;
	return r < 0 ? -1 : r == 1 ? REPEATED : AGAIN;
}

static int64_t
window(const struct put *p, int64_t now)
{
	int64_t ms = p->spec->window > 0 ? p->spec->window : p->q->conf.dedup;

	return p->spec->unique ? 0 : now + ms;
}

static bool
has_key(const struct put *p)
{
	return p->spec->idempotency != NULL &&
	    (p->spec->unique || p->spec->window > 0 || p->q->conf.dedup > 0);
}

static int
publish_held(struct put *p, const struct place *tmp, struct place *to, struct id *first,
    int64_t now, struct fault *f)
{
	uint64_t bytes = p->ends[p->part - 1];
	struct place goal;
	int r = AGAIN;

	if (has_key(p))
		r = look_for_repeat(p, first, now, f);
	if (r != AGAIN)
		return r;
	r = admit(p->q, p->part, bytes, f);
	if (r != 1)
		return r < 0 ? -1 : FULL;
	goal = publish_goal(&tmp->name, sequence_next(p->q, p->part), now);
	if (has_key(p) && dedup_note(p->q, p->spec->idempotency, &(struct dedup){
	    tmp->name.id, window(p, now), goal.name.seq }, f) < 0)
		r = -1;
	else
		r = publish_as(p->q, tmp, &goal, to, f);
	/* on its way (in hold/): who has the lock next carries it on */
	if (r == PUBLISHED || (r < 0 && queue_look(p->q, tmp) != 1))
		return r;
	if (has_key(p))
		dedup_drop(p->q, p->spec->idempotency);
	if (vacancy_limited(p->q))
		vacancy_give(p->q, p->part, bytes);
	return r;
}

static int
publish_locked(struct put *p, const struct place *tmp, struct place *to, struct id *first,
    int64_t now, struct fault *f)
{
	int r;

	if (queue_lock(p->q, f) < 0)
		return -1;
	/* a sweep may have taken it for a dead one's before its lock was had */
	r = queue_has(p->q, tmp) ? publish_held(p, tmp, to, first, now, f) : AGAIN;
	queue_unlock(p->q);
	return r;
}

/* --- one file --------------------------------------------------------------------------- */

/* A power cut can leave the name and the key of a file, and not what is in it: then
 * that was never confirmed, and is no first. */
static bool
torn(int fd)
{
	struct message *m = NULL;
	int mine = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	enum opened r = mine < 0 ? MESSAGE_ERROR : message_read(mine, &m);

	if (r == MESSAGE_OK)
		r = message_check(m);
	message_close(m);
	return r == MESSAGE_TORN;
}

static int
not_the_first(struct put *p, struct id id, int fd, struct fault *f)
{
	struct dedup d;
	int r;

	close(fd);
	if (queue_lock(p->q, f) < 0)
		return -1;
	r = dedup_look(p->q, p->spec->idempotency, 0, &d, f);
	if (r == 1 && id_equal(d.id, id))
		dedup_drop(p->q, p->spec->idempotency);
	queue_unlock(p->q);
	return r < 0 ? -1 : AGAIN;
}

/* The repeat is confirmed only when the first is durable: REPEATED; AGAIN: it was
 * torn; -1 */
static int
flush_first(struct put *p, struct id id, struct fault *f)
{
	struct dedup d;
	struct place at;
	int r, fd;

	if (!synced(p))
		return REPEATED;
	if (queue_lock(p->q, f) < 0)
		return -1;
	r = dedup_look(p->q, p->spec->idempotency, 0, &d, f);
	if (r == 1 && id_equal(d.id, id))
		r = dedup_find(p->q, id, d.seq, &at, f);
	fd = r == 1 ? place_open(p->q, &at, O_RDONLY) : -1;
	queue_unlock(p->q);
	if (r < 0)
		return -1;
	if (fd < 0)
		return REPEATED;         /* it was durable enough to be settled */
	if (torn(fd))
		return not_the_first(p, id, fd, f);
	r = p->spec->flush != NULL ? flush_add(p->spec->flush, fd) : fsync(fd);
	if (r < 0) {
		queue_fault(p->q, f, "fsync");
		publish_say(f, "may be stored");
	}
	close(fd);
	return r < 0 ? -1 : REPEATED;
}

/* The same in a topic, where the flush comes first. */
static int
publish_topic(struct put *p, const struct head *h, const struct place *tmp, int fd,
    struct id *first, int64_t now, struct fault *f)
{
	struct topic_put t = { .topic = p->q, .head = h, .tmp = *tmp, .fd = fd,
		.bytes = p->ends[p->part - 1], .sync = synced(p),
		.key = has_key(p) ? p->spec->idempotency : NULL, .expiry = window(p, now),
		.first = *first };
	int r = topic_put(&t, f);

	*first = t.first;
	p->unrouted |= t.unrouted;
	if (t.full != NULL) {
		queue_close(p->full);
		p->full = t.full;
	}
	return r;
}

/* A topic that was a queue just now: nobody would take it there. AGAIN, or it is
 * taken already. */
static int
withdraw_from_topic(struct put *p, const struct place *at, struct fault *f)
{
	struct place gone = { .where = GONE, .name = at->name };
	int r = settle_carry(p->q, at, &gone, f);

	return r < 0 ? -1 : r == 1 ? AGAIN : PUBLISHED;
}

/* PUBLISHED (and flushed), AGAIN: the sweep took the file in tmp/ for a dead
 * writer's; FULL, REPEATED, -1 */
static int
publish(struct put *p, struct head *h, struct name *n, struct id *first, int64_t now,
    struct fault *f)
{
	struct place tmp = { .where = IN_TMP, .name = *n }, to;
	struct fault ignored;
	int fd, r;

	fd = write_tmp(p, h, &tmp, f);
	if (fd < 0)
		return publish_say(f, "not stored");
	if (queue_is_topic(p->q)) {
		r = publish_topic(p, h, &tmp, fd, first, now, f);
		close(fd);
		return r;
	}
	if (n->group != 0 || has_key(p) || vacancy_limited(p->q)) {
		r = publish_locked(p, &tmp, &to, first, now, f);
	} else {
		to = publish_goal(n, sequence_next(p->q, p->part), now);
		r = publish_at(p->q, &tmp, &to, f);
	}
	if (r == PUBLISHED) {
		flock(fd, LOCK_UN);
		if (flush(p, fd, &to, f) < 0 || still_there(p, &to, f) < 0)
			r = -1;
		else
			activity_put(p->q, p->part);
	} else {
		bool stays = queue_unlink(p->q, &tmp, &ignored) != 1;

		if (r < 0)
			publish_say(f, stays ? "may be stored" : "not stored");
	}
	close(fd);
	if (r == PUBLISHED && queue_is_topic(p->q))
		r = withdraw_from_topic(p, &to, f);
	return r == REPEATED ? flush_first(p, *first, f) : r;
}

static int
publish_head(struct put *p, struct head *head, bool fixed, struct put_done *done,
    struct fault *f)
{
	const struct conf *c = &p->q->conf;
	int64_t now = now_ms();
	struct name n = { .seq = SEQ_NONE, .count = p->part, .ranged = p->part > 1,
		.priority = p->spec->priority, .due = p->spec->due > now ? p->spec->due : 0,
		.group = head->key != NULL ? group_hash(head->key) : 0 };

	n.expiry = p->spec->expiry != 0 ? p->spec->expiry : c->ttl > 0 ? now + c->ttl : 0;
	for (int tries = 0; tries < 16; tries++) {
		int r;

		if (!fixed)
			head->id = id_new(now);
		n.id = done->first = head->id;
		head->time = now;
		r = publish(p, head, &n, &done->first, now, f);
		if (r != AGAIN)
			return r;
	}
	errno = EAGAIN;
	queue_fault(p->q, f, "tmp");
	return publish_say(f, "not stored");
}

/* With files of its own beside it, under its id. */
static int
publish_attached(struct put *p, struct put_done *done, struct fault *f)
{
	struct head head = p->spec->head;
	char **names;
	int lock, r;

	head.id = id_new(now_ms());
	if (attach_store(p->q, p->spec, head.id, &names, &lock, f) < 0)
		return publish_say(f, "not stored");
	head.attachments = names;
	head.nattachments = p->spec->nattach;
	r = publish_head(p, &head, true, done, f);
	if (r == FULL || r == REPEATED || p->unrouted)
		attach_undo(p->q, head.id);
	attach_names_free(names, p->spec->nattach);
	close(lock);
	return r;
}

/* It names what another message was put with. */
static int
publish_shared(struct put *p, struct put_done *done, struct fault *f)
{
	size_t n = strlen(p->q->store->path) + 1;
	struct head head = p->spec->head;
	int r;

	if (attach_share(p->q, &head, f) < 0)
		return publish_say(f, "not stored");
	head.attachments = reallocarray(NULL, head.nattachments, sizeof *head.attachments);
	if (head.attachments == NULL)
		return fault_errno(f, "put");
	for (size_t i = 0; i < head.nattachments; i++)
		head.attachments[i] = p->spec->head.attachments[i] + n;
	r = publish_head(p, &head, false, done, f);
	free(head.attachments);
	return r;
}

static int
publish_part(struct put *p, struct put_done *done, struct fault *f)
{
	struct head head = p->spec->head;

	if (p->spec->nattach > 0)
		return publish_attached(p, done, f);
	if (head.nattachments > 0)
		return publish_shared(p, done, f);
	return publish_head(p, &head, false, done, f);
}

/* --- waiting for room ---------------------------------------------------------------------- */

/* Where there was no room: the queue, or a subscription. */
static struct queue *
full_one(const struct put *p)
{
	return p->full != NULL ? p->full : p->q;
}

static bool
room_for_it(const struct put *p)
{
	return vacancy_ever(full_one(p), p->part, p->ends[p->part - 1]);
}

static int
full(struct put *p, struct fault *f)
{
	const char *name = full_one(p)->name;

	if (!room_for_it(p))
		return fault_set(f, ST_DATA, "%s: more than the queue may ever hold "
		    "(not stored)", name);
	return fault_set(f, ST_TRYAGAIN, "%s: the queue is full (not stored)", name);
}

static int64_t
patience(const struct put *p)
{
	if (p->spec->wait != WAIT_CONF)
		return p->spec->wait;
	return full_one(p)->conf.full == FULL_BLOCK ? WAIT_ENDLESS : 0;
}

static int64_t
clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* As much of it as may fit, to begin with; at least one. */
static void
choose_part(struct put *p)
{
	uint64_t limit = p->q->conf.limit, held = p->q->meter->held;

	p->part = p->count;
	if (p->spec->batch || limit == 0 || queue_is_topic(p->q))
		return;
	if (held >= limit)
		p->part = 1;
	else if (limit - held < p->part)
		p->part = (uint32_t)(limit - held);
}

/* After a look at the queue's settings and meter. */
static int
try_parts(struct put *p, struct put_done *done, struct fault *f)
{
	int r;

	choose_part(p);
	p->q->stuck = false;
	r = publish_part(p, done, f);
	if (r == FULL && p->q->stuck) {  /* what was to be dropped was not there yet */
		fanout_help(p->q);
		r = publish_part(p, done, f);
	}
	while (r == FULL && p->part > 1 && !p->spec->batch) {
		p->part /= 2;
		r = publish_part(p, done, f);
	}
	return r;
}

/* In the line of that one, as long as it is the one that is full. */
static int
wait_at(struct put *p, struct queue *at, struct put_done *done, int64_t until,
    struct fault *f)
{
	struct vacancy_wait *w = vacancy_wait_begin(at, f);
	int r = w == NULL ? -1 : FULL;

	while (r == FULL) {
		int64_t left = until - clock_ms();

		if (vacancy_wait_turn(w))
			r = queue_conf(p->q, f) == NULL || queue_ready(p->q, f) < 0 ? -1 :
				try_parts(p, done, f);
		if (r != FULL)
			break;
		if (left <= 0 || !room_for_it(p) || strcmp(full_one(p)->name, at->name) != 0)
			break;
		vacancy_wait_sleep(w, left < INT32_MAX ? (int)left : INT32_MAX);
	}
	vacancy_wait_end(w);
	return r;
}

static int
wait_for_room(struct put *p, struct put_done *done, int64_t most, struct fault *f)
{
	int64_t until = most == WAIT_ENDLESS ? INT64_MAX : clock_ms() + most;
	int r;

	do {
		struct queue *at = queue_ref(full_one(p));

		r = wait_at(p, at, done, until, f);
		queue_close(at);
	} while (r == FULL && until > clock_ms() && room_for_it(p) && patience(p) != 0);
	return r;
}

/* What was put goes, the rest comes to the front. */
static void
shift(struct put *p)
{
	uint32_t gone = p->part < p->count ? p->ends[p->part - 1] : (uint32_t)p->len;

	memmove(p->body, p->body + gone, p->len - gone);
	p->len -= gone;
	p->count -= p->part;
	for (uint32_t k = 0; k < p->count; k++)
		p->ends[k] = p->ends[k + p->part] - gone;
}

int
put_commit(struct put *p, struct put_done *done, struct fault *f)
{
	int64_t most;
	int r;

	*done = (struct put_done){ .count = 0 };
	if (p->count == 0)
		return 0;
	if (queue_conf(p->q, f) == NULL || queue_ready(p->q, f) < 0) {
		p->count = 0;
		p->len = 0;
		return -1;
	}
	p->unrouted = false;
	queue_close(p->full);
	p->full = NULL;
	choose_part(p);
	/* others wait already: after them */
	r = patience(p) != 0 && vacancy_limited(p->q) && !queue_is_topic(p->q) &&
	    atomic_load(&p->q->meter->blocked) > 0 ? FULL : try_parts(p, done, f);
	most = r == FULL ? patience(p) : 0;
	if (r == FULL && most != 0)
		r = wait_for_room(p, done, most, f);
	if (r == FULL)
		r = full(p, f);
	if (r < 0) {
		p->count = 0;
		p->len = 0;
		return -1;
	}
	done->repeat = r == REPEATED;
	done->count = done->repeat ? 0 : p->part;
	done->unrouted = p->unrouted;
	shift(p);
	return 0;
}
