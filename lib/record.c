/* SPDX-License-Identifier: ISC */
#include "record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

#define FILE_IDS (1 << 26)               /* no file has more messages */

void
record_begin(struct record *r, struct queue *q)
{
	*r = (struct record){ .queue = q, .now = now_ms() };
}

void
record_end(struct record *r)
{
	message_close(r->message);
	free(r->why);
}

void
record_set(struct record *r, const struct entry *e)
{
	r->entry = e;
	r->looked = r->there = r->asked = false;
	free(r->why);
	r->why = r->reason = NULL;
	r->when = 0;
}

/* --- the file ----------------------------------------------------------------------- */

/* Is it in the file that is open? Ids of a file are consecutive. */
static bool
same_file(struct record *r)
{
	int64_t k;

	if (r->message == NULL)
		return false;
	k = id_offset(message_head(r->message)->id, r->entry->id, FILE_IDS);
	if (k < 0)
		return false;
	r->place = (uint32_t)k;
	return true;
}

static bool
look(struct record *r)
{
	struct fault f;
	int got;

	if (r->looked)
		return r->there;
	r->looked = r->there = true;
	if (same_file(r))
		return true;
	message_close(r->message);
	r->message = NULL;
	got = entry_open(r->queue, r->entry, &r->message, &r->place, &f);
	if (got < 0 && f.status != ST_DATA)
		r->failed = f;
	r->there = got == 1;
	return r->there;
}

const struct head *
record_head(struct record *r)
{
	return look(r) ? message_head(r->message) : NULL;
}

bool
record_body(struct record *r, const char **body, size_t *len)
{
	struct fault f;

	if (!look(r))
		return false;
	if (message_body(r->message, r->place, body, len, &f) == 0)
		return true;
	if (f.status != ST_DATA)
		r->failed = f;
	return false;
}

/* --- why ------------------------------------------------------------------------------ */

/* `TIME TRIES REASON` */
static bool
parse_why(struct record *r, char *line)
{
	char *tries = strchr(line, ' '), *reason;

	if (tries == NULL || (reason = strchr(tries + 1, ' ')) == NULL)
		return false;
	*tries = '\0';
	if (!time_parse(line, 0, &r->when))
		r->when = 0;
	r->reason = reason + 1;
	return true;
}

static void
ask(struct record *r)
{
	struct fault f;
	char *line = NULL, *rest;
	int got;

	if (r->asked)
		return;
	r->asked = true;
	if (r->entry->tries == 0 && r->entry->state != DEAD)
		return;                  /* nothing has gone wrong yet, or not anew */
	got = entry_why(r->queue, r->entry->id, &r->why, &f);
	if (got < 0)
		r->failed = f;
	if (got <= 0) {
		r->why = NULL;
		return;
	}
	for (char *p = r->why; p != NULL && *p != '\0'; p = rest) {
		rest = strchr(p, '\n');
		if (rest != NULL)
			*rest++ = '\0';
		if (*p != '\t')
			line = p;
	}
	if (line != NULL && !parse_why(r, line))
		r->reason = line;
}

const char *
record_reason(struct record *r)
{
	ask(r);
	return r->reason;
}

/* --- times ---------------------------------------------------------------------------- */

int64_t
record_age(const struct record *r)
{
	const struct entry *e = r->entry;
	int64_t since = e->put_time;

	if (e->due > since && !e->retried)
		since = e->due;
	return r->now > since ? r->now - since : 0;
}

int64_t
record_due(const struct record *r)
{
	switch (r->entry->state) {
	case LEASED:
		return r->entry->until;
	case LATER:
		return r->entry->due;
	default:
		return 0;
	}
}

const struct holder *
record_holder(struct record *r)
{
	const struct entry *e = r->entry;

	if (e->pid == 0)
		return NULL;
	holder_look(&r->holder, e->pid, e->uid, e->since);
	return &r->holder;
}

/* --- fields ----------------------------------------------------------------------------- */

static const char *
number(struct record *r, uint64_t n)
{
	snprintf(r->text, sizeof r->text, "%" PRIu64, n);
	return r->text;
}

static const char *
seconds(struct record *r, int64_t ms)
{
	snprintf(r->text, sizeof r->text, "%" PRId64 ".%03d", ms / 1000, (int)(ms % 1000));
	return r->text;
}

static const char *
get_id(struct record *r)
{
	id_print(r->entry->id, r->text);
	return r->text;
}

static const char *
get_queue(struct record *r)
{
	return queue_name(r->queue);
}

static const char *
get_state(struct record *r)
{
	return state_word(r->entry->state);
}

static const char *
get_key(struct record *r)
{
	const struct head *h = record_head(r);

	return h != NULL ? h->key : NULL;
}

static const char *
get_route(struct record *r)
{
	const struct head *h = record_head(r);

	return h != NULL ? h->route : NULL;
}

static const char *
get_version(struct record *r)
{
	const struct head *h = record_head(r);

	return h != NULL && h->version >= 0 ? number(r, (uint64_t)h->version) : NULL;
}

static const char *
get_priority(struct record *r)
{
	return number(r, (uint64_t)r->entry->priority);
}

static const char *
get_tries(struct record *r)
{
	return number(r, r->entry->tries);
}

static const char *
get_age(struct record *r)
{
	return seconds(r, record_age(r));
}

static const char *
get_size(struct record *r)
{
	const char *body;
	size_t len;

	return record_body(r, &body, &len) ? number(r, len) : NULL;
}

static const char *
get_attr(struct record *r, const char *name)
{
	const struct head *h = record_head(r);

	return h != NULL ? head_attr_get(h, name) : NULL;
}

static const struct {
	const char *name;
	const char *(*get)(struct record *);
} fields[] = {
	{ "id", get_id }, { "queue", get_queue }, { "state", get_state },
	{ "key", get_key }, { "route", get_route }, { "priority", get_priority },
	{ "tries", get_tries }, { "version", get_version }, { "age", get_age },
	{ "size", get_size }, { "why", record_reason },
};

const char *
record_get(const char *field, size_t *len, void *record)
{
	struct record *r = record;
	const char *value = NULL;

	if (strcmp(field, "body") == 0)
		return record_body(r, &value, len) ? value : NULL;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (strcmp(fields[i].name, field) == 0) {
			value = fields[i].get(r);
			*len = value != NULL ? strlen(value) : 0;
			return value;
		}
	value = get_attr(r, field + (*field == '@'));
	*len = value != NULL ? strlen(value) : 0;
	return value;
}

void
record_view(struct record *r, struct view *v)
{
	const struct entry *e = r->entry;

	*v = (struct view){
		.id = e->id, .queue = queue_name(r->queue), .state = state_word(e->state),
		.head = record_head(r), .priority = e->priority, .tries = e->tries,
		.put_time = e->put_time, .expires_at = e->expiry, .due = record_due(r),
		.pid = e->pid, .uid = e->uid, .holder = record_holder(r),
		.reason = record_reason(r),
	};
	if (e->state == LATER && !e->retried)
		v->at = e->due;
	if (!record_body(r, &v->body, &v->len))
		v->body = NULL;
}
