/* SPDX-License-Identifier: ISC
 *
 * walk: the names in a queue's directories, as they lie there. */
#ifndef MQ_WALK_H
#define MQ_WALK_H

#include "place.h"
#include "queue.h"

/* What it counts as: a lease that ran out, or what is due, is ready. */
enum state place_state(const struct place *, int64_t now);
/* Its time to live is over, and nobody has come by yet to drop it. */
bool place_over(const struct place *, int64_t now);

/* Each name in the directories of the given states, in no order; a range is one
 * name. fn's result != 0 ends it and is returned. READY, LEASED and LATER here
 * mean the directory, whatever has run out or is due. */
int walk_places(struct queue *, unsigned states,
	int (*fn)(const struct place *, void *), void *, struct fault *);
/* Those in that segment, of all priorities. */
int walk_segment_of(struct queue *, uint64_t seg,
	int (*fn)(const struct place *, void *), void *, struct fault *);

/* --- for other orders ------------------------------------------------------------- */

struct walk {
	struct queue *q;
	enum where where;
	int64_t bucket;
	const char *parent;
	int (*fn)(const struct place *, void *);
	void *arg;
	struct fault *f;
};

/* Calls each with the entries of that directory and w; 0 if it is gone. */
int walk_dir(struct walk *w, const char *path, int (*each)(const char *, void *));
/* For walk_dir: calls w->fn with the place of that name in w->parent; with those of
 * that segment in it. */
int walk_name(const char *name, void *w);
int walk_segment(const char *name, void *w);

#endif
