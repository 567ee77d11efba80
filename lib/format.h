/* SPDX-License-Identifier: ISC
 *
 * format: the language of mq-take -f. `%r` receipt, `%i` id, `%b` body, `%k`
 * key, `%n` tries, `%p` priority, `%q` queue, `%a{NAME}` attribute (empty if
 * it has none), `%%`, `\t`, `\n`, `\\`; all else stands for itself. Parsed
 * once, then printed for each message. */
#ifndef MQ_FORMAT_H
#define MQ_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "fault.h"

struct lease;

struct format_part {
	char what;               /* the letter after %; 0: text */
	char *text;              /* of what 0: the text; of `a`: the name */
	size_t len;
};

struct format {
	struct format_part *parts;
	size_t nparts;
};

/* NULL and 64: unknown letter, unfinished, or bad attribute name. */
struct format *format_parse(const char *, struct fault *);
void format_free(struct format *);
bool format_has(const struct format *, char what);
/* Appends message k of the lease, without a newline; -1: not readable (then
 * something may have been appended). */
int format_print(const struct format *, struct lease *, uint32_t k,
	struct buffer *, struct fault *);

#endif
