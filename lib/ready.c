/* SPDX-License-Identifier: ISC */
#include "ready.h"

#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dir.h"

/* --- the candidates of one segment: a heap by order ------------------------- */

static void
swap(struct ready_list *l, size_t a, size_t b)
{
	uint64_t order = l->order[a];
	char name[NAME_SIZE];

	l->order[a] = l->order[b];
	l->order[b] = order;
	memcpy(name, l->names[a], NAME_SIZE);
	memcpy(l->names[a], l->names[b], NAME_SIZE);
	memcpy(l->names[b], name, NAME_SIZE);
}

static void
sift_down(struct ready_list *l, size_t i)
{
	for (;;) {
		size_t low = i, c = 2 * i + 1;

		if (c < l->n && l->order[c] < l->order[low])
			low = c;
		if (c + 1 < l->n && l->order[c + 1] < l->order[low])
			low = c + 1;
		if (low == i)
			return;
		swap(l, i, low);
		i = low;
	}
}

static void
heap_make(struct ready_list *l)
{
	for (size_t i = l->n / 2; i-- > 0;)
		sift_down(l, i);
}

static bool
heap_room(struct ready_list *l)
{
	size_t room = l->room ? l->room * 2 : 256;
	void *o, *n;

	if (l->n < l->room)
		return true;
	o = reallocarray(l->order, room, sizeof *l->order);
	if (o != NULL)
		l->order = o;
	n = reallocarray(l->names, room, sizeof *l->names);
	if (n != NULL)
		l->names = n;
	if (o == NULL || n == NULL)
		return false;
	l->room = room;
	return true;
}

static bool
heap_add(struct ready_list *l, const char *name, uint64_t order)
{
	size_t i = l->n;

	if (!heap_room(l))
		return false;
	l->order[i] = order;
	strlcpy(l->names[i], name, NAME_SIZE);
	l->n++;
	return true;
}

static void
heap_pop(struct ready_list *l, char out[static NAME_SIZE])
{
	memcpy(out, l->names[0], NAME_SIZE);
	if (--l->n > 0) {
		l->order[0] = l->order[l->n];
		memcpy(l->names[0], l->names[l->n], NAME_SIZE);
		sift_down(l, 0);
	}
}

void
ready_again(struct queue *q, const struct place *p)
{
	struct ready_list *l = &q->ready;
	char name[NAME_SIZE];

	if (!l->valid || l->priority != p->name.priority)
		return;
	name_print(&p->name, name);
	if (!heap_add(l, name, name_order(&p->name)))
		l->valid = false;
	for (size_t i = l->n - 1; i > 0 && l->order[i] < l->order[(i - 1) / 2]; i = (i - 1) / 2)
		swap(l, i, (i - 1) / 2);
}

void
ready_forget(struct queue *q)
{
	q->ready.valid = false;
}

/* --- hints ---------------------------------------------------------------------- */

void
ready_announce(struct queue *q, const struct place *p, bool back)
{
	int priority = p->name.priority;

	if (p->where != IN_NEW)
		return;
	hint_lower(&q->meter->ready[priority], name_segment(&p->name));
	if (back)
		atomic_fetch_add(&q->meter->back[priority], 1);
}

static uint64_t
heard(const struct queue *q, int priority)
{
	return atomic_load(&q->topic->meter->fan[priority]);
}

/* Has anything come that goes before the candidates? */
static bool
list_fits(struct queue *q)
{
	struct ready_list *l = &q->ready;

	if (!l->valid || l->n == 0 ||
	    atomic_load(&q->meter->back[l->priority]) != l->seen_back[l->priority])
		return false;
	for (int p = 0; p < l->priority; p++)
		if (atomic_load(&q->meter->ready[p]) != l->seen_hint[p] ||
		    (q->topic != NULL && heard(q, p) != l->seen_fan[p]))
			return false;
	return true;
}

/* A publish leaves the hints of its subscriptions alone: whoever looks in one sees
 * from the topic's counts that something came, and lowers the hint first. */
static void
hear_topic(struct queue *q)
{
	struct meter *t = q->topic->meter, *m = q->meter;

	for (int p = 0; p < PRIORITIES; p++) {
		uint64_t n = heard(q, p), low = atomic_load(&t->fan_low[p]);

		q->ready.seen_fan[p] = n;
		if (n == atomic_load(&m->fan_seen[p]))
			continue;
		/* what it was told of since it was empty is not known */
		if (hint_value(atomic_load(&m->ready[p])) >= HINT_NONE)
			low = 0;
		hint_lower(&m->ready[p], low);
		atomic_store(&m->fan_seen[p], n);
	}
}

static void
list_begin(struct queue *q)
{
	struct ready_list *l = &q->ready;

	l->valid = false;
	if (q->topic != NULL)
		hear_topic(q);
	for (int p = 0; p < PRIORITIES; p++) {
		l->seen_back[p] = atomic_load(&q->meter->back[p]);
		l->seen_hint[p] = atomic_load(&q->meter->ready[p]);
	}
}

/* --- scanning --------------------------------------------------------------------- */

