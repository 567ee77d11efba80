/* SPDX-License-Identifier: ISC
 *
 * judge: from the end of a COMMAND to what becomes of its messages, and the
 * words for it. */
#ifndef MQ_JUDGE_H
#define MQ_JUDGE_H

#include "exitmap.h"
#include "relay.h"
#include "store.h"

#define REASON_SIZE 384

struct judgement {
	enum verdict verdict;
	int64_t delay;
	struct why why;          /* points to the next two */
	char reason[REASON_SIZE];
	char tail[RELAY_TAIL];
};

/* `exit N: last line` or `signal NAME: last line` of what the stream kept. */
void judge_end(struct judgement *, const struct exitmap *, int status,
	const struct stream *);
/* `ran longer than 5s`: always a retry. */
void judge_limit(struct judgement *, int64_t limit_ms, const struct stream *);
/* COMMAND could not be started. */
void judge_unstarted(struct judgement *, const struct exitmap *, const char *command,
	int error);
/* Without a COMMAND: that verdict, and a reason or NULL. */
void judge_plain(struct judgement *, enum verdict, const char *reason);

#endif
