/* SPDX-License-Identifier: ISC */
#include "deliver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "dir.h"
#include "group.h"
#include "publish.h"
#include "vacancy.h"

#define DEEP_PATH (QUEUE_NAME_SIZE + PLACE_DIR_SIZE + NAME_SIZE + 16)

/* Its place there, which whoever delivers it reckons alike. */
static struct place
goal_in(const struct place *out, const struct sub *s)
{
	struct name n = out->name;
	int64_t put = id_time(n.id);

	n.fanout = true;
	if (n.expiry == 0 && s->ttl > 0)
		n.expiry = put + s->ttl;
	return publish_goal(&n, n.seq, put);
}

static void
out_path(const struct place *out, char path[static NAME_SIZE + 8])
{
	char name[NAME_SIZE];

	name_print(&out->name, name);
	snprintf(path, NAME_SIZE + 8, "out/%s", name);
}

static void
path_in(const struct sub *s, const struct place *p, char path[static DEEP_PATH])
{
	char dir[PLACE_DIR_SIZE], name[NAME_SIZE];

	place_dir(p, dir);
	name_print(&p->name, name);
	snprintf(path, DEEP_PATH, "sub/%s/%s/%s", s->name, dir, name);
}

/* Its directory, through no symbolic link; -1 with errno. */
static int
open_dir(struct queue *topic, const struct sub *s, const struct place *p)
{
	char dir[PLACE_DIR_SIZE], path[QUEUE_NAME_SIZE + PLACE_DIR_SIZE + 8];

	place_dir(p, dir);
	snprintf(path, sizeof path, "sub/%s/%s", s->name, dir);
	return dir_openat(topic->fd, path, O_PATH | O_DIRECTORY, 0);
}

/* linkat(2) or rename of a name below the topic to its place there. */
static int
link_or_move(struct queue *topic, const char *from, bool move, const struct sub *s,
    const struct place *to)
{
	int dir = open_dir(topic, s, to), r, saved;
	char name[NAME_SIZE];

	if (dir < 0)
		return -1;
	name_print(&to->name, name);
	r = move ? renameat2(topic->fd, from, dir, name, RENAME_NOREPLACE) :
	    linkat(topic->fd, from, dir, name, 0);
	saved = errno;
	close(dir);
	errno = saved;
	return r;
}

/* Makes the directory of a place in it. 1, 0 there is no such subscription, -1 */
static int
make_dir(struct queue *topic, const struct sub *s, const struct place *p, struct fault *f)
{
	char path[QUEUE_NAME_SIZE + 8], dir[PLACE_DIR_SIZE];
	int fd, r = 1;

	snprintf(path, sizeof path, "sub/%s", s->name);
	place_dir(p, dir);
	fd = dir_open(topic->fd, path);
	if (fd < 0)
		return errno == ENOENT ? 0 : queue_fault(topic, f, path);
	if (dir_make(fd, dir, dir_mode(s->mode)) < 0)
		r = queue_fault(topic, f, path);
	close(fd);
	return r;
}

/* --- a link --------------------------------------------------------------------- */

/* 1; 0 the subscription is gone; -1; -2: it cannot be linked there */
static int
link_in(struct queue *topic, const struct place *out, struct sub *s,
    const struct place *to, struct fault *f)
{
	char source[NAME_SIZE + 8];

	out_path(out, source);
	for (int tries = 0; tries < 16; tries++) {
		int r;

		if (link_or_move(topic, source, false, s, to) == 0 || errno == EEXIST)
			return 1;
		if (errno == EMLINK || errno == EXDEV || errno == EPERM)
			return -2;
		if (errno != ENOENT)
			return queue_fault(topic, f, s->name);
		r = make_dir(topic, s, to, f);
		if (r != 1)
			return r;
	}
	errno = EAGAIN;
	return queue_fault(topic, f, s->name);
}

/* --- a copy ----------------------------------------------------------------------- */