static int
add_candidate(const char *text, void *arg)
{
	struct queue *q = arg;
	struct name n;

	if (!name_parse(text, &n) || n.seq == SEQ_NONE ||
	    n.priority != q->ready.priority || name_segment(&n) != q->ready.segment)
		return 0;                /* a stray file: --verify tells of it */
	if (heap_add(&q->ready, text, name_order(&n)))
		return 0;
	errno = ENOMEM;
	return -1;
}

/* An emptied segment that no put writes into any more. true: it is gone. */
static bool
drop_segment(struct queue *q, uint64_t seg, const char *path)
{
	return seg < atomic_load(&queue_counter(q)->seq) >> SEG_BITS &&
	    unlinkat(q->fd, path, AT_REMOVEDIR) == 0;
}

/* 1: the list holds the segment's candidates; 0: it has none, and is removed if
 * that can be; -1 */
static int
scan_segment(struct queue *q, int priority, uint64_t seg, struct fault *f)
{
	struct ready_list *l = &q->ready;
	char path[PLACE_DIR_SIZE], text[SEG_LEN + 1];
	bool cached;
	int fd;

	l->n = 0;
	l->priority = priority;
	l->segment = seg;
	segment_print(seg, text);
	snprintf(path, sizeof path, "new/%d/%s", priority, text);
	do {
		cached = queue_dir_open(q, path);
		fd = queue_dir(q, path, false);
		if (fd >= 0 && dir_each(fd, add_candidate, q) < 0)
			return queue_fault(q, f, path);
		if (fd < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
			return queue_fault(q, f, path);
		if (l->n > 0)
			break;
		queue_dir_forget(q, path);
		/* what was open may be a removed one of that name: look again */
	} while (fd >= 0 && !drop_segment(q, seg, path) && cached);
	if (l->n == 0)
		return 0;
	heap_make(l);
	l->valid = true;
	return 1;
}

struct segments {
	uint64_t *seg;
	size_t n, room;
};

static int
add_segment(const char *text, void *arg)
{
	struct segments *s = arg;
	uint64_t seg;

	if (!segment_parse(text, &seg))
		return 0;
	if (s->n == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		void *p = reallocarray(s->seg, room, sizeof *s->seg);

		if (p == NULL)
			return -1;
		s->seg = p;
		s->room = room;
	}
	s->seg[s->n++] = seg;
	return 0;
}

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int
list_segments(struct queue *q, int priority, struct segments *s)
{
	char path[PLACE_DIR_SIZE];
	int fd, r;

	snprintf(path, sizeof path, "new/%d", priority);
	fd = dir_open(q->fd, path);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -1;
	r = dir_each(fd, add_segment, s);
	close(fd);
	if (s->n > 1)
		qsort(s->seg, s->n, sizeof *s->seg, by_number);
	return r;
}

/* All segments of a priority, from the lowest. */
static int
scan_segments(struct queue *q, int priority, uint64_t raw, struct fault *f)
{
	struct segments s = { 0 };
	uint64_t found = HINT_NONE;
	int r = 0;

	if (list_segments(q, priority, &s) < 0) {
		free(s.seg);
		return queue_fault(q, f, "new");
	}
	for (size_t i = 0; i < s.n && r == 0; i++) {
		r = scan_segment(q, priority, s.seg[i], f);
		found = s.seg[i];
	}
	free(s.seg);
	if (r == 1 && found < hint_value(raw))
		hint_lower(&q->meter->ready[priority], found);
	else if (r >= 0)
		hint_raise(&q->meter->ready[priority], raw, r == 1 ? found : HINT_NONE);
	return r;
}

static int
scan_priority(struct queue *q, int priority, bool full, struct fault *f)
{
	hint *h = &q->meter->ready[priority];
	uint64_t raw = atomic_load(h), low = hint_value(raw);
	int r;

	if (full)
		return scan_segments(q, priority, raw, f);
	if (low >= HINT_NONE)
		return 0;
	r = scan_segment(q, priority, low, f);   /* the usual case: it, or the next one */
	if (r != 0)
		return r;
	if (low > 0) {                   /* 0: where the first is, is not known */
		r = scan_segment(q, priority, low + 1, f);
		if (r != 0) {
			hint_raise(h, raw, low + 1);
			return r;
		}
	}
	return scan_segments(q, priority, raw, f);
}

int
ready_next(struct queue *q, bool full, struct place *out, struct fault *f)
{
	struct ready_list *l = &q->ready;
	char name[NAME_SIZE];
	int r = 0;

	if (full || !list_fits(q)) {
		list_begin(q);
		for (int p = 0; p < PRIORITIES && r == 0; p++)
			r = scan_priority(q, p, full, f);
		if (r <= 0)
			return r;
	}
	heap_pop(l, name);
	memset(out, 0, sizeof *out);
	out->where = IN_NEW;
	return name_parse(name, &out->name) ? 1 : ready_next(q, full, out, f);
}

int
ready_least(struct queue *q, struct place *out, struct fault *f)
{
	char name[NAME_SIZE];
	int r = 0;

	list_begin(q);
	for (int p = PRIORITIES - 1; p >= 0 && r == 0; p--)
		r = scan_priority(q, p, true, f);
	if (r == 1) {
		heap_pop(&q->ready, name);
		memset(out, 0, sizeof *out);
		out->where = IN_NEW;
		name_parse(name, &out->name);
	}
	q->ready.valid = false;
	return r;
}
