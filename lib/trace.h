/* SPDX-License-Identifier: ISC
 *
 * trace: how something of each queue went in the last minute, drawn in a few
 * characters. */
#ifndef MQ_TRACE_H
#define MQ_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_WIDTH 12                   /* characters, of five samples each */
#define TRACE_SIZE (3 * TRACE_WIDTH + 1)

struct traces;

struct traces *traces_new(void);         /* NULL with errno */
/* A sample, once a second. -1 with errno */
int trace_add(struct traces *, const char *name, double value);
/* Between nothing and its own highest; the newest to the right. */
void trace_draw(const struct traces *, const char *name, bool utf8,
	char out[static TRACE_SIZE]);
void traces_free(struct traces *);

#endif
