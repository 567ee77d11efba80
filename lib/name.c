/* SPDX-License-Identifier: ISC */
#include "name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hex.h"

static const char *const outcomes[] = {
	[OUT_NONE] = "",
	[OUT_ACKED] = "acked",
	[OUT_BURIED] = "buried",
	[OUT_DROPPED] = "dropped",
	[OUT_EXPIRED] = "expired",
};

const char *
outcome_word(enum outcome o)
{
	return outcomes[o];
}

/* --- printing ----------------------------------------------------------- */

static char *
put_text(char *p, const char *s)
{
	size_t n = strlen(s);

	memcpy(p, s, n);
	return p + n;
}

static char *
put_hex(char *p, uint64_t v, int width)
{
	for (int i = width - 1; i >= 0; i--)
		*p++ = "0123456789abcdef"[v >> (4 * i) & 15];
	return p;
}

static char *
put_number(char *p, uint64_t v)
{
	char tmp[20];
	int n = 0;

	do
		tmp[n++] = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	while (n > 0)
		*p++ = tmp[--n];
	return p;
}

static char *
put_field(char *p, char letter, uint64_t v)
{
	*p++ = ',';
	*p++ = letter;
	return put_number(p, v);
}

static char *
put_time(char *p, char letter, int64_t ms)
{
	return ms == 0 ? p : put_field(p, letter, (uint64_t)ms);
}

static char *
put_settled(char *p, const struct name *n)
{
	p = put_text(p, ",r");
	p = put_text(p, outcomes[n->outcome]);
	return put_field(p, 'z', (uint64_t)n->settled);
}

static char *
put_holder(char *p, const struct name *n)
{
	p = put_field(p, 'h', n->pid);
	*p++ = '.';
	p = put_number(p, n->uid);
	if (n->since == 0)
		return p;
	*p++ = '.';
	return put_number(p, n->lease > n->since ? (uint64_t)(n->lease - n->since) : 0);
}

size_t
name_print(const struct name *n, char out[static NAME_SIZE])
{
	char *p = out;

	if (n->seq == SEQ_NONE)
		*p++ = '-';
	else
		p = put_hex(p, n->seq, SEQ_BITS / 4);
	*p++ = '.';
	id_print(n->id, p);
	p += ID_LEN;
	if (n->ranged) {
		p = put_field(p, 'o', n->first);
		p = put_field(p, 'c', n->count);
	}
	p = put_field(p, 'n', n->deliveries);
	p = put_field(p, 'u', n->untried);
	p = put_field(p, 'p', (uint64_t)n->priority);
	if (n->group != 0) {
		p = put_text(p, ",g");
		p = put_hex(p, n->group, 16);
	}
	p = put_time(p, 'e', n->expiry);
	p = put_time(p, 'd', n->due);
	if (n->joins)
		p = put_text(p, ",j");
	p = put_time(p, 't', n->lease);
	if (n->pid != 0)
		p = put_holder(p, n);
	if (n->outcome != OUT_NONE)
		p = put_settled(p, n);
	if (n->fanout)
		p = put_text(p, ",f");
	*p = '\0';
	return (size_t)(p - out);
}

/* --- parsing ------------------------------------------------------------ */

static bool
get_hex(const char **s, int width, uint64_t *out)
{
	if (!hex_parse(*s, width, out))
		return false;
	*s += width;
	return true;
}

static bool
get_number(const char **s, uint64_t max, uint64_t *out)
{
	const char *p = *s;
	uint64_t v = 0;

	if (*p < '0' || *p > '9' || (*p == '0' && p[1] >= '0' && p[1] <= '9'))
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		uint64_t d = (uint64_t)(*p - '0');

		if (v > (max - d) / 10)
			return false;
		v = v * 10 + d;
	}
	*s = p;
	*out = v;
	return true;
}

bool
number_parse(const char *s, uint64_t max, uint64_t *out)
{
	return get_number(&s, max, out) && *s == '\0';
}

static bool
get_field(const char **s, char letter, uint64_t max, uint64_t *out)
{
	if ((*s)[0] != ',' || (*s)[1] != letter)
		return false;
	*s += 2;
	return get_number(s, max, out);
}

static bool
has_field(const char *s, char letter)
{
	return s[0] == ',' && s[1] == letter;
}

static bool
get_u32(const char **s, char letter, uint32_t *out)
{
	uint64_t v;

	if (!get_field(s, letter, UINT32_MAX, &v))
		return false;
	*out = (uint32_t)v;
	return true;
}

/* Leaves *out alone where the field is absent; a field that is there must
 * hold a number above 0. */
