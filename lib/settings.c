/* SPDX-License-Identifier: ISC
 *
 * settings: writing the settings of a queue or the spool, in one step. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer.h"
#include "dir.h"
#include "queue.h"
#include "topic.h"
#include "units.h"

#define CONF_MAX 65536

/* From the file, not through NSS: a static program cannot load its modules. */
int
group_number(const char *name, gid_t *gid)
{
	FILE *in;
	struct group *g;
	uint64_t n;

	if (count_parse(name, UINT32_MAX - 1, &n)) {
		*gid = (gid_t)n;
		return 0;
	}
	in = fopen("/etc/group", "re");
	if (in == NULL)
		return -1;
	while ((g = fgetgrent(in)) != NULL && strcmp(g->gr_name, name) != 0)
		continue;
	if (g != NULL)
		*gid = g->gr_gid;
	fclose(in);
	if (g != NULL)
		return 0;
	errno = ENOENT;
	return -1;
}

/* --- the text ------------------------------------------------------------------- */

static size_t
name_length(const char *assignment)
{
	return strcspn(assignment, "=");
}

/* Does the line set what one of the assignments sets? */
static bool
overridden(const char *line, size_t len, char *const *assignments, size_t n)
{
	while (len > 0 && (*line == ' ' || *line == '\t')) {
		line++;
		len--;
	}
	for (size_t i = 0; i < n; i++) {
		size_t k = name_length(assignments[i]), e = k;

		if (len <= k || strncmp(line, assignments[i], k) != 0)
			continue;
		while (e < len && (line[e] == ' ' || line[e] == '\t'))
			e++;
		if (e < len && line[e] == '=')
			return true;
	}
	return false;
}

/* The old lines but those that are set anew, then the new ones. */
static int
edit(const char *old, size_t len, char *const *assignments, size_t n, struct buffer *out)
{
	const char *end = old + len;

	while (old < end) {
		const char *nl = memchr(old, '\n', (size_t)(end - old));
		size_t k = nl == NULL ? (size_t)(end - old) : (size_t)(nl - old);

		if (!overridden(old, k, assignments, n) &&
		    (buffer_add(out, old, k) < 0 || buffer_byte(out, '\n') < 0))
			return -1;
		old += k + 1;
	}
	for (size_t i = 0; i < n; i++) {
		bool last = true;

		for (size_t j = i + 1; j < n; j++)
			last &= strncmp(assignments[i], assignments[j],
			    name_length(assignments[i]) + 1) != 0;
		if (!last || assignments[i][name_length(assignments[i]) + 1] == '\0')
			continue;
		if (buffer_text(out, assignments[i]) < 0 || buffer_byte(out, '\n') < 0)
			return -1;
	}
	return 0;
}

static int
validate(char *const *assignments, size_t n, struct fault *f)
{
	struct conf c;
	gid_t gid;

	conf_defaults(&c);
	for (size_t i = 0; i < n; i++) {
		if (strchr(assignments[i], '\n') != NULL)
			return fault_set(f, ST_USAGE, "a setting has no newline");
		if (conf_set(&c, assignments[i], f) < 0)
			return -1;
	}
	if (c.group[0] != '\0' && group_number(c.group, &gid) < 0)
		return fault_set(f, ST_USAGE, "group=%s: no such group", c.group);
	return 0;
}

/* --- the file ---------------------------------------------------------------------- */

/* Writes `fresh`, flushes it, renames it over `path`. */
static int
replace(int dir, const char *path, const char *fresh, const struct buffer *b, mode_t mode)
{
	int fd, saved;

	(void)unlinkat(dir, fresh, 0);
	fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -1;
	if (fchmod(fd, mode) < 0 || write_all(fd, b->data, b->len) < 0 || fsync(fd) < 0 ||
	    renameat(dir, fresh, dir, path) < 0) {
		saved = errno;
		(void)unlinkat(dir, fresh, 0);
		close(fd);
		errno = saved;
		return -1;
	}
	close(fd);
	return fsync(dir);
}

static int
rewrite(int dir, const char *path, const char *fresh, char *const *assignments, size_t n,
    mode_t mode)
{
	struct buffer b = { 0 };
	size_t len = 0;
	char *old = dir_read(dir, path, CONF_MAX, &len);
	int r = -1;

	if (old == NULL && errno != ENOENT)
		return -1;
	if (edit(old, len, assignments, n, &b) == 0)
		r = replace(dir, path, fresh, &b, mode);
	free(old);
	buffer_free(&b);
	return r;
}

