/* SPDX-License-Identifier: ISC */
#include "id.h"
#include "unit.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define NOW INT64_C(1796047200123)

static void
shape(void)
{
	for (int i = 0; i < 1000; i++) {
		struct id id = id_new(NOW + i);
		char text[ID_LEN + 1];

		id_print(id, text);
		CHECK_ROW(strlen(text) == ID_LEN, text);
		CHECK_ROW(text[14] == '7', text);
		CHECK_ROW(text[19] == '8' || text[19] == '9', text);
		CHECK_ROW(id_time(id) == NOW + i, text);
		CHECK_ROW((id.lo >> 61) == 4, text);
	}
}

static void
times(void)
{
	static const int64_t rows[] = { 0, 1, NOW, (INT64_C(1) << 48) - 1 };

	for (size_t i = 0; i < COUNT(rows); i++)
		CHECK(id_time(id_new(rows[i])) == rows[i]);
}

static void
round_trip(void)
{
	for (int i = 0; i < 1000; i++) {
		struct id id = id_new(NOW), again;
		char text[ID_LEN + 1], twice[ID_LEN + 1];

		id_print(id, text);
		CHECK_ROW(id_parse(text, &again) && id_equal(id, again), text);
		id_print(again, twice);
		CHECK_STR(twice, text);
	}
}

static void
print(void)
{
	struct id id = { UINT64_C(0x0123456789ab7def), UINT64_C(0x8edcba9876543210) };
	struct id again;
	char text[ID_LEN + 1];

	id_print(id, text);
	CHECK_STR(text, "01234567-89ab-7def-8edc-ba9876543210");
	CHECK(id_parse("01234567-89ab-7def-8edc-ba9876543210,c2", &again));
	CHECK(id_equal(id, again));
}

static void
order(void)
{
	char last[ID_LEN + 1] = "", text[ID_LEN + 1];

	for (int i = 0; i < 1000; i++) {
		id_print(id_new(NOW + i), text);
		CHECK_ROW(strcmp(last, text) < 0, text);
		memcpy(last, text, sizeof last);
	}
}

static void
parse_bad(void)
{
	static const char *const rows[] = {
		"", "0", "01234567-89ab-7def-8edc-ba987654321",
		"01234567-89ab-7def-8edc-ba987654321g",
		"01234567-89AB-7def-8edc-ba9876543210",
		"01234567089ab-7def-8edc-ba9876543210",
		"01234567-89ab-7def-8edc-ba98765 3210",
		"0123456789ab7def8edcba987654321000000",
		"-1234567-89ab-7def-8edc-ba9876543210",
		"01234567-89ab-7def-8edc--a9876543210",
		"{1234567-89ab-7def-8edc-ba9876543210}",
		"01234567-89ab-7def-8edc-ba98765\n3210",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct id id = { 1, 2 };

		CHECK_ROW(!id_parse(rows[i], &id), rows[i]);
		CHECK_ROW(id.hi == 1 && id.lo == 2, rows[i]);
	}
}

static void
offsets(void)
{
	static const uint32_t rows[] = { 0, 1, 2, 1023, 65536, UINT32_MAX - 1 };
	struct id base = id_new(NOW);

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t k = rows[i];
		struct id id = id_add(base, k);

		CHECK(id_time(id) == NOW && id.hi == base.hi);
		CHECK(id_offset(base, id, k + 1) == k);
		CHECK(id_offset(base, id, UINT32_MAX) == k);
		CHECK(id_offset(base, id, k) == -1);
		CHECK(k == 0 || id_offset(id, base, UINT32_MAX) == -1);
		CHECK(id_equal(id, base) == (k == 0));
	}
}

static void
offsets_of_others(void)
{
	struct id base = id_new(NOW), later = id_new(NOW + 1);
	struct id high = { base.hi, UINT64_C(0x9fffffffffffffff) };

	CHECK(id_offset(base, later, UINT32_MAX) == -1);
	CHECK(id_offset(later, base, UINT32_MAX) == -1);
	CHECK(id_offset(base, base, 0) == -1);
	CHECK(id_add(high, UINT32_MAX).lo >> 62 == 2); /* still the variant */
}

int
main(void)
{
	unit_run("id_new: a UUID of version 7", shape);
	unit_run("id_time: the time it was made", times);
	unit_run("id_print, id_parse: round trip", round_trip);
	unit_run("id_print: big-endian, lower case", print);
	unit_run("id_print: sorts by time", order);
	unit_run("id_parse: refuses what is no id", parse_bad);
	unit_run("id_add, id_offset: there and back", offsets);
	unit_run("id_offset: refuses another's id", offsets_of_others);
	return unit_done();
}
