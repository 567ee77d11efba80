/* SPDX-License-Identifier: ISC */
#include "table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "buffer.h"
#include "store.h"
#include "units.h"

#define HELD_ROWS 200            /* at most, whatever the screen says */
#define GAP 2                    /* blanks between two columns */

struct table {
	FILE *out;
	const struct column *columns;
	size_t ncolumns;
	bool screen, utf8, laid_out;
	size_t screen_width, screen_rows;
	size_t at;               /* column of the screen that comes next */
	struct buffer cells;     /* pipe: the row; screen: cells, NUL-ended */
	size_t ncells, rows;     /* in it */
	size_t *widths;
	int64_t now;
	int error;
};

/* --- one character ----------------------------------------------------------------- */

struct range {
	uint32_t first, last;
};

static bool
among(uint32_t c, const struct range *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c >= r[i].first && c <= r[i].last)
			return true;
	return false;
}
#define AMONG(c, ranges) among((c), (ranges), sizeof(ranges) / sizeof *(ranges))

/* Controls, and what turns the direction of a line or hides: never raw. */
static bool
unfit(uint32_t c)
{
	static const struct range ranges[] = {
		{ 0, 0x9f }, { 0xad, 0xad }, { 0x61c, 0x61c }, { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xd800, 0xf8ff },
		{ 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0xe0000, 0xffffffff },
	};

	return AMONG(c, ranges);
}

static size_t
columns_of(uint32_t c)
{
	static const struct range none[] = {
		{ 0x300, 0x36f }, { 0x1ab0, 0x1aff }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f },
	};
	static const struct range wide[] = {
		{ 0x1100, 0x115f }, { 0x2e80, 0xa4cf }, { 0xac00, 0xd7a3 },
		{ 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 },
		{ 0x1f300, 0x1faff }, { 0x20000, 0x3fffd },
	};

	return AMONG(c, none) ? 0 : AMONG(c, wide) ? 2 : 1;
}

/* The character of several bytes at s, its length, or 0: it is none. */
static size_t
utf8_read(const unsigned char *s, size_t len, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;

	if (s[0] < 0xc0 || s[0] > 0xf7 || n > len)
		return 0;
	*c = s[0] & (0x7fU >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (s[i] & 0x3f);
	}
	return *c < least[n] ? 0 : n;
}

/* How much of the text at s stands as it is. */
static size_t
plain(const struct table *t, const char *s, size_t len)
{
	size_t i, n;
	uint32_t c;

	for (i = 0; i < len; i += n) {
		n = 1;
		if (s[i] >= ' ' && s[i] <= '~' && s[i] != '\\')
			continue;
		n = t->utf8 ? utf8_read((const unsigned char *)s + i, len - i, &c) : 0;
		if (n == 0 || unfit(c))
			break;
	}
	return i;
}

/* --- cells --------------------------------------------------------------------------- */

static void
check(struct table *t, int r)
{
	if (r < 0 && t->error == 0)
		t->error = errno != 0 ? errno : EIO;
}

static void
add(struct table *t, const char *text, size_t len)
{
	check(t, buffer_add(&t->cells, text, len));
}

static void
add_escaped(struct table *t, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	char text[4] = { '\\', 'x', hex[c >> 4], hex[c & 15] };

	add(t, text, sizeof text);
}

static void
cell_begin(struct table *t)
{
	if (t->ncells > 0 && !t->screen)
		add(t, "\t", 1);
}

static void
cell_end(struct table *t)
{
	if (t->screen)
		add(t, "", 1);
	t->ncells++;
}

static void
cell(struct table *t, const char *ascii)
{
	cell_begin(t);
	add(t, ascii, strlen(ascii));
	cell_end(t);
}

void
table_text(struct table *t, const char *text, size_t len)
{
	size_t n;

	cell_begin(t);
	if (len == 1 && text[0] == '-' && !t->screen) {
		add_escaped(t, '-');
		len = 0;
	}
	for (; len > 0; text += n, len -= n) {
		n = plain(t, text, len);
		add(t, text, n);
		if (n < len)
			add_escaped(t, (unsigned char)text[n++]);
	}
	cell_end(t);
}

void
table_word(struct table *t, const char *word)
{
	if (word == NULL)
		table_none(t);
	else
		table_text(t, word, strlen(word));
}

void
table_number(struct table *t, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, n);
	cell(t, text);
}

/* Three digits of it. */
static void
short_print(double n, char out[static 24])
{
	const char *unit = " kMGTPE";

	for (; n >= 999.5 && unit[1] != '\0'; unit++)
		n /= 1000;
	snprintf(out, 24, "%.*f%.*s", n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2, n,
	    *unit != ' ', unit);
}

void
table_count(struct table *t, uint64_t n)
{
	char text[24];

	if (!t->screen || n < 100000) {
		table_number(t, n);
		return;
	}
	short_print((double)n, text);
	cell(t, text);
}

void
table_rate(struct table *t, double a_second)
{
	char text[24];

	if (!t->screen || a_second == 0)
		snprintf(text, sizeof text, "%.0f", a_second);
	else
		short_print(a_second, text);
	cell(t, text);
}

void
table_age(struct table *t, int64_t ms)
{
	char text[24];

	if (ms >= 0 && t->screen)
		age_print(ms, text, sizeof text);
	else if (ms >= 0)
		snprintf(text, sizeof text, "%" PRId64, ms / 1000);
	cell(t, ms >= 0 ? text : "-");
}

