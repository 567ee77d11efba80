/* SPDX-License-Identifier: ISC
 *
 * vacancy: the limits of a queue. What counts is ready, leased, blocked and
 * later, not dead; its number and its bytes stand in the meter and are exact
 * under the lock: in a queue with a limit whatever comes or goes does so under
 * it. A crash can only leave them too high; they are recounted before a put
 * is refused, and by a sweep. */
#ifndef MQ_VACANCY_H
#define MQ_VACANCY_H

#include "queue.h"

bool vacancy_limited(const struct queue *);
bool vacancy_counts(enum where);                    /* does a message there count? */

/* Under the lock: 1 there is room for `count` messages of `bytes` in all, and it
 * is reserved; 0 there is none; -1 */
int vacancy_take(struct queue *, uint64_t count, uint64_t bytes, struct fault *);
/* What was reserved is not needed, or a message that counted has gone. */
void vacancy_give(struct queue *, uint64_t count, uint64_t bytes);
/* After a move under the lock: if it counted and does so no more, or the reverse. */
void vacancy_moved(struct queue *, enum where from, enum where to, uint64_t count,
	uint64_t bytes);
/* Could `count` of `bytes` ever be in it? */
bool vacancy_ever(const struct queue *, uint64_t count, uint64_t bytes);
/* Bytes of what stands there, where the limit wants to know. */
uint64_t vacancy_bytes(struct queue *, const struct place *);
/* The same of a part of it. */
uint64_t vacancy_bytes_of(struct queue *, const struct place *at, const struct place *part);
/* The counts are not to be trusted: recount before the next use. */
void vacancy_forget(struct queue *);
/* Counts what is there. */
int vacancy_recount(struct queue *, struct fault *);

/* Sleeps until room may have come, ms at most; `seen` as told by vacancy_bell().
 * Those who wait stand in line; only the head is woken. */
struct vacancy_wait;
struct vacancy_wait *vacancy_wait_begin(struct queue *, struct fault *);
/* Is it the caller's turn to try? */
bool vacancy_wait_turn(struct vacancy_wait *);
void vacancy_wait_sleep(struct vacancy_wait *, int ms);
void vacancy_wait_end(struct vacancy_wait *);

#endif
