/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "place.h"
#include "unit.h"

static struct name
sample(void)
{
	struct name n = { .seq = 0x123, .count = 3, .ranged = true, .priority = 5,
		.deliveries = 2, .untried = 1, .group = 0xabcdef };

	n.id = (struct id){ UINT64_C(0x01a22e0c4b5d75f7), UINT64_C(0x8545efdf82f1fd15) };
	return n;
}

static bool
same_place(const struct place *a, const struct place *b)
{
	char x[NAME_SIZE], y[NAME_SIZE];

	name_print(&a->name, x);
	name_print(&b->name, y);
	return a->where == b->where && a->bucket == b->bucket && strcmp(x, y) == 0;
}

/* Printed and parsed again it is the same. */
static bool
round_trip(const struct held *h)
{
	char text[NAME_SIZE];
	struct held back;

	return held_print(h, text) && held_parse(text, &back) && back.kind == h->kind &&
	    (h->kind != HELD_SPLIT || same_place(&back.source, &h->source)) &&
	    same_place(&back.goal, &h->goal) && back.copied == h->copied &&
	    back.has_next == h->has_next && back.next_seq == h->next_seq &&
	    back.next_first == h->next_first;
}

static void
splits(void)
{
	static const enum where from[] = { IN_TMP, IN_NEW, IN_LATER, IN_GRP };

	for (size_t i = 0; i < sizeof from / sizeof *from; i++)
		for (int flags = 0; flags < 8; flags++) {
			struct held h = { .kind = HELD_SPLIT };

			h.source.where = from[i];
			h.source.name = sample();
			h.source.name.fanout = flags & 1;
			h.source.name.joins = flags & 2;
			h.source.name.due = flags & 4 ? 0xabc : 0;
			if (from[i] == IN_TMP)
				h.source.name.seq = SEQ_NONE;
			if (from[i] == IN_LATER)
				h.source.bucket = 1234;
			h.goal.where = IN_NEW;
			h.goal.name = sample();
			h.goal.name.fanout = flags & 1;
			h.goal.name.count = 1;
			CHECK(round_trip(&h));
		}
}

static void
others(void)
{
	struct held first = { .kind = HELD_FIRST, .goal = { IN_NEW, 0, sample() } };
	struct held end = { .kind = HELD_END, .goal = { IN_DLQ, 0, sample() } };

	first.goal.name.fanout = true;
	CHECK(round_trip(&first));
	CHECK(round_trip(&end));
	end.has_next = true;
	end.next_seq = 0xf;
	end.next_first = 7;
	CHECK(round_trip(&end));
}

int
main(void)
{
	unit_run("held names: splits, printed and parsed", splits);
	unit_run("held names: first and end", others);
	return unit_done();
}
