/* SPDX-License-Identifier: ISC
 *
 * change: sleeping until messages leave a queue, for mq-wait. Watches the
 * directories they leave from; where there are too many, or no inotify, the
 * clock has to do. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "dir.h"
#include "walk.h"
#include "queue.h"

#define WATCHES 256
#define BLIND_MS 250

struct changes {
	int fd;
	int wd[WATCHES];
	int n;
	bool blind;              /* not everything is watched */
};

struct changes *
changes_new(struct fault *f)
{
	struct changes *c = calloc(1, sizeof *c);

	if (c == NULL) {
		fault_errno(f, "wait");
		return NULL;
	}
	c->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	c->blind = c->fd < 0;
	return c;
}

void
changes_free(struct changes *c)
{
	if (c == NULL)
		return;
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}

static void
watch(struct changes *c, struct queue *q, const char *sub)
{
	char path[5000];
	int wd;

	if (c->n == WATCHES)
		c->blind = true;
	if (c->blind)
		return;
	snprintf(path, sizeof path, "%s/%s/%s", q->store->path, q->path, sub);
	wd = inotify_add_watch(c->fd, path, IN_DELETE | IN_MOVED_FROM | IN_CREATE |
	    IN_DELETE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW);
	if (wd >= 0)
		c->wd[c->n++] = wd;
}

struct inner {
	struct changes *c;
	struct queue *q;
	const char *parent;
	int depth;
};

static void watch_tree(struct inner *);

static int
watch_inner(const char *name, void *arg)
{
	struct inner *i = arg;
	char path[PLACE_DIR_SIZE];
	struct inner in = { i->c, i->q, path, i->depth - 1 };

	snprintf(path, sizeof path, "%.40s/%.20s", i->parent, name);
	watch_tree(&in);
	return i->c->blind;
}

static void
watch_tree(struct inner *i)
{
	int fd;

	watch(i->c, i->q, i->parent);
	if (i->depth == 0 || i->c->blind)
		return;
	fd = dir_open(i->q->fd, i->parent);
	if (fd < 0)
		return;
	(void)dir_each(fd, watch_inner, i);
	close(fd);
}

void
changes_watch(struct changes *c, struct queue *q)
{
	char buf[4096];

	while (c->n > 0)
		(void)inotify_rm_watch(c->fd, c->wd[--c->n]);
	c->blind = c->fd < 0 || queue_is_topic(q);
	while (c->fd >= 0 && read(c->fd, buf, sizeof buf) > 0)
		continue;
	watch_tree(&(struct inner){ c, q, "cur", 1 });
	watch_tree(&(struct inner){ c, q, "later", 1 });
	watch_tree(&(struct inner){ c, q, "new", 2 });
	watch(c, q, "dlq");
	watch(c, q, "done");
}

void
changes_sleep(struct changes *c, int ms)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	if (c->blind && ms > BLIND_MS)
		ms = BLIND_MS;
	(void)poll(&p, 1, ms);
}
