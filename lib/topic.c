/* SPDX-License-Identifier: ISC */
#include "topic.h"

#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "destroy.h"
#include "dir.h"
#include "fanout.h"
#include "walk.h"

#define SUB_PATH (QUEUE_NAME_SIZE + 64)
#define NEW_PREFIX ".new."
#define REMOVED_PREFIX ".removed."
#define TAIL_LIMIT "limit=10000"

bool
queue_is_topic(struct queue *q)
{
	if (q->topic != NULL)
		return false;
	if (q->meter != NULL)
		return atomic_load(&q->meter->topic) != 0;
	return faccessat(q->fd, "sub", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int
lock(struct queue *topic, bool anyway, struct fault *f)
{
	if (queue_conf(topic, f) == NULL || queue_ready(topic, f) < 0 ||
	    queue_lock(topic, f) < 0)
		return -1;
	if (queue_gone(topic)) {
		queue_unlock(topic);
		return fault_set(f, ST_NOQUEUE, "%s: the topic was removed meanwhile",
		    topic->name);
	}
	if (atomic_load(&topic->meter->topic) != 0 && fanout_finish(topic, NULL, f) < 0 &&
	    !anyway) {
		queue_unlock(topic);
		return -1;
	}
	return 0;
}

int
topic_lock(struct queue *topic, struct fault *f)
{
	return lock(topic, false, f);
}

int
topic_lock_anyway(struct queue *topic, struct fault *f)
{
	return lock(topic, true, f);
}

/* --- a queue becomes a topic --------------------------------------------------- */

static int
any_place(const struct place *p, void *arg)
{
	(void)p;
	(void)arg;
	return 1;
}

/* 75 with a hint, or -1, if there are messages. */
static int
holds_none(struct queue *q, struct fault *f)
{
	int r = walk_places(q, STATES_ALL & ~DONE, any_place, NULL, f);

	return r <= 0 ? r : fault_set(f, ST_TRYAGAIN, "%s: is a queue that holds messages: "
	    "have them taken, or remove them (mq-rm --all), before it can be a topic",
	    q->name);
}

/* Under the lock. A put that began before looks again after its rename, and this
 * looks again after it said so: one of the two sees the other. */
static int
become_topic(struct queue *q, struct fault *f)
{
	mode_t mode = dir_mode(q->conf.mode);

	if (atomic_load(&q->meter->topic) != 0 && dir_make(q->fd, "sub", mode) == 0)
		return 0;
	if (holds_none(q, f) < 0)
		return -1;
	if (dir_make(q->fd, "out", mode) < 0 || dir_make(q->fd, "sub", mode) < 0)
		return queue_fault(q, f, "sub");
	atomic_store(&q->meter->topic, 1);
	if (holds_none(q, f) < 0) {
		atomic_store(&q->meter->topic, 0);
		(void)unlinkat(q->fd, "sub", AT_REMOVEDIR);
		return -1;
	}
	if (q->conf.sync && fsync(q->fd) < 0)
		return queue_fault(q, f, "fsync");
	return 0;
}

/* --- adding ------------------------------------------------------------------------ */

static int
check_wants(const struct subscription *s, struct fault *f)
{
	struct match *m;
	const char *why;
	size_t at;
	int which;

	if (!part_name_valid(s->name))
		return fault_set(f, ST_USAGE, "%.120s: not a subscription's name (letters, "
		    "digits and _.-, at most 100, no . or - first)", s->name);
	if (s->pattern != NULL && strchr(s->pattern, '\n') != NULL)
		return fault_set(f, ST_USAGE, "a pattern has no newline");
	for (size_t i = 0; i < s->nfilters; i++)
		if (strchr(s->filters[i], '\n') != NULL)
			return fault_set(f, ST_USAGE, "a filter has no newline");
	m = match_compile(s->pattern, s->filters, s->nfilters, &why, &at, &which);
	if (m == NULL)
		return fault_set(f, ST_USAGE, "%.200s: %.100s",
		    which < 0 ? s->pattern : s->filters[which], why);
	match_free(m);
	return 0;
}

static int
check_settings(char *const *assignments, size_t n, struct fault *f)
{
	struct conf c;

	conf_defaults(&c);
	for (size_t i = 0; i < n; i++)
		if (conf_set(&c, assignments[i], f) < 0)
			return -1;
	return 0;
}

static int
tail_hold(struct queue *q, struct fault *f)
{
	q->tail_fd = file_make(q->fd, "tail", O_RDWR | O_EXCL, q->conf.mode);
	if (q->tail_fd < 0 || flock(q->tail_fd, LOCK_EX | LOCK_NB) < 0)
		return queue_fault(q, f, "tail");
	return 0;
}

/* The segment that the next message goes to, so that it need not be made then. */
static void
make_segment(struct queue *q)
{
	char path[PLACE_DIR_SIZE];
	struct place p = { .where = IN_NEW, .name = { .priority = PRIORITY_DEFAULT } };

	p.name.seq = atomic_load(&queue_counter(q)->seq);
	place_dir(&p, path);
	(void)dir_make(q->fd, path, dir_mode(q->conf.mode));
}

/* Who may use the topic may use it too, unless its own settings say else. */
static int
inherit_access(struct queue *q, struct fault *f)
{
	const struct conf *t = &q->topic->conf;
	char mode[32], group[sizeof t->group + 8], *assignments[2];
	size_t n = 0;

	snprintf(mode, sizeof mode, "mode=%04o", (unsigned)t->mode);
	snprintf(group, sizeof group, "group=%s", t->group);
	if (t->mode != q->conf.mode)
		assignments[n++] = mode;
	if (strcmp(t->group, q->conf.group) != 0)
		assignments[n++] = group;
	return n == 0 ? 0 : queue_write_conf(q, assignments, n, f);
}

/* Whole, under its name of now. */
static int
build(struct queue *q, const struct subscription *s, char *const *assignments, size_t n,
    struct fault *f)
{
	if (dir_make(q->topic->fd, "sub", dir_mode(q->topic->conf.mode)) < 0 ||
	    dir_make(q->store->fd, q->path, dir_mode(q->topic->conf.mode)) < 0)
		return queue_fault(q, f, "cannot be made");
	q->fd = dir_open(q->store->fd, q->path);
	if (q->fd < 0)
		return queue_fault(q, f, "cannot be opened");
	if (queue_conf(q, f) == NULL || queue_lay_out(q, f) < 0)
		return -1;
	if (inherit_access(q, f) < 0 ||
	    (n > 0 && queue_write_conf(q, assignments, n, f) < 0))
		return -1;
	if (sub_write(q->fd, s, q->conf.mode) < 0)
		return queue_fault(q, f, "match");
	make_segment(q);
	return s->ephemeral ? tail_hold(q, f) : 0;
}

static int
flush_subs(struct queue *topic, struct fault *f)
{
	int fd = dir_open(topic->fd, "sub"), r;

	if (fd < 0)
		return queue_fault(topic, f, "sub");
	r = topic->conf.sync ? fsync(fd) : 0;
	if (r < 0)
		queue_fault(topic, f, "fsync");
	close(fd);
	return r;
}

/* Under the lock. The commit is the rename. The open queue, or NULL. */
static struct queue *
make_sub(struct queue *topic, const struct subscription *s, char *const *assignments,
    size_t n, struct fault *f)
{
	char fresh[SUB_PATH], path[SUB_PATH], name[2 * QUEUE_NAME_SIZE];
	struct queue *q;

	snprintf(name, sizeof name, "%s/%s", topic->name, s->name);
	snprintf(fresh, sizeof fresh, "sub/" NEW_PREFIX "%.100s", s->name);
	snprintf(path, sizeof path, "sub/%s", s->name);
	q = queue_new(topic->store, name, f);
	if (q == NULL)
		return NULL;
	q->topic = topic;
	snprintf(q->path, sizeof q->path, "%.100s/sub/" NEW_PREFIX "%.100s", topic->path,
	    s->name);
	(void)raze(topic->fd, fresh);    /* of one that died here */
	if (build(q, s, assignments, n, f) < 0)
		goto failed;
	if (subs_change(topic, f) < 0)
		goto failed;
	if (renameat2(topic->fd, fresh, topic->fd, path, RENAME_NOREPLACE) < 0) {
		queue_fault(q, f, "cannot be made");
		goto failed;
	}
	queue_path(name, q->path);
	if (flush_subs(topic, f) < 0 || subs_changed(topic, s->name, f) < 0) {
		queue_close(q);
		return NULL;
	}
	return q;
failed:
	queue_close(q);
	(void)raze(topic->fd, fresh);
	return NULL;
}

static struct sub *
find_sub(struct subs *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].name, name) == 0)
			return &l->v[i];
	return NULL;
}

