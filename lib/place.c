/* SPDX-License-Identifier: ISC */
#include "place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void
place_dir(const struct place *p, char out[static PLACE_DIR_SIZE])
{
	char seg[SEG_LEN + 1];

	switch (p->where) {
	case IN_TMP:
		strcpy(out, "tmp");
		break;
	case IN_NEW:
		segment_print(name_segment(&p->name), seg);
		snprintf(out, PLACE_DIR_SIZE, "new/%d/%s", p->name.priority, seg);
		break;
	case IN_DLQ:
		segment_print(name_segment(&p->name), seg);
		snprintf(out, PLACE_DIR_SIZE, "dlq/%s", seg);
		break;
	case IN_CUR:
		snprintf(out, PLACE_DIR_SIZE, "cur/%" PRId64, p->bucket);
		break;
	case IN_LATER:
		snprintf(out, PLACE_DIR_SIZE, "later/%" PRId64, p->bucket);
		break;
	case IN_DONE:
		snprintf(out, PLACE_DIR_SIZE, "done/%" PRId64, p->bucket);
		break;
	case GONE:
		out[0] = '\0';
		break;
	}
}

bool
place_fits(const struct place *p)
{
	const struct name *n = &p->name;

	if ((p->where != IN_CUR && (n->lease != 0 || n->pid != 0)) ||
	    (p->where == IN_CUR && n->lease == 0))
		return p->where == IN_TMP; /* one being consumed keeps them */
	if ((p->where == IN_DONE) != (n->outcome != OUT_NONE))
		return false;
	if (p->where == IN_LATER && n->due == 0)
		return false;
	return n->seq != SEQ_NONE || p->where == IN_TMP;
}

/* --- held names ----------------------------------------------------------
 *
 *	SOURCE+GOAL+NAME
 *	SOURCE = letter [bucket in hex] . first . count . deliveries . untried . due
 *	         [f] [k copied]
 *	GOAL   = letter [bucket in hex]
 *	NAME   = the moving part's name at its goal, but with the t and h of
 *	         whichever side has them
 *
 * all numbers in hex: 2 names in full would not fit into 255 bytes. */

static bool
has_bucket(enum where w)
{
	return w == IN_CUR || w == IN_LATER || w == IN_DONE;
}

static char *
put_where(char *p, const struct place *place)
{
	*p++ = (char)place->where;
	if (has_bucket(place->where))
		p += sprintf(p, "%" PRIx64, (uint64_t)place->bucket);
	return p;
}

bool
held_print(const struct held *h, char out[static NAME_SIZE])
{
	char text[2 * NAME_SIZE], *p = text;
	const struct name *s = &h->source.name;
	struct name n = h->goal.name;

	p = put_where(p, &h->source);
	p += sprintf(p, ".%x.%x.%x.%x.%" PRIx64 "%s", s->first, s->count,
	    s->deliveries, s->untried, (uint64_t)s->due, s->fanout ? "f" : "");
	if (h->copied != 0)
		p += sprintf(p, "k%x", h->copied);
	*p++ = '+';
	p = put_where(p, &h->goal);
	*p++ = '+';
	if (s->lease != 0) {
		n.lease = s->lease;
		n.pid = s->pid;
		n.uid = s->uid;
	}
	p += name_print(&n, p);
	if (p - text >= NAME_SIZE)
		return false;
	memcpy(out, text, (size_t)(p - text) + 1);
	return true;
}

static bool
get_hex(const char **s, uint64_t *out)
{
	uint64_t v = 0;
	int n = 0;

	for (;; n++, (*s)++) {
		char c = **s;
		int d;

		if (c >= '0' && c <= '9')
			d = c - '0';
		else if (c >= 'a' && c <= 'f')
			d = c - 'a' + 10;
		else
			break;
		if (n == 16)
			return false;
		v = v << 4 | (uint64_t)d;
	}
	*out = v;
	return n > 0;
}

static bool
get_where(const char **s, struct place *p)
{
	uint64_t bucket;

	if (**s == '\0' || strchr("tncldox", **s) == NULL)
		return false;
	p->where = (enum where)*(*s)++;
	if (!has_bucket(p->where))
		return true;
	if (!get_hex(s, &bucket) || bucket > INT64_MAX)
		return false;
	p->bucket = (int64_t)bucket;
	return true;
}

static bool
get_part(const char **s, uint64_t max, uint64_t *out)
{
	if (**s != '.')
		return false;
	(*s)++;
	return get_hex(s, out) && *out <= max;
}

static void
without_lease(struct name *n)
{
	n->lease = 0;
	n->pid = n->uid = 0;
}

bool
held_parse(const char *s, struct held *h)
{
	uint64_t first, count, deliveries, untried, due, copied = 0;
	struct name *n = &h->source.name;
	bool fanout = false;

	memset(h, 0, sizeof *h);
	if (!get_where(&s, &h->source) || !get_part(&s, UINT32_MAX, &first) ||
	    !get_part(&s, UINT32_MAX, &count) ||
	    !get_part(&s, UINT32_MAX, &deliveries) ||
	    !get_part(&s, UINT32_MAX, &untried) || !get_part(&s, INT64_MAX, &due))
		return false;
	if (*s == 'f') {
		fanout = true;
		s++;
	}
	if (*s == 'k' && (s++, !get_hex(&s, &copied) || copied == 0 || copied > UINT32_MAX))
		return false;
	if (*s++ != '+' || !get_where(&s, &h->goal) || *s++ != '+' ||
	    !name_parse(s, &h->goal.name))
		return false;
	*n = h->goal.name;
	h->copied = (uint32_t)copied;
	if (copied != 0) {
		n->seq -= copied - 1;
		n->id.lo -= copied - 1;
		n->ranged = true;
	}
	n->first = (uint32_t)first;
	n->count = (uint32_t)count;
	n->deliveries = (uint32_t)deliveries;
	n->untried = (uint32_t)untried;
	n->due = (int64_t)due;
	n->fanout = fanout;
	n->outcome = OUT_NONE;
	n->settled = 0;
	if (h->source.where != IN_CUR)
		without_lease(n);
	if (h->goal.where != IN_CUR)
		without_lease(&h->goal.name);
	return true;
}
