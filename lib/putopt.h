/* SPDX-License-Identifier: ISC
 *
 * putopt: the options that every tool that puts has: -a -d -D -i -k -p -r -S -w -W
 * -x and --unique. */
#ifndef MQ_PUTOPT_H
#define MQ_PUTOPT_H

#include <stdint.h>

#include "opt.h"
#include "store.h"

#define PUTOPT_DEFAULTS { .priority = PRIORITY_DEFAULT, .wait = WAIT_CONF, \
	.head = { .version = -1 } }

/* Sets in the spec what the option last returned says: 0, or 64 once that was said
 * on stderr. An option that is none of these is left alone: 0. */
int putopt_set(const struct opt *, struct put_spec *);
/* What putopt_set() has allocated. */
void putopt_free(struct put_spec *);

/* Says on stderr that so many messages went nowhere, if any did. */
void putopt_say_unrouted(const struct opt *, const char *topic, uint64_t count);

#endif
