/* SPDX-License-Identifier: ISC
 *
 * fanout: a message of a topic, linked into each subscription that it fits.
 *
 *	tmp/-.UUID... -> out/-.UUID...     by its publisher, which holds the file
 *	                                   locked (flock); then it is flushed
 *	under the topic's lock:
 *	out/-.UUID... -> out/SEQ.UUID...   the commit: it is in all of those that
 *	                                   are there now, or about to be
 *	linked into each as ...,f          times are reckoned from the id's, so that
 *	                                   who finishes it prints the same names
 *	unlinked from out/
 *
 * A name with a SEQ in out/ was left by one that died, or waits for the flush of
 * a copy: whoever holds the lock finishes it. One without, whose file nobody
 * has locked, is published if it is whole: it may have been confirmed, and a
 * power cut have taken the rest back. As long as it is in out/ nobody touches
 * a name with `f` of it (fanout_blocks): so who finishes knows from EEXIST that a
 * link was made. Of a group it is looked for in new/ and grp/, under the
 * subscription's lock.
 *
 * Where no link can be had (EMLINK, EXDEV, EPERM), a flushed copy. */
#ifndef MQ_FANOUT_H
#define MQ_FANOUT_H

#include "message.h"
#include "queue.h"

/* A publish under way, the topic's lock held from plan to end. */
struct fanout;

/* Which subscriptions does it fit? The topic's lock is held and fanout_finish()
 * was called. `out` is its place, without a SEQ. NULL */
struct fanout *fanout_plan(struct queue *topic, const struct head *,
	const struct place *out, struct fault *);
size_t fanout_matched(const struct fanout *);
/* An ephemeral one is there whose process is not. */
bool fanout_met_dead(const struct fanout *);
/* Reserves room in those with a limit, and holds their locks: 1, or 0: *full (a
 * reference, the caller's to close) has none; nothing is dropped anywhere
 * unless all others have room. -1 */
int fanout_reserve(struct fanout *, uint64_t count, uint64_t bytes,
	struct queue **full, struct fault *);
/* The reserved room is not needed. */
void fanout_cancel(struct fanout *);
/* The commit, and all that follows. 1; 0: it is not in out/ any more; -1: after
 * the commit who comes next goes on with it (*committed). */
int fanout_run(struct fanout *, uint64_t seq, bool *committed, struct fault *);
void fanout_end(struct fanout *);

/* Under the topic's lock, first of all: finishes what dead publishers left. The
 * lock is let go for a moment where a file must be flushed. *n (may be NULL)
 * counts them. */
int fanout_finish(struct queue *topic, uint64_t *n, struct fault *);
/* Is this a name in a subscription that may not be touched yet? First waits for
 * the publisher, or does its work, unless the caller holds a lock; then it notes
 * in the queue that it is `stuck'. */
bool fanout_blocks(struct queue *sub, const struct name *);
/* For who holds no lock: see to all that is stuck. */
void fanout_help(struct queue *sub);

#endif
