/* SPDX-License-Identifier: ISC */
#include <stdlib.h>

#include "runjob.h"
#include "unit.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
/* with its NUL, that of the literal being the last one */
#define BODY(s) (s), sizeof(s)

static void
packed(void)
{
	char *argv[] = { "printf", "", "two words\n", "\xff\xfe", NULL };
	char *vars[] = { "PATH=/bin", "EMPTY=", "GONE", NULL };
	struct runjob j = { argv, "/a dir\n", 022, vars };
	static const char want[] = "mq-run 1 4\0printf\0\0two words\n\0\xff\xfe\0/a dir\n\0"
		"0022\0PATH=/bin\0EMPTY=\0GONE";
	struct buffer b = { 0 };

	CHECK(runjob_pack(&j, &b) == 0);
	CHECK(b.len == sizeof want && memcmp(b.data, want, b.len) == 0);
	buffer_free(&b);
	j.vars = NULL;
	CHECK(runjob_pack(&j, &b) == 0);
	CHECK(b.len == sizeof want - sizeof "PATH=/bin\0EMPTY=\0GONE");
	buffer_free(&b);
}

static void
lists(char *const *got, const char *const *want)
{
	size_t i = 0;

	for (; got[i] != NULL && want[i] != NULL; i++)
		CHECK_STR(got[i], want[i]);
	CHECK(got[i] == NULL && want[i] == NULL);
}

static void
parsed(void)
{
	static const char *const argv[] = { "x", "", "y", NULL };
	static const char *const vars[] = { "A=1", "B", "A=", NULL }, *const none[] = { NULL };
	struct runjob j;
	struct fault f;

	CHECK(runjob_parse(BODY("mq-run 1 3\0x\0\0y\0/\0007\0A=1\0B\0A="), &j, &f) == 0);
	lists(j.argv, argv);
	lists(j.vars, vars);
	CHECK_STR(j.dir, "/");
	CHECK(j.umask == 07);
	runjob_free(&j);
	CHECK(runjob_parse(BODY("mq-run 1 3\0x\0\0y\0/tmp\0000777"), &j, &f) == 0);
	lists(j.vars, none);
	CHECK(j.umask == 0777);
	runjob_free(&j);
}

static void
refused(void)
{
	static const struct {
		const char *body;
		size_t len;
		const char *why;
	} rows[] = {
		{ "", 0, "not a job of mq-run" }, { BODY(""), "not a job of mq-run" },
		{ BODY("hello"), "not a job of mq-run" }, { BODY("mq-run"), "not a job of mq-run" },
		{ "mq-run 1 1\0x\0/\0" "0", 16, "not a job of mq-run" },
		{ BODY("mq-run 2 1\0x\0/\0000"), "a job of another version of mq-run: mq-run 2 1" },
		{ BODY("mq-run  1 1\0x\0/\0000"), "a job of another version of mq-run: mq-run  1 1" },
		{ BODY("mq-run 1\0x\0/\0000"), "a damaged job of mq-run: how many arguments?" },
		{ BODY("mq-run 1 0\0/\0000"), "a damaged job of mq-run: how many arguments?" },
		{ BODY("mq-run 1 -1\0x\0/\0000"), "a damaged job of mq-run: how many arguments?" },
		{ BODY("mq-run 1 99999999999\0x\0/\0000"),
			"a damaged job of mq-run: how many arguments?" },
		{ BODY("mq-run 1 2\0x\0/\0000"), "a damaged job of mq-run: it is cut short" },
		{ BODY("mq-run 1 1\0x\0/"), "a damaged job of mq-run: it is cut short" },
		{ BODY("mq-run 1 1\0\0/\0000"), "a damaged job of mq-run: no command" },
		{ BODY("mq-run 1 1\0x\0tmp\0000"), "a damaged job of mq-run: its directory" },
		{ BODY("mq-run 1 1\0x\0\0000"), "a damaged job of mq-run: its directory" },
		{ BODY("mq-run 1 1\0x\0/\0008"), "a damaged job of mq-run: its umask" },
		{ BODY("mq-run 1 1\0x\0/\0"), "a damaged job of mq-run: its umask" },
		{ BODY("mq-run 1 1\0x\0/\0001777"), "a damaged job of mq-run: its umask" },
		{ BODY("mq-run 1 1\0x\0/\0000\0=x"), "a damaged job of mq-run: its environment" },
		{ BODY("mq-run 1 1\0x\0/\0000\0A=1\0"), "a damaged job of mq-run: its environment" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct runjob j;
		struct fault f = { 0 };

		CHECK_ROW(runjob_parse(rows[i].body, rows[i].len, &j, &f) < 0, rows[i].why);
		CHECK_ROW(f.status == ST_DATA, rows[i].why);
		CHECK_STR(f.text, rows[i].why);
	}
}

int
main(void)
{
	unit_run("runjob: a job as a body, byte for byte", packed);
	unit_run("runjob: and back", parsed);
	unit_run("runjob: what is refused", refused);
	return unit_done();
}
