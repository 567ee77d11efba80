/* SPDX-License-Identifier: ISC */
#include "format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store.h"

static int
no_memory(struct fault *f)
{
	return fault_set(f, ST_TRYAGAIN, "out of memory");
}

static int
part_add(struct format *fmt, char what, const char *text, size_t len, struct fault *f)
{
	size_t n = fmt->nparts;
	struct format_part *parts;

	parts = realloc(fmt->parts, (n + 1) * sizeof *parts);
	if (parts == NULL)
		return no_memory(f);
	fmt->parts = parts;
	if ((parts[n].text = strndup(text, len)) == NULL)
		return no_memory(f);
	parts[n].what = what;
	parts[n].len = len;
	fmt->nparts++;
	return 0;
}

/* `{NAME}` at s; returns what follows it, NULL if it is bad. */
static const char *
parse_attribute(struct format *fmt, const char *s, struct fault *f)
{
	const char *end = *s == '{' ? strchr(s, '}') : NULL;
	struct format_part *part;

	if (end == NULL) {
		fault_set(f, ST_USAGE, "`%%a' wants a name: %%a{NAME}");
		return NULL;
	}
	if (part_add(fmt, 'a', s + 1, (size_t)(end - s - 1), f) < 0)
		return NULL;
	part = &fmt->parts[fmt->nparts - 1];
	if (!attr_name_valid(part->text)) {
		fault_set(f, ST_USAGE, "%s: not an attribute's name", part->text);
		return NULL;
	}
	return end + 1;
}

/* What stands at s behind a % */
static const char *
parse_percent(struct format *fmt, const char *s, struct fault *f)
{
	if (*s == 'a')
		return parse_attribute(fmt, s + 1, f);
	if (*s == '%')
		return part_add(fmt, 0, "%", 1, f) < 0 ? NULL : s + 1;
	if (*s == '\0' || strchr("ribknpq", *s) == NULL) {
		fault_set(f, ST_USAGE, "unknown `%%%.1s' in the format", s);
		return NULL;
	}
	return part_add(fmt, *s, "", 0, f) < 0 ? NULL : s + 1;
}

static const char *
parse_backslash(struct format *fmt, const char *s, struct fault *f)
{
	static const char from[] = "tn\\", to[] = "\t\n\\";
	const char *p = *s ? strchr(from, *s) : NULL;

	if (p == NULL) {
		fault_set(f, ST_USAGE, "unknown `\\%.1s' in the format", s);
		return NULL;
	}
	return part_add(fmt, 0, &to[p - from], 1, f) < 0 ? NULL : s + 1;
}

struct format *
format_parse(const char *s, struct fault *f)
{
	struct format *fmt = calloc(1, sizeof *fmt);
	size_t n;

	if (fmt == NULL) {
		no_memory(f);
		return NULL;
	}
	while (s != NULL && *s != '\0') {
		n = strcspn(s, "%\\");
		if (n > 0)
			s = part_add(fmt, 0, s, n, f) < 0 ? NULL : s + n;
		else if (*s == '%')
			s = parse_percent(fmt, s + 1, f);
		else
			s = parse_backslash(fmt, s + 1, f);
	}
	if (s != NULL)
		return fmt;
	format_free(fmt);
	return NULL;
}

void
format_free(struct format *fmt)
{
	if (fmt == NULL)
		return;
	for (size_t i = 0; i < fmt->nparts; i++)
		free(fmt->parts[i].text);
	free(fmt->parts);
	free(fmt);
}

bool
format_has(const struct format *fmt, char what)
{
	for (size_t i = 0; i < fmt->nparts; i++)
		if (fmt->parts[i].what == what)
			return true;
	return false;
}

static int
print_number(struct buffer *b, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof text, "%u", number);
	return buffer_text(b, text);
}

static int
print_id(struct buffer *b, struct id id)
{
	char text[ID_LEN + 1];

	id_print(id, text);
	return buffer_add(b, text, ID_LEN);
}

static int
print_receipt(struct buffer *b, const struct lease *lease, uint32_t k)
{
	if (buffer_room(b, RECEIPT_SIZE) < 0)
		return -1;
	lease_receipt(lease, k, b->data + b->len);
	b->len += strlen(b->data + b->len);
	return 0;
}

/* What only the file can tell: %b %k %a. */
static int
print_content(const struct format_part *part, struct lease *lease, uint32_t k,
	struct buffer *b, struct fault *f)
{
	struct message *message = lease_message(lease, f);
	const char *text = NULL;
	size_t len;

	if (message == NULL)
		return -1;
	if (part->what == 'b') {
		if (message_body(message, lease_first(lease) + k, &text, &len, f) < 0)
			return -1;
		return buffer_add(b, text, len) < 0 ? no_memory(f) : 0;
	}
	if (part->what == 'k')
		text = message_head(message)->key;
	else
		text = head_attr_get(message_head(message), part->text);
	return text != NULL && buffer_text(b, text) < 0 ? no_memory(f) : 0;
}

int
format_print(const struct format *fmt, struct lease *lease, uint32_t k,
	struct buffer *b, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; i < fmt->nparts && r == 0; i++) {
		const struct format_part *part = &fmt->parts[i];

		switch (part->what) {
		case 0:
			r = buffer_add(b, part->text, part->len);
			break;
		case 'r':
			r = print_receipt(b, lease, k);
			break;
		case 'i':
			r = print_id(b, lease_id(lease, k));
			break;
		case 'n':
			r = print_number(b, lease_tries(lease));
			break;
		case 'p':
			r = print_number(b, (uint32_t)lease_priority(lease));
			break;
		case 'q':
			r = buffer_text(b, lease_queue_name(lease));
			break;
		default:
			if (print_content(part, lease, k, b, f) < 0)
				return -1;
		}
	}
	return r < 0 ? no_memory(f) : 0;
}