/* Under the lock, of one that is there. 0, or -1 */
static int
subscribed(struct queue *topic, struct sub *old, const struct subscription *s,
    char *const *assignments, size_t n, struct fault *f)
{
	struct queue *q;
	int r;

	if (!sub_same(old, s))
		return fault_set(f, ST_TRYAGAIN, "%s/%s: is there already, with another "
		    "pattern or filter: remove it first (mq-sub rm)", topic->name, s->name);
	if (n == 0)
		return 0;
	q = queue_open_sub(topic, s->name, f);
	r = q == NULL ? -1 : queue_configure(q, assignments, n, f);
	queue_close(q);
	return r;
}

static struct queue *
open_for_subscribing(struct store *s, const char *topic, const struct subscription *sub,
    char *const *assignments, size_t n, struct fault *f)
{
	if (!part_name_valid(topic)) {
		fault_set(f, ST_USAGE, "%.120s: not a topic's name (letters, digits and "
		    "_.-, at most 100, no . or - first)", topic);
		return NULL;
	}
	if (check_wants(sub, f) < 0 || check_settings(assignments, n, f) < 0)
		return NULL;
	return queue_open(s, topic, QUEUE_FORCE, f);
}

/* 1 made, and *out; 0 it was there; -1 */
static int
subscribe_locked(struct queue *topic, const struct subscription *sub,
    char *const *assignments, size_t n, struct queue **out, struct fault *f)
{
	struct subs *l;
	struct sub *old;

	*out = NULL;
	if (become_topic(topic, f) < 0 || subs_load(topic, &l, f) < 0)
		return -1;
	old = find_sub(l, sub->name);
	if (old != NULL)
		return subscribed(topic, old, sub, assignments, n, f);
	*out = make_sub(topic, sub, assignments, n, f);
	return *out == NULL ? -1 : 1;
}

