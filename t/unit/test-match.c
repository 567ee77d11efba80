/* SPDX-License-Identifier: ISC */
#include <stdint.h>
#include <stdlib.h>

#include "match.h"
#include "route.h"
#include "store.h"
#include "unit.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool
route_fits(const char *pattern, const char *route)
{
	const char *why;
	size_t at;
	struct route *r = route_compile(pattern, &why, &at);
	bool fits;

	CHECK_ROW(r != NULL, pattern);
	if (r == NULL)
		return false;
	fits = route_match(r, route);
	route_free(r);
	return fits;
}

/* Of each pattern the routes it fits, and those it does not. */
static void
routes(void)
{
	static const struct {
		const char *pattern, *yes, *no;
	} rows[] = {
		/* the examples of AMQP 0-9-1, 3.1.3.3, and of RabbitMQ's tutorials */
		{ "*.stock.#", "usd.stock eur.stock.db", "stock.nasdaq stock" },
		{ "stock.usd.nyse", "stock.usd.nyse", "stock.usd stock.usd.nyse.x STOCK.usd.nyse" },
		{ "stock.usd.*", "stock.usd.nyse stock.usd.nasdaq", "stock.usd stock.eur.nyse" },
		{ "stock.#", "stock stock.nasdaq stock.usd.nyse", "usd.stock stocks.usd" },
		{ "#.stock", "usd.stock stock a.b.stock", "stock.usd eur.stock.db" },
		{ "*.orange.*", "quick.orange.rabbit lazy.orange.elephant",
			"quick.orange.new.rabbit orange quick.orange" },
		{ "*.*.rabbit", "quick.orange.rabbit lazy.pink.rabbit", "rabbit a.rabbit" },
		{ "lazy.#", "lazy lazy.brown.fox lazy.orange.new.rabbit", "quick.brown.fox" },
		/* # anywhere */
		{ "#", "a a.b a.b.c", "" },
		{ "#.ab.#", "ab x.ab ab.y x.y.ab.z.w ab.ab", "abc x.abc.y a.b" },
		{ "a.#.b", "a.b a.x.b a.x.y.b a.b.b a.a.b", "a b a.b.c x.a.b" },
		{ "#.b.#.c", "b.c a.b.c b.b.c.c b.x.c.y.c", "c.b b a.b.c.d" },
		{ "a.#.b.#.c", "a.b.c a.b.b.c a.x.b.y.c a.c.b.c", "a.c.b a.c b.c" },
		{ "#.a.b.#", "a.b a.a.b a.b.a x.a.b.y", "a.x.b b.a" },
		{ "#.#", "a a.b", "" },
		{ "#.*.#", "a a.b a.b.c", "" },
		{ "*.#", "a a.b a.b.c", "" },
		{ "#.*", "a a.b a.b.c", "" },
		{ "#.*.*", "a.b a.b.c", "a" },
		{ "*.#.*", "a.b a.b.c", "a" },
		{ "*.#.#.*.#", "a.b a.b.c", "a" },
		{ "a.*.#.b", "a.x.b a.x.y.b a.b.b", "a.b a.x" },
		/* * */
		{ "*", "a ab", "a.b" },
		{ "*.*", "a.b", "a a.b.c" },
		{ "a.*.c", "a.b.c a.a.c", "a.c a.b.b.c a.b.d" },
		/* words are whole, bytes are bytes */
		{ "a.b", "a.b", "a ab a.bc aa.b a.B a.b. .a.b" },
		{ "\xc3\xa9.#", "\xc3\xa9 \xc3\xa9.x", "\xc3 e" },
		{ "a-b.c_d", "a-b.c_d", "a.b.c_d" },
		/* empty words, in routes that cannot be put */
		{ "a.*.b", "a..b a.x.b", "a.b a...b" },
		{ "*.*", ". a. .a a.b", "a .." },
		{ "a.#", "a a. a..", ".a" },
		/* a route's own * and # are words like any other */
		{ "a.b", "", "a.* a.# #" },
		{ "a.*", "a.* a.#", "*" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *const lists[] = { rows[i].no, rows[i].yes };

		for (int want = 0; want < 2; want++)
			for (const char *s = lists[want]; *s != '\0';) {
				size_t len = strcspn(s, " ");
				char *route = strndup(s, len), row[100];

				snprintf(row, sizeof row, "%s : %s", rows[i].pattern, route);
				CHECK_ROW(route_fits(rows[i].pattern, route) == want, row);
				free(route);
				s += len + (s[len] == ' ');
			}
	}
}

/* No route at all, NULL or empty: no words. */
static void
no_words(void)
{
	static const char *const yes[] = { "", "#", "#.#", "#.#.#" };
	static const char *const no[] = { "*", "*.#", "#.*", "a", "a.#", "#.a" };

	for (size_t i = 0; i < COUNT(yes); i++)
		CHECK_ROW(route_fits(yes[i], NULL) && route_fits(yes[i], ""), yes[i]);
	for (size_t i = 0; i < COUNT(no); i++)
		CHECK_ROW(!route_fits(no[i], NULL) && !route_fits(no[i], ""), no[i]);
	CHECK(!route_fits("", "a") && !route_fits("", "."));
}

/* The definition, word by word, for short ones. */
static bool
defined(const char *const *p, size_t np, const char *const *r, size_t nr)
{
	if (np == 0)
		return nr == 0;
	if (strcmp(*p, "#") == 0)
		return defined(p + 1, np - 1, r, nr) || (nr > 0 && defined(p, np, r + 1, nr - 1));
	return nr > 0 && (strcmp(*p, "*") == 0 || strcmp(*p, *r) == 0) &&
		defined(p + 1, np - 1, r + 1, nr - 1);
}

static size_t
words_of(unsigned code, const char *const *alphabet, unsigned size, const char **words,
    char *text)
{
	size_t n = 0;

	for (*text = '\0'; code > 0; code = (code - 1) / size) {
		words[n] = alphabet[(code - 1) % size];
		strcat(strcat(text, n > 0 ? "." : ""), words[n]);
		n++;
	}
	return n;
}

/* All patterns of up to five words of a b * #, against all routes of up to five
 * words of a b. */
static void
exhaustive(void)
{
	static const char *const of_pattern[] = { "a", "b", "*", "#" };
	static const char *const of_route[] = { "a", "b" };
	const char *p[8], *r[8], *why;
	char pattern[32], route[32], row[80];
	size_t at;

	for (unsigned i = 0; i < 1365; i++) {
		size_t np = words_of(i, of_pattern, 4, p, pattern);
		struct route *compiled = route_compile(pattern, &why, &at);

		for (unsigned k = 0; k < 63; k++) {
			size_t nr = words_of(k, of_route, 2, r, route);

			snprintf(row, sizeof row, "%s : %s", pattern, route);
			CHECK_ROW(route_match(compiled, route) == defined(p, np, r, nr), row);
		}
		route_free(compiled);
	}
}

/* What would take for ever, were each # tried against each. */
static void
steps(void)
{
	char pattern[ROUTE_MAX + 1] = "", route[ROUTE_MAX + 1] = "";

	while (strlen(pattern) < 240)
		strcat(pattern, "#.a.");
	strcat(pattern, "#.b");
	while (strlen(route) < 250)
		strcat(route, "a.");
	strcat(route, "c");
	CHECK(!route_fits(pattern, route));
}

static void
refused_patterns(void)
{
	char longest[ROUTE_MAX + 2], *text;
	static const struct {
		const char *pattern;
		size_t at;
	} rows[] = {
		{ "a*", 1 }, { "*a", 0 }, { "a.b#", 3 }, { "##", 0 }, { "**", 0 }, { "a.#*.b", 2 },
		{ "a\n", 1 }, { "\t", 0 }, { "a.b\x7f", 3 }, { "*.#.o*.x", 5 },
		{ ".", 0 }, { "a.", 2 }, { ".a", 0 }, { "a..b", 2 }, { "a b", 1 }, { " ", 0 },
		{ "a.b.\xc3\xa9 .*", 6 }, { "#..*", 2 },
	};
	const char *why;
	size_t at;

	for (size_t i = 0; i < COUNT(rows); i++) {
		CHECK_ROW(route_compile(rows[i].pattern, &why, &at) == NULL, rows[i].pattern);
		CHECK_ROW(at == rows[i].at && why != NULL, rows[i].pattern);
	}
	memset(longest, 'a', sizeof longest);
	longest[ROUTE_MAX + 1] = '\0';
	CHECK(route_compile(longest, &why, &at) == NULL && at == ROUTE_MAX);
	text = longest + 1;
	CHECK(route_put_valid(text) && route_fits(text, text));
}

/* --- filters ------------------------------------------------------------------ */

static struct attr attrs[] = {
	{ (char *)(uintptr_t)"amount", (char *)(uintptr_t)"150" },
	{ (char *)(uintptr_t)"channel", (char *)(uintptr_t)"sms" },
	{ (char *)(uintptr_t)"key", (char *)(uintptr_t)"attribute" },
	{ (char *)(uintptr_t)"list", (char *)(uintptr_t)"a,b" },
	{ (char *)(uintptr_t)"region", (char *)(uintptr_t)"eu" },
	{ (char *)(uintptr_t)"body", (char *)(uintptr_t)"hi" },
	{ (char *)(uintptr_t)"vip", (char *)(uintptr_t)"" },
};
static const struct match_message message = {
	.route = "order.paid.br", .key = "customer-7", .priority = 3, .attrs = attrs,
	.nattrs = COUNT(attrs),
};

static void
filters(void)
{
	static const struct {
		const char *filter;
		bool want;
	} rows[] = {
		{ "channel=sms", true }, { "channel=mail", false }, { "channel!=mail", true },
		{ "channel!=sms", false }, { "@channel=sms", true }, { "@channel!=sms", false },
		{ "amount>=100", true }, { "amount>150", false }, { "amount<1000", true },
		{ "amount<=150.0", true }, { "amount=0150", true }, { "amount>99", true },
		{ "amount<99", false }, { "region^=e", true }, { "region$=u", true },
		{ "region*=x", false }, { "has:vip", true }, { "!has:vip", false },
		{ "has:none", false }, { "!has:none", true }, { "vip=", true }, { "none=", false },
		{ "none!=x", true }, { "none<1", false }, { "list=\"a,b\"", true },
		{ "list*=\",\"", true }, { "list=a", false }, { "key=customer-7", true },
		{ "key^=customer-", true }, { "@key=attribute", true }, { "key=attribute", false },
		{ "has:key", true }, { "has:@key", true }, { "priority=3", true },
		{ "priority<=3", true }, { "priority>3", false }, { "priority<10", true },
		{ "has:priority", true }, { "route=order.paid.br", true }, { "route$=.br", true },
		{ "route^=refund", false }, { "@route=order.paid.br", false }, { "@body=hi", true },
		{ "channel=sms,amount>=100", true }, { "channel=sms,amount>=1000", false },
		{ "channel=sms,region!=us,has:vip,!has:none,priority<5,key$=7", true },
		{ "channel=\"sms\"", true }, { "Channel=sms", false }, { "channel=SMS", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *list[] = { (char *)(uintptr_t)rows[i].filter };
		const char *why;
		size_t at;
		int which;
		struct match *m = match_compile(NULL, list, 1, &why, &at, &which);

		CHECK_ROW(m != NULL, rows[i].filter);
		if (m != NULL)
			CHECK_ROW(match_fits(m, &message) == rows[i].want, rows[i].filter);
		match_free(m);
	}
}

static void
bare_message(void)
{
	static const struct match_message none = { .priority = PRIORITY_DEFAULT };
	char *list[] = { (char *)(uintptr_t)"!has:key,!has:route,!has:a,priority=5" };
	const char *why;
	size_t at;
	int which;
	struct match *m = match_compile("#", list, 1, &why, &at, &which);

	CHECK(m != NULL && match_fits(m, &none) && !match_fits(m, &message));
	match_free(m);
	m = match_compile(NULL, NULL, 0, &why, &at, &which);
	CHECK(m != NULL && match_fits(m, &none) && match_fits(m, &message));
	match_free(m);
	m = match_compile("*.#", NULL, 0, &why, &at, &which);
	CHECK(m != NULL && !match_fits(m, &none) && match_fits(m, &message));
	match_free(m);
}

static void
both(void)
{
	char *good[] = { (char *)(uintptr_t)"channel=mail", (char *)(uintptr_t)"amount>100" };
	const char *why;
	size_t at;
	int which;
	struct match *m = match_compile("order.*.br", good, 2, &why, &at, &which);

	CHECK(m != NULL && match_fits(m, &message));
	match_free(m);
	m = match_compile("order.*.br", good, 1, &why, &at, &which);
	CHECK(m != NULL && !match_fits(m, &message));
	CHECK(match_fits_route(m, &message) && !match_fits_filters(m, &message));
	match_free(m);
	m = match_compile("refund.#", good, 2, &why, &at, &which);
	CHECK(m != NULL && !match_fits(m, &message));
	CHECK(!match_fits_route(m, &message) && match_fits_filters(m, &message));
	match_free(m);
}

/* Each with what it is about and the place. */
static void
refused(void)
{
	static const struct {
		const char *pattern, *filters[3];
		int which;
		size_t at;
	} rows[] = {
		{ "a.b*", { NULL }, -1, 3 }, { NULL, { "amount" }, 0, 0 },
		{ "#", { "a=1", "amount" }, 1, 0 }, { "a*", { "amount" }, -1, 1 },
		{ NULL, { "a=1", "b=1,c" }, 1, 4 }, { NULL, { "" }, 0, 0 },
		{ NULL, { "body*=x" }, 0, 0 }, { NULL, { "a=1,age>1d" }, 0, 4 },
		{ NULL, { "has:state" }, 0, 4 }, { NULL, { "!has:id" }, 0, 5 },
		{ NULL, { "tries>1" }, 0, 0 }, { NULL, { "a=1", "b=2", "a=x\ny" }, 2, 3 },
		{ NULL, { "a=\x7f" }, 0, 2 }, { NULL, { "a==1" }, 0, 2 }, { NULL, { "body" }, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *list[3];
		const char *why = NULL;
		size_t n = 0, at;
		int which;

		for (; n < 3 && rows[i].filters[n] != NULL; n++)
			list[n] = (char *)(uintptr_t)rows[i].filters[n];
		CHECK_ROW(match_compile(rows[i].pattern, list, n, &why, &at, &which) == NULL, why);
		CHECK_ROW(which == rows[i].which && at == rows[i].at, why);
	}
}

int
main(void)
{
	unit_run("route: what patterns fit, and what not", routes);
	unit_run("route: no words", no_words);
	unit_run("route: all short patterns, by the definition", exhaustive);
	unit_run("route: many #, few steps", steps);
	unit_run("route: what is refused, and where", refused_patterns);
	unit_run("match: filters", filters);
	unit_run("match: a message with nothing", bare_message);
	unit_run("match: pattern and filters", both);
	unit_run("match: what is refused, and where", refused);
	return unit_done();
}
