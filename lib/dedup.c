/* SPDX-License-Identifier: ISC */
#include "dedup.h"

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "dir.h"
#include "fanout.h"
#include "keyed.h"
#include "message.h"
#include "publish.h"
#include "vacancy.h"
#include "walk.h"
#include "topic.h"

#define KEY_SIZE 1025

/* *key points into the target. */
static bool
target_parse(const char *s, struct dedup *d, const char **key)
{
	uint64_t expiry;

	if (strlen(s) < ID_LEN + 1 || !id_parse(s, &d->id) || s[ID_LEN] != ' ')
		return false;
	s += ID_LEN + 1;
	if (!keyed_number(&s, &expiry) || !keyed_number(&s, &d->seq))
		return false;
	d->expiry = (int64_t)expiry;
	*key = s;
	return true;
}

/* --- where the first message is -------------------------------------------------- */

struct seek {
	struct id id;
	struct place at;
};

static int
seek_place(const struct place *p, void *arg)
{
	struct seek *s = arg;
	int64_t k = id_offset(p->name.id, s->id, p->name.first + p->name.count);

	if (k < (int64_t)p->name.first)
		return 0;
	s->at = *p;
	return 1;
}

int
dedup_find(struct queue *q, struct id id, uint64_t seq, struct place *at, struct fault *f)
{
	struct seek s = { .id = id };
	int r;

	*at = s.at;
	if (queue_is_topic(q))
		return topic_walk(q, READY | LEASED | LATER | BLOCKED, seek_place, &s, f);
	r = walk_segment_of(q, seq >> SEG_BITS, seek_place, &s, f);

	if (r == 0)
		r = walk_places(q, LEASED | LATER | BLOCKED, seek_place, &s, f);
	/* it may have moved back meanwhile */
	if (r == 0)
		r = walk_segment_of(q, seq >> SEG_BITS, seek_place, &s, f);
	*at = s.at;
	return r;
}

static int
seek_tmp(const char *text, void *arg)
{
	struct seek *s = arg;
	struct place p = { .where = IN_TMP };

	if (!name_parse(text, &p.name) || p.name.seq != SEQ_NONE ||
	    !id_equal(p.name.id, s->id))
		return 0;
	s->at = p;
	return 1;
}

int
dedup_find_tmp(struct queue *q, struct id id, struct place *at, struct fault *f)
{
	struct seek s = { .id = id };
	int dir = queue_dir(q, "tmp", true);
	int r = dir < 0 ? -1 : dir_each(dir, seek_tmp, &s);

	if (r == 0 && queue_is_topic(q)) {
		dir = queue_dir(q, "out", true);
		r = dir < 0 ? -1 : dir_each(dir, seek_tmp, &s);
		s.at.where = IN_OUT;
	}
	*at = s.at;
	return r < 0 ? queue_fault(q, f, "tmp") : r;
}

/* --- keys --------------------------------------------------------------------------- */

static int
live(struct queue *q, const struct dedup *d, int64_t now, struct fault *f)
{
	struct place at;
	int r;

	if (d->expiry != 0)
		return d->expiry > now;
	r = dedup_find_tmp(q, d->id, &at, f);
	return r != 0 ? r : dedup_find(q, d->id, d->seq, &at, f);
}

int
dedup_look(struct queue *q, const char *key, int64_t now, struct dedup *out,
    struct fault *f)
{
	struct keyed k = keyed_place("dedup", key);
	char target[KEYED_TARGET];
	const char *noted;
	int r = keyed_look(q, &k, target);

	if (r < 0)
		return queue_fault(q, f, "dedup");
	/* another key of the same hash? */
	if (r == 0 || !target_parse(target, out, &noted) || strcmp(noted, key) != 0)
		return 0;
	return live(q, out, now, f);
}

int
dedup_note(struct queue *q, const char *key, const struct dedup *d, struct fault *f)
{
	struct keyed k = keyed_place("dedup", key);
	char target[KEYED_TARGET], id[ID_LEN + 1];
	int dir = queue_dir(q, k.dir, true);

	id_print(d->id, id);
	snprintf(target, sizeof target, "%s %" PRId64 " %" PRIu64 " %s", id, d->expiry,
	    d->seq, key);
	/* in place of one that is over */
	if (dir < 0 || keyed_drop(q, &k) < 0 || symlinkat(target, dir, k.name) < 0)
		return queue_fault(q, f, "dedup");
	if (d->expiry != 0)
		hint_lower(&q->meter->dedup, (uint64_t)d->expiry);
	return 0;
}

void
dedup_drop(struct queue *q, const char *key)
{
	struct keyed k = keyed_place("dedup", key);

	(void)keyed_drop(q, &k);
}

static int
narrow(struct queue *q, const char *key, int64_t expiry, struct fault *f)
{
	struct dedup d;
	int r = dedup_look(q, key, 0, &d, f);

	if (r != 1 || d.expiry <= expiry)        /* also --unique */
		return r < 0 ? -1 : 0;
	d.expiry = expiry;
	return dedup_note(q, key, &d, f);
}

int
queue_narrow_keys(struct queue *q, const char *const *keys, size_t n, int64_t window,
    struct fault *f)
{
	int64_t expiry;
	int r = 0;

