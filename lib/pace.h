/* SPDX-License-Identifier: ISC
 *
 * pace: when the pool may start its next COMMAND: a rate, and the brake.
 *
 * The brake: ten failures in a row, of different messages, mean an outage;
 * from then on starts are 1, 2, 4 ... 60 s apart until one succeeds. Times
 * are ns of the monotonic clock. */
#ifndef MQ_PACE_H
#define MQ_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "id.h"

#define BRAKE_FAILURES 10
#define BRAKE_FIRST (1000000000LL)
#define BRAKE_LONGEST (60 * 1000000000LL)

struct pace {
	double rate;             /* starts a second; 0: no limit */
	double tokens;
	int64_t counted;         /* when tokens was right */
	bool brake;              /* wanted at all */
	struct id failed[BRAKE_FAILURES];
	size_t nfailed;          /* different messages since the last success */
	int64_t pause;           /* 0: the brake is off */
	int64_t not_before;
};

void pace_init(struct pace *, double rate, bool brake, int64_t now);
/* When the next start may be; `now` or less: at once. */
int64_t pace_next(struct pace *, int64_t now);
void pace_started(struct pace *, int64_t now);
void pace_success(struct pace *);
/* Returns true if this one has put the brake on. */
bool pace_failure(struct pace *, struct id, int64_t now);
/* No start before `when`, whatever else. */
void pace_pause(struct pace *, int64_t when);

#endif
