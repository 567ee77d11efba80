/* SPDX-License-Identifier: ISC */
#include "id.h"

#include <bsd/stdlib.h>
#include <sys/random.h>

#include "hex.h"

#define VARIANT (UINT64_C(2) << 62)
#define RANDOM_LO ((UINT64_C(1) << 61) - 1) /* its top bit stays clear */

struct id
id_new(int64_t now)
{
	uint64_t r[2];
	struct id id;

	/* one call, where arc4random(3) would set up a generator first */
	if (getrandom(r, sizeof r, 0) != sizeof r)
		arc4random_buf(r, sizeof r);
	id.hi = (uint64_t)now << 16 | 7 << 12 | (r[0] & 0xfff);
	id.lo = VARIANT | (r[1] & RANDOM_LO);
	return id;
}

struct id
id_add(struct id id, uint32_t k)
{
	id.lo += k;
	return id;
}

int64_t
id_time(struct id id)
{
	return (int64_t)(id.hi >> 16);
}

bool
id_equal(struct id a, struct id b)
{
	return a.hi == b.hi && a.lo == b.lo;
}

int64_t
id_offset(struct id base, struct id id, uint32_t count)
{
	if (base.hi != id.hi || id.lo < base.lo || id.lo - base.lo >= count)
		return -1;
	return (int64_t)(id.lo - base.lo);
}

static const char digits[] = "0123456789abcdef";

static bool
is_dash(int i)
{
	return i == 8 || i == 13 || i == 18 || i == 23;
}

void
id_print(struct id id, char out[static ID_LEN + 1])
{
	int bit = 60;
	uint64_t half = id.hi;

	for (int i = 0; i < ID_LEN; i++) {
		if (is_dash(i)) {
			out[i] = '-';
			continue;
		}
		out[i] = digits[half >> bit & 15];
		bit -= 4;
		if (bit < 0) {
			bit = 60;
			half = id.lo;
		}
	}
	out[ID_LEN] = '\0';
}

bool
id_parse(const char *s, struct id *id)
{
	uint64_t a, b, c, d, e;

	if (!hex_parse(s, 8, &a) || s[8] != '-' || !hex_parse(s + 9, 4, &b) ||
	    s[13] != '-' || !hex_parse(s + 14, 4, &c) || s[18] != '-' ||
	    !hex_parse(s + 19, 4, &d) || s[23] != '-' || !hex_parse(s + 24, 12, &e))
		return false;
	id->hi = a << 32 | b << 16 | c;
	id->lo = d << 48 | e;
	return true;
}
