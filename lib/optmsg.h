/* SPDX-License-Identifier: ISC
 *
 * optmsg: options about messages that more than one tool reads: what one is like
 * (-a -k -p -r), and which ones are meant (-F). Each reads the argument of the
 * option returned last; 0, or 64 when it has said what is wrong. */
#ifndef MQ_OPTMSG_H
#define MQ_OPTMSG_H

#include "filter.h"
#include "opt.h"
#include "store.h"

int optmsg_attr(const struct opt *, struct head *);
int optmsg_priority(const struct opt *, int *priority);
/* Free what was there, and set a copy. Also of idempotency keys. */
int optmsg_key(const struct opt *, char **key);
int optmsg_route(const struct opt *, char **route);
/* One more alternative; a caret stands under what is wrong. */
int optmsg_filter(const struct opt *, struct filter **);

#endif