int
flush_unlocked(struct queue *topic, int fd, bool may)
{
	struct fault ignored;
	int r, saved;

	if (!topic->conf.sync)
		return 0;
	may &= topic->locked == 1;
	if (may)
		queue_unlock(topic);
	r = fsync(fd);
	saved = errno;
	if (may && queue_lock(topic, &ignored) < 0) {
		topic->locked++;         /* the caller lets go what it took */
		errno = EIO;
		return -1;
	}
	errno = saved;
	return r;
}

static int
copy_bytes(int in, int out)
{
	char buf[65536];
	ssize_t n;

	while ((n = copy_file_range(in, NULL, out, NULL, 1 << 30, 0)) > 0)
		continue;
	if (n == 0)
		return 0;
	while ((n = read(in, buf, sizeof buf)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || write_all(out, buf, (size_t)n) < 0)
			return -1;
	}
	return 0;
}

/* Into its tmp/, under a name of this process, locked; its descriptor. -1 with
 * errno, ENOENT: there is no such subscription */
static int
copy_to_tmp(struct queue *topic, const struct place *out, const struct sub *s,
    const char *path)
{
	char source[NAME_SIZE + 8];
	int in, fd;

	out_path(out, source);
	in = dir_openat(topic->fd, source, O_RDONLY, 0);
	if (in < 0)
		return -1;
	(void)unlinkat(topic->fd, path, 0);      /* of one that died, of this pid */
	fd = file_make(topic->fd, path, O_WRONLY | O_EXCL, s->mode);
	if (fd >= 0 && (flock(fd, LOCK_EX) < 0 || copy_bytes(in, fd) < 0)) {
		int saved = errno;

		(void)unlinkat(topic->fd, path, 0);
		close(fd);
		errno = saved;
		fd = -1;
	}
	close(in);
	return fd;
}

/* 1 and *tmp: a flushed copy of the file is there; 0 nothing is to be done any
 * more; -1 */
static int
make_copy(struct queue *topic, const struct place *out, const struct sub *s,
    const struct place *to, struct place *tmp, bool may_unlock, struct fault *f)
{
	char path[DEEP_PATH];
	int fd, r = 1;

	*tmp = (struct place){ .where = IN_TMP, .name = to->name };
	tmp->name.seq = SEQ_NONE;
	tmp->name.pid = (uint32_t)getpid();
	tmp->name.uid = (uint32_t)geteuid();
	path_in(s, tmp, path);
	fd = copy_to_tmp(topic, out, s, path);
	if (fd < 0)
		return errno == ENOENT ? 0 : queue_fault(topic, f, path);
	if (flush_unlocked(topic, fd, may_unlock) < 0)
		r = queue_fault(topic, f, path);
	else if (queue_look(topic, out) == 0)
		r = 0;                   /* who had the lock meanwhile ended it */
	if (r != 1)
		(void)unlinkat(topic->fd, path, 0);
	close(fd);
	return r;
}

/* 1, 0, -1 */
static int
copy_in(struct queue *topic, const struct place *out, struct sub *s,
    const struct place *to, bool may_unlock, struct fault *f)
{
	char source[DEEP_PATH];
	struct place tmp;
	int r = make_copy(topic, out, s, to, &tmp, may_unlock, f);

	if (r != 1)
		return r;
	path_in(s, &tmp, source);
	for (int tries = 0; r == 1 && tries < 16; tries++) {
		if (link_or_move(topic, source, true, s, to) == 0)
			return 1;
		if (errno == EEXIST)
			break;
		if (errno != ENOENT)
			r = queue_fault(topic, f, s->name);
		else if (make_dir(topic, s, to, f) < 0)
			r = -1;
	}
	(void)unlinkat(topic->fd, source, 0);
	return r;
}

/* --- of a group ----------------------------------------------------------------------- */

struct seek {
	const struct name *n;
};

static int
seek_name(const char *text, void *arg)
{
	const struct seek *s = arg;
	struct name n;

	return name_parse(text, &n) && n.seq == s->n->seq && id_equal(n.id, s->n->id);
}

