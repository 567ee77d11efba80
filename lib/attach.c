/* SPDX-License-Identifier: ISC */
#include "attach.h"

#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "dir.h"
#include "walk.h"

#define OBJ_DIR 48               /* "obj/HH/" and an id */
#define CHUNK (8 * 1024 * 1024)
#define SHARED "shared"

static void
obj_dir(struct id id, char out[static OBJ_DIR])
{
	char text[ID_LEN + 1];

	id_print(id, text);
	snprintf(out, OBJ_DIR, "obj/%.2s/%s", text + ID_LEN - 2, text);
}

/* --- storing ----------------------------------------------------------------------- */

/* Made and locked, and not taken for an orphan's meanwhile. -1 with errno */
static int
obj_make(struct queue *q, const char *dir)
{
	struct stat st;

	for (int tries = 0; tries < 16; tries++) {
		int fd;

		if (dir_make(q->fd, dir, dir_mode(q->conf.mode)) < 0)
			return -1;
		fd = dir_open(q->fd, dir);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			return -1;
		if (flock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0)
			return fd;
		close(fd);
	}
	errno = EAGAIN;
	return -1;
}

static int
copy_data(int in, int out, const char *name, const struct put_spec *spec, uint64_t total)
{
	uint64_t done = 0;

	if (ioctl(out, FICLONE, in) == 0)
		return 0;
	for (;;) {
		ssize_t n = copy_file_range(in, NULL, out, NULL, CHUNK, 0);

		if (n < 0 && done == 0 && (errno == EXDEV || errno == EINVAL ||
		    errno == EOPNOTSUPP || errno == ENOSYS || errno == EBADF))
			break;
		if (n < 0)
			return -1;
		if (n == 0)
			return done == 0 && total > 0 ? -1 : 0;
		done += (uint64_t)n;
		if (spec->progress != NULL)
			spec->progress(name, done, total);
	}
	return -2;
}

/* Between file systems, or from a pipe. */
static int
read_and_write(int in, int out, const char *name, const struct put_spec *spec, uint64_t total)
{
	static char buf[256 * 1024];
	uint64_t done = 0;

	for (;;) {
		ssize_t n = read(in, buf, sizeof buf);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return (int)n;
		if (write_all(out, buf, (size_t)n) < 0)
			return -1;
		done += (uint64_t)n;
		if (spec->progress != NULL)
			spec->progress(name, done, total);
	}
}

static int
copy_in(struct queue *q, int in, int dir, const char *base, const struct put_spec *spec)
{
	struct stat st;
	int out = file_make(dir, base, O_WRONLY | O_EXCL, q->conf.mode), r;

	if (out < 0)
		return -1;
	r = fstat(in, &st);
	if (r == 0)
		r = S_ISREG(st.st_mode) && st.st_size > 0 ?
		    copy_data(in, out, base, spec, (uint64_t)st.st_size) : -2;
	if (r == -2)
		r = read_and_write(in, out, base, spec, (uint64_t)st.st_size);
	if (r == 0 && !spec->nosync && q->conf.sync)
		r = fsync(out);
	if (close(out) < 0)
		r = -1;
	return r;
}

static int
link_in(struct queue *q, const char *path, int in, int dir, const char *base,
    const struct put_spec *spec)
{
	if (linkat(AT_FDCWD, path, dir, base, AT_SYMLINK_FOLLOW) < 0)
		return -1;
	return !spec->nosync && q->conf.sync ? fsync(in) : 0;
}

static const char *
base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

static int
store_one(struct queue *q, const struct put_spec *spec, size_t k, int obj, struct fault *f)
{
	const char *path = spec->attach[k], *base = base_of(path);
	int in = open(path, O_RDONLY | O_CLOEXEC), dir, r = -1;
	char number[24];

	if (in < 0) {
		fault_errno(f, "%s", path);
		f->status = f->error == EACCES ? ST_PERMISSION : ST_DATA;
		return -1;
	}
	snprintf(number, sizeof number, "%zu", k);
	dir = dir_make(obj, number, dir_mode(q->conf.mode)) < 0 ? -1 : dir_open(obj, number);
	if (dir >= 0)
		r = spec->attach_link ? link_in(q, path, in, dir, base, spec) :
		    copy_in(q, in, dir, base, spec);
	if (r == 0 && !spec->nosync && q->conf.sync)
		r = fsync(dir);
	if (r < 0)
		fault_errno(f, "%s", path);
	if (dir >= 0)
		close(dir);
	close(in);
	return r;
}

