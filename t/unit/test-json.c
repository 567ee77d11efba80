/* SPDX-License-Identifier: ISC */
#include <stdlib.h>

#include "base64.h"
#include "json.h"
#include "unit.h"

static const struct put_spec base = { .priority = PRIORITY_DEFAULT, .head = { .version = -1 } };

#define NOW INT64_C(1796000000000)

static void
body_out(const char *body, size_t len, const char *want)
{
	struct head head = { .version = -1 };
	struct view v = { .head = &head, .queue = "q", .body = body, .len = len };
	struct buffer b = { 0 };
	const char *got;

	CHECK(json_print(&v, &b) == 0 && buffer_byte(&b, '\0') == 0);
	got = strstr(b.data, "\"body");
	CHECK(got != NULL);
	CHECK_STR(got != NULL ? got : "", want);
	buffer_free(&b);
}

static void
out(void)
{
	body_out("", 0, "\"body\":\"\"}\n");
	body_out("a\"b\\", 4, "\"body\":\"a\\\"b\\\\\"}\n");
	body_out("a\0b", 3, "\"body\":\"a\\u0000b\"}\n");
	body_out("\r\n\t", 3, "\"body\":\"\\r\\n\\t\"}\n");
	body_out("\xc3\xa9", 2, "\"body\":\"\xc3\xa9\"}\n");
	body_out("\xff", 1, "\"body64\":\"/w==\"}\n");
	body_out("ab\xc3", 3, "\"body64\":\"YWLD\"}\n");
	body_out("\xed\xa0\x80", 3, "\"body64\":\"7aCA\"}\n");
}

static void
out_all(void)
{
	struct head head = { .key = "k\xff", .version = 7, .attrs = (struct attr[]){ { "a", "1" } },
		.nattrs = 1 };
	struct view v = { .id = { 1, 2 }, .receipt = "r", .queue = "q", .state = "leased",
		.head = &head, .priority = 3, .tries = 2, .put_time = 1000, .at = 2000,
		.expires_at = 3000, .due = 4000, .pid = 5, .uid = 6, .reason = "why",
		.body = "b", .len = 1 };
	struct buffer b = { 0 };

	CHECK(json_print(&v, &b) == 0 && buffer_byte(&b, '\0') == 0);
	CHECK_STR(b.data, "{\"id\":\"00000000-0000-0001-0000-000000000002\",\"receipt\":\"r\","
		"\"queue\":\"q\",\"state\":\"leased\",\"key\":\"k\xef\xbf\xbd\",\"priority\":3,"
		"\"tries\":2,\"version\":7,\"put_time\":\"1970-01-01T00:00:01.000Z\","
		"\"at\":\"1970-01-01T00:00:02.000Z\",\"expires_at\":\"1970-01-01T00:00:03.000Z\","
		"\"due\":\"1970-01-01T00:00:04.000Z\",\"holder\":\"5.6\",\"reason\":\"why\","
		"\"attributes\":{\"a\":\"1\"},\"body\":\"b\"}\n");
	buffer_free(&b);
}

static void
round_trip(void)
{
	char all[1024];
	struct head head = { .version = -1 };
	struct view v = { .head = &head, .queue = "q", .body = all };
	struct buffer b = { 0 };
	struct json_put p;
	struct fault f;

	for (size_t i = 0; i < sizeof all; i++)
		all[i] = (char)(i * 7 % 256 & (i < 512 ? 127 : 255));
	for (size_t len = 0; len <= sizeof all; len += 37) {
		v.len = len;
		b.len = 0;
		CHECK(json_print(&v, &b) == 0);
		CHECK(json_read(b.data, b.len, &base, NOW, &p, &f) == 0);
		CHECK(p.len == len && memcmp(p.body, all, len) == 0);
		json_put_free(&p);
	}
	buffer_free(&b);
}

static struct json_put
read_good(const char *line)
{
	struct json_put p = { 0 };
	struct fault f = { .text = "" };

	CHECK_ROW(json_read(line, strlen(line), &base, NOW, &p, &f) == 0, f.text);
	return p;
}

static void
in(void)
{
	struct json_put p = read_good("{\"body\":\"x\\u0000y\",\"priority\":2,\"delay\":1.5,"
		"\"expires\":\"2h\",\"version\":9,\"attributes\":{\"b\":\"2\",\"a\":1,\"c\":true,"
		"\"d\":null},\"key\":null,\"id\":7,\"tries\":3}");

	CHECK(p.len == 3 && memcmp(p.body, "x\0y", 4) == 0);
	CHECK(p.spec.priority == 2 && p.spec.head.version == 9 && p.spec.head.nattrs == 3);
	CHECK(p.spec.due == NOW + 1500 && p.spec.expiry == NOW + 7200000);
	CHECK_STR(head_attr_get(&p.spec.head, "a"), "1");
	CHECK_STR(head_attr_get(&p.spec.head, "c"), "true");
	json_put_free(&p);
	p = read_good(" {\"body64\":\"aGk=\",\"at\":\"2026-11-30T14:00:00+01:00\"}\r");
	CHECK(p.len == 2 && memcmp(p.body, "hi", 2) == 0);
	CHECK(p.spec.priority == PRIORITY_DEFAULT && p.spec.head.version == -1);
	CHECK(p.spec.due == INT64_C(1796043600000) && p.spec.expiry == 0);
	json_put_free(&p);
}

