/* SPDX-License-Identifier: ISC */
#include "base64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
base64_encode(const void *data, size_t len, char *out)
{
	const unsigned char *p = data;

	for (size_t left = len; left > 0; left -= left < 3 ? left : 3) {
		uint32_t v = (uint32_t)p[0] << 16;

		v |= left > 1 ? (uint32_t)p[1] << 8 : 0;
		v |= left > 2 ? p[2] : 0;
		out[0] = digits[v >> 18];
		out[1] = digits[v >> 12 & 63];
		out[2] = left > 1 ? digits[v >> 6 & 63] : '=';
		out[3] = left > 2 ? digits[v & 63] : '=';
		out += 4;
		p += 3;
	}
}

/* Four digits, the last `pad` of them `=`, as 24 bits; -1 */
static int32_t
quantum(const char *s, int pad)
{
	int32_t v = 0;

	for (int i = 0; i < 4; i++) {
		const char *d = i < 4 - pad ? memchr(digits, s[i], 64) : digits;

		if (d == NULL)
			return -1;
		v = v << 6 | (int32_t)(d - digits);
	}
	return v & ((1 << 8 * pad) - 1) ? -1 : v;
}

bool
base64_decode(const char *text, size_t len, void *out, size_t *n)
{
	unsigned char *p = out;

	if (len % 4 != 0)
		return false;
	for (const char *s = text; s < text + len; s += 4) {
		bool last = s + 4 == text + len;
		int pad = !last || s[3] != '=' ? 0 : s[2] != '=' ? 1 : 2;
		int32_t v = quantum(s, pad);

		if (v < 0)
			return false;
		*p++ = (unsigned char)(v >> 16);
		if (pad < 2)
			*p++ = (unsigned char)(v >> 8 & 255);
		if (pad < 1)
			*p++ = (unsigned char)(v & 255);
	}
	*n = (size_t)(p - (unsigned char *)out);
	return true;
}
