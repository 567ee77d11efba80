/* SPDX-License-Identifier: ISC
 *
 * meter: counters and hints of a queue, shared by its processes through one
 * mapped file. A cache: it may be deleted at any time and is then built anew
 * from the directory. Only `seq`, the recovery flag and the hints steer
 * anything; each is safe when stale as told below. */
#ifndef MQ_METER_H
#define MQ_METER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "rates.h"

#define METER_SIZE 20480
#define METER_MAGIC "mqmeter3"
#define GAUGES 5

/* A lower bound that anybody may lower, and that may be raised only by who
 * saw that nobody lowered it since: value << 20 | generation. */
typedef _Atomic uint64_t hint;
#define HINT_NONE (UINT64_C(1) << 43)            /* above every value */

struct meter {
	char magic[8];
	uint8_t boot[16];                /* the boot it was made in */
	uint64_t dev, ino;               /* of the queue's directory */
	uint64_t boot_seq;               /* first SEQ given out under this meter */
	_Atomic uint64_t seq;            /* the next SEQ */
	_Atomic uint32_t busy;           /* a change of more than one step is
	                                  * under way or was left half-way */
	_Atomic uint32_t topic;          /* 1: it has subscriptions, or had */
	hint ready[10];                  /* lowest segment of each priority that
	                                  * may hold something */
	hint deadline;                   /* first bucket in cur/ */
	hint due;                        /* first bucket in later/ */
	hint dedup;                      /* first idempotency key to be forgotten */
	hint once;                       /* first key of once/ to be forgotten */
	_Atomic uint64_t back[10];       /* messages that came back, a priority */
	/* under the lock, in a queue with a limit: what counts, see room.h */
	uint64_t held, held_bytes;
	uint64_t limit, limit_bytes;     /* those that it was counted under */
	uint64_t recounted;              /* ms since 1970 */
	_Atomic uint32_t blocked;        /* puts that wait for room, about */
	uint64_t rate_next;              /* the next token, ns of CLOCK_BOOTTIME */
	uint64_t made;                   /* when, ns since 1970 */
	_Atomic uint64_t index;          /* of a topic: the index file that is true has
	                                  * this number */
	/* Of a topic: counts up before and after messages of a priority, or delayed
	 * ones, are linked into subscriptions, whose own meters are left alone. Its
	 * first value is one that no other meter had. */
	_Atomic uint64_t fan[10], fan_due;
	_Atomic uint64_t fan_low[10];    /* the segment it was for, last */
	/* of a subscription: how far it has heard of these */
	_Atomic uint64_t fan_seen[10], fan_due_seen;
	/* messages that lie in new/, cur/, later/, grp/ and dlq/; see gauge.h */
	_Atomic int64_t gauge[GAUGES];
	_Atomic uint32_t gauged;         /* 1: they are right */
	struct rates rates;
};

_Static_assert(sizeof(struct meter) <= METER_SIZE, "meter");

uint64_t hint_value(uint64_t raw);
void hint_lower(hint *, uint64_t value);
/* Set to value if it is still `seen` (raw). */
void hint_raise(hint *, uint64_t seen, uint64_t value);

/* This boot's id; -1 with errno. */
int boot_id(uint8_t out[static 16]);

/* Maps the file `meter` in `dir`. NULL with errno: ENOENT none there, ESTALE
 * not of this boot or this directory, or garbage. *id is the file's own. */
struct meter *meter_map(int dir, uint64_t *id);
void meter_unmap(struct meter *);
/* Makes a new one in place of what is there, with the flag set and everything
 * unknown but `seq`. Under the queue's lock. -1 with errno. */
int meter_make(int dir, uint64_t seq, mode_t mode);

#endif
