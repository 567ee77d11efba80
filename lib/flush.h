/* SPDX-License-Identifier: ISC
 *
 * flush: one flush for many files. The data of all is sent on its way, then each is
 * flushed: the first of these commits the names of all of them, and the others find
 * little or nothing left to do. */
#ifndef MQ_FLUSH_H
#define MQ_FLUSH_H

#include "store.h"

/* Has a file flushed later; the descriptor stays the caller's. -1 with errno: it had to
 * be flushed now, and could not. */
int flush_add(struct flush *, int fd);

#endif