int
topic_subscribe(struct store *s, const char *topic, const struct subscription *sub,
    char *const *assignments, size_t n, struct fault *f)
{
	struct queue *t = open_for_subscribing(s, topic, sub, assignments, n, f), *q;
	int r;

	if (t == NULL)
		return -1;
	r = topic_lock(t, f);
	if (r == 0) {
		r = subscribe_locked(t, sub, assignments, n, &q, f);
		queue_unlock(t);
		queue_close(q);
	}
	queue_close(t);
	return r;
}

/* Of its settings, then those that are given: the last of a name wins. */
static char **
tail_settings(char *const *assignments, size_t n)
{
	static char limit[] = TAIL_LIMIT, full[] = "full=drop-oldest";
	char **v = reallocarray(NULL, n + 2, sizeof *v);

	if (v == NULL)
		return NULL;
	v[0] = limit;
	v[1] = full;
	for (size_t i = 0; i < n; i++)
		v[i + 2] = assignments[i];
	return v;
}

struct queue *
topic_tail(struct store *s, const char *topic, const struct subscription *sub,
    char *const *assignments, size_t n, struct fault *f)
{
	struct subscription ephemeral = *sub;
	char **settings = tail_settings(assignments, n);
	struct queue *t, *q = NULL;
	int r;

	ephemeral.ephemeral = true;
	if (settings == NULL) {
		fault_errno(f, "%s", topic);
		return NULL;
	}
	t = open_for_subscribing(s, topic, &ephemeral, settings, n + 2, f);
	r = t == NULL ? -1 : topic_lock(t, f);
	if (r == 0) {
		r = subscribe_locked(t, &ephemeral, settings, n + 2, &q, f);
		queue_unlock(t);
		if (r == 0)
			fault_set(f, ST_TRYAGAIN, "%s/%s: is there already", topic, sub->name);
	}
	free(settings);
	if (r != 1) {
		queue_close(t);
		return NULL;
	}
	q->own_topic = true;
	return q;
}

