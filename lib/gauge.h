/* SPDX-License-Identifier: ISC
 *
 * gauge: how many messages lie in each state, kept in the meter as they move: an
 * estimate that needs no look at the directory. What a crash leaves uncounted, and
 * a meter made anew over messages, is put right by mq-sweep, which counts. A
 * subscription has none: a topic's publish does not touch its meter. */
#ifndef MQ_GAUGE_H
#define MQ_GAUGE_H

#include "queue.h"

/* A name went from there to there; NULL: from or to nowhere. Names in hold/ are
 * nowhere. */
void gauge_move(struct queue *, const struct place *from, const struct place *to);
/* Counts what is there. -1 */
int gauge_recount(struct queue *, struct fault *);

#endif
