/* SPDX-License-Identifier: ISC */
#include "topicput.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "dedup.h"
#include "fanout.h"
#include "sequence.h"
#include "topic.h"

#define KEY_TRIES 1000

/* --- idempotency keys: noted while the file is still in tmp/ ------------------- */

/* The lock is held; it is let go. The first with the key is at `at`, on its way:
 * waits until its putter has ended. */
static int
wait_for_first(struct queue *q, const struct place *at)
{
	int fd = place_open(q, at, O_RDONLY);

	queue_unlock(q);
	if (fd < 0)
		return 0;
	while (flock(fd, LOCK_SH) < 0 && errno == EINTR)
		continue;
	close(fd);
	return 0;
}

/* Under the lock. REPEATED, AGAIN: look again, the lock was let go; PUBLISHED: it
 * is noted for us, go on; -1 */
static int
note_key_locked(struct topic_put *t, struct fault *f)
{
	struct queue *q = t->topic;
	struct place at;
	struct dedup d;
	int r = dedup_look(q, t->key, now_ms(), &d, f);

	if (r < 0)
		return -1;
	if (r == 0)
		return dedup_note(q, t->key, &(struct dedup){ t->tmp.name.id, t->expiry, 0 },
		    f) < 0 ? -1 : PUBLISHED;
	t->first = d.id;
	r = dedup_find_tmp(q, d.id, &at, f);
	if (r == 0)
		return REPEATED;
	if (r == 1)
		r = dedup_finish(q, &at, t->key, &d, now_ms(), f);
	if (r == 1)
		return REPEATED;
	if (r < 0 && f->status == ST_TRYAGAIN)
		wait_for_first(q, &at);
	else
		queue_unlock(q);
	return r < 0 && f->status != ST_TRYAGAIN ? -1 : AGAIN;
}

/* REPEATED, PUBLISHED: it is ours, or -1 */
static int
note_key(struct topic_put *t, struct fault *f)
{
	for (int tries = 0; tries < KEY_TRIES; tries++) {
		int r;

		if (topic_lock(t->topic, f) < 0)
			return -1;
		r = note_key_locked(t, f);
		if (r == REPEATED || r == PUBLISHED || (r < 0 && t->topic->locked > 0)) {
			queue_unlock(t->topic);
			return r;
		}
		if (r < 0)
			return -1;
	}
	return fault_set(f, ST_TRYAGAIN, "%s: the first put with that key is under way",
	    t->topic->name);
}

/* --- publishing ------------------------------------------------------------------- */

/* Nothing of it has been told to anybody: it goes, and its key. */
static bool
withdraw(struct topic_put *t, const struct place *out)
{
	struct fault ignored;
	bool gone = queue_unlink(t->topic, out, &ignored) == 1;

	if (gone && t->key != NULL)
		dedup_drop(t->topic, t->key);
	return gone;
}

/* Nobody wants it. */
static int
unrouted(struct topic_put *t, const struct place *out, struct fault *f)
{
	struct fault ignored;

	if (t->topic->conf.unrouted == UNROUTED_REJECT) {
		bool gone = withdraw(t, out);

		fault_set(f, ST_UNAVAILABLE, "%s: no subscription wants it", t->topic->name);
		return publish_say(f, gone ? "not stored" : "may be stored");
	}
	(void)queue_unlink(t->topic, out, &ignored);     /* its key stays */
	atomic_fetch_add(&t->topic->meter->unrouted, out->name.count);
	t->unrouted = true;
	return PUBLISHED;
}

/* It fits some. */
static int
send(struct topic_put *t, struct fanout *fo, const struct place *out, struct fault *f)
{
	bool committed;
	int r = fanout_reserve(fo, out->name.count, t->bytes, &t->full, f);

	if (r != 1) {
		bool gone = withdraw(t, out);

		if (r == 0 && gone)
			return FULL;
		if (r == 0)
			fault_set(f, ST_TRYAGAIN, "%s: the queue is full", t->full->name);
		return publish_say(f, gone ? "not stored" : "may be stored");
	}
	r = fanout_run(fo, sequence_next(t->topic, out->name.count), &committed, f);
	if (r == 1)
		return PUBLISHED;
	if (committed)
		return publish_say(f, "may be stored");
	fanout_cancel(fo);
	if (r == 0)
		return AGAIN;
	return publish_say(f, withdraw(t, out) ? "not stored" : "may be stored");
}

/* Under the lock. */
static int
publish_locked(struct topic_put *t, const struct place *out, bool *reap, struct fault *f)
{
	struct fanout *fo = fanout_plan(t->topic, t->head, out, f);
	int r;

	if (fo == NULL)
		return publish_say(f, withdraw(t, out) ? "not stored" : "may be stored");
	*reap = fanout_met_dead(fo);
	r = fanout_matched(fo) == 0 ? unrouted(t, out, f) : send(t, fo, out, f);
	fanout_end(fo);
	if (r == PUBLISHED)
		atomic_fetch_add(&t->topic->meter->published, out->name.count);
	return r;
}

/* What killed tails left. */
static void
reap_dead(struct queue *topic)
{
	struct fault ignored;

	if (topic_lock(topic, &ignored) < 0)
		return;
	(void)topic_reap(topic, NULL, &ignored);
	queue_unlock(topic);
	topic_raze(topic);
}

int
topic_put(struct topic_put *t, struct fault *f)
{
	struct place out = t->tmp;
	bool reap = false;
	int r;

	out.where = IN_OUT;
	if (t->key != NULL) {
		r = note_key(t, f);
		if (r != PUBLISHED) {
			(void)queue_unlink(t->topic, &t->tmp, &(struct fault){ 0 });
			return r < 0 ? publish_say(f, "not stored") : r;
		}
	}
	r = queue_move(t->topic, &t->tmp, &out, f);
	if (r != 1)
		return r < 0 ? publish_say(f, withdraw(t, &t->tmp) ? "not stored" :
		    "may be stored") : AGAIN;
	if (t->sync && fsync(t->fd) < 0) {
		queue_fault(t->topic, f, "fsync");
		return publish_say(f, withdraw(t, &out) ? "not stored" : "may be stored");
	}
	if (topic_lock(t->topic, f) < 0)
		return publish_say(f, withdraw(t, &out) || f->status == ST_NOQUEUE ?
		    "not stored" : "may be stored");
	r = publish_locked(t, &out, &reap, f);
	queue_unlock(t->topic);
	if (reap)
		reap_dead(t->topic);
	return r;
}