static bool
get_time(const char **s, char letter, int64_t *out)
{
	uint64_t v;

	if (!has_field(*s, letter))
		return true;
	if (!get_field(s, letter, INT64_MAX, &v) || v == 0)
		return false;
	*out = (int64_t)v;
	return true;
}

static bool
get_range(const char **s, struct name *n)
{
	if (!has_field(*s, 'o'))
		return true;
	n->ranged = true;
	return get_u32(s, 'o', &n->first) && get_u32(s, 'c', &n->count) &&
	    n->count > 0 && n->first <= UINT32_MAX - n->count;
}

static bool
get_group(const char **s, struct name *n)
{
	if (!has_field(*s, 'g'))
		return true;
	*s += 2;
	return get_hex(s, 16, &n->group) && n->group != 0;
}

static bool
get_flag(const char **s, char letter)
{
	if (!has_field(*s, letter) || ((*s)[2] != ',' && (*s)[2] != '\0'))
		return false;
	*s += 2;
	return true;
}

static bool
get_holder(const char **s, struct name *n)
{
	uint64_t uid, held;

	if (!has_field(*s, 'h'))
		return true;
	if (!get_u32(s, 'h', &n->pid) || n->pid == 0 || **s != '.')
		return false;
	(*s)++;
	if (!get_number(s, UINT32_MAX, &uid))
		return false;
	n->uid = (uint32_t)uid;
	if (**s != '.')
		return true;             /* as an earlier version had it */
	(*s)++;
	if (n->lease <= 0 || !get_number(s, (uint64_t)n->lease - 1, &held))
		return false;
	n->since = n->lease - (int64_t)held;
	return true;
}

static bool
get_settled(const char **s, struct name *n)
{
	if (!has_field(*s, 'r'))
		return true;
	*s += 2;
	for (int o = OUT_ACKED; o <= OUT_EXPIRED; o++) {
		size_t len = strlen(outcomes[o]);

		if (strncmp(*s, outcomes[o], len) == 0) {
			*s += len;
			n->outcome = (enum outcome)o;
			return has_field(*s, 'z') && get_time(s, 'z', &n->settled);
		}
	}
	return false;
}

static bool
get_seq(const char **s, struct name *n)
{
	if (**s == '-') {
		n->seq = SEQ_NONE;
		(*s)++;
		return true;
	}
	return get_hex(s, SEQ_BITS / 4, &n->seq);
}

static bool
get_id(const char **s, struct name *n)
{
	if (**s != '.' || !id_parse(*s + 1, &n->id))
		return false;
	*s += 1 + ID_LEN;
	return true;
}

bool
name_parse(const char *s, struct name *n)
{
	uint64_t priority;

	*n = (struct name){ .count = 1 };
	if (!get_seq(&s, n) || !get_id(&s, n) || !get_range(&s, n))
		return false;
	if (!get_u32(&s, 'n', &n->deliveries) || !get_u32(&s, 'u', &n->untried) ||
	    n->untried > n->deliveries || !get_field(&s, 'p', 9, &priority))
		return false;
	n->priority = (int)priority;
	if (!get_group(&s, n) || !get_time(&s, 'e', &n->expiry) ||
	    !get_time(&s, 'd', &n->due))
		return false;
	n->joins = get_flag(&s, 'j');
	if (!get_time(&s, 't', &n->lease) || !get_holder(&s, n) ||
	    !get_settled(&s, n))
		return false;
	n->fanout = get_flag(&s, 'f');
	return *s == '\0';
}

/* --- order and segments ------------------------------------------------- */

uint64_t
name_order(const struct name *n)
{
	return n->seq + n->first;
}

uint64_t
name_segment(const struct name *n)
{
	return name_order(n) >> SEG_BITS;
}

void
segment_print(uint64_t seg, char out[static SEG_LEN + 1])
{
	*put_hex(out, seg, SEG_LEN) = '\0';
}

bool
segment_parse(const char *s, uint64_t *seg)
{
	return get_hex(&s, SEG_LEN, seg) && *s == '\0';
}

uint32_t
name_tries(const struct name *n)
{
	return n->deliveries - n->untried;
}

bool
name_same_delivery(const struct name *a, const struct name *b)
{
	return a->seq == b->seq && id_equal(a->id, b->id) &&
	    a->deliveries == b->deliveries && a->lease == b->lease;
}

bool
name_part_of_delivery(const struct name *whole, const struct name *part, int64_t *shift)
{
	*shift = (int64_t)(part->seq - whole->seq);
	return part->id.hi == whole->id.hi && part->id.lo - whole->id.lo == (uint64_t)*shift &&
	    part->deliveries == whole->deliveries && part->lease == whole->lease;
}
