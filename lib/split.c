/* SPDX-License-Identifier: ISC
 *
 * split: a range becomes two, one part staying, one moving. */
#include <bsd/stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "dir.h"
#include "fanout.h"
#include "group.h"
#include "hold.h"
#include "message.h"
#include "vacancy.h"

/* --- where no link can be had (EMLINK, or a file one may not link): a copy ---- */

/* The bodies [lo, hi) of the file as a file of their own. */
static char *
format_part(struct message *m, uint32_t lo, uint32_t hi, size_t *head_len,
    const char **bodies, size_t *len, struct fault *f)
{
	uint32_t *ends = reallocarray(NULL, hi - lo, sizeof *ends);
	struct head head = m->head;
	uint64_t start = 0, end = 0, first = 0;
	char *text = NULL;

	if (ends == NULL || message_load(m, m->size) < 0)
		goto out;
	for (uint32_t k = lo; k < hi; k++) {
		if (!message_bounds(m, k, &start, &end)) {
			errno = EBADMSG;
			goto out;
		}
		if (k == lo)
			first = start;
		ends[k - lo] = (uint32_t)(end - first);
	}
	head.id = id_add(head.id, lo);
	*bodies = m->data + m->bodies + first;
	*len = end - first;
	text = message_format(&head, ends, hi - lo, *bodies, *len, head_len);
out:
	if (text == NULL)
		fault_errno(f, "message");
	free(ends);
	return text;
}

/* Writes it into tmp/ under that name, locked and flushed; its descriptor. */
static int
write_copy(struct queue *q, struct message *m, uint32_t lo, uint32_t hi, const char *name,
    struct fault *f)
{
	int dir = queue_dir(q, "tmp", true), fd = -1;
	size_t head_len, len;
	const char *bodies;
	char *text = format_part(m, lo, hi, &head_len, &bodies, &len, f);

	if (text == NULL)
		return -1;
	if (dir >= 0)
		fd = file_make(dir, name, O_WRONLY | O_EXCL, q->conf.mode);
	if (fd >= 0 && (flock(fd, LOCK_EX) < 0 ||
	    write_all(fd, text, head_len) < 0 || write_all(fd, bodies, len) < 0 ||
	    (q->conf.sync && fsync(fd) < 0))) {
		queue_fault(q, f, "tmp");
		(void)unlinkat(dir, name, 0);
		close(fd);
		free(text);
		return -1;
	}
	if (fd < 0)
		queue_fault(q, f, "tmp");
	free(text);
	return fd;
}

static int
copy_part(struct queue *q, const struct place *from, uint32_t lo, uint32_t hi,
    const char *name, struct fault *f)
{
	struct message *m = NULL;
	int fd = place_open(q, from, O_RDONLY);

	if (fd < 0 || message_read(fd, &m) != MESSAGE_OK)
		return errno == ENOENT ? -2 : queue_fault(q, f, "message");
	fd = write_copy(q, m, lo, hi, name, f);
	message_close(m);
	return fd;
}

/* The flush is not done under the lock, where the caller has taken it once. */
static int
copy_unlocked(struct queue *q, const struct place *from, uint32_t lo, uint32_t hi,
    const char *name, struct fault *f)
{
	bool alone = q->locked == 1;
	int fd;

	if (alone)
		queue_unlock(q);
	fd = copy_part(q, from, lo, hi, name, f);
	if (alone && queue_lock(q, f) < 0) {
		if (fd >= 0)
			close(fd);
		q->locked++;             /* the caller lets go what it took */
		return -1;
	}
	return fd;
}

/* Instead of the link: the copy gets the held name. 1, 0 source gone, -1 */
static int
hold_copy(struct queue *q, struct held *held, const struct place *from, struct fault *f)
{
	struct name *n = &held->goal.name;
	struct place tmp = { .where = IN_TMP };
	char name[NAME_SIZE], held_name[NAME_SIZE];
	uint32_t lo = n->first, hi = lo + n->count;
	int fd, hold, dir, r = 1;

	held->copied = lo + 1;
	n->seq += lo;
	n->id = id_add(n->id, lo);
	n->first = 0;
	n->ranged = n->count > 1;
	tmp.name = *n;
	tmp.name.seq = SEQ_NONE;
	name_print(&tmp.name, name);
	if (!held_print(held, held_name)) {
		errno = ENAMETOOLONG;
		return queue_fault(q, f, "hold");
	}
	fd = copy_unlocked(q, from, lo, hi, name, f);
	if (fd < 0)
		return fd == -2 ? 0 : -1;
	dir = queue_dir(q, "tmp", true);
	hold = queue_dir(q, "hold", true);
	atomic_store(&q->meter->busy, 1);
	if (dir < 0 || hold < 0 || renameat2(dir, name, hold, held_name, RENAME_NOREPLACE) < 0)
		r = queue_fault(q, f, "hold");
	close(fd);
	return r;
}

