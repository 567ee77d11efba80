/* SPDX-License-Identifier: ISC */
#include "conf.h"
#include "unit.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char all[] = "lease=30s tries=5 backoff=1s backoff_max=1h ttl=0 "
	"keep=0 max_size=1M limit=0 limit_bytes=0 full=reject max_leased=0 rate=0 "
	"unrouted=accept dedup=5m sync=yes paused=no create=yes mode=0600 group=";

static void
conf_print(const struct conf *c, char *out, size_t size)
{
	size_t n = 0;
	char value[80];

	for (const char *const *name = conf_names(); *name != NULL; name++) {
		CHECK_ROW(conf_value(c, *name, value, sizeof value), *name);
		n += (size_t)snprintf(out + n, size - n, "%s%s=%s",
			n > 0 ? " " : "", *name, value);
	}
}

static void
defaults(void)
{
	struct conf c;
	char text[512];

	memset(&c, 0xff, sizeof c);
	conf_defaults(&c);
	conf_print(&c, text, sizeof text);
	CHECK_STR(text, all);
	CHECK(c.lease == 30000 && c.tries == 5 && c.backoff == 1000);
	CHECK(c.backoff_max == 3600000 && c.ttl == 0 && c.keep == 0);
	CHECK(c.max_size == 1 << 20 && c.limit == 0 && c.limit_bytes == 0);
	CHECK(c.full == FULL_REJECT && c.max_leased == 0 && !(c.rate > 0));
	CHECK(c.dedup == 300000 && c.sync && !c.paused && c.create);
	CHECK(c.mode == 0600 && c.group[0] == '\0');
}

static void
set_good(void)
{
	static const struct { const char *text, *name, *value; } rows[] = {
		{ "lease=1ms", "lease", "1ms" }, { "lease=365d", "lease", "365d" },
		{ "lease=1.5s", "lease", "1500ms" }, { "lease=90", "lease", "90s" },
		{ "lease=", "lease", "30s" }, { "tries=1", "tries", "1" },
		{ "tries=1000000", "tries", "1000000" }, { "tries=", "tries", "5" },
		{ "backoff=0", "backoff", "0" }, { "ttl=36525d", "ttl", "36525d" },
		{ "keep=7d", "keep", "7d" }, { "max_size=1", "max_size", "1" },
		{ "max_size=64M", "max_size", "64M" },
		{ "limit=1000000000000", "limit", "1000000000000" },
		{ "limit_bytes=10G", "limit_bytes", "10G" },
		{ "full=block", "full", "block" }, { "full=", "full", "reject" },
		{ "full=drop-oldest", "full", "drop-oldest" },
		{ "unrouted=reject", "unrouted", "reject" }, { "unrouted=", "unrouted", "accept" },
		{ "rate=60/m", "rate", "1/s" }, { "rate=0/s", "rate", "0" },
		{ "dedup=30d", "dedup", "30d" }, { "dedup=0", "dedup", "0" },
		{ "sync=no", "sync", "no" }, { "paused=yes", "paused", "yes" },
		{ "mode=0660", "mode", "0660" }, { "mode=644", "mode", "0644" },
		{ "group=staff", "group", "staff" }, { "group=", "group", "" },
		{ "group=_mq-2.x", "group", "_mq-2.x" }, { "group=100", "group", "100" },
		{ "group=aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg",
			"group",
			"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg" },
	};
	struct fault f;
	struct conf c;
	char value[80], again[160];

	for (size_t i = 0; i < COUNT(rows); i++) {
		conf_defaults(&c);
		CHECK_ROW(conf_set(&c, rows[i].text, &f) == 0, rows[i].text);
		CHECK_ROW(conf_value(&c, rows[i].name, value, sizeof value),
			rows[i].text);
		CHECK_STR(value, rows[i].value);
		snprintf(again, sizeof again, "%s=%s", rows[i].name, value);
		CHECK_ROW(conf_set(&c, again, &f) == 0, again);
	}
}

static void
set_bad(void)
{
	static const char *const rows[] = {
		"", "=", "=1", "lease", "Lease=1s", "leas=1s", "lease =1s", " lease=1s",
		"lease=0", "lease=366d", "lease=-1", "lease= 1s", "lease=1s ",
		"tries=0", "tries=1000001", "tries=5.0", "tries=-1", "backoff=366d",
		"ttl=36526d", "max_size=0", "max_size=65M", "max_size=1m",
		"max_size=67108865", "limit=1000000000001", "limit=1K", "limit=-1",
		"limit_bytes=1025T", "full=drop", "full=Reject", "unrouted=no", "rate=x", "rate=1/d",
		"rate=-1", "dedup=31d", "sync=1", "sync=YES", "paused=true",
		"mode=0400", "mode=0700", "mode=0610", "mode=4600", "mode=06000",
		"mode=00", "mode=rw", "mode=0x180", "mode=0680", "group=-x",
		"group=a b", "group=a/b", "group=..", "group=a:b", "group=\xc3\xa9",
		"group=aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg",
	};
	struct conf c, before;
	struct fault f;

	conf_defaults(&c);
	memcpy(&before, &c, sizeof c);
	for (size_t i = 0; i < COUNT(rows); i++) {
		f.status = 0;
		CHECK_ROW(conf_set(&c, rows[i], &f) == -1, rows[i]);
		CHECK_ROW(f.status == ST_USAGE, rows[i]);
		CHECK_ROW(memcmp(&before, &c, sizeof c) == 0, rows[i]);
	}
}

