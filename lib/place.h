/* SPDX-License-Identifier: ISC
 *
 * place: where a message lies in its queue: the directory and the name. This
 * is the one place that knows which directory goes with which state. */
#ifndef MQ_PLACE_H
#define MQ_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "name.h"

enum where { /* the letter stands in held names */
	IN_TMP = 't', IN_NEW = 'n', IN_CUR = 'c', IN_LATER = 'l', IN_DLQ = 'd',
	IN_DONE = 'o', IN_GRP = 'g', IN_OUT = 'u', GONE = 'x',
};

struct place {
	enum where where;
	int64_t bucket;          /* of cur, later, done: ms since 1970 */
	struct name name;
};

#define PLACE_DIR_SIZE 64

/* The directory below the queue: "new/5/000000002a", "cur/1796045000000"... */
void place_dir(const struct place *, char out[static PLACE_DIR_SIZE]);
/* Is the name one that may stand there? (Fields that do not apply are off.) */
bool place_fits(const struct place *);

/* A change of more than one step under way, as told by its name in hold/. */
enum held_kind {
	HELD_SPLIT,              /* `name` is the part of `source` that moves */
	HELD_FIRST,              /* the first of its group, on its way to new/ */
	HELD_END,                /* a head that ended: the next comes up */
};

struct held {
	enum held_kind kind;
	struct place source;     /* of a split: as it was before */
	struct place goal;       /* where the held name goes in the end; GONE */
	uint32_t copied;         /* of a split, 0: a link; else the moving part is a
	                          * file of its own, of the source from message
	                          * copied - 1 on */
	bool has_next;           /* of an end: the group has more, and which: */
	uint64_t next_seq;
	uint32_t next_first;
};
/* False if it would not fit (only with absurdly large numbers in it). */
bool held_print(const struct held *, char out[static NAME_SIZE]);
bool held_parse(const char *, struct held *);

#endif
