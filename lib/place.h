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
	IN_DONE = 'o', GONE = 'x',
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

/* A split under way, as told by its name in hold/: source, goal and the part
 * that moves. */
struct held {
	struct place source;     /* as it was before the split */
	struct place goal;       /* of the moving part; GONE: acked */
	uint32_t copied;         /* 0: a link; else the moving part is a file of its
	                          * own, of the source from message copied - 1 on */
};
/* False if it would not fit (only with absurdly large numbers in it). */
bool held_print(const struct held *, char out[static NAME_SIZE]);
bool held_parse(const char *, struct held *);

#endif
