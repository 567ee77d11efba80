/* SPDX-License-Identifier: ISC
 *
 * why: why/ID, what went wrong with a message so far. For each try that ended
 * badly a line
 *
 *	TIME TRIES REASON
 *
 * and below it the last of its stderr, each line led by a tab. Kept until the
 * message is acked or removed; nothing depends on it. */
#ifndef MQ_WHY_H
#define MQ_WHY_H

#include "queue.h"

#define WHY_TAIL 4096            /* bytes of stderr kept a try */
#define WHY_REASON 256
#define WHY_MAX (64 * 1024)      /* older tries beyond it are let go */

/* Best effort: a full disk must not keep a message from its retry. */
void why_append(struct queue *, struct id, uint32_t tries, const struct why *);
/* Of the whole range. `sure`: there is something, whatever its tries say. */
void why_remove(struct queue *, const struct name *, bool sure);
/* 1 and the text (malloc'd), 0 none, -1. */
int why_read(struct queue *, struct id, char **text, struct fault *);

#endif
