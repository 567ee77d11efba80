/* SPDX-License-Identifier: ISC
 *
 * keyed: what a queue has noted of keys. TOP/HH/HASH (XXH3-128 of the key, HH its first
 * two digits) is a symbolic link whose target is words that tell it and, as the last
 * of them, the key: it is compared, so that a collision is another key. A link needs
 * no inode of its own for its data and is made by one call; a million cost as
 * ten. */
#ifndef MQ_KEYED_H
#define MQ_KEYED_H

#include "queue.h"

#define KEYED_DIR 16
#define KEYED_HASH 32                    /* digits */
#define KEYED_TARGET 4096

struct keyed {
	char dir[KEYED_DIR];             /* TOP/HH, for queue_dir() */
	char name[KEYED_HASH + 1];
};

/* Where it stands; top: at most 12 bytes. */
struct keyed keyed_place(const char *top, const char *key);
/* The target of a link in the open directory: 1, 0 no such link, -1 with errno. */
int keyed_read(int dir, const char *name, char target[static KEYED_TARGET]);
/* The same of a key. */
int keyed_look(struct queue *, const struct keyed *, char target[static KEYED_TARGET]);
/* The number before the next blank; *s moves on behind that. */
bool keyed_number(const char **s, uint64_t *out);
/* 0, also if it was gone, or -1 with errno. */
int keyed_drop(struct queue *, const struct keyed *);
/* Each target below TOP, in no order; stops when fn returns != 0 and returns that. -1
 * with errno. */
int keyed_each(struct queue *, const char *top, int (*fn)(const char *target, void *),
	void *);

#endif