static bool
base_valid(const char *path)
{
	const char *base = base_of(path);

	return base[0] != '\0' && strchr(base, '\n') == NULL && strlen(base) < 256 &&
	    strcmp(base, ".") != 0 && strcmp(base, "..") != 0;
}

void
attach_names_free(char **names, size_t n)
{
	for (size_t i = 0; names != NULL && i < n; i++)
		free(names[i]);
	free(names);
}

/* More than one message names them: none of those ends them. */
static int
mark_shared(struct queue *q, const char *dir)
{
	char path[OBJ_DIR + 8];
	int fd;

	snprintf(path, sizeof path, "%s/" SHARED, dir);
	fd = file_make(q->fd, path, O_WRONLY, q->conf.mode);
	return fd < 0 ? -1 : close(fd);
}

int
attach_store(struct queue *q, const struct put_spec *spec, struct id id, char ***names,
    int *lock, struct fault *f)
{
	char **list = calloc(spec->nattach, sizeof *list), dir[OBJ_DIR];
	int r = 0;

	obj_dir(id, dir);
	*lock = list == NULL ? -1 : obj_make(q, dir);
	if (*lock < 0) {
		free(list);
		return queue_fault(q, f, "obj");
	}
	for (size_t k = 0; k < spec->nattach && r == 0; k++) {
		if (!base_valid(spec->attach[k]))
			r = fault_set(f, ST_DATA, "an attachment's base name has a newline "
			    "or is too long");
		else if (asprintf(&list[k], "%s/%s/%zu/%s", q->path, dir, k,
		    base_of(spec->attach[k])) < 0)
			r = fault_errno(f, "attachment");
		else
			r = store_one(q, spec, k, *lock, f);
	}
	if (r == 0 && queue_is_topic(q) && mark_shared(q, dir) < 0)
		r = queue_fault(q, f, "obj");
	if (r == 0 && !spec->nosync && q->conf.sync && fsync(*lock) < 0)
		r = queue_fault(q, f, "obj");
	if (r < 0) {
		attach_names_free(list, spec->nattach);
		attach_undo(q, id);
		close(*lock);
		return -1;
	}
	*names = list;
	return 0;
}

/* --- removing -------------------------------------------------------------------------- */

/* Depth first; `dir` is the directory that holds `name`. */
struct removing {
	int dir;
};

