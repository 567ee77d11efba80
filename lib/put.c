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
#include <unistd.h>

#include "dir.h"
#include "group.h"
#include "message.h"
#include "queue.h"
#include "ready.h"
#include "sequence.h"
#include "settle.h"
#include "timed.h"

struct put {
	struct queue *q;
	const struct put_spec *spec;
	char *body;
	size_t len, room;
	uint32_t *ends;
	uint32_t count, ends_room;
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
		return fault_set(f, ST_DATA, "message of %zu bytes is over max_size "
		    "(%llu): attach large files with -A", len, (unsigned long long)max);
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

/* fault's text gets what became of the messages. -1 */
static int
say(struct fault *f, const char *what)
{
	size_t n = strlen(f->text);

	snprintf(f->text + n, sizeof f->text - n, " (%s)", what);
	return -1;
}

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

	text = message_format(h, p->ends, p->count, p->body, p->len, &len);
	if (text == NULL && errno == EMSGSIZE)
		return fault_set(f, ST_DATA, "attributes are over %d bytes", HEADER_MAX);
	dir = text == NULL ? -1 : queue_dir(q, "tmp", true);
	name_print(&tmp->name, name);
	fd = dir < 0 ? -1 : openat(dir, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, q->conf.mode);
	if (fd < 0) {
		queue_fault(q, f, "tmp");
		free(text);
		return -1;
	}
	if (flock(fd, LOCK_EX) < 0 ||
	    ((q->conf.mode & 077) != 0 && fchmod(fd, q->conf.mode) < 0) ||
	    write_file(fd, text, len, p->body, p->len) < 0) {
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

static struct place
goal_of(struct put *p, const struct name *n, int64_t now)
{
	struct place to = { .where = IN_NEW, .name = *n };

	to.name.seq = sequence_next(p->q, p->count);
	to.name.joins = n->group != 0 && n->due > now;
	if (n->due > now) {
		to.where = IN_LATER;
		to.bucket = bucket_down(now, n->due);
	}
	return to;
}

/* It was visible for a moment: take it back where that is still possible. */
static int
withdraw(struct queue *q, const struct place *at, struct fault *f)
{
	struct place gone = { .where = GONE, .name = at->name };
	struct fault ignored;

	return say(f, settle_carry(q, at, &gone, &ignored) == 1 ?
	    "not stored" : "may be stored");
}

static int
flush(struct put *p, int fd, const struct place *at, struct fault *f)
{
	if (p->spec->nosync || !p->q->conf.sync)
		return 0;
	if (fsync(fd) == 0)
		return 0;
	queue_fault(p->q, f, "fsync");
	return withdraw(p->q, at, f);
}

/* Somebody may have removed the queue under it. */
static int
still_there(struct queue *q, const struct place *at, struct fault *f)
{
	if (!queue_gone(q))
		return 0;
	fault_set(f, ST_NOQUEUE, "%s: the queue was removed meanwhile", q->name);
	return withdraw(q, at, f);
}

/* The rename that makes it visible, for a message of no group. */
static int
publish_plain(struct put *p, const struct place *tmp, struct place *to, int64_t now,
    struct fault *f)
{
	int r;

	*to = goal_of(p, &tmp->name, now);
	timed_announce(p->q, to);
	ready_announce(p->q, to, false);
	r = queue_move(p->q, tmp, to, f);       /* published: from here it exists */
	timed_announce(p->q, to);
	ready_announce(p->q, to, false);
	return r;
}

/* Of a group: its SEQ is given, and it joins, under the lock. */
static int
publish_grouped(struct put *p, const struct place *tmp, struct place *to, int64_t now,
    struct fault *f)
{
	struct place goal;
	int r;

	if (queue_lock(p->q, f) < 0)
		return -1;
	goal = goal_of(p, &tmp->name, now);
	if (goal.where == IN_LATER) {
		*to = goal;
		timed_announce(p->q, to);
		r = queue_move(p->q, tmp, to, f);
		timed_announce(p->q, to);
	} else {
		r = group_join(p->q, tmp, &goal.name, to, f);
	}
	queue_unlock(p->q);
	return r;
}

/* 1 published and flushed; 0 the sweep took the file in tmp/ for a dead
 * writer's: start again; -1 */
static int
publish(struct put *p, struct head *h, struct name *n, int64_t now, struct fault *f)
{
	struct place tmp = { .where = IN_TMP, .name = *n }, to;
	struct fault ignored;
	int fd, r;

	fd = write_tmp(p, h, &tmp, f);
	if (fd < 0)
		return say(f, "not stored");
	r = n->group != 0 ? publish_grouped(p, &tmp, &to, now, f) :
	    publish_plain(p, &tmp, &to, now, f);
	if (r == 1) {
		flock(fd, LOCK_UN);
		if (flush(p, fd, &to, f) < 0 || still_there(p->q, &to, f) < 0)
			r = -1;
		else
			atomic_fetch_add(&p->q->meter->put, p->count);
	} else if (r < 0) {
		(void)queue_unlink(p->q, &tmp, &ignored);
		say(f, "not stored");
	}
	close(fd);
	return r;
}

static int
commit(struct put *p, struct id *first, struct fault *f)
{
	const struct conf *c = queue_conf(p->q, f);
	struct head head = p->spec->head;
	struct name n = { .seq = SEQ_NONE, .count = p->count, .ranged = p->count > 1,
		.priority = p->spec->priority, .due = p->spec->due,
		.group = head.key != NULL ? group_hash(head.key) : 0 };
	int64_t now = now_ms();

	if (c == NULL || queue_ready(p->q, f) < 0)
		return -1;
	if (n.due <= now)
		n.due = 0;
	n.expiry = p->spec->expiry != 0 ? p->spec->expiry : c->ttl > 0 ? now + c->ttl : 0;
	for (int tries = 0; tries < 16; tries++) {
		int r;

		n.id = head.id = id_new(now);
		head.time = now;
		r = publish(p, &head, &n, now, f);
		if (r != 0) {
			*first = n.id;
			return r < 0 ? -1 : 0;
		}
	}
	errno = EAGAIN;
	queue_fault(p->q, f, "tmp");
	return say(f, "not stored");
}

int
put_commit(struct put *p, struct id *first, struct fault *f)
{
	int r = p->count == 0 ? 0 : commit(p, first, f);

	p->count = 0;
	p->len = 0;
	return r;
}
