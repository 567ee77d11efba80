/* SPDX-License-Identifier: ISC */
#include "queue.h"

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "dir.h"
#include "gauge.h"
#include "hold.h"
#include "sequence.h"
#include "subs.h"
#include "topic.h"

#define CONF_MAX 65536

int
queue_fault(struct queue *q, struct fault *f, const char *what)
{
	int error = errno;

	if (errno == ENOENT && queue_gone(q))
		return fault_set(f, ST_NOQUEUE, "%s: was removed meanwhile", q->name);
	errno = error;
	return fault_errno(f, "%s/%s: %s", q->store->path, q->name, what);
}

/* --- directories ------------------------------------------------------------ */

static struct dir_cached *
dir_find(struct queue *q, const char *path)
{
	for (int i = 0; i < DIR_CACHE; i++)
		if (q->dirs[i].fd >= 0 && strcmp(q->dirs[i].path, path) == 0)
			return &q->dirs[i];
	return NULL;
}

static struct dir_cached *
dir_oldest(struct queue *q)
{
	struct dir_cached *d = &q->dirs[0];

	for (int i = 0; i < DIR_CACHE; i++) {
		if (q->dirs[i].fd < 0)
			return &q->dirs[i];
		if (q->dirs[i].used < d->used)
			d = &q->dirs[i];
	}
	close(d->fd);
	d->fd = -1;
	return d;
}

bool
queue_dir_open(struct queue *q, const char *path)
{
	return dir_find(q, path) != NULL;
}

/* On a full disk what is ready can still be leased, and an ack makes room. */
static bool
use_spare(struct queue *q, const char *path)
{
	if ((errno != ENOSPC && errno != EDQUOT) || strncmp(path, "cur/", 4) != 0)
		return false;
	if (renameat2(q->fd, "spare", q->fd, path, RENAME_NOREPLACE) == 0)
		return true;
	if (errno == ENOENT)
		errno = ENOSPC;          /* there is none */
	return errno == EEXIST;
}

