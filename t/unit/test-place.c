/* SPDX-License-Identifier: ISC
 *
 * A name in hold/ says all that recovery needs, whatever the source has. */
#include "place.h"
#include "unit.h"

#define TIME INT64_C(1796047200123)

static bool
same_name(const struct name *a, const struct name *b)
{
	char x[NAME_SIZE], y[NAME_SIZE];

	name_print(a, x);
	name_print(b, y);
	return strcmp(x, y) == 0;
}

static void
through(const struct held *h)
{
	char text[NAME_SIZE];
	struct held got;

	CHECK_ROW(held_print(h, text), text);
	if (!held_parse(text, &got)) {
		CHECK_ROW(!"parses", text);
		return;
	}
	CHECK_ROW(got.kind == h->kind && got.goal.where == h->goal.where, text);
	CHECK_ROW(got.goal.bucket == h->goal.bucket, text);
	CHECK_ROW(same_name(&got.goal.name, &h->goal.name), text);
	if (h->kind == HELD_SPLIT) {
		CHECK_ROW(got.source.where == h->source.where, text);
		CHECK_ROW(got.source.bucket == h->source.bucket, text);
		CHECK_ROW(got.copied == h->copied, text);
		CHECK_ROW(same_name(&got.source.name, &h->source.name), text);
	}
	CHECK_ROW(got.has_next == h->has_next && got.next_seq == h->next_seq &&
	    got.next_first == h->next_first, text);
}

static struct name
whole(unsigned flags)
{
	return (struct name){ .seq = 0xabcdef, .id = id_new(TIME), .first = 5, .count = 25,
		.ranged = true, .deliveries = 15, .untried = 3, .priority = 5,
		.fanout = flags & 1, .group = flags & 2 ? UINT64_C(0xfeedfacecafebeef) : 0,
		.expiry = flags & 4 ? TIME + 1000 : 0, .due = flags & 8 ? TIME + 15 : 0 };
}

/* Each source that can be split, to each goal. */
static void
splits(void)
{
	static const enum where from[] = { IN_NEW, IN_LATER, IN_CUR, IN_DLQ };
	static const enum where to[] = { IN_CUR, IN_LATER, IN_DLQ, IN_NEW, GONE };

	for (unsigned i = 0; i < 4 * 5 * 16; i++) {
		struct held h = { .kind = HELD_SPLIT, .source = { .where = from[i % 4] },
			.goal = { .where = to[i / 4 % 5] } };

		h.source.name = whole(i / 20);
		h.goal.name = h.source.name;
		h.goal.name.fanout = false;
		h.goal.name.due = h.goal.where == IN_LATER ? TIME + 99 : 0;
		h.goal.name.count = 2;
		if (h.source.where == IN_CUR || h.source.where == IN_LATER)
			h.source.bucket = TIME + 2000;
		if (h.goal.where == IN_CUR || h.goal.where == IN_LATER)
			h.goal.bucket = TIME + 3000;
		if (h.source.where == IN_CUR) {
			h.source.name.lease = TIME + 2000;
			h.source.name.pid = 4000000;
		}
		if (h.goal.where == IN_CUR) {
			h.goal.name.lease = h.source.where == IN_CUR ? TIME + 2000 : TIME + 3000;
			h.goal.name.pid = 4000000;
		}
		through(&h);
	}
}

static void
copies(void)
{
	struct held h = { .kind = HELD_SPLIT, .source = { .where = IN_NEW, .name = whole(1) },
		.goal = { .where = IN_DLQ }, .copied = 8 };

	h.goal.name = h.source.name;
	h.goal.name.fanout = false;
	h.goal.name.seq += 7;
	h.goal.name.id = id_add(h.goal.name.id, 7);
	h.goal.name.first = 0;
	h.goal.name.count = 3;
	through(&h);
}

static void
groups(void)
{
	struct held h = { .kind = HELD_END, .goal = { .where = GONE, .name = whole(2) } };

	through(&h);
	h.has_next = true;
	h.next_seq = 0xfff;
	h.next_first = 15;
	through(&h);
	h = (struct held){ .kind = HELD_FIRST, .goal = { .where = IN_NEW, .name = whole(3) } };
	through(&h);
}

int
main(void)
{
	unit_run("held: a split, from each state to each, with each flag", splits);
	unit_run("held: a split by a copy", copies);
	unit_run("held: heads of groups", groups);
	return unit_done();
}
