/* SPDX-License-Identifier: ISC
 *
 * spool: the root directory, and the queues in it. */
#include <bsd/string.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "dir.h"
#include "queue.h"

#define SYSTEM_SPOOL "/var/spool/mq"

int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t
steady_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* --- which spool ---------------------------------------------------------- */

static char *
join(const char *dir, const char *name)
{
	char *s;

	return asprintf(&s, "%s/%s", dir, name) < 0 ? NULL : s;
}

static char *
home_spool(struct fault *f)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (state != NULL && state[0] == '/')
		return join(state, "mq");
	if (home != NULL && home[0] == '/')
		return join(home, ".local/state/mq");
	fault_set(f, ST_CONFIG, "no spool: set MQ_SPOOL, or HOME");
	return NULL;
}

static char *
default_spool(struct fault *f)
{
	struct stat st;

	if (stat(SYSTEM_SPOOL, &st) < 0 && errno == ENOENT)
		return home_spool(f);
	if (faccessat(AT_FDCWD, SYSTEM_SPOOL, R_OK | W_OK | X_OK, AT_EACCESS) < 0) {
		fault_errno(f, SYSTEM_SPOOL);
		f->status = ST_PERMISSION;
		return NULL;
	}
	return strdup(SYSTEM_SPOOL);
}

static char *
absolute(const char *dir)
{
	char cwd[4096], *s;

	if (dir[0] == '/')
		return strdup(dir);
	if (getcwd(cwd, sizeof cwd) == NULL)
		return NULL;
	while (dir[0] == '.' && dir[1] == '/')
		dir += 2;
	if (strcmp(dir, ".") == 0)
		return strdup(cwd);
	return asprintf(&s, "%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd, dir) < 0 ? NULL : s;
}

static char *
spool_path(const char *dir, struct fault *f)
{
	char *path;
	size_t n;

	if (dir == NULL)
		dir = getenv("MQ_SPOOL");
	if (dir == NULL || dir[0] == '\0')
		return default_spool(f);
	if (strstr(dir, "://") != NULL) {
		fault_set(f, ST_CONFIG, "%s: a spool is a directory", dir);
		return NULL;
	}
	path = absolute(dir);
	if (path == NULL) {
		fault_errno(f, "%s", dir);
		return NULL;
	}
	if (strchr(path, '\n') != NULL || strlen(path) > 4000) {
		fault_set(f, ST_CONFIG, "the spool's path has a newline or is too long");
		free(path);
		return NULL;
	}
	for (n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
	return path;
}

/* --- opening it ------------------------------------------------------------- */

static int
make_path(const char *path, struct fault *f)
{
	char part[4096];

	strlcpy(part, path, sizeof part);
	for (char *p = strchr(part + 1, '/');; p = strchr(p + 1, '/')) {
		if (p != NULL)
			*p = '\0';
		if (mkdir(part, 0700) < 0 && errno != EEXIST && access(part, X_OK) < 0) {
			fault_errno(f, "%s", part);
			if (f->status == ST_IO && f->error != ENOSPC && f->error != EROFS)
				f->status = ST_CANTCREATE;
			return -1;
		}
		if (p == NULL)
			return 0;
		*p = '/';
	}
}

static const struct {
	unsigned long magic;
	const char *name;
} unfit[] = {
	{ NFS_SUPER_MAGIC, "NFS" },
	{ SMB_SUPER_MAGIC, "SMB" },
	{ CIFS_SUPER_MAGIC, "CIFS" },
	{ SMB2_SUPER_MAGIC, "SMB" },
	{ FUSE_SUPER_MAGIC, "FUSE" },
	{ V9FS_MAGIC, "9p" },
	{ CEPH_SUPER_MAGIC, "Ceph" },
	{ AFS_SUPER_MAGIC, "AFS" },
	{ AFS_FS_MAGIC, "AFS" },
	{ CODA_SUPER_MAGIC, "Coda" },
	{ MSDOS_SUPER_MAGIC, "FAT" },
	{ 0x47504653, "GPFS" },
	{ 0x0bd00bd0, "Lustre" },
};

/* Rename with NOREPLACE, links, locks and ordered flushes must be the local
 * kernel's own. */
static int
check_file_system(int fd, const char *path, struct fault *f)
{
	struct statfs s;

	if (fstatfs(fd, &s) < 0)
		return fault_errno(f, "%s", path);
	for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++)
		if ((unsigned long)s.f_type == unfit[i].magic)
			return fault_set(f, ST_CONFIG, "%s: is on %s, which cannot "
			    "hold a spool: use a local file system", path, unfit[i].name);
	return 0;
}

static int
open_spool(const char *path, struct fault *f)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && check_file_system(fd, path, f) < 0) {
		close(fd);
		return -2;
	}
	return fd;
}

static int
flush_parents(int fd)
{
	int up = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fsync(fd) < 0 || up < 0 || fsync(up) < 0) {
		if (up >= 0)
			close(up);
		return -1;
	}
	return close(up);
}

/* A receipt has no `..': it would mean another place after a symbolic link. */
static int
without_dots(struct store *s, struct fault *f)
{
	char *path;

	if (!path_has_dots(s->path))
		return 0;
	path = realpath(s->path, NULL);
	if (path == NULL)
		return fault_errno(f, "%s", s->path);
	free(s->path);
	s->path = path;
	return 0;
}

