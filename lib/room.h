/* SPDX-License-Identifier: ISC
 *
 * room: the limits of a queue. What counts is ready, leased, blocked and
 * later, not dead; its number and its bytes stand in the meter and are exact
 * under the lock: in a queue with a limit whatever comes or goes does so under
 * it. A crash can only leave them too high; they are recounted before a put
 * is refused, and by a sweep. */
#ifndef MQ_ROOM_H
#define MQ_ROOM_H

#include "queue.h"

bool room_limited(const struct queue *);
bool room_counts(enum where);                    /* does a message there count? */

/* Under the lock: 1 there is room for `count` messages of `bytes` in all, and it
 * is reserved; 0 there is none; -1 */
int room_take(struct queue *, uint64_t count, uint64_t bytes, struct fault *);
/* What was reserved is not needed, or a message that counted has gone. */
void room_give(struct queue *, uint64_t count, uint64_t bytes);
/* After a move under the lock: if it counted and does so no more, or the reverse. */
void room_moved(struct queue *, enum where from, enum where to, uint64_t count,
	uint64_t bytes);
/* Could `count` of `bytes` ever be in it? */
bool room_ever(const struct queue *, uint64_t count, uint64_t bytes);
/* Bytes of what stands there, where the limit wants to know. */
uint64_t room_bytes(struct queue *, const struct place *);
/* The same of a part of it. */
uint64_t room_bytes_of(struct queue *, const struct place *at, const struct place *part);
/* The counts are not to be trusted: recount before the next use. */
void room_forget(struct queue *);
/* Counts what is there. */
int room_recount(struct queue *, struct fault *);

/* Sleeps until room may have come, ms at most; `seen` as told by room_bell().
 * Those who wait stand in line; only the head is woken. */
struct room_wait;
struct room_wait *room_wait_begin(struct queue *, struct fault *);
/* Is it the caller's turn to try? */
bool room_wait_turn(struct room_wait *);
void room_wait_sleep(struct room_wait *, int ms);
void room_wait_end(struct room_wait *);

#endif