static int
remove_entry(const char *name, void *arg)
{
	struct removing *r = arg, in;

	if (unlinkat(r->dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	in.dir = openat(r->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (in.dir < 0)
		return -1;
	(void)dir_each(in.dir, remove_entry, &in);
	close(in.dir);
	return unlinkat(r->dir, name, AT_REMOVEDIR);
}

static void
obj_remove(int base, const char *dir)
{
	struct removing r = { dir_open(base, dir) };

	if (r.dir < 0)
		return;
	(void)dir_each(r.dir, remove_entry, &r);
	close(r.dir);
	(void)unlinkat(base, dir, AT_REMOVEDIR);
}

void
attach_undo(struct queue *q, struct id id)
{
	char dir[OBJ_DIR];

	obj_dir(id, dir);
	obj_remove(q->fd, dir);
}

/* --- naming ---------------------------------------------------------------------------------- */

/* "QUEUE/obj/HH/ID" of "QUEUE/obj/HH/ID/N/BASE"; false if it is no such name. */
static bool
obj_of(const char *name, char out[static QUEUE_PATH_SIZE + OBJ_DIR], struct id *id)
{
	const char *obj = strstr(name, "/obj/");
	size_t n;

	if (obj != NULL && strncmp(obj, "/obj/obj/", 9) == 0)
		obj += 4;                /* a subscription of that name */
	if (obj == NULL || strlen(obj) < 5 + 3 + ID_LEN + 1 || !id_parse(obj + 8, id) ||
	    obj[8 + ID_LEN] != '/')
		return false;
	n = (size_t)(obj - name) + 8 + ID_LEN;
	if (n >= QUEUE_PATH_SIZE + OBJ_DIR)
		return false;
	memcpy(out, name, n);
	out[n] = '\0';
	return true;
}

static const char *
relative(const struct store *s, const char *name)
{
	size_t n = strlen(s->path);

	return strncmp(name, s->path, n) == 0 && name[n] == '/' ? name + n + 1 : name;
}

int
attach_share(struct queue *q, const struct head *h, struct fault *f)
{
	char obj[QUEUE_PATH_SIZE + OBJ_DIR], path[QUEUE_PATH_SIZE + OBJ_DIR + 8];
	struct id id;
	int fd;

	if (h->nattachments > 0 && attach_use(q, f) < 0)
		return -1;
	for (size_t i = 0; i < h->nattachments; i++) {
		if (!obj_of(relative(q->store, h->attachments[i]), obj, &id))
			continue;
		snprintf(path, sizeof path, "%s/" SHARED, obj);
		fd = file_make(q->store->fd, path, O_WRONLY, q->conf.mode);
		if (fd < 0 && errno != EACCES)
			return queue_fault(q, f, "obj");
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

bool
attach_used(struct queue *q)
{
	if (!q->attaches)
		q->attaches = faccessat(q->fd, "obj", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
		    (q->topic != NULL && attach_used(q->topic));
	return q->attaches;
}

int
attach_use(struct queue *q, struct fault *f)
{
	if (dir_make(q->fd, "obj", dir_mode(q->conf.mode)) < 0)
		return queue_fault(q, f, "obj");
	return 0;
}

char **
attach_of(struct queue *q, const struct place *p, size_t *n)
{
	struct message *m = NULL;
	char **names = NULL;
	int fd;

	*n = 0;
	if (p->name.ranged || !attach_used(q))
		return NULL;
	fd = place_open(q, p, O_RDONLY);
	if (fd < 0 || message_read(fd, &m) != MESSAGE_OK)
		return NULL;
	if (m->head.nattachments > 0) {
		names = m->head.attachments;
		*n = m->head.nattachments;
		m->head.attachments = NULL;
		m->head.nattachments = 0;
	}
	message_close(m);
	return names;
}

void
attach_release(struct queue *q, char **names, size_t n)
{
	char obj[QUEUE_PATH_SIZE + OBJ_DIR], path[QUEUE_PATH_SIZE + OBJ_DIR + 8];
	struct id id;

	for (size_t i = 0; i < n; i++) {
		if (!obj_of(names[i], obj, &id))
			continue;
		snprintf(path, sizeof path, "%s/" SHARED, obj);
		if (faccessat(q->store->fd, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			obj_remove(q->store->fd, obj);
	}
	attach_names_free(names, n);
}

/* --- sweeping -------------------------------------------------------------------------------- */

struct object {
	struct id id;
	bool shared, named;
};

struct sweep {
	struct queue *q;                 /* whose objects */
	struct queue *in;                /* whose messages are being looked at */
	int dir;                         /* obj/HH */
	struct object *v;
	size_t n, room;
	struct fault *f;
};

static int
note_object(const char *name, void *arg)
{
	struct sweep *s = arg;
	struct object o = { .named = false };
	char path[ID_LEN + 16];

	if (strlen(name) != ID_LEN || !id_parse(name, &o.id))
		return 0;
	snprintf(path, sizeof path, "%s/" SHARED, name);
	o.shared = faccessat(s->dir, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	if (s->n == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		void *v = reallocarray(s->v, room, sizeof *s->v);

		if (v == NULL)
			return -1;
		s->v = v;
		s->room = room;
	}
	s->v[s->n++] = o;
	return 0;
}

static int
note_hash(const char *name, void *arg)
{
	struct sweep *s = arg;
	char path[16];
	int r;

	snprintf(path, sizeof path, "obj/%.2s", name);
	s->dir = strlen(name) == 2 ? dir_open(s->q->fd, path) : -1;
	if (s->dir < 0)
		return 0;
	r = dir_each(s->dir, note_object, s);
	close(s->dir);
	return r;
}

static int
by_id(const void *a, const void *b)
{
	const struct object *x = a, *y = b;

	if (x->id.hi != y->id.hi)
		return x->id.hi < y->id.hi ? -1 : 1;
	return x->id.lo < y->id.lo ? -1 : x->id.lo > y->id.lo;
}

static void
mark(struct sweep *s, struct id id)
{
	struct object key = { .id = id };
	struct object *o = bsearch(&key, s->v, s->n, sizeof *s->v, by_id);

	if (o != NULL)
		o->named = true;
}

/* By its own id; where some are shared, by what its header says too. */
static int
mark_named(const struct place *p, void *arg)
{
	struct sweep *s = arg;
	char obj[QUEUE_PATH_SIZE + OBJ_DIR], **names;
	struct id id;
	size_t n;

	mark(s, p->name.id);
	names = attach_of(s->in, p, &n);
	for (size_t i = 0; i < n; i++)
		if (obj_of(names[i], obj, &id))
			mark(s, id);
	attach_names_free(names, n);
	return 0;
}

static int
mark_own(const struct place *p, void *arg)
{
	mark(arg, p->name.id);
	return 0;
}

static int
mark_in(const char *name, void *arg)
{
	struct sweep *s = arg;
	bool shared = false;
	struct fault f;
	int r = 0;

	s->in = queue_open(s->q->store, name, QUEUE_MUST, &f);
	if (s->in == NULL)
		return f.status == ST_NOQUEUE ? 0 : -1;
	for (size_t i = 0; i < s->n; i++)
		shared |= s->v[i].shared;
	if (attach_used(s->in))
		r = walk_places(s->in, STATES_ALL, shared ? mark_named : mark_own, s, s->f);
	queue_close(s->in);
	return r;
}

/* Nobody names it, nobody is at it. */
static int
drop(struct sweep *s, const struct object *o, bool dry)
{
	char dir[OBJ_DIR];
	int fd;

	obj_dir(o->id, dir);
	fd = dir_open(s->q->fd, dir);
	if (fd < 0)
		return 0;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return 0;
	}
	if (!dry)
		obj_remove(s->q->fd, dir);
	close(fd);
	return 1;
}

/* Those that were there before the messages were looked at, and locked by
 * nobody then: their put is over. */
static void
without_busy(struct sweep *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		char dir[OBJ_DIR];
		int fd;

		obj_dir(s->v[i].id, dir);
		fd = dir_open(s->q->fd, dir);
		if (fd < 0)
			continue;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			s->v[n++] = s->v[i];
		close(fd);
	}
	s->n = n;
}

int
attach_sweep(struct queue *q, bool dry, uint64_t *n, struct fault *f)
{
	struct sweep s = { .q = q, .f = f };
	int fd = attach_used(q) ? dir_open(q->fd, "obj") : -1, r;

	if (fd < 0)
		return 0;
	r = dir_each(fd, note_hash, &s);
	close(fd);
	if (s.n > 1)
		qsort(s.v, s.n, sizeof *s.v, by_id);
	without_busy(&s);
	/* twice: a message may move between two directories while they are read */
	for (int i = 0; i < 2 && r == 0 && s.n > 0; i++)
		r = store_each(q->store, mark_in, &s, f);
	for (size_t i = 0; i < s.n && r == 0; i++)
		if (!s.v[i].named)
			*n += (uint64_t)drop(&s, &s.v[i], dry);
	free(s.v);
	return r < 0 ? queue_fault(q, f, "obj") : 0;
}