static int
store_connect(struct store *s, bool make, struct fault *f)
{
	s->fd = open_spool(s->path, f);
	if (s->fd == -2)
		return -1;
	if (s->fd >= 0)
		return without_dots(s, f);
	if (errno != ENOENT)
		return fault_errno(f, "%s", s->path);
	if (!make)
		return 0;
	if (make_path(s->path, f) < 0)
		return -1;
	s->fd = open_spool(s->path, f);
	if (s->fd == -2)
		return -1;
	if (s->fd < 0 || flush_parents(s->fd) < 0)
		return fault_errno(f, "%s", s->path);
	return without_dots(s, f);
}

struct store *
store_open(const char *dir, bool make, struct fault *f)
{
	struct store *s = calloc(1, sizeof *s);

	if (s == NULL) {
		fault_errno(f, "spool");
		return NULL;
	}
	s->fd = -1;
	s->path = spool_path(dir, f);
	if (s->path == NULL || store_connect(s, make, f) < 0) {
		store_close(s);
		return NULL;
	}
	return s;
}

void
store_close(struct store *s)
{
	if (s == NULL)
		return;
	if (s->fd >= 0)
		close(s->fd);
	free(s->path);
	free(s);
}

const char *
store_path(const struct store *s)
{
	return s->path;
}

/* --- names ------------------------------------------------------------------- */

/* A name, or a half of TOPIC/SUB: its length, 0 if it is none. */
static size_t
part_length(const char *s)
{
	size_t n = 0;

	if (!isascii((unsigned char)s[0]) || (!isalnum((unsigned char)s[0]) && s[0] != '_'))
		return 0;
	for (; s[n] != '\0' && s[n] != '/'; n++)
		if (!isascii((unsigned char)s[n]) || (!isalnum((unsigned char)s[n]) &&
		    strchr("_.-", s[n]) == NULL))
			return 0;
	return n <= 100 ? n : 0;
}

bool
part_name_valid(const char *s)
{
	size_t n = part_length(s);

	return n > 0 && s[n] == '\0';
}

bool
queue_name_valid(const char *s)
{
	size_t n = part_length(s);

	return n > 0 && (s[n] == '\0' || part_name_valid(s + n + 1));
}

bool
operand_id(const char *operand, char queue[static QUEUE_NAME_SIZE], struct id *id)
{
	const char *colon = strrchr(operand, ':');
	size_t n = colon == NULL ? 0 : (size_t)(colon - operand);

	if (n == 0 || n >= QUEUE_NAME_SIZE || strlen(colon + 1) != ID_LEN ||
	    !id_parse(colon + 1, id))
		return false;
	memcpy(queue, operand, n);
	queue[n] = '\0';
	return queue_name_valid(queue);
}

struct names {
	char (*name)[QUEUE_NAME_SIZE];
	size_t n, room;
};

static int
collect(const char *name, void *arg)
{
	struct names *l = arg;

	if (!part_name_valid(name))
		return 0;
	if (l->n == l->room) {
		size_t room = l->room ? l->room * 2 : 64;
		void *p = reallocarray(l->name, room, sizeof *l->name);

		if (p == NULL)
			return -1;
		l->name = p;
		l->room = room;
	}
	strlcpy(l->name[l->n++], name, sizeof *l->name);
	return 0;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* What making a queue begins with: another's directory has none of these. */
bool
store_has(struct store *s, const char *name)
{
	char path[QUEUE_PATH_SIZE];
	bool is;
	int fd, saved;

	queue_path(name, path);
	fd = dir_open(s->fd, path);
	is = fd >= 0 && (faccessat(fd, "tmp", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	    faccessat(fd, "new", F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	saved = errno;
	if (fd >= 0)
		close(fd);
	return is || (saved != ENOENT && saved != ENOTDIR && saved != ELOOP);
}

/* Sorted; -1 with errno. */
static int
list_names(int fd, struct names *l)
{
	if (dir_each(fd, collect, l) < 0)
		return -1;
	if (l->n > 1)
		qsort(l->name, l->n, sizeof *l->name, by_name);
	return 0;
}

/* The subscriptions of a queue, if it is a topic, right after it. */
static int
each_sub(struct store *s, const char *topic, int (*fn)(const char *, void *), void *arg,
    struct fault *f)
{
	char path[2 * QUEUE_NAME_SIZE], name[2 * QUEUE_NAME_SIZE];
	struct names l = { 0 };
	int fd, r = 0;

	snprintf(path, sizeof path, "%s/sub", topic);
	fd = dir_open(s->fd, path);
	if (fd < 0)              /* no topic; or its own tools say why */
		return 0;
	if (list_names(fd, &l) < 0)
		r = fault_errno(f, "%s/%s", s->path, path);
	close(fd);
	for (size_t i = 0; i < l.n && r == 0; i++) {
		snprintf(name, sizeof name, "%s/%s", topic, l.name[i]);
		if (store_has(s, name))
			r = fn(name, arg);
	}
	free(l.name);
	return r;
}

int
store_each(struct store *s, int (*fn)(const char *name, void *), void *arg,
    struct fault *f)
{
	struct names l = { 0 };
	int r = 0;

	if (s->fd < 0)
		return 0;
	if (list_names(s->fd, &l) < 0) {
		free(l.name);
		return fault_errno(f, "%s", s->path);
	}
	for (size_t i = 0; i < l.n && r == 0; i++) {
		if (!store_has(s, l.name[i]))
			continue;
		r = fn(l.name[i], arg);
		if (r == 0)
			r = each_sub(s, l.name[i], fn, arg, f);
	}
	free(l.name);
	return r;
}
