/* SPDX-License-Identifier: ISC */
#include "format.h"
#include "unit.h"

/* Its parts as text: letters, names in braces, texts in brackets. */
static const char *
shape(const char *text)
{
	static char out[256];
	struct fault f = { 0 };
	struct format *fmt = format_parse(text, &f);
	size_t n = 0;

	if (fmt == NULL)
		return f.status == ST_USAGE ? "usage" : "other";
	out[0] = '\0';
	for (size_t i = 0; i < fmt->nparts; i++) {
		const struct format_part *p = &fmt->parts[i];

		n += (size_t)snprintf(out + n, sizeof out - n,
			p->what == 0 ? "[%s%s]" : p->what == 'a' ? "%.0s{%s}" : "%s%s",
			p->what == 0 ? "" : (char[]){ p->what, '\0' }, p->text);
	}
	format_free(fmt);
	return out;
}

static void
parts(void)
{
	CHECK_STR(shape(""), "");
	CHECK_STR(shape("%r"), "r");
	CHECK_STR(shape("%r%i%b%k%n%p%q"), "ribknpq");
	CHECK_STR(shape("id=%i body=%b."), "[id=]i[ body=]b[.]");
	CHECK_STR(shape("%a{a.b-c}x"), "{a.b-c}[x]");
	CHECK_STR(shape("100%%"), "[100][%]");
	CHECK_STR(shape("a\\tb\\n\\\\"), "[a][\t][b][\n][\\]");
}

static void
refused(void)
{
	static const char *const bad[] = {
		"%", "x%", "%z", "%R", "% r", "%a", "%a{", "%a{}", "%a{x", "%a{1}",
		"%a{x y}", "\\", "\\x", "%r\\",
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_ROW(strcmp(shape(bad[i]), "usage") == 0, bad[i]);
}

static void
has(void)
{
	struct fault f;
	struct format *fmt = format_parse("%i %%r", &f);

	CHECK(fmt != NULL && format_has(fmt, 'i') && !format_has(fmt, 'r'));
	format_free(fmt);
}

int
main(void)
{
	unit_run("format: its parts", parts);
	unit_run("format: what is refused", refused);
	unit_run("format: has a receipt or not", has);
	return unit_done();
}