/* Its head in new/, or it waits in grp/. 1, 0, -1 */
static int
is_there(struct queue *q, const struct place *to, struct fault *f)
{
	struct seek s = { &to->name };
	struct place p = *to;

	for (int i = 0; i < 2; i++) {
		char dir[PLACE_DIR_SIZE];
		int fd, r;

		p.where = i == 0 ? IN_NEW : IN_GRP;
		place_dir(&p, dir);
		fd = dir_open(q->fd, dir);
		if (fd < 0 && errno == ENOENT)
			continue;
		r = fd < 0 ? -1 : dir_each(fd, seek_name, &s);
		if (fd >= 0)
			close(fd);
		if (r < 0)
			return queue_fault(q, f, dir);
		if (r == 1)
			return 1;
	}
	return 0;
}

/* Under both locks, `tmp` (or NULL: by a link) joins its group. 1, -1, -2 */
static int
join(struct queue *topic, const struct place *out, struct sub *s, const struct place *to,
    const struct place *copy, bool again, struct fault *f)
{
	struct place tmp = { .where = IN_TMP, .name = to->name }, at;
	struct fault ignored;
	int r = again ? is_there(s->q, to, f) : 0;

	tmp.name.seq = SEQ_NONE;
	if (r == 0 && copy != NULL) {
		if (queue_unlink(s->q, &tmp, f) < 0)
			return -1;
		r = queue_move(s->q, copy, &tmp, f);
	} else if (r == 0) {
		r = link_in(topic, out, s, &tmp, f);
	} else {
		return r;
	}
	if (r != 1)
		return r;
	r = group_join(s->q, &tmp, &to->name, &at, f);
	if (r != 1)
		(void)queue_unlink(s->q, &tmp, &ignored);
	return r < 0 ? -1 : 1;
}

static int
join_locked(struct queue *topic, const struct place *out, struct sub *s,
    const struct place *to, const struct place *copy, bool again, struct fault *f)
{
	int r;

	if (sub_open(topic, s, f) == NULL)
		return f->status == ST_NOQUEUE ? 0 : -1;
	if (queue_lock(s->q, f) < 0)
		return -1;
	r = join(topic, out, s, to, copy, again, f);
	if (again && vacancy_limited(s->q))
		vacancy_forget(s->q);
	queue_unlock(s->q);
	return r;
}

static int
deliver_grouped(struct queue *topic, const struct place *out, struct sub *s,
    const struct place *to, bool again, struct fault *f)
{
	struct place copy;
	int r = join_locked(topic, out, s, to, NULL, again, f);

	if (r == 0)
		return 1;                /* it is gone */
	if (r != -2)
		return r;
	r = make_copy(topic, out, s, to, &copy, !s->limited, f);
	if (r == 1) {
		r = join_locked(topic, out, s, to, &copy, true, f);
		if (s->q != NULL)
			(void)queue_unlink(s->q, &copy, &(struct fault){ 0 });
	}
	return r == -2 ? -1 : r;
}

/* --- all ways ------------------------------------------------------------------------------ */

/* Where the count of what is there is kept, it is not known any more. */
static void
forget_room(struct queue *topic, struct sub *s)
{
	struct fault ignored;

	if (sub_open(topic, s, &ignored) == NULL || queue_lock(s->q, &ignored) < 0)
		return;
	vacancy_forget(s->q);
	queue_unlock(s->q);
}

int
deliver(struct queue *topic, const struct place *out, struct sub *s, bool again,
    struct fault *f)
{
	struct place to = goal_in(out, s);
	int r;

	if (to.name.group != 0 && to.where == IN_NEW)
		return deliver_grouped(topic, out, s, &to, again, f);
	r = link_in(topic, out, s, &to, f);
	if (r == -2)
		r = copy_in(topic, out, s, &to, again || !s->limited, f);
	else if (r == 0)
		r = 1;                   /* it is gone */
	if (r == 1 && again && s->limited)
		forget_room(topic, s);
	return r;
}