/* The moving part's first name, in hold/. 1, 0 the source is gone, -1 */
static int
hold_link(struct queue *q, struct held *held, const struct place *from, struct fault *f)
{
	char dir[PLACE_DIR_SIZE], source[NAME_SIZE], name[NAME_SIZE];
	int hold, in;

	place_dir(from, dir);
	name_print(&from->name, source);
	if (!held_print(held, name)) {
		errno = ENAMETOOLONG;
		return queue_fault(q, f, "hold");
	}
	for (int tries = 0;; tries++) {
		hold = queue_dir(q, "hold", true);
		in = hold < 0 ? -1 : queue_dir(q, dir, false);
		if (in < 0)
			return errno == ENOENT ? 0 : queue_fault(q, f, dir);
		atomic_store(&q->meter->busy, 1);
		if (linkat(in, source, hold, name, 0) == 0)
			return 1;
		if (errno != ENOENT || tries > 0)
			break;
		queue_dir_forget(q, dir);        /* removed and made again? */
	}
	if (errno == EMLINK || errno == EPERM)
		return hold_copy(q, held, from, f);
	return errno == ENOENT ? 0 : queue_fault(q, f, "hold");
}

/* One split of [lo, hi) where one end is an end of the range. `stay` is where
 * the other part goes, and its name but for the range. */
static int
split_end(struct queue *q, const struct place *from, uint32_t lo, uint32_t hi,
    struct place *to, struct place *stay, struct fault *f)
{
	struct held held = { .kind = HELD_SPLIT, .source = *from, .goal = *to };
	char name[NAME_SIZE], dir[PLACE_DIR_SIZE];
	int hold, r;

	stay->name.first = lo == from->name.first ? hi : from->name.first;
	stay->name.count = from->name.count - (hi - lo);
	if (to->where == GONE)           /* what is left gets its name: that is all */
		return queue_move(q, from, stay, f);
	held.goal.name.first = lo;
	held.goal.name.count = hi - lo;
	r = hold_link(q, &held, from, f);
	if (r != 1) {
		if (r == 0)
			atomic_store(&q->meter->busy, 0);
		return r;
	}
	held_print(&held, name);
	place_dir(&held.goal, dir);
	hold = queue_dir(q, "hold", true);
	/* a disk that is full must say so before the commit, not after it */
	r = queue_dir(q, dir, true) < 0 ? queue_fault(q, f, dir) :
	    queue_move(q, from, stay, f);       /* the commit */
	if (r == 1)
		r = hold < 0 || hold_finish(q, hold, name, &held.goal) < 0 ?
		    queue_fault(q, f, "hold") : 1;
	else {
		if (from->name.group != 0)       /* made for its rest */
			group_tidy(q, from->name.group);
		if (unlinkat(hold, name, 0) < 0)
			r = queue_fault(q, f, "hold");
	}
	if (r >= 0)
		atomic_store(&q->meter->busy, 0);
	*to = held.goal;
	return r;
}

int
hold_split_first(struct queue *q, const struct place *from, struct place *to,
    struct place *stay, struct fault *f)
{
	uint32_t first = from->name.first;

	to->name.first = first;
	to->name.count = 1;
	return split_end(q, from, first, first + 1, to, stay, f);
}

static int
split(struct queue *q, const struct place *from, uint32_t lo, uint32_t hi,
    struct place *to, struct place *rest, struct fault *f)
{
	uint32_t first = from->name.first, end = first + from->name.count;
	struct place source = *from, lower = *from, upper;
	int r;

	to->name.first = lo;
	to->name.count = hi - lo;
	if (lo != first && hi != end) { /* cut [lo, end) off, in the same place */
		struct place tail = *from;

		tail.name.first = lo;
		tail.name.count = end - lo;
		r = split_end(q, from, lo, end, &tail, &lower, f);
		if (r != 1)
			return r;
		source = upper = tail;
		lo = tail.name.first;            /* of its own, if it is a copy */
		r = split_end(q, &source, lo, lo + to->name.count, to, &upper, f);
	} else {
		r = split_end(q, &source, lo, hi, to, &lower, f);
	}
	if (r == 1 && rest != NULL)
		*rest = lower;
	return r;
}

int
hold_split(struct queue *q, const struct place *from, uint32_t lo, uint32_t hi,
    struct place *to, struct place *rest, struct fault *f)
{
	struct place part = *from;
	uint64_t bytes = 0;
	int r;

	if (fanout_blocks(q, &from->name))
		return 0;
	part.name.first = lo;
	part.name.count = hi - lo;
	if (vacancy_counts(from->where) != vacancy_counts(to->where))
		bytes = vacancy_bytes_of(q, from, &part);
	r = split(q, from, lo, hi, to, rest, f);
	if (r == 1)
		vacancy_moved(q, from->where, to->where, hi - lo, bytes);
	return r;
}