static void
set_says(void)
{
	static const struct { const char *text, *why; } rows[] = {
		{ "lease", "lease: want NAME=VALUE" },
		{ "leese=1", "leese: no such setting" },
		{ "lease=x", "lease=x: want a duration from 1ms to 365d" },
		{ "dedup=31d", "dedup=31d: want a duration from 0 to 30d" },
		{ "tries=0", "tries=0: want a number from 1 to 1000000" },
		{ "max_size=1G", "max_size=1G: want a size from 1 to 64M" },
		{ "full=no", "full=no: want reject, block or drop-oldest" },
		{ "rate=x", "rate=x: want a rate like 500/s or 60/m, or 0" },
		{ "sync=1", "sync=1: want yes or no" },
		{ "mode=7", "mode=7: want an octal mode from 0600 to 0666" },
		{ "group=/", "group=/: want the name of a group" },
	};
	struct fault f;
	struct conf c;

	conf_defaults(&c);
	for (size_t i = 0; i < COUNT(rows); i++) {
		CHECK(conf_set(&c, rows[i].text, &f) == -1);
		CHECK_STR(f.text, rows[i].why);
	}
}

static void
read_good(void)
{
	static const char text[] = "# a comment = not read\n\n  \t\n"
		"lease=1m\r\n  tries=9 \nlease=2m\n  # more\ngroup=\nrate=5/s";
	struct conf c;
	struct fault f;

	conf_defaults(&c);
	strcpy(c.group, "old");
	CHECK(conf_read(&c, "conf", text, sizeof text - 1, &f) == 0);
	CHECK(c.lease == 120000 && c.tries == 9 && c.rate > 4 && c.rate < 6);
	CHECK_STR(c.group, "");
	CHECK(conf_read(&c, "conf", NULL, 0, &f) == 0);
	CHECK(conf_read(&c, "conf", "\n", 1, &f) == 0);
	CHECK(conf_read(&c, "conf", "tries=12", 7, &f) == 0 && c.tries == 1);
}

static void
read_bad(void)
{
#define TEXT(s) s, sizeof s - 1
	static const struct { const char *text; size_t len; const char *why; }
	rows[] = {
		{ TEXT("lease=1s\nlease\n"), "q/conf: line 2: lease: want NAME=VALUE" },
		{ TEXT("\n\ntries=0"), "q/conf: line 3: tries=0: want a number from 1 to 1000000" },
		{ TEXT("nope=1\n"), "q/conf: line 1: nope: no such setting" },
		{ TEXT("lease=1s\0\n"), "q/conf: line 1: has a NUL byte" },
		{ TEXT("lease=1s\n#\0\n"), "q/conf: line 2: has a NUL byte" },
		{ TEXT("\0"), "q/conf: line 1: has a NUL byte" },
		{ TEXT("tries = 5\n"), "q/conf: line 1: tries : no such setting" },
		{ TEXT("tries=5 # five\n"),
			"q/conf: line 1: tries=5 # five: want a number from 1 to 1000000" },
	};
	struct conf c, before;
	struct fault f;

	conf_defaults(&c);
	memcpy(&before, &c, sizeof c);
	for (size_t i = 0; i < COUNT(rows); i++) {
		f.status = 0;
		CHECK_ROW(conf_read(&c, "q/conf", rows[i].text, rows[i].len, &f) == -1,
			rows[i].why);
		CHECK_ROW(f.status == ST_CONFIG, rows[i].why);
		CHECK_STR(f.text, rows[i].why);
		CHECK_ROW(memcmp(&before, &c, sizeof c) == 0, rows[i].why);
	}
}

static void
read_long(void)
{
	struct conf c;
	struct fault f;
	char text[4096];

	conf_defaults(&c);
	memset(text, 'x', sizeof text);
	CHECK(conf_read(&c, "conf", text, sizeof text, &f) == -1);
	CHECK_STR(f.text, "conf: line 1: longer than 255 bytes");
	text[0] = '#';
	CHECK(conf_read(&c, "conf", text, sizeof text, &f) == 0);
}

static void
unknown(void)
{
	struct conf c;
	char value[80] = "same";

	conf_defaults(&c);
	CHECK(!conf_value(&c, "nope", value, sizeof value));
	CHECK(!conf_value(&c, "", value, sizeof value));
	CHECK(!conf_value(&c, "lease=", value, sizeof value));
	CHECK_STR(value, "same");
}

int
main(void)
{
	unit_run("conf_defaults: as mq-conf(1) lists them", defaults);
	unit_run("conf_set: takes values, conf_value: gives them back", set_good);
	unit_run("conf_set: refuses what is out of bounds", set_bad);
	unit_run("conf_set: says what it wants", set_says);
	unit_run("conf_read: comments, blanks, the last one wins", read_good);
	unit_run("conf_read: names the line that is wrong", read_bad);
	unit_run("conf_read: bounds a line", read_long);
	unit_run("conf_value: refuses an unknown name", unknown);
	return unit_done();
}