/* --- removing -------------------------------------------------------------------------- */

/* A put into it that began before the rename looks whether it is still there, and
 * this looks again whether a message came. 0, 1 it has some, -1 */
static int
put_aside(struct queue *topic, const char *name, struct queue *q, bool force,
    struct fault *f)
{
	char path[SUB_PATH], gone[SUB_PATH + 64];
	int left = force ? 0 : walk_places(q, STATES_ALL & ~DONE, any_place, NULL, f);

	if (left != 0)
		return left;
	snprintf(path, sizeof path, "sub/%s", name);
	snprintf(gone, sizeof gone, "sub/" REMOVED_PREFIX "%s.%lld.%d", name,
	    (long long)now_ms(), (int)getpid());
	if (subs_change(topic, f) < 0)
		return -1;
	if (renameat2(topic->fd, path, topic->fd, gone, RENAME_NOREPLACE) < 0)
		return queue_fault(q, f, "cannot be removed");
	left = force ? 0 : walk_places(q, STATES_ALL & ~DONE, any_place, NULL, f);
	if (left != 0 && renameat2(topic->fd, gone, topic->fd, path, RENAME_NOREPLACE) < 0)
		return queue_fault(q, f, "cannot be put back");
	return left;
}

static int
unsubscribe_locked(struct queue *topic, const char *name, bool force, struct fault *f)
{
	struct queue *q = queue_open_sub(topic, name, f);
	int r;

	if (q == NULL)
		return -1;
	r = queue_ready(q, f) < 0 ? -1 : put_aside(topic, name, q, force, f);
	if (r == 1)
		fault_set(f, ST_TRYAGAIN, "%s: has messages (--force removes it all)", q->name);
	queue_close(q);
	if (r == 0)
		r = flush_subs(topic, f);
	return r != 0 ? -1 : subs_changed(topic, name, f);
}

int
topic_unsubscribe(struct store *s, const char *topic, const char *sub, bool force,
    struct fault *f)
{
	struct queue *t;
	int r;

	if (!part_name_valid(topic) || !part_name_valid(sub))
		return fault_set(f, ST_USAGE, "%.120s/%.120s: not a subscription's name", topic,
		    sub);
	t = queue_open(s, topic, QUEUE_MUST, f);
	if (t == NULL)
		return -1;
	r = topic_lock_anyway(t, f);
	if (r == 0) {
		r = unsubscribe_locked(t, sub, force, f);
		queue_unlock(t);
		topic_raze(t);
	}
	queue_close(t);
	return r;
}

static int
raze_removed(const char *name, void *arg)
{
	int dir = *(int *)arg;

	if (strncmp(name, REMOVED_PREFIX, strlen(REMOVED_PREFIX)) == 0)
		(void)raze(dir, name);
	return 0;
}

void
topic_raze(struct queue *topic)
{
	int dir = dir_open(topic->fd, "sub");

	if (dir < 0)
		return;
	(void)dir_each(dir, raze_removed, &dir);
	close(dir);
}

/* --- ephemeral ones ----------------------------------------------------------------------- */

int
topic_reap(struct queue *topic, uint64_t *n, struct fault *f)
{
	struct subs *l;

	if (subs_load(topic, &l, f) < 0)
		return -1;
	for (size_t i = 0; i < l->n; i++) {
		char name[QUEUE_NAME_SIZE];

		if (!l->v[i].ephemeral || sub_alive(topic, &l->v[i]))
			continue;
		strlcpy(name, l->v[i].name, sizeof name);
		if (unsubscribe_locked(topic, name, true, f) < 0 ||
		    subs_load(topic, &l, f) < 0)
			return -1;
		i = (size_t)-1;          /* the list is another one */
		if (n != NULL)
			++*n;
	}
	return 0;
}

