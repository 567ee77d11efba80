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
	case IN_GRP:
		segment_print(name_segment(&p->name), seg);
		snprintf(out, PLACE_DIR_SIZE, "grp/%016" PRIx64 "/%s", p->name.group, seg);
		break;
	case IN_OUT:
		strcpy(out, "out");
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
	if ((p->where == IN_DONE) != (n->outcome != OUT_NONE) &&
	    !(p->where == IN_CUR && n->outcome == OUT_ACKED)) /* being printed */
		return false;
	if (p->where == IN_LATER && n->due == 0)
		return false;
	if ((p->where == IN_GRP && n->group == 0) || (n->joins && p->where != IN_LATER &&
	    p->where != IN_TMP))
		return false;
	return n->seq != SEQ_NONE || p->where == IN_TMP || p->where == IN_OUT;
}

/* --- held names ----------------------------------------------------------
 *
 *	split  SOURCE+GOAL+NAME
 *	first  F+GOAL+NAME
 *	end    E[NEXT]+GOAL+NAME
 *
 *	SOURCE = letter [bucket] . first . count . deliveries . untried . due
 *	         [F] [j] [k copied]        (F: its name has an f)
 *	GOAL   = letter [bucket]
 *	NEXT   = SEQ . first
 *	NAME   = the held name at its goal, but for a split with the t and h of
 *	         whichever side has them
 *
 * all numbers but NAME's in hex: 2 names in full would not fit into 255 bytes. */

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

static char *
put_source(char *p, const struct held *h)
{
	const struct name *s = &h->source.name;

	p = put_where(p, &h->source);
	p += sprintf(p, ".%x.%x.%x.%x.%" PRIx64 "%s%s", s->first, s->count,
	    s->deliveries, s->untried, (uint64_t)s->due, s->fanout ? "F" : "",
	    s->joins ? "j" : "");
	if (h->copied != 0)
		p += sprintf(p, "k%x", h->copied);
	return p;
}

bool
held_print(const struct held *h, char out[static NAME_SIZE])
{
	char text[2 * NAME_SIZE], *p = text;
	struct name n = h->goal.name;

	switch (h->kind) {
	case HELD_SPLIT:
		p = put_source(p, h);
		if (h->source.name.lease != 0) {
			n.lease = h->source.name.lease;
			n.pid = h->source.name.pid;
			n.uid = h->source.name.uid;
			n.since = h->source.name.since;
		}
		break;
	case HELD_FIRST:
		*p++ = 'F';
		break;
	case HELD_END:
		*p++ = 'E';
		if (h->has_next)
			p += sprintf(p, "%" PRIx64 ".%x", h->next_seq, h->next_first);
		break;
	}
	*p++ = '+';
	p = put_where(p, &h->goal);
	*p++ = '+';
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

	if (**s == '\0' || strchr("tncldogx", **s) == NULL)
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

static bool
get_letter(const char **s, char c)
{
	if (**s != c)
		return false;
	(*s)++;
	return true;
}

/* What the source's name has otherwise than the goal's. */
static bool
get_source(const char **s, struct held *h)
{
	uint64_t first, count, deliveries, untried, due, copied = 0;
	struct name *n = &h->source.name;

	if (!get_where(s, &h->source) || !get_part(s, UINT32_MAX, &first) ||
	    !get_part(s, UINT32_MAX, &count) || !get_part(s, UINT32_MAX, &deliveries) ||
	    !get_part(s, UINT32_MAX, &untried) || !get_part(s, INT64_MAX, &due))
		return false;
	n->fanout = get_letter(s, 'F');
	n->joins = get_letter(s, 'j');
	if (get_letter(s, 'k') && (!get_hex(s, &copied) || copied == 0 || copied > UINT32_MAX))
		return false;
	h->copied = (uint32_t)copied;
	n->first = (uint32_t)first;
	n->count = (uint32_t)count;
	n->deliveries = (uint32_t)deliveries;
	n->untried = (uint32_t)untried;
	n->due = (int64_t)due;
	return true;
}

static void
without_lease(struct name *n)
{
	n->lease = 0;
	n->pid = n->uid = 0;
	n->since = 0;
}

/* The rest of the source's name from the goal's. */
static void
complete_source(struct held *h)
{
	struct name *n = &h->source.name, own = *n;

	*n = h->goal.name;
	if (h->copied != 0) {
		n->seq -= h->copied - 1;
		n->id.lo -= h->copied - 1;
		n->ranged = true;
	}
	n->first = own.first;
	n->count = own.count;
	n->deliveries = own.deliveries;
	n->untried = own.untried;
	n->due = own.due;
	n->fanout = own.fanout;
	n->joins = own.joins;
	n->outcome = OUT_NONE;
	n->settled = 0;
	if (h->source.where == IN_TMP)
		n->seq = SEQ_NONE;
	if (h->source.where != IN_CUR)
		without_lease(n);
	if (h->goal.where != IN_CUR)
		without_lease(&h->goal.name);
}

static bool
get_next(const char **s, struct held *h)
{
	uint64_t first;

	if (**s == '+')
		return true;
	h->has_next = true;
	if (!get_hex(s, &h->next_seq) || !get_part(s, UINT32_MAX, &first))
		return false;
	h->next_first = (uint32_t)first;
	return true;
}

bool
held_parse(const char *s, struct held *h)
{
	bool good = true;

	memset(h, 0, sizeof *h);
	if (get_letter(&s, 'F')) {
		h->kind = HELD_FIRST;
	} else if (get_letter(&s, 'E')) {
		h->kind = HELD_END;
		good = get_next(&s, h);
	} else {
		h->kind = HELD_SPLIT;
		good = get_source(&s, h);
	}
	if (!good || *s++ != '+' || !get_where(&s, &h->goal) || *s++ != '+' ||
	    !name_parse(s, &h->goal.name))
		return false;
	if (h->kind == HELD_SPLIT)
		complete_source(h);
	return true;
}
