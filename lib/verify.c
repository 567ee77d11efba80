/* SPDX-License-Identifier: ISC
 *
 * verify: looks at every entry of a queue for what must not be. It changes
 * nothing but what taking the lock recovers. */
#include <bsd/stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "dir.h"
#include "group.h"
#include "walk.h"
#include "message.h"
#include "subs.h"

struct verify {
	struct queue *q;
	void (*say)(const char *, void *);
	void *arg;
	int breaches;
	char path[2 * PLACE_DIR_SIZE];   /* of the directory being read */
	enum where where;
	int64_t bucket;
	struct place *seen;
	size_t n, room;
	uint64_t *groups;                /* directories in grp/ */
	size_t ngroups;
	struct fault *f;
};

static void say(struct verify *, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void
say(struct verify *v, const char *fmt, ...)
{
	char text[1024], line[1400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	snprintf(line, sizeof line, "%s: %s", v->q->name, text);
	v->say(line, v->arg);
	v->breaches++;
}

static bool
one_of(const char *name, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

static int
top_entry(const char *name, void *arg)
{
	static const char *const known[] = { "tmp", "new", "cur", "later", "dlq", "why",
		"done", "grp", "lock", "hold", "sub", "out", "dedup", "once", "obj", "conf",
		"meter", "wait", "room", "single", "spare", "index", "index.new",
		"match", "tail", NULL };

	if (!one_of(name, known))
		say(arg, "%s: stray entry", name);
	return 0;
}

/* --- message files ------------------------------------------------------------------- */

static int
note_place(struct verify *v, const struct place *p)
{
	if (v->n == v->room) {
		size_t room = v->room ? v->room * 2 : 256;
		void *n = reallocarray(v->seen, room, sizeof *v->seen);

		if (n == NULL)
			return fault_errno(v->f, "verify");
		v->seen = n;
		v->room = room;
	}
	v->seen[v->n++] = *p;
	return 0;
}

static int
note_group(struct verify *v, uint64_t group)
{
	uint64_t *g = reallocarray(v->groups, v->ngroups + 1, sizeof *g);

	if (g == NULL)
		return fault_errno(v->f, "verify");
	v->groups = g;
	g[v->ngroups++] = group;
	return 0;
}

static bool
belongs(const struct message *m, const struct name *n)
{
	return id_equal(m->head.id, n->id) && n->ranged == (m->count > 1) &&
	    n->first < m->count && n->count <= m->count - n->first;
}

static void
check_file(struct verify *v, const struct place *p, const char *name)
{
	struct message *m = NULL;
	enum opened r;
	int fd = place_open(v->q, p, O_RDONLY);

	if (fd < 0) {
		if (errno != ENOENT)     /* else it moved on meanwhile */
			say(v, "%s/%s: %s", v->path, name, strerror(errno));
		return;
	}
	r = message_read(fd, &m);
	if (r == MESSAGE_OK)
		r = belongs(m, &p->name) ? message_check(m) : MESSAGE_TORN;
	if (r == MESSAGE_TORN && p->where != IN_DLQ)
		say(v, "%s/%s: torn or foreign message file", v->path, name);
	else if (r == MESSAGE_ERROR)
		say(v, "%s/%s: %s", v->path, name, strerror(errno));
	message_close(m);
}

static int
message_entry(const char *name, void *arg)
{
	struct verify *v = arg;
	struct place p = { .where = v->where, .bucket = v->bucket };
	char dir[PLACE_DIR_SIZE];

	if (!name_parse(name, &p.name) || !place_fits(&p)) {
		say(v, "%s/%s: stray entry", v->path, name);
		return 0;
	}
	place_dir(&p, dir);
	if (strcmp(dir, v->path) != 0) {
		say(v, "%s/%s: should stand in %s", v->path, name, dir);
		return 0;
	}
	if (p.name.fanout && (v->q->topic == NULL || p.where == IN_CUR ||
	    p.where == IN_DLQ || p.where == IN_DONE))
		say(v, "%s/%s: bears an f there", v->path, name);
	if (name_order(&p.name) + p.name.count > atomic_load(&queue_counter(v->q)->seq))
		say(v, "%s/%s: above the meter's next SEQ", v->path, name);
	check_file(v, &p, name);
	return note_place(v, &p);
}

/* --- directories ------------------------------------------------------------------------- */

static int
verify_dir(struct verify *v, const char *path, int (*fn)(const char *, void *))
{
	char outer[sizeof v->path];
	int fd = dir_open(v->q->fd, path), r;

	if (fd < 0) {
		if (errno != ENOENT)
			say(v, "%s: %s", path, strerror(errno));
		return 0;
	}
	memcpy(outer, v->path, sizeof outer);
	snprintf(v->path, sizeof v->path, "%s", path);
	v->f->status = 0;
	r = dir_each(fd, fn, v);
	if (r < 0 && v->f->status == 0)
		queue_fault(v->q, v->f, path);
	memcpy(v->path, outer, sizeof outer);
	close(fd);
	return r;
}

static int
segment_entry(const char *name, void *arg)
{
	struct verify *v = arg;
	char path[PLACE_DIR_SIZE];
	uint64_t seg;

	if (!segment_parse(name, &seg)) {
		say(v, "%s/%s: stray entry", v->path, name);
		return 0;
	}
	snprintf(path, sizeof path, "%.40s/%s", v->path, name);
	return verify_dir(v, path, message_entry);
}

static int
bucket_entry(const char *name, void *arg)
{
	struct verify *v = arg;
	char path[PLACE_DIR_SIZE];
	uint64_t ms;

	if (!number_parse(name, INT64_MAX, &ms)) {
		say(v, "%s/%s: stray entry", v->path, name);
		return 0;
	}
	v->bucket = (int64_t)ms;
	snprintf(path, sizeof path, "%.40s/%s", v->path, name);
	return verify_dir(v, path, message_entry);
}

static int
priority_entry(const char *name, void *arg)
{
	struct verify *v = arg;
	char path[PLACE_DIR_SIZE];

	if (name[0] < '0' || name[0] > '9' || name[1] != '\0') {
		say(v, "new/%s: stray entry", name);
		return 0;
	}
	snprintf(path, sizeof path, "new/%s", name);
	return verify_dir(v, path, segment_entry);
}

static int
group_entry(const char *name, void *arg)
{
	struct verify *v = arg;
	char path[PLACE_DIR_SIZE];

	if (strlen(name) != 16 || strspn(name, "0123456789abcdef") != 16) {
		say(v, "grp/%s: stray entry", name);
		return 0;
	}
	if (note_group(v, strtoull(name, NULL, 16)) < 0)
		return -1;
	snprintf(path, sizeof path, "grp/%s", name);
	return verify_dir(v, path, segment_entry);
}

static int
hold_entry(const char *name, void *arg)
{
	struct held held;

	say(arg, held_parse(name, &held) ? "hold/%s: a change left half-way" :
	    "hold/%s: stray entry", name);
	return 0;
}

/* A file in tmp/ or out/: is it ours, and does its writer, who holds it locked, live? */
static void
locked_entry(struct verify *v, const char *in, const char *name, const char *dead)
{
	struct name n;
	int dir = queue_dir(v->q, in, false), fd;

	if (!name_parse(name, &n)) {
		say(v, "%s/%s: stray entry", in, name);
		return;
	}
	fd = dir < 0 ? -1 : openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		say(v, "%s/%s: %s", in, name, dead);
	close(fd);
}

static int
tmp_entry(const char *name, void *arg)
{
	locked_entry(arg, "tmp", name, "left by a dead writer");
	return 0;
}

/* Published, and not yet in all subscriptions. */
static int
out_entry(const char *name, void *arg)
{
	locked_entry(arg, "out", name, "a publish left half-way");
	return 0;
}

static int
sub_entry(const char *name, void *arg)
{
	struct verify *v = arg;
	char full[2 * QUEUE_NAME_SIZE];

	snprintf(full, sizeof full, "%.100s/%.100s", v->q->name, name);
	if (!part_name_valid(name) || !store_has(v->q->store, full))
		say(v, "sub/%s: stray entry", name);
	return 0;
}

/* The index is a cache: what it says must be so, if it counts as true. */
static int
verify_topic(struct verify *v)
{
	struct subs *index = NULL, *disk = NULL;
	int r = 0;

	if (!queue_is_topic(v->q))
		return 0;
	if (verify_dir(v, "out", out_entry) < 0 || verify_dir(v, "sub", sub_entry) < 0 ||
	    queue_lock(v->q, v->f) < 0)
		return -1;
	if (subs_indexed(v->q, &index)) {
		r = subs_read(v->q, &disk, v->f);
		if (r == 0 && !subs_equal(index, disk))
			say(v, "index: does not say what is in sub/");
		subs_free(index);
		if (r == 0)
			subs_free(disk);
	}
	queue_unlock(v->q);
	return r;
}

static int
why_entry(const char *name, void *arg)
{
	struct id id;

	if (strlen(name) != ID_LEN || !id_parse(name, &id))
		say(arg, "why/%s: stray entry", name);
	return 0;
}

static int
verify_names(struct verify *v)
{
	if (verify_dir(v, ".", top_entry) < 0 || verify_dir(v, "hold", hold_entry) < 0 ||
	    verify_dir(v, "tmp", tmp_entry) < 0 || verify_dir(v, "why", why_entry) < 0)
		return -1;
	v->where = IN_NEW;
	if (verify_dir(v, "new", priority_entry) < 0)
		return -1;
	v->where = IN_GRP;
	if (verify_dir(v, "grp", group_entry) < 0)
		return -1;
	v->where = IN_DLQ;
	if (verify_dir(v, "dlq", segment_entry) < 0)
		return -1;
	v->where = IN_CUR;
	if (verify_dir(v, "cur", bucket_entry) < 0)
		return -1;
	v->where = IN_LATER;
	if (verify_dir(v, "later", bucket_entry) < 0)
		return -1;
	v->where = IN_DONE;
	return verify_dir(v, "done", bucket_entry);
}

/* --- no message twice ----------------------------------------------------------------------- */

/* By the id of the range's first message: a copied part has a file of its own. */
static int
by_message(const void *a, const void *b)
{
	const struct name *m = &((const struct place *)a)->name;
	const struct name *n = &((const struct place *)b)->name;
	struct id x = id_add(m->id, m->first), y = id_add(n->id, n->first);

	if (x.hi != y.hi)
		return x.hi < y.hi ? -1 : 1;
	return x.lo < y.lo ? -1 : x.lo > y.lo;
}

static void
check_twice(struct verify *v, const struct place *a, const struct place *b)
{
	char x[NAME_SIZE], y[NAME_SIZE], dx[PLACE_DIR_SIZE], dy[PLACE_DIR_SIZE];

	if (id_offset(id_add(a->name.id, a->name.first), id_add(b->name.id, b->name.first),
	    a->name.count) < 0)
		return;
	if (!queue_has(v->q, a) || !queue_has(v->q, b))
		return;                  /* it was seen while it moved */
	place_dir(a, dx);
	place_dir(b, dy);
	name_print(&a->name, x);
	name_print(&b->name, y);
	say(v, "%s/%s and %s/%s: the same message twice", dx, x, dy, y);
}

/* --- a group has a head and a directory, or neither -------------------------------------------- */

static int
by_group(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Heads' groups, sorted; the caller frees. */
static uint64_t *
heads(struct verify *v, size_t *n)
{
	uint64_t *h = reallocarray(NULL, v->n + 1, sizeof *h);

	*n = 0;
	for (size_t i = 0; h != NULL && i < v->n; i++)
		if (group_head(&v->seen[i]))
			h[(*n)++] = v->seen[i].name.group;
	if (h != NULL)
		qsort(h, *n, sizeof *h, by_group);
	return h;
}

static int
check_groups(struct verify *v)
{
	size_t n, i, j = 0;
	uint64_t *h = heads(v, &n);

	if (h == NULL)
		return fault_errno(v->f, "verify");
	if (v->ngroups > 1)
		qsort(v->groups, v->ngroups, sizeof *v->groups, by_group);
	for (i = 0; i < n; i++) {
		if (i > 0 && h[i] == h[i - 1])
			say(v, "grp/%016" PRIx64 ": two heads", h[i]);
		while (j < v->ngroups && v->groups[j] < h[i])
			say(v, "grp/%016" PRIx64 ": waits without a head", v->groups[j++]);
		if (j < v->ngroups && v->groups[j] == h[i])
			j++;
		else if (i == 0 || h[i] != h[i - 1])
			say(v, "grp/%016" PRIx64 ": a head without the directory", h[i]);
	}
	while (j < v->ngroups)
		say(v, "grp/%016" PRIx64 ": waits without a head", v->groups[j++]);
	free(h);
	return 0;
}

/* --- the spool itself ------------------------------------------------------------------------- */

struct spool_verify {
	struct store *s;
	void (*say)(const char *, void *);
	void *arg;
	int breaches;
};

static int
none(const char *name, void *arg)
{
	(void)name;
	(void)arg;
	return 1;
}

/* A directory that is empty may be a queue that is being made. */
static bool
empty_dir(int at, const char *name)
{
	int fd = dir_open(at, name);
	bool empty = fd >= 0 && dir_each(fd, none, NULL) == 0;

	if (fd >= 0)
		close(fd);
	return empty;
}

static int
spool_entry(const char *name, void *arg)
{
	static const char *const known[] = { ".conf", ".conf.new", NULL };
	struct spool_verify *v = arg;
	char line[512];

	if (one_of(name, known) || strncmp(name, ".removed.", 9) == 0 ||
	    (part_name_valid(name) &&
	    (store_has(v->s, name) || empty_dir(v->s->fd, name))))
		return 0;
	snprintf(line, sizeof line, "%s: stray entry", name);
	v->say(line, v->arg);
	v->breaches++;
	return 0;
}

int
store_verify(struct store *s, void (*say_line)(const char *, void *), void *arg,
    struct fault *f)
{
	struct spool_verify v = { .s = s, .say = say_line, .arg = arg };

	if (s->fd >= 0 && dir_each(s->fd, spool_entry, &v) < 0)
		return fault_errno(f, "%s", s->path);
	return v.breaches;
}

struct verifying {
	struct queue *topic;
	void (*say)(const char *, void *);
	void *arg;
	int breaches;
	struct fault *f;
};

static int
verify_sub(const struct subscription *s, void *arg)
{
	struct verifying *v = arg;
	struct queue *q = queue_open_sub(v->topic, s->name, v->f);
	int n;

	if (q == NULL)
		return v->f->status == ST_NOQUEUE ? 0 : -1;
	n = queue_verify(q, v->say, v->arg, v->f);
	queue_close(q);
	if (n > 0)
		v->breaches += n;
	return n < 0 && v->f->status != ST_NOQUEUE ? -1 : 0;
}

static int
verify_subs(struct queue *topic, void (*say_line)(const char *, void *), void *arg,
    struct fault *f)
{
	struct verifying v = { topic, say_line, arg, 0, f };

	return topic_each(topic, verify_sub, &v, f) < 0 ? -1 : v.breaches;
}

int
queue_verify(struct queue *q, void (*say_line)(const char *, void *), void *arg,
    struct fault *f)
{
	struct verify v = { .q = q, .say = say_line, .arg = arg, .f = f };
	int r;

	if (queue_conf(q, f) == NULL || queue_ready(q, f) < 0)
		return -1;
	r = verify_names(&v);
	if (r == 0)
		r = verify_topic(&v);
	if (v.n > 1)
		qsort(v.seen, v.n, sizeof *v.seen, by_message);
	for (size_t i = 1; r == 0 && i < v.n; i++)
		check_twice(&v, &v.seen[i - 1], &v.seen[i]);
	if (r == 0)
		r = check_groups(&v);
	free(v.groups);
	free(v.seen);
	if (r == 0 && queue_is_topic(q)) {
		r = verify_subs(q, say_line, arg, f);
		v.breaches += r > 0 ? r : 0;
	}
	return r < 0 ? -1 : v.breaches;
}