void
topic_tail_end(struct queue *sub)
{
	struct queue *t = sub->topic;
	struct fault ignored;

	if (topic_lock_anyway(t, &ignored) < 0)
		return;
	if (!queue_gone(sub))
		(void)unsubscribe_locked(t, strchr(sub->name, '/') + 1, true, &ignored);
	queue_unlock(t);
	topic_raze(t);
}

/* --- looking and tidying -------------------------------------------------------------------- */

/* By the index; where one may only read, from sub/ itself. The caller's. */
static int
all_subs(struct queue *topic, struct subs **l, struct fault *f)
{
	int r;

	if (queue_conf(topic, f) == NULL)
		return -1;
	if (queue_ready(topic, f) < 0 || queue_lock(topic, f) < 0)
		return f->status == ST_PERMISSION || f->error == EROFS ?
		    subs_read(topic, l, f) : -1;
	r = subs_load(topic, l, f);
	if (r == 0)
		topic->subs = NULL;
	queue_unlock(topic);
	return r;
}

int
topic_each(struct queue *topic, int (*fn)(const struct subscription *, void *), void *arg,
    struct fault *f)
{
	struct subs *l = NULL;
	int r;

	if (!queue_is_topic(topic))
		return 0;
	r = all_subs(topic, &l, f);
	for (size_t i = 0; r == 0 && i < l->n; i++) {
		struct subscription s = { l->v[i].name, l->v[i].pattern, l->v[i].filters,
			l->v[i].nfilters, l->v[i].ephemeral };

		r = fn(&s, arg);
	}
	subs_free(l);
	return r;
}

struct walking {
	struct queue *topic;
	int dir;
	unsigned states;
	int (*fn)(const struct place *, void *);
	void *arg;
	struct fault *f;
};

static int
walk_sub(const char *name, void *arg)
{
	struct walking *w = arg;
	struct queue q = { .store = w->topic->store };
	int r;

	if (!part_name_valid(name))
		return 0;
	q.fd = dir_open(w->dir, name);
	if (q.fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -1;
	snprintf(q.name, sizeof q.name, "%.100s/%.100s", w->topic->name, name);
	r = walk_places(&q, w->states, w->fn, w->arg, w->f);
	close(q.fd);
	return r;
}

int
topic_walk(struct queue *topic, unsigned states, int (*fn)(const struct place *, void *),
    void *arg, struct fault *f)
{
	struct walking w = { topic, -1, states, fn, arg, f };
	int r = walk_places(topic, states, fn, arg, f);

	if (r != 0)
		return r;
	w.dir = dir_open(topic->fd, "sub");
	if (w.dir < 0)
		return errno == ENOENT ? 0 : queue_fault(topic, f, "sub");
	f->status = 0;
	r = dir_each(w.dir, walk_sub, &w);
	if (r < 0 && f->status == 0)
		queue_fault(topic, f, "sub");
	close(w.dir);
	return r;
}

int
topic_holds(struct queue *topic, struct fault *f)
{
	return topic_walk(topic, STATES_ALL & ~DONE, any_place, NULL, f);
}

struct tidying {
	int dir;
	bool dry;
	uint64_t n;
};

static int
tidy_entry(const char *name, void *arg)
{
	struct tidying *t = arg;

	if (strncmp(name, NEW_PREFIX, strlen(NEW_PREFIX)) != 0 &&
	    strncmp(name, REMOVED_PREFIX, strlen(REMOVED_PREFIX)) != 0)
		return 0;
	t->n++;
	if (!t->dry)
		(void)raze(t->dir, name);
	return 0;
}

int
topic_tidy(struct queue *topic, bool dry, uint64_t *n, struct fault *f)
{
	struct tidying t = { dir_open(topic->fd, "sub"), dry, 0 };
	int r;

	if (t.dir < 0)
		return errno == ENOENT ? 0 : queue_fault(topic, f, "sub");
	r = dir_each(t.dir, tidy_entry, &t);
	close(t.dir);
	*n += t.n;
	return r < 0 ? queue_fault(topic, f, "sub") : 0;
}
