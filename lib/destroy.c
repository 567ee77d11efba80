/* SPDX-License-Identifier: ISC
 *
 * destroy: removing a queue. It is renamed out of the way first, to a name no
 * queue can have, and then taken apart; a sweep ends what a crash left. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "destroy.h"
#include "dir.h"
#include "walk.h"
#include "topic.h"

#define DEAD_PREFIX ".removed."
#define RAZE_TRIES 100

struct razing {
	int dir;
};

static int
raze_entry(const char *name, void *arg)
{
	struct razing *r = arg, in;
	int done;

	if (unlinkat(r->dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	in.dir = openat(r->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (in.dir < 0)
		return -1;
	for (int tries = 0; tries < RAZE_TRIES; tries++) {
		done = dir_each(in.dir, raze_entry, &in);
		if (done < 0)
			break;
		done = unlinkat(r->dir, name, AT_REMOVEDIR);
		if (done == 0 || (errno != ENOTEMPTY && errno != EEXIST))
			break;           /* else somebody still works in there */
	}
	close(in.dir);
	return done < 0 && errno != ENOENT ? -1 : 0;
}

int
raze(int dir, const char *name)
{
	return raze_entry(name, &(struct razing){ dir });
}

/* A put that began before the rename may have ended after it: it looks whether
 * its queue is still there before it confirms, and this looks whether a message
 * came; so one of the two sees the other. */
static int
set_aside(struct queue *q, const char *gone, bool force, struct fault *f)
{
	int dir = q->store->fd, left;

	if (renameat2(dir, q->name, dir, gone, RENAME_NOREPLACE) < 0)
		return queue_fault(q, f, "cannot be removed");
	left = force ? 0 : topic_holds(q, f);
	if (left != 0 && renameat2(dir, gone, dir, q->name, RENAME_NOREPLACE) < 0)
		return queue_fault(q, f, "cannot be put back");
	return left;
}

static int
destroy_sub(struct queue *q, bool force, struct fault *f)
{
	return topic_unsubscribe(q->store, q->topic->name, strchr(q->name, '/') + 1, force, f);
}

int
queue_destroy(struct queue *q, bool force, struct fault *f)
{
	char gone[QUEUE_NAME_SIZE + 64];
	int left;

	if (q->topic != NULL)
		return destroy_sub(q, force, f);
	if ((force ? topic_lock_anyway : topic_lock)(q, f) < 0)
		return -1;
	left = force ? 0 : topic_holds(q, f);
	if (left == 0) {
		snprintf(gone, sizeof gone, DEAD_PREFIX "%s.%lld.%d", q->name,
		    (long long)now_ms(), (int)getpid());
		left = set_aside(q, gone, force, f);
	}
	if (left == 1) {
		left = fault_set(f, ST_TRYAGAIN, "%s: has messages (--force removes it all)",
		    q->name);
	}
	queue_unlock(q);
	if (left < 0)
		return -1;
	if (fsync(q->store->fd) < 0 || raze(q->store->fd, gone) < 0)
		return queue_fault(q, f, "removed in part; mq-sweep ends it");
	return 0;
}

static int
raze_removed(const char *name, void *arg)
{
	if (strncmp(name, DEAD_PREFIX, strlen(DEAD_PREFIX)) == 0)
		(void)raze_entry(name, arg);
	return 0;
}

int
store_tidy(struct store *s, struct fault *f)
{
	struct razing r = { .dir = s->fd };

	if (s->fd < 0)
		return 0;
	return dir_each(s->fd, raze_removed, &r) < 0 ? fault_errno(f, "%s", s->path) : 0;
}