void
table_time(struct table *t, int64_t ms)
{
	char text[TIME_SIZE];

	if (t->screen && ms > 0) {
		table_age(t, t->now > ms ? t->now - ms : 0);
		return;
	}
	if (ms > 0)
		time_print(ms, text);
	cell(t, ms > 0 ? text : "-");
}

void
table_none(struct table *t)
{
	cell(t, "-");
}

/* --- rows ------------------------------------------------------------------------------ */

static void
write_out(struct table *t, const char *text, size_t len)
{
	if (t->error == 0 && fwrite(text, 1, len, t->out) != len)
		check(t, -1);
}

/* How many columns of the screen the text takes, at most `max`; *len is how
 * much of it that is. */
static size_t
width(const char *text, size_t max, size_t *len)
{
	size_t all = strlen(text), w = 0, n;
	uint32_t c;

	for (*len = 0; *len < all; *len += n, w += columns_of(c)) {
		c = (unsigned char)text[*len];
		n = c < 0x80 ? 1 : utf8_read((const unsigned char *)text + *len, all - *len, &c);
		if (n == 0 || w + columns_of(c) > max)
			break;
	}
	return w;
}

static void
blanks(struct table *t, size_t n)
{
	for (; n > 0 && t->at < t->screen_width; n--, t->at++)
		write_out(t, " ", 1);
}

static void
write_cell(struct table *t, size_t i, const char *text)
{
	size_t len, w = width(text, SIZE_MAX, &len);
	size_t pad = t->widths[i] > w ? t->widths[i] - w : 0;

	if (i > 0)
		blanks(t, GAP);
	if (t->columns[i].right)
		blanks(t, pad);
	t->at += width(text, t->screen_width - t->at, &len);
	write_out(t, text, len);
	if (!t->columns[i].right && i + 1 < t->ncolumns)
		blanks(t, pad);
}

/* Returns what follows the row. */
static const char *
write_row(struct table *t, const char *cells)
{
	t->at = 0;
	for (size_t i = 0; i < t->ncolumns; i++) {
		write_cell(t, i, cells);
		cells += strlen(cells) + 1;
	}
	write_out(t, "\n", 1);
	return cells;
}

static void
write_head(struct table *t)
{
	t->at = 0;
	for (size_t i = 0; i < t->ncolumns; i++)
		write_cell(t, i, t->columns[i].head);
	write_out(t, "\n", 1);
}

/* The widest of each column. */
static void
find_widths(struct table *t)
{
	const char *cells = t->cells.data;
	size_t len;

	for (size_t i = 0; i < t->ncolumns; i++)
		t->widths[i] = strlen(t->columns[i].head);
	for (size_t i = 0; i < t->rows * t->ncolumns; i++) {
		size_t w = width(cells, SIZE_MAX, &len), *widest = &t->widths[i % t->ncolumns];

		*widest = w > *widest ? w : *widest;
		cells += strlen(cells) + 1;
	}
}

/* Writes the rows held back; the first ones say how wide the columns are. */
static void
write_held(struct table *t)
{
	const char *cells = t->cells.data;

	if (!t->laid_out) {
		find_widths(t);
		write_head(t);
		t->laid_out = true;
	}
	for (; t->rows > 0; t->rows--)
		cells = write_row(t, cells);
	t->cells.len = 0;
}

static int
failed(const struct table *t)
{
	errno = t->error;
	return t->error != 0 ? -1 : 0;
}

int
table_row(struct table *t)
{
	t->ncells = 0;
	if (t->error != 0)
		return failed(t);
	errno = 0;
	if (!t->screen) {
		add(t, "\n", 1);
		write_out(t, t->cells.data, t->cells.len);
		t->cells.len = 0;
	} else if (++t->rows >= t->screen_rows || t->laid_out) {
		write_held(t);
	}
	return failed(t);
}

/* --- begin and end ------------------------------------------------------------------------ */

static bool
says_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *value = NULL;

	for (size_t i = 0; i < 3 && (value == NULL || *value == '\0'); i++)
		value = getenv(names[i]);
	return value != NULL && (strcasestr(value, "utf-8") || strcasestr(value, "utf8"));
}

static void
look_at_screen(struct table *t)
{
	struct winsize w = { 0 };

	t->screen = isatty(fileno(t->out)) == 1;
	if (!t->screen)
		return;
	(void)ioctl(fileno(t->out), TIOCGWINSZ, &w);
	t->screen_width = w.ws_col > 0 ? w.ws_col : SIZE_MAX / 2;
	t->screen_rows = w.ws_row > 0 && w.ws_row < HELD_ROWS ? w.ws_row : HELD_ROWS;
	t->utf8 = says_utf8();
}

struct table *
table_begin(FILE *out, const struct column *columns, size_t n)
{
	struct table *t = calloc(1, sizeof *t);

	if (t == NULL)
		return NULL;
	*t = (struct table){ .out = out, .columns = columns, .ncolumns = n, .now = now_ms() };
	t->widths = calloc(n, sizeof *t->widths);
	if (t->widths == NULL) {
		free(t);
		return NULL;
	}
	look_at_screen(t);
	return t;
}

bool
table_screen(const struct table *t)
{
	return t->screen;
}

bool
table_utf8(const struct table *t)
{
	return t->utf8;
}

int
table_end(struct table *t)
{
	int error;

	if (t == NULL)
		return 0;
	errno = 0;
	if (t->screen && (t->rows > 0 || !t->laid_out))
		write_held(t);
	if (t->error == 0 && (fflush(t->out) != 0 || ferror(t->out)))
		check(t, -1);
	error = t->error;
	buffer_free(&t->cells);
	free(t->widths);
	free(t);
	errno = error;
	return error != 0 ? -1 : 0;
}
