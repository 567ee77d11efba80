/* SPDX-License-Identifier: ISC */
#include "diary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "units.h"

static int
add_plain(struct buffer *b, const char *text)
{
	int r = 0;
	char odd[8];

	if (text == NULL || *text == '\0')
		return buffer_byte(b, '-');
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= ' ' && c < 0x7f && c != '\\') {
			r |= buffer_byte(b, *text);
			continue;
		}
		snprintf(odd, sizeof odd, "\\x%02x", c);
		r |= buffer_text(b, odd);
	}
	return r;
}

/* Each with what stands before it in the form. */
static int
add_fields(struct buffer *b, const struct delivery *d, const char *const lead[6])
{
	char id[ID_LEN + 1], text[128];
	int r;

	id_print(d->id, id);
	r = buffer_text(b, d->queue) | buffer_byte(b, ':') | buffer_text(b, id);
	snprintf(text, sizeof text, "%s%" PRIu32 "%s%s%s%.3f%s%d.%u", lead[0], d->tries,
		lead[1], d->outcome, lead[2], (double)d->took / 1e9, lead[3], (int)getpid(),
		(unsigned)geteuid());
	r |= buffer_text(b, text);
	r |= buffer_text(b, lead[4]) | add_plain(b, d->key);
	r |= buffer_text(b, lead[5]) | add_plain(b, d->reason);
	return r < 0 ? -1 : 0;
}

int
diary_line(struct buffer *b, const struct delivery *d, int64_t now)
{
	static const char *const tabs[6] = { "\t", "\t", "\t", "\t", "\t", "\t" };
	char time[TIME_SIZE];

	b->len = 0;
	time_print(now, time);
	if (buffer_text(b, time) < 0 || buffer_byte(b, '\t') < 0 || add_fields(b, d, tabs) < 0)
		return -1;
	return buffer_add(b, "\n", 2);
}

static int
level(const char *outcome)
{
	if (strcmp(outcome, "acked") == 0 || strcmp(outcome, "settled") == 0)
		return LOG_INFO;
	return strcmp(outcome, "retry") == 0 || strcmp(outcome, "returned") == 0 ?
		LOG_NOTICE : LOG_WARNING;
}

int
diary_syslog(struct buffer *b, const struct delivery *d)
{
	static const char *const names[6] = { " try=", " outcome=", " seconds=", " worker=",
		" key=", " reason=" };

	b->len = 0;
	if (add_fields(b, d, names) < 0 || buffer_byte(b, '\0') < 0)
		return -1;
	openlog("mq-take", LOG_PID | LOG_NDELAY, LOG_DAEMON);   /* once: then it is open */
	syslog(level(d->outcome), "%s", b->data);
	return 0;
}
