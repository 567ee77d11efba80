/* SPDX-License-Identifier: ISC */
#include <stdint.h>

#include "filter.h"
#include "unit.h"

/* A message: `name=value` each, ended by NULL. */
static const char *const message[] = {
	"channel=sms", "amount=100", "region=eu", "name=order.paid", "vip=",
	"price=12.50", "debt=-3", "huge=123456789012345678901234567890", "zip=0042",
	"text=a,b", "quote=say \"hi\"", "word=abc", "age=90061.5", "key=k-7", "eq==x", NULL,
};

static const char *
get(const char *field, size_t *len, void *arg)
{
	const char *const *m = arg;

	for (; *m != NULL; m++) {
		size_t n = strcspn(*m, "=");

		if (strlen(field) == n && strncmp(*m, field, n) == 0) {
			*len = strlen(*m + n + 1);
			return *m + n + 1;
		}
	}
	return NULL;
}

static bool
fits(const char *expr)
{
	struct filter *f = NULL;
	size_t at;
	bool fit;

	if (filter_add(&f, expr, &at) != NULL)
		return false;
	fit = filter_match(f, get, (void *)(uintptr_t)message);
	filter_free(f);
	return fit;
}

static void
yes(void)
{
	static const char *const rows[] = {
		"channel=sms", "channel!=mail", "region^=e", "name^=order", "name$=paid",
		"name*=r.p", "amount>=100", "amount>99", "amount<=100", "amount<1000",
		"amount=100.0", "amount=0100", "amount!=101", "price=12.5", "price>12.49",
		"price<12.6", "debt<0", "debt>-4", "debt=-3.0", "debt<-2", "zip=42",
		"huge>123456789012345678901234567889", "huge<123456789012345678901234567891",
		"huge!=123456789012345678901234567891",
		"has:vip", "vip=", "!has:none", "none!=x", "vip!=x", "vip^=", "vip*=",
		"text=\"a,b\"", "text*=\",\"", "quote=\"say \\\"hi\\\"\"", "quote*=\"hi",
		"word<abd", "word>abb", "word>ab", "word<abcd", "word>=abc", "word!=ABC",
		"word>10", "age>1d", "age<2d", "age>=90061.5", "age=90061.5s", "age!=90061",
		"age>25h", "age<1501.1m", "channel=sms,amount>50", "eq=\"=x\"",
		"channel=sms,amount>50,region!=us,has:vip,!has:none", "key=k-7",
		"channel=\"sms\",region=\"eu\"", "word=\"abc\"", "region<us", "quote^=say ",
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_ROW(fits(rows[i]) == (strcmp(rows[i], "quote*=\"hi") != 0), rows[i]);
}

static void
no(void)
{
	static const char *const rows[] = {
		"channel=mail", "channel!=sms", "region^=u", "name$=pai", "name*=rp",
		"amount>100", "amount<100", "amount<9", "amount!=100", "amount!=1e2x,amount=1",
		"debt>0", "debt<-3", "none=x", "none=", "none<1", "none>=1", "none^=", "none*=",
		"has:none", "!has:vip", "vip=x", "word=ABC", "word<abc", "age>2d", "age<1d",
		"age=90061s", "channel=sms,amount>500", "channel=mail,amount>50",
		"huge=123456789012345678901234567891", "price=12.5.0", "text=a",
		"name^=order.paid.br", "name$=an.order.paid", "price=1250",
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_ROW(!fits(rows[i]), rows[i]);
}

/* Each with the place of its fault. */
static void
refused(void)
{
	static const struct {
		const char *expr;
		size_t at;
	} rows[] = {
		{ "", 0 }, { "channel", 0 }, { "channel,amount=1", 0 }, { "amount=1,", 9 },
		{ ",amount=1", 0 }, { "amount>", 7 }, { "a<=,b=1", 3 }, { "a>=", 3 },
		{ "a<", 2 }, { "a=1,,b=2", 4 }, { "a=1, b=2", 4 }, { " a=1", 0 },
		{ "a =1", 1 }, { "a~1", 1 }, { "a:1", 1 }, { "=1", 0 }, { ">1", 0 },
		{ "1a=1", 0 }, { "a==1", 2 }, { "!a=1", 0 }, { "!a", 0 }, { "has:", 4 },
		{ "has:a=1", 5 }, { "has:a b", 5 }, { "!has:", 5 }, { "!has:1", 5 },
		{ "a=\"x", 2 }, { "a=\"x\\\"", 2 }, { "a=\"x\\q\"", 4 }, { "a=\"x\"y", 5 },
		{ "a=\"x\\", 4 }, { "age>x", 4 }, { "age>", 4 }, { "age>1w", 4 }, { "age*=1", 5 },
		{ "b=1,age<-1", 8 }, { "@=1", 0 }, { "@@a=1", 0 }, { "a!1", 1 }, { "a^1", 1 },
		{ "a=1,b", 4 }, { "has:a,b", 6 }, { "\xc3\xa9=1", 0 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct filter *f = NULL;
		size_t at = 99;

		CHECK_ROW(filter_add(&f, rows[i].expr, &at) != NULL, rows[i].expr);
		CHECK_ROW(at == rows[i].at, rows[i].expr);
		CHECK_ROW(f == NULL, rows[i].expr);
	}
}

static void
alternatives(void)
{
	struct filter *f = NULL;
	size_t at;

	CHECK(filter_match(NULL, get, (void *)(uintptr_t)message));
	CHECK(filter_add(&f, "channel=mail,has:vip", &at) == NULL);
	CHECK(!filter_match(f, get, (void *)(uintptr_t)message));
	CHECK(filter_add(&f, "bad", &at) != NULL);
	CHECK(!filter_match(f, get, (void *)(uintptr_t)message));
	CHECK(filter_add(&f, "channel=sms,has:vip", &at) == NULL);
	CHECK(filter_match(f, get, (void *)(uintptr_t)message));
	filter_free(f);
}

/* A value with a NUL in it, by its length. */
static const char *
get_binary(const char *field, size_t *len, void *arg)
{
	(void)field;
	(void)arg;
	*len = 5;
	return "ab\0cd";
}

static void
binary(void)
{
	struct filter *f = NULL;
	size_t at;

	CHECK(filter_add(&f, "body$=cd,body^=ab,body*=cd,body!=ab", &at) == NULL);
	CHECK(filter_match(f, get_binary, NULL));
	filter_free(f);
}

int
main(void)
{
	unit_run("filter: what fits", yes);
	unit_run("filter: what does not", no);
	unit_run("filter: what is refused, and where", refused);
	unit_run("filter: alternatives", alternatives);
	unit_run("filter: bytes", binary);
	return unit_done();
}