int
store_conf(struct store *s, struct conf *c, struct fault *f)
{
	char shown[4608];

	conf_defaults(c);
	snprintf(shown, sizeof shown, "%s/.conf", s->path);
	return s->fd < 0 ? 0 : conf_load(c, s->fd, ".conf", shown, f);
}

int
store_configure(struct store *s, char *const *assignments, size_t n, struct fault *f)
{
	if (validate(assignments, n, f) < 0)
		return -1;
	/* readable by all who may enter: they need it to put */
	if (rewrite(s->fd, ".conf", ".conf.new", assignments, n, 0644) < 0)
		return fault_errno(f, "%s/.conf", s->path);
	return 0;
}

/* --- mode and group of what is there ------------------------------------------------- */

struct access {
	struct queue *q;
	int dir;
	gid_t gid;
	bool group;
	int depth;
};

static int
give_access(const char *name, void *arg)
{
	struct access *a = arg;
	struct stat st;
	bool is_dir;
	int fd, r = 0;

	if (fstatat(a->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -1;
	is_dir = S_ISDIR(st.st_mode);
	if (!is_dir && !S_ISREG(st.st_mode))
		return 0;
	fd = openat(a->dir, name, (is_dir ? O_DIRECTORY : 0) | O_RDONLY | O_NOFOLLOW |
	    O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	if ((a->group && fchown(fd, (uid_t)-1, a->gid) < 0) ||
	    fchmod(fd, is_dir ? dir_mode(a->q->conf.mode) : a->q->conf.mode) < 0)
		r = -1;
	/* subscriptions have settings of their own */
	if (r == 0 && is_dir && a->depth > 0 &&
	    (a->dir != a->q->fd || strcmp(name, "sub") != 0)) {
		struct access in = *a;

		in.dir = fd;
		in.depth--;
		r = dir_each(fd, give_access, &in);
	}
	close(fd);
	return r;
}

static int
apply_access(struct queue *q, struct fault *f)
{
	struct access a = { .q = q, .dir = q->fd, .depth = 4 };

	a.group = q->conf.group[0] != '\0';
	if (a.group && group_number(q->conf.group, &a.gid) < 0)
		return queue_fault(q, f, "group");
	if (a.group && fchown(q->fd, (uid_t)-1, a.gid) < 0)
		return queue_fault(q, f, "group");
	if (fchmod(q->fd, dir_mode(q->conf.mode)) < 0 || dir_each(q->fd, give_access, &a) < 0)
		return queue_fault(q, f, "mode");
	return 0;
}

int
queue_write_conf(struct queue *q, char *const *assignments, size_t n, struct fault *f)
{
	bool access = false;
	int r;

	if (validate(assignments, n, f) < 0 || queue_ready(q, f) < 0 || queue_lock(q, f) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		access |= strncmp(assignments[i], "mode=", 5) == 0 ||
		    strncmp(assignments[i], "group=", 6) == 0;
	r = rewrite(q->fd, "conf", "conf.new", assignments, n, q->conf.mode | 0400);
	if (r < 0)
		queue_fault(q, f, "conf");
	else if (queue_conf(q, f) == NULL || (access && apply_access(q, f) < 0))
		r = -1;
	queue_unlock(q);
	return r;
}

/* Under the topic's lock, which knows some of its settings. */
static int
configure_sub(struct queue *q, char *const *assignments, size_t n, struct fault *f)
{
	const char *sub = strchr(q->name, '/') + 1;

	if (subs_change(q->topic, f) < 0)
		return -1;
	if (queue_write_conf(q, assignments, n, f) < 0) {
		(void)subs_changed(q->topic, sub, &(struct fault){ 0 });
		return -1;
	}
	return subs_changed(q->topic, sub, f);
}

int
queue_configure(struct queue *q, char *const *assignments, size_t n, struct fault *f)
{
	int r;

	if (q->topic == NULL)
		return queue_write_conf(q, assignments, n, f);
	if (validate(assignments, n, f) < 0 || topic_lock(q->topic, f) < 0)
		return -1;
	r = configure_sub(q, assignments, n, f);
	queue_unlock(q->topic);
	return r;
}