void
queue_spare(struct queue *q)
{
	if (faccessat(q->fd, "spare", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		(void)dir_make(q->fd, "spare", dir_mode(q->conf.mode));
}

int
queue_dir(struct queue *q, const char *path, bool make)
{
	struct dir_cached *d = dir_find(q, path);
	int fd;

	if (d != NULL) {
		d->used = ++q->clock;
		return d->fd;
	}
	fd = dir_open(q->fd, path);
	if (fd < 0 && errno == ENOENT && make) {
		if (dir_make(q->fd, path, dir_mode(q->conf.mode)) < 0 && !use_spare(q, path))
			return -1;
		fd = dir_open(q->fd, path);
	}
	if (fd < 0)
		return -1;
	d = dir_oldest(q);
	d->fd = fd;
	d->used = ++q->clock;
	strlcpy(d->path, path, sizeof d->path);
	return fd;
}

void
queue_dir_forget(struct queue *q, const char *path)
{
	struct dir_cached *d = dir_find(q, path);

	if (d != NULL) {
		close(d->fd);
		d->fd = -1;
	}
}

/* --- one message --------------------------------------------------------------- */

static int
place_at(struct queue *q, const struct place *p, bool make, char name[static NAME_SIZE])
{
	char dir[PLACE_DIR_SIZE];

	place_dir(p, dir);
	name_print(&p->name, name);
	return queue_dir(q, dir, make);
}

/* The directory may have been removed and made again since it was opened. */
static void
place_forget(struct queue *q, const struct place *p)
{
	char dir[PLACE_DIR_SIZE];

	place_dir(p, dir);
	queue_dir_forget(q, dir);
}

int
place_open(struct queue *q, const struct place *p, int flags)
{
	char name[NAME_SIZE];

	for (int tries = 0;; tries++) {
		int dir = place_at(q, p, false, name), fd;

		if (dir < 0)
			return -1;
		fd = openat(dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 || errno != ENOENT || tries > 0)
			return fd;
		place_forget(q, p);
	}
}

int
queue_look(struct queue *q, const struct place *p)
{
	char name[NAME_SIZE];
	struct stat st;

	for (int tries = 0; tries < 2; tries++) {
		int dir = place_at(q, p, false, name);

		if (dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			return 1;
		if (errno != ENOENT)
			return -1;
		if (dir < 0)
			return 0;
		place_forget(q, p);
	}
	return 0;
}

bool
queue_has(struct queue *q, const struct place *p)
{
	return queue_look(q, p) == 1;
}

int
queue_move(struct queue *q, const struct place *from, const struct place *to,
    struct fault *f)
{
	char source[NAME_SIZE], target[NAME_SIZE];

	for (int tries = 0; tries < 16; tries++) {
		int in = place_at(q, from, false, source), out;

		if (in < 0)
			return errno == ENOENT ? 0 : queue_fault(q, f, source);
		out = place_at(q, to, true, target);
		if (out < 0)
			return queue_fault(q, f, target);
		in = place_at(q, from, false, source);
		if (in < 0)
			return errno == ENOENT ? 0 : queue_fault(q, f, source);
		if (renameat2(in, source, out, target, RENAME_NOREPLACE) == 0) {
			gauge_move(q, from, to);
			return 1;
		}
		if (errno == EEXIST)
			return 0;
		if (errno != ENOENT)
			return queue_fault(q, f, source);
		/* Which of the two is gone: the source, or a directory? */
		place_forget(q, to);
		switch (queue_look(q, from)) {
		case 0:
			return 0;
		case -1:
			return queue_fault(q, f, source);
		}
	}
	errno = EAGAIN;
	return queue_fault(q, f, source);
}

int
queue_unlink(struct queue *q, const struct place *p, struct fault *f)
{
	char name[NAME_SIZE];

	for (int tries = 0;; tries++) {
		int dir = place_at(q, p, false, name);

		if (dir < 0)
			return errno == ENOENT ? 0 : queue_fault(q, f, name);
		if (unlinkat(dir, name, 0) == 0) {
			gauge_move(q, p, NULL);
			return 1;
		}
		if (errno != ENOENT)
			return queue_fault(q, f, name);
		if (tries > 0)
			return 0;
		place_forget(q, p);
	}
}

/* --- lock and meter -------------------------------------------------------------- */

static int
lock_file(struct queue *q, const char *name, struct fault *f)
{
	int fd = dir_openat(q->fd, name, O_RDWR | O_NONBLOCK, 0);

	if (fd < 0 && errno == ENOENT)
		fd = file_make(q->fd, name, O_RDWR, q->conf.mode);
	return fd < 0 ? queue_fault(q, f, name) : fd;
}

static int
lock_open(struct queue *q, struct fault *f)
{
	if (q->lock_fd < 0)
		q->lock_fd = lock_file(q, "lock", f);
	return q->lock_fd < 0 ? -1 : 0;
}

int
queue_single(struct queue *q, struct fault *f)
{
	if (q->single_fd >= 0)
		return 1;
	q->single_fd = lock_file(q, "single", f);
	if (q->single_fd < 0)
		return -1;
	if (flock(q->single_fd, LOCK_EX | LOCK_NB) == 0)
		return 1;
	close(q->single_fd);
	q->single_fd = -1;
	return errno == EWOULDBLOCK ? 0 : queue_fault(q, f, "single");
}

static void
mask_all(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, old);
}

static int
lock_raw(struct queue *q, struct fault *f)
{
	if (q->locked++ > 0)
		return 0;
	if (lock_open(q, f) < 0) {
		q->locked--;
		return -1;
	}
	while (flock(q->lock_fd, LOCK_EX) < 0)
		if (errno != EINTR) {
			q->locked--;
			return queue_fault(q, f, "lock");
		}
	mask_all(&q->old_mask);          /* ^Z must not stop who holds it */
	return 0;
}

void
queue_unlock(struct queue *q)
{
	if (--q->locked > 0)
		return;
	flock(q->lock_fd, LOCK_UN);
	sigprocmask(SIG_SETMASK, &q->old_mask, NULL);
}

static bool
meter_current(struct queue *q)
{
	struct stat st;

	return q->meter != NULL &&
	    fstatat(q->fd, "meter", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_ino == q->meter_id;
}

static int
meter_remap(struct queue *q)
{
	meter_unmap(q->meter);
	q->ready.valid = false;
	q->meter = meter_map(q->fd, &q->meter_id);
	return q->meter == NULL ? -1 : 0;
}

/* Under the lock: the meter that everybody uses now, made anew if need be. */
static int
meter_settle(struct queue *q, struct fault *f)
{
	uint64_t seq;

	if (meter_current(q) || meter_remap(q) == 0)
		return 0;
	if (errno != ENOENT && errno != ESTALE)
		return queue_fault(q, f, "meter");
	if (sequence_above(q, &seq, f) < 0)
		return -1;
	if (meter_make(q->fd, seq, q->conf.mode) < 0 || meter_remap(q) < 0)
		return queue_fault(q, f, "meter");
	return 0;
}

int
queue_lock(struct queue *q, struct fault *f)
{
	if (lock_raw(q, f) < 0)
		return -1;
	if (q->locked > 1)
		return 0;
	if (meter_settle(q, f) < 0 ||
	    (atomic_load(&q->meter->busy) && hold_recover(q, NULL, f) < 0)) {
		queue_unlock(q);
		return -1;
	}
	return 0;
}

struct meter *
queue_counter(const struct queue *q)
{
	return q->topic != NULL ? q->topic->meter : q->meter;
}

int
queue_ready(struct queue *q, struct fault *f)
{
	bool first = !q->used;

	if (q->topic != NULL && queue_ready(q->topic, f) < 0)
		return -1;
	q->used = true;
	if (q->meter != NULL && (first || meter_current(q)))
		return 0;
	if (meter_remap(q) == 0)
		return 0;
	if (errno != ENOENT && errno != ESTALE)
		return queue_fault(q, f, "meter");
	if (queue_lock(q, f) < 0)
		return -1;
	queue_unlock(q);
	return 0;
}

/* --- configuration ----------------------------------------------------------------- */

static struct conf_seen
conf_look(int dir, const char *path)
{
	struct conf_seen seen;
	struct stat st;

	memset(&seen, 0, sizeof seen);
	if (dir < 0 || fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return seen;
	seen.there = true;
	seen.mtime = st.st_mtim;
	seen.ino = st.st_ino;
	seen.size = st.st_size;
	return seen;
}

bool
conf_same(const struct conf_seen *a, const struct conf_seen *b)
{
	return a->there == b->there && a->ino == b->ino && a->size == b->size &&
	    a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec;
}

int
conf_load(struct conf *c, int dir, const char *path, const char *shown, struct fault *f)
{
	size_t len;
	char *text = dir_read(dir, path, CONF_MAX, &len);
	int r;

	if (text == NULL)
		return errno == ENOENT ? 0 : fault_errno(f, "%s", shown);
	r = conf_read(c, shown, text, len, f);
	free(text);
	return r;
}

static int
conf_reload(struct queue *q, struct fault *f)
{
	char shown[4608];
	struct conf c;

	conf_defaults(&c);
	snprintf(shown, sizeof shown, "%s/.conf", q->store->path);
	if (q->seen[0].there && conf_load(&c, q->store->fd, ".conf", shown, f) < 0)
		return -1;
	snprintf(shown, sizeof shown, "%s/%s/conf", q->store->path, q->path);
	if (q->seen[1].there && conf_load(&c, q->fd, "conf", shown, f) < 0)
		return -1;
	q->conf = c;
	return 0;
}

const struct conf *
queue_conf(struct queue *q, struct fault *f)
{
	struct conf_seen spool, own;

	if (q->conf_read && !q->used)    /* just now, when it was opened */
		return &q->conf;
	spool = conf_look(q->store->fd, ".conf");
	own = conf_look(q->fd, "conf");
	if (q->conf_read && conf_same(&spool, &q->seen[0]) && conf_same(&own, &q->seen[1]))
		return &q->conf;
	q->seen[0] = spool;
	q->seen[1] = own;
	q->conf_read = false;
	if (conf_reload(q, f) < 0)
		return NULL;
	q->conf_read = true;
	return &q->conf;
}

/* --- opening and making ---------------------------------------------------------------- */

/* What is made below inherits it: the directory is set-gid. */
static int
queue_give_group(struct queue *q, struct fault *f)
{
	gid_t gid;

	if (q->conf.group[0] == '\0')
		return 0;
	if (group_number(q->conf.group, &gid) < 0)
		return fault_set(f, ST_CONFIG, "%s: group=%s: no such group", q->name,
		    q->conf.group);
	if (fchown(q->fd, (uid_t)-1, gid) < 0 || fchmod(q->fd, dir_mode(q->conf.mode)) < 0)
		return queue_fault(q, f, "group");
	return 0;
}

int
queue_lay_out(struct queue *q, struct fault *f)
{
	static const char *const inner[] = { "tmp", "new", "cur", "later", "dlq",
		"why", "hold", "spare" };

	if (queue_give_group(q, f) < 0)
		return -1;
	for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
		if (dir_make(q->fd, inner[i], dir_mode(q->conf.mode)) < 0)
			return queue_fault(q, f, inner[i]);
	if (queue_ready(q, f) < 0)
		return -1;
	if (q->conf.sync && (fsync(q->fd) < 0 || fsync(q->store->fd) < 0))
		return queue_fault(q, f, "fsync");
	return 0;
}

static int
queue_make(struct queue *q, enum queue_how how, struct fault *f)
{
	struct conf_seen spool = conf_look(q->store->fd, ".conf");
	char shown[4608];

	snprintf(shown, sizeof shown, "%s/.conf", q->store->path);
	conf_defaults(&q->conf);
	if (spool.there && conf_load(&q->conf, q->store->fd, ".conf", shown, f) < 0)
		return -1;
	if (how != QUEUE_FORCE && !q->conf.create)
		return fault_set(f, ST_NOQUEUE, "%s: no such queue "
		    "(create=no: make it with mq-conf --create)", q->name);
	if (dir_make(q->store->fd, q->name, dir_mode(q->conf.mode)) < 0) {
		int error = errno;

		queue_fault(q, f, "cannot be made");
		if (error == EEXIST || error == ENOTDIR)
			f->status = ST_CANTCREATE;
		return -1;
	}
	q->fd = dir_open(q->store->fd, q->name);
	return q->fd < 0 ? queue_fault(q, f, "cannot be opened") : 0;
}

static int
queue_connect(struct queue *q, enum queue_how how, struct fault *f)
{
	bool fresh = false;

	if (q->store->fd >= 0)
		q->fd = dir_open(q->store->fd, q->path);
	else
		errno = ENOENT;
	if (q->fd < 0 && errno != ENOENT)
		return queue_fault(q, f, "cannot be opened");
	if (q->fd < 0 && q->topic != NULL)
		return fault_set(f, ST_NOQUEUE, "%s: no such subscription (make it with "
		    "mq-sub add)", q->name);
	if (q->fd < 0) {
		if (how == QUEUE_MUST)
			return fault_set(f, ST_NOQUEUE, "%s: no such queue", q->name);
		if (queue_make(q, how, f) < 0)
			return -1;
		fresh = true;
	}
	if (queue_conf(q, f) == NULL)
		return -1;
	return fresh ? queue_lay_out(q, f) : 0;
}

void
queue_path(const char *name, char out[static QUEUE_PATH_SIZE])
{
	const char *slash = strchr(name, '/');

	if (slash == NULL)
		strlcpy(out, name, QUEUE_PATH_SIZE);
	else
		snprintf(out, QUEUE_PATH_SIZE, "%.*s/sub/%s", (int)(slash - name), name,
		    slash + 1);
}

struct queue *
queue_new(struct store *s, const char *name, struct fault *f)
{
	struct queue *q = calloc(1, sizeof *q);

	if (q == NULL) {
		fault_errno(f, "%s", name);
		return NULL;
	}
	q->store = s;
	q->refs = 1;
	q->fd = q->lock_fd = q->single_fd = q->tail_fd = -1;
	for (int i = 0; i < DIR_CACHE; i++)
		q->dirs[i].fd = -1;
	strlcpy(q->name, name, sizeof q->name);
	queue_path(name, q->path);
	return q;
}

/* The topic of TOPIC/SUB. */
static int
open_topic(struct queue *q, struct fault *f)
{
	char name[QUEUE_NAME_SIZE], *slash;

	strlcpy(name, q->name, sizeof name);
	slash = strchr(name, '/');
	if (slash == NULL)
		return 0;
	*slash = '\0';
	q->topic = queue_open(q->store, name, QUEUE_MUST, f);
	q->own_topic = true;
	if (q->topic == NULL && f->status == ST_NOQUEUE)
		return fault_set(f, ST_NOQUEUE, "%s: no such topic", name);
	return q->topic == NULL ? -1 : 0;
}

int
queue_name_check(const char *name, struct fault *f)
{
	if (queue_name_valid(name))
		return 0;
	return fault_set(f, ST_USAGE, "%.210s: not a queue's name (letters, digits and "
	    "_.-, at most 100, no . or - first; or TOPIC/SUB)", name);
}

struct queue *
queue_open(struct store *s, const char *name, enum queue_how how, struct fault *f)
{
	struct queue *q;

	if (queue_name_check(name, f) < 0)
		return NULL;
	q = queue_new(s, name, f);
	if (q == NULL)
		return NULL;
	if (open_topic(q, f) < 0 || queue_connect(q, how, f) < 0) {
		queue_close(q);
		return NULL;
	}
	return q;
}

struct queue *
queue_open_sub(struct queue *topic, const char *sub, struct fault *f)
{
	char name[2 * QUEUE_NAME_SIZE];
	struct queue *q;

	snprintf(name, sizeof name, "%s/%s", topic->name, sub);
	q = queue_new(topic->store, name, f);
	if (q == NULL)
		return NULL;
	q->topic = topic;
	if (queue_connect(q, QUEUE_MUST, f) < 0) {
		queue_close(q);
		return NULL;
	}
	return q;
}

void
queue_close(struct queue *q)
{
	if (q == NULL || --q->refs > 0)
		return;
	if (q->tail_fd >= 0) {
		topic_tail_end(q);
		close(q->tail_fd);
	}
	for (int i = 0; i < DIR_CACHE; i++)
		if (q->dirs[i].fd >= 0)
			close(q->dirs[i].fd);
	if (q->lock_fd >= 0)
		close(q->lock_fd);
	if (q->single_fd >= 0)
		close(q->single_fd);
	if (q->fd >= 0)
		close(q->fd);
	meter_unmap(q->meter);
	free(q->ready.order);
	free(q->ready.names);
	subs_free(q->subs);
	if (q->own_topic)
		queue_close(q->topic);
	if (q->own_store)
		store_close(q->store);
	free(q);
}

struct queue *
queue_ref(struct queue *q)
{
	q->refs++;
	return q;
}

const char *
queue_name(const struct queue *q)
{
	return q->name;
}

struct store *
queue_store(const struct queue *q)
{
	return q->store;
}

bool
queue_gone(struct queue *q)
{
	struct stat a, b;

	return fstat(q->fd, &a) < 0 ||
	    fstatat(q->store->fd, q->path, &b, AT_SYMLINK_NOFOLLOW) < 0 ||
	    a.st_ino != b.st_ino || a.st_dev != b.st_dev;
}