static void
in_bad(void)
{
	static const struct {
		const char *line, *said;
	} rows[] = {
		{ "", "byte" }, { "{", "byte" }, { "7", "not a JSON object" },
		{ "[]", "not a JSON object" }, { "{} {}", "byte" }, { "{}", "neither" },
		{ "{\"body\":\"a\",\"body\":\"b\"}", "duplicate" },
		{ "{\"body\":\"a\",\"body64\":\"\"}", "one of them" },
		{ "{\"body\":null}", "neither" }, { "{\"body\":7}", "body: not a string" },
		{ "{\"body64\":\"a\"}", "body64: not base64" },
		{ "{\"body64\":\"YQ==YQ==\"}", "body64: not base64" },
		{ "{\"body64\":\"YR==\"}", "body64: not base64" },
		{ "{\"body64\":\"YQ==\\u0000\"}", "body64: not base64" },
		{ "{\"body\":\"\",\"bdoy\":1}", "bdoy: unknown key" },
		{ "{\"body\":\"\",\"priority\":10}", "priority:" },
		{ "{\"body\":\"\",\"priority\":-1}", "priority:" },
		{ "{\"body\":\"\",\"priority\":\"1\"}", "priority:" },
		{ "{\"body\":\"\",\"priority\":1.5}", "priority:" },
		{ "{\"body\":\"\",\"version\":-1}", "version:" },
		{ "{\"body\":\"\",\"delay\":-1}", "delay:" },
		{ "{\"body\":\"\",\"delay\":1e300}", "delay:" },
		{ "{\"body\":\"\",\"delay\":\"x\"}", "delay:" },
		{ "{\"body\":\"\",\"delay\":\"1s\\u0000\"}", "delay:" },
		{ "{\"body\":\"\",\"expires\":0}", "expires:" },
		{ "{\"body\":\"\",\"at\":5}", "at:" },
		{ "{\"body\":\"\",\"at\":\"02:00\",\"delay\":1}", "at:" },
		{ "{\"body\":\"\",\"expires_at\":\"soon\"}", "expires_at:" },
		{ "{\"body\":\"\",\"attributes\":[]}", "attributes:" },
		{ "{\"body\":\"\",\"attributes\":{\"1\":\"\"}}", "attributes: 1:" },
		{ "{\"body\":\"\",\"attributes\":{\"a\":1.5}}", "attributes: a:" },
		{ "{\"body\":\"\",\"attributes\":{\"a\":{}}}", "attributes: a:" },
		{ "{\"body\":\"\",\"attributes\":{\"a\":\"x\\u0000\"}}", "attributes: a:" },
		{ "{\"body\":\"\",\"attributes\":{\"a\":\"x\\n\"}}", "attributes: a:" },
		{ "{\"body\":\"\",\"key\":\"\"}", "key:" },
		{ "{\"body\":\"\",\"route\":\"a..b\"}", "route: not words between dots, without "
		    "spaces, of at most 255 bytes" },
		{ "{\"body\":\"\",\"idempotency_key\":\"\"}", "idempotency_key:" },
		{ "{\"body\":\"\xff\"}", "byte" }, { "{\"body\":\"\\ud800\"}", "byte" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct json_put p;
		struct fault f = { .text = "" };
		const char *line = rows[i].line;

		CHECK_ROW(json_read(line, strlen(line), &base, NOW, &p, &f) < 0, line);
		CHECK_ROW(f.status == ST_DATA, line);
		if (strstr(f.text, rows[i].said) == NULL)
			CHECK_STR(f.text, rows[i].said);
	}
}

static void
deep(void)
{
	char *line = malloc(1 << 20);
	struct json_put p;
	struct fault f;

	memset(line, '[', 1 << 20);
	CHECK(json_read(line, 1 << 20, &base, NOW, &p, &f) < 0 && f.status == ST_DATA);
	free(line);
}

static void
coded(void)
{
	static const char *const rows[][2] = {
		{ "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
	};
	static const char *const bad[] = { "Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====",
		"Zg==Zg==", "Zm9v\n", "Zm-_", "Zm 9v", "=m9v", "Zm=v" };
	char out[32];
	size_t n;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		base64_encode(rows[i][0], strlen(rows[i][0]), out);
		out[BASE64_SIZE(strlen(rows[i][0]))] = '\0';
		CHECK_STR(out, rows[i][1]);
		CHECK(base64_decode(rows[i][1], strlen(rows[i][1]), out, &n));
		CHECK(n == strlen(rows[i][0]) && memcmp(out, rows[i][0], n) == 0);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK_ROW(!base64_decode(bad[i], strlen(bad[i]), out, &n), bad[i]);
}

int
main(void)
{
	unit_run("json: bodies out", out);
	unit_run("json: the keys and their order", out_all);
	unit_run("json: bodies come back as they were", round_trip);
	unit_run("json: a message in", in);
	unit_run("json: what is refused", in_bad);
	unit_run("json: depth has a bound", deep);
	unit_run("base64: RFC 4648", coded);
	return unit_done();
}