	if (queue_conf(q, f) == NULL || queue_ready(q, f) < 0 || queue_lock(q, f) < 0)
		return -1;
	expiry = now_ms() + (window > q->conf.dedup ? window : q->conf.dedup);
	for (size_t i = 0; i < n && r == 0; i++)
		r = narrow(q, keys[i], expiry, f);
	queue_unlock(q);
	return r;
}

/* --- all of them ---------------------------------------------------------------------- */

struct keys {
	struct queue *q;
	int (*fn)(struct keys *, const char *key, const struct dedup *);
	struct id id;                    /* looked for */
	struct dedup found;
	char key[KEY_SIZE];
	int64_t now;
	bool dry;
	uint64_t n;
	uint64_t next;
	struct fault *f;
};

static int
each_target(const char *target, void *arg)
{
	struct keys *k = arg;
	struct dedup d;
	const char *key;

	return target_parse(target, &d, &key) ? k->fn(k, key, &d) : 0;
}

static int
each(struct keys *k)
{
	return keyed_each(k->q, "dedup", each_target, k);
}

static int
names_it(struct keys *k, const char *key, const struct dedup *d)
{
	if (!id_equal(d->id, k->id))
		return 0;
	k->found = *d;
	strlcpy(k->key, key, sizeof k->key);
	return 1;
}

/* Whole, and nobody writes it any more? 1, 0 torn, -1 */
static int
finished(struct queue *q, const struct place *tmp, struct fault *f)
{
	struct message *m = NULL;
	int fd = place_open(q, tmp, O_RDONLY), r;

	if (fd < 0)
		return queue_fault(q, f, "tmp");
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return fault_set(f, ST_TRYAGAIN, "%s: the first put with that key is "
		    "under way", q->name);
	}
	r = message_read(fd, &m) == MESSAGE_OK && message_check(m) == MESSAGE_OK;
	message_close(m);
	return r;
}

/* On its way, as by its putter; out/ is finished by whoever has the lock. */
static int
finish_in_topic(struct queue *q, const struct place *tmp, struct fault *f)
{
	struct place out = *tmp;

	out.where = IN_OUT;
	if (tmp->where != IN_OUT && queue_move(q, tmp, &out, f) < 0)
		return -1;
	return fanout_finish(q, NULL, f) < 0 ? -1 : 1;
}

int
dedup_forget(struct queue *q, struct id id, struct fault *f)
{
	struct keys k = { .q = q, .fn = names_it, .id = id };
	int r = each(&k);

	if (r < 0)
		return queue_fault(q, f, "dedup");
	if (r == 1)
		dedup_drop(q, k.key);
	return 0;
}

int
dedup_finish(struct queue *q, const struct place *tmp, const char *key,
    const struct dedup *d, int64_t now, struct fault *f)
{
	struct place goal = publish_goal(&tmp->name, d->seq, now), to;
	int r = finished(q, tmp, f);

	if (r == 1 && queue_is_topic(q))
		return finish_in_topic(q, tmp, f);
	if (r == 1) {
		vacancy_forget(q);
		return publish_as(q, tmp, &goal, &to, f);
	}
	if (r < 0)
		return -1;
	dedup_drop(q, key);
	return queue_unlink(q, tmp, f) < 0 ? -1 : 0;
}

int
dedup_finish_any(struct queue *q, const struct place *tmp, int64_t now, struct fault *f)
{
	struct keys k = { .q = q, .fn = names_it, .id = tmp->name.id };
	int r = each(&k);

	if (r < 0)
		return queue_fault(q, f, "dedup");
	return r == 0 ? 0 : dedup_finish(q, tmp, k.key, &k.found, now, f);
}

/* Under the lock, where it may have been noted anew since it was read. */
static int
forget_key(struct keys *k, const char *key)
{
	struct dedup d;
	int r;

	if (queue_lock(k->q, k->f) < 0)
		return -1;
	r = dedup_look(k->q, key, k->now, &d, k->f);
	if (r == 0)
		dedup_drop(k->q, key);
	queue_unlock(k->q);
	return r;
}

static int
forget(struct keys *k, const char *key, const struct dedup *d)
{
	int r = live(k->q, d, k->now, k->f);

	if (r == 0 && !k->dry)
		r = forget_key(k, key);
	if (r < 0)
		return -1;
	if (r == 0) {
		k->n++;
	} else if (d->expiry != 0 && (uint64_t)d->expiry < k->next) {
		k->next = (uint64_t)d->expiry;
	} else if (d->expiry == 0) {
		k->next = (uint64_t)k->now;      /* look again next time */
	}
	return 0;
}

int
dedup_sweep(struct queue *q, int64_t now, bool dry, uint64_t *n, struct fault *f)
{
	struct keys k = { .q = q, .fn = forget, .now = now, .dry = dry,
		.next = HINT_NONE, .f = f };
	uint64_t raw = atomic_load(&q->meter->dedup);

	if (hint_value(raw) > (uint64_t)now)
		return 0;
	f->status = 0;
	if (each(&k) < 0)
		return f->status != 0 ? -1 : queue_fault(q, f, "dedup");
	*n += k.n;
	if (!dry)
		hint_raise(&q->meter->dedup, raw, k.next);
	return 0;
}
