/* SPDX-License-Identifier: ISC
 *
 * hex: numbers of a fixed width in lower-case hexadecimal. By a table: digits are
 * as good as random, and a branch on each would be mispredicted half the time. */
#ifndef MQ_HEX_H
#define MQ_HEX_H

#include <stdbool.h>
#include <stdint.h>

static const unsigned char hex_digits[256] = {   /* 16 + its value; 0: none */
	['0'] = 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
	['a'] = 26, 27, 28, 29, 30, 31,
};

/* The first `width` (at most 16) characters of s; false, and *out left alone, if
 * one is no digit. Reads no further than that one. */
static inline bool
hex_parse(const char *s, int width, uint64_t *out)
{
	uint64_t v = 0;

	for (int i = 0; i < width; i++) {
		unsigned d = hex_digits[(unsigned char)s[i]];

		if (d == 0)
			return false;
		v = v << 4 | (d & 15);
	}
	*out = v;
	return true;
}

#endif
