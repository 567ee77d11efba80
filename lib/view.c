/* SPDX-License-Identifier: ISC */
#include "view.h"

#include <inttypes.h>
#include <stdio.h>

#include "units.h"

int
view_lease(struct view *v, struct lease *l, uint32_t k, char receipt[static RECEIPT_SIZE],
    struct fault *f)
{
	struct message *m = lease_message(l, f);

	if (m == NULL)
		return -1;
	lease_receipt(l, k, receipt);
	*v = (struct view){
		.id = lease_id(l, k), .receipt = receipt, .queue = lease_queue_name(l),
		.state = state_word(LEASED), .head = message_head(m),
		.priority = lease_priority(l), .tries = lease_tries(l),
		.put_time = message_head(m)->time, .due = lease_until(l),
		.expires_at = lease_expiry(l),
	};
	return message_body(m, lease_first(l) + k, &v->body, &v->len, f);
}

/* --- the header ----------------------------------------------------------------------- */

static int
line(struct buffer *b, const char *name, const char *value)
{
	if (value == NULL)
		return 0;
	if (buffer_text(b, name) < 0 || buffer_text(b, ": ") < 0 || buffer_text(b, value) < 0)
		return -1;
	return buffer_byte(b, '\n');
}

static int
line_number(struct buffer *b, const char *name, int64_t n)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRId64, n);
	return line(b, name, text);
}

static int
line_time(struct buffer *b, const char *name, int64_t ms)
{
	char text[TIME_SIZE];

	if (ms == 0)
		return 0;
	time_print(ms, text);
	return line(b, name, text);
}

static int
line_holder(struct buffer *b, const struct view *v)
{
	char text[32];

	if (v->pid == 0)
		return 0;
	snprintf(text, sizeof text, "%u.%u", v->pid, v->uid);
	return line(b, "holder", text);
}

static int
lines_of_head(struct buffer *b, const struct head *h)
{
	int r = 0;

	for (size_t i = 0; i < h->nattachments; i++)
		r |= line(b, "attachment", h->attachments[i]);
	for (size_t i = 0; i < h->nattrs; i++) {
		r |= buffer_byte(b, '@');
		r |= line(b, h->attrs[i].name, h->attrs[i].value);
	}
	return r;
}

int
view_header(const struct view *v, struct buffer *b)
{
	const struct head *h = v->head;
	char id[ID_LEN + 1];
	int r;

	id_print(v->id, id);
	r = line(b, "id", id);
	r |= line(b, "queue", v->queue);
	r |= line(b, "state", v->state);
	r |= h != NULL ? line(b, "key", h->key) : 0;
	r |= h != NULL ? line(b, "route", h->route) : 0;
	r |= line_number(b, "priority", v->priority);
	r |= line_number(b, "tries", v->tries);
	if (h != NULL && h->version >= 0)
		r |= line_number(b, "version", h->version);
	r |= line_time(b, "put_time", v->put_time);
	r |= line_time(b, "at", v->at);
	r |= line_time(b, "expires_at", v->expires_at);
	r |= line_time(b, "due", v->due);
	r |= line_holder(b, v);
	r |= line(b, "reason", v->reason);
	r |= h != NULL ? lines_of_head(b, h) : 0;
	return r < 0 ? -1 : 0;
}
