/* SPDX-License-Identifier: ISC */
#include "json.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "units.h"

#define LINE_EXTRA (2 * 1024 * 1024)     /* for all that is not the body */
#define WORST 6                          /* bytes of JSON for one: \u0000 */

/* --- out ---------------------------------------------------------------------------- */

/* Takes over the value. After a failure the object is worthless. */
static int
set(json_t *o, const char *name, json_t *value)
{
	return json_object_set_new_nocheck(o, name, value);
}

/* The length of the character at s, 0: it is not UTF-8. */
static size_t
character(const char *s)
{
	size_t n = strnlen(s, 4);

	for (; n > 0; n--) {
		json_t *one = json_stringn(s, n);

		json_decref(one);
		if (one != NULL)
			break;
	}
	return n;
}

static json_t *
mended(const char *s)
{
	struct buffer b = { 0 };
	json_t *value = NULL;
	size_t n;
	int r = 0;

	for (; *s != '\0' && r == 0; s += n > 0 ? n : 1) {
		n = character(s);
		r = n > 0 ? buffer_add(&b, s, n) : buffer_text(&b, "\xef\xbf\xbd");
	}
	if (r == 0)
		value = json_stringn(b.data, b.len);
	buffer_free(&b);
	return value;
}

static json_t *
text(const char *s)
{
	json_t *value = json_string(s);

	return value != NULL ? value : mended(s);
}

static int
set_text(json_t *o, const char *name, const char *value)
{
	return value == NULL ? 0 : set(o, name, text(value));
}

static int
set_time(json_t *o, const char *name, int64_t ms)
{
	char time[TIME_SIZE];

	if (ms == 0)
		return 0;
	time_print(ms, time);
	return set(o, name, json_string(time));
}

/* Who it is, into `by`. */
static int
set_person(json_t *by, const struct holder *h)
{
	int r = set_text(by, "user", h->user);

	r |= set_text(by, "host", h->host);
	r |= set(by, "pid", json_integer(h->pid));
	r |= set_text(by, "command", h->command[0] != '\0' ? h->command : NULL);
	return r | set_time(by, "since", h->since);
}

static int
set_held_by(json_t *o, const struct holder *h)
{
	json_t *by = json_object();
	int r = set_person(by, h);

	return r | set(o, "held_by", by);
}

static int
set_holder(json_t *o, const struct view *v)
{
	char holder[32];
	int r;

	if (v->pid == 0)
		return 0;
	snprintf(holder, sizeof holder, "%u.%u", v->pid, v->uid);
	r = set(o, "holder", json_string(holder));
	return v->holder == NULL ? r : r | set_held_by(o, v->holder);
}

static int
set_lists(json_t *o, const struct head *h)
{
	json_t *list;
	int r = 0;

	if (h->nattrs > 0) {
		list = json_object();
		for (size_t i = 0; i < h->nattrs; i++)
			r |= set(list, h->attrs[i].name, text(h->attrs[i].value));
		r |= set(o, "attributes", list);
	}
	if (h->nattachments > 0) {
		list = json_array();
		for (size_t i = 0; i < h->nattachments; i++)
			r |= json_array_append_new(list, text(h->attachments[i]));
		r |= set(o, "attachments", list);
	}
	return r;
}

static json_t *
coded(const char *body, size_t len)
{
	char *out = malloc(BASE64_SIZE(len));
	json_t *value;

	if (out == NULL)
		return NULL;
	base64_encode(body, len, out);
	value = json_stringn_nocheck(out, BASE64_SIZE(len));
	free(out);
	return value;
}

static int
set_body(json_t *o, const char *body, size_t len)
{
	json_t *value;

	if (body == NULL)
		return 0;
	value = json_stringn(body, len);
	if (value != NULL)
		return set(o, "body", value);
	return set(o, "body64", coded(body, len));
}

static json_t *
message_object(const struct view *v)
{
	const struct head *h = v->head;
	json_t *o = json_object();
	char id[ID_LEN + 1];
	int r = 0;

	id_print(v->id, id);
	r |= set(o, "id", json_string(id));
	r |= set_text(o, "receipt", v->receipt);
	r |= set_text(o, "queue", v->queue);
	r |= set_text(o, "state", v->state);
	r |= h != NULL ? set_text(o, "key", h->key) : 0;
	r |= h != NULL ? set_text(o, "route", h->route) : 0;
	r |= set(o, "priority", json_integer(v->priority));
	r |= set(o, "tries", json_integer(v->tries));
	if (h != NULL && h->version >= 0)
		r |= set(o, "version", json_integer(h->version));
	r |= set_time(o, "put_time", v->put_time);
	r |= set_time(o, "at", v->at);
	r |= set_time(o, "expires_at", v->expires_at);
	r |= set_time(o, "due", v->due);
	r |= set_holder(o, v);
	r |= set_text(o, "reason", v->reason);
	r |= h != NULL ? set_lists(o, h) : 0;
	r |= set_body(o, v->body, v->len);
	if (r == 0)
		return o;
	json_decref(o);
	return NULL;
}

static int
append(const char *text, size_t len, void *out)
{
	return buffer_add(out, text, len);
}

/* Takes over the object. */
static int
print(json_t *o, struct buffer *out)
{
	size_t before = out->len;
	int r = -1;

	if (o != NULL)
		r = json_dump_callback(o, append, out, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(o);
	if (r == 0 && buffer_byte(out, '\n') == 0)
		return 0;
	out->len = before;
	errno = ENOMEM;
	return -1;
}

int
json_print(const struct view *v, struct buffer *out)
{
	return print(message_object(v), out);
}

int
json_print_queue(const char *queue, struct buffer *out)
{
	return print(json_pack("{s:s}", "queue", queue), out);
}

int
json_print_subscription(const char *topic, const struct subscription *s, struct buffer *out)
{
	json_t *o = json_object(), *filters = json_array();
	char name[QUEUE_NAME_SIZE];
	int r = 0;

	for (size_t i = 0; i < s->nfilters; i++)
		r |= json_array_append_new(filters, text(s->filters[i]));
	snprintf(name, sizeof name, "%.100s/%.100s", topic, s->name);
	r |= set_text(o, "queue", name);
	r |= set_text(o, "topic", topic);
	r |= set_text(o, "subscription", s->name);
	r |= set(o, "route", s->pattern != NULL ? text(s->pattern) : json_null());
	r |= set(o, "filters", filters);
	r |= set(o, "ephemeral", json_boolean(s->ephemeral));
	if (r == 0)
		return print(o, out);
	json_decref(o);
	errno = ENOMEM;
	return -1;
}

static json_int_t
seconds(int64_t ms)
{
	return ms > 0 ? ms / 1000 : 0;
}

static int
set_number(json_t *o, const char *name, double value)
{
	return set(o, name, json_real((double)(int64_t)(value * 1e6 + 0.5) / 1e6));
}

static int
set_rates(json_t *o, const struct figures *g)
{
	json_t *rates = json_object(), *totals = json_object();
	int r = 0;

	for (int e = 0; e < EVENTS; e++) {
		const char *word = event_word((enum event)e);
		json_t *one = json_object();

		r |= set_number(one, "1m", event_rate(g, (enum event)e, SPAN_1M));
		r |= set_number(one, "5m", event_rate(g, (enum event)e, SPAN_5M));
		r |= set_number(one, "15m", event_rate(g, (enum event)e, SPAN_15M));
		r |= set(rates, word, one);
		r |= set(totals, word, json_integer((json_int_t)g->activity.total[e]));
	}
	r |= set(o, "rates", rates);
	return r | set(o, "totals", totals);
}

static int
set_spread(json_t *o, const char *name, const struct spread *s)
{
	json_t *one = json_object();
	int r = set(one, "count", json_integer((json_int_t)s->count));

	r |= set_number(one, "mean", s->mean);
	r |= set_number(one, "recent", s->recent);
	r |= set_number(one, "p50", s->p50);
	r |= set_number(one, "p95", s->p95);
	r |= set_number(one, "p99", s->p99);
	return r | set(o, name, one);
}

/* An estimate knows less. */
static int
set_estimated(json_t *o, const struct figures *g)
{
	static const char *const more[] = { "oldest", "oldest_ready", "oldest_total",
		"retrying", "groups", "longest", "done", "priorities", "holders" };

	if (!g->estimated)
		return 0;
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		(void)json_object_del(o, more[i]);
	return set(o, "estimated", json_true());
}

static int
set_activity(json_t *o, const struct figures *g)
{
	const uint64_t *total = g->activity.total;
	int r = 0;

	if (!g->known)
		return 0;
	if (g->topic) {
		r |= set(o, "published", json_integer((json_int_t)total[EV_PUT]));
		r |= set(o, "unrouted", json_integer((json_int_t)total[EV_UNROUTED]));
	}
	r |= set(o, "dropped", json_integer((json_int_t)total[EV_DROPPED]));
	r |= set_number(o, "in", g->in);
	if (!g->topic) {
		r |= set_number(o, "out", g->out);
		r |= set(o, "drain", g->drain < NEVER ? json_integer((json_int_t)(g->drain + 0.999)) :
		    json_null());
		if (g->workers >= 0)
			r |= set(o, "workers", json_integer((json_int_t)g->workers));
		r |= set(o, "trend", json_string(trend_word(g->trend)));
		r |= set_spread(o, "waited", &g->activity.waited);
		r |= set_spread(o, "held", &g->activity.held);
	}
	return r | set_rates(o, g);
}

static int
set_group(json_t *o, const char *kind, bool by, const struct age_row *row)
{
	if (row->sum)
		return 0;
	if (by && set_text(o, "by", kind) != 0)
		return -1;
	return set(o, by ? "value" : kind,
	    row->name != NULL ? text(row->name) : json_null());
}

int
json_print_ages(const char *queue, const char *kind, bool by, const struct age_row *row,
    struct buffer *out)
{
	json_t *o = json_object(), *ages = json_array();
	int r = set_text(o, "queue", queue);

	r |= set_group(o, kind, by, row);
	r |= set(o, "messages", json_integer((json_int_t)row->all));
	for (size_t i = 0; i < AGE_BINS; i++) {
		unsigned below = ages_below(i);
		json_t *bin = json_object();

		r |= set(bin, "below", below > 0 ? json_integer(below) : json_null());
		r |= set(bin, "messages", json_integer((json_int_t)row->bin[i]));
		r |= json_array_append_new(ages, bin);
	}
	r |= set(o, "ages", ages);
	if (r == 0)
		return print(o, out);
	json_decref(o);
	errno = ENOMEM;
	return -1;
}

static int
set_holders(json_t *o, const struct figures *g)
{
	const struct holders *all = &g->holders;
	json_t *list = json_array();
	struct holder who = { 0 };
	int r = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct holding *h = &all->v[i];
		json_t *one = json_object();

		holder_look(&who, h->pid, h->uid, h->since);
		r |= set_person(one, &who);
		r |= set(one, "messages", json_integer((json_int_t)h->messages));
		r |= json_array_append_new(list, one);
	}
	r |= set(o, "holders", list);
	if (all->others > 0)
		r |= set(o, "held_by_others", json_integer((json_int_t)all->others));
	return r;
}

int
json_print_figures(const struct figures *g, struct buffer *out)
{
	const struct counts *c = &g->counts;
	json_t *list = json_array(), *o;

	for (int p = 0; p < PRIORITIES; p++)
		if (c->priority[p].ready > 0)
			(void)json_array_append_new(list, json_pack("{s:i,s:I,s:I}",
			    "priority", p, "ready", (json_int_t)c->priority[p].ready,
			    "oldest", seconds(c->priority[p].oldest)));
	o = json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:b,s:o}", "queue",
	    g->name,
	    "ready", (json_int_t)c->ready, "leased", (json_int_t)c->leased,
	    "later", (json_int_t)c->later, "retrying", (json_int_t)c->retrying,
	    "blocked", (json_int_t)c->blocked, "groups", (json_int_t)c->groups,
	    "longest", (json_int_t)c->longest, "dead", (json_int_t)c->dead,
	    "done", (json_int_t)c->done, "oldest", seconds(c->oldest),
	    "oldest_ready", seconds(c->oldest_ready),
	    "oldest_total", seconds(c->oldest_total), "paused", (int)c->paused,
	    "priorities", list);
	if (o != NULL && set_holders(o, g) == 0 && set_estimated(o, g) == 0 &&
	    set_activity(o, g) == 0)
		return print(o, out);
	json_decref(o);
	errno = ENOMEM;
	return -1;
}

/* --- in ------------------------------------------------------------------------------ */

struct reading {
	json_t *o;
	int64_t now;
	struct json_put *out;
	struct fault *f;
};

static int
bad(struct reading *r, const char *name, const char *why)
{
	return fault_set(r->f, ST_DATA, "%.100s: %s", name, why);
}

/* The value of a key, NULL also where it is null. */
static json_t *
get(const struct reading *r, const char *name)
{
	json_t *value = json_object_get(r->o, name);

	return json_is_null(value) ? NULL : value;
}

/* A string without NUL in it, or NULL. */
static const char *
plain(const json_t *value)
{
	const char *s = json_string_value(value);

	return s != NULL && strlen(s) == json_string_length(value) ? s : NULL;
}

static int
read_priority(struct reading *r)
{
	json_t *value = get(r, "priority");

	if (value == NULL)
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) >= PRIORITIES)
		return bad(r, "priority", "not a whole number, 0 (most urgent) to 9");
	r->out->spec.priority = (int)json_integer_value(value);
	return 0;
}

static int
read_version(struct reading *r)
{
	json_t *value = get(r, "version");

	if (value == NULL)
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return bad(r, "version", "not a whole number from 0");
	r->out->spec.head.version = json_integer_value(value);
	return 0;
}

/* A number of seconds, or a string as `1.5s`. */
static bool
duration_of(const json_t *value, int64_t *ms)
{
	double seconds = json_number_value(value);

	if (!json_is_number(value))
		return plain(value) != NULL && duration_parse(plain(value), ms);
	if (!(seconds >= 0 && seconds <= (double)DURATION_MAX / 1000))
		return false;
	*ms = (int64_t)(seconds * 1000 + 0.5);
	return true;
}

/* `from_now` or `then`, whichever is there, into *ms. */
static int
read_time(struct reading *r, const char *from_now, const char *then, int64_t *ms)
{
	json_t *duration = get(r, from_now), *time = get(r, then);
	int64_t v;

	if (duration != NULL && time != NULL)
		return bad(r, then, "goes not with its other form, a duration");
	if (duration != NULL) {
		if (!duration_of(duration, &v) || (v == 0 && strcmp(from_now, "expires") == 0))
			return bad(r, from_now, "not a duration (90, \"1.5s\", \"5m\")");
		*ms = r->now + v;
	}
	if (time != NULL && (plain(time) == NULL || !time_parse(plain(time), r->now, ms)))
		return bad(r, then, "not a time (\"2026-11-30T14:00:00Z\")");
	return 0;
}

/* A string, or what can stand for one: a whole number, true, false. */
static const char *
attr_text(const json_t *value, char *out, size_t size)
{
	if (json_is_integer(value))
		snprintf(out, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_boolean(value))
		snprintf(out, size, "%s", json_is_true(value) ? "true" : "false");
	else
		return plain(value);
	return out;
}

static int
read_attr(struct reading *r, const char *name, const json_t *value)
{
	char shown[80], number[32];
	const char *s = attr_text(value, number, sizeof number);

	snprintf(shown, sizeof shown, "attributes: %.60s", name);
	if (!attr_name_valid(name))
		return bad(r, shown, "not an attribute's name");
	if (s == NULL)
		return bad(r, shown, "not a string (or a whole number), or has a NUL");
	if (!attr_value_valid(s))
		return bad(r, shown, "has a newline or is too long");
	if (head_attr(&r->out->spec.head, name, s) < 0)
		return fault_errno(r->f, "%s", shown);
	return 0;
}

static int
read_list(struct reading *r, json_t *list)
{
	json_t *value;
	const char *name;

	if (!json_is_object(list))
		return bad(r, "attributes", "not an object");
	json_object_foreach(list, name, value)
		if (!json_is_null(value) && read_attr(r, name, value) < 0)
			return -1;
	return 0;
}

static int
read_attributes(struct reading *r)
{
	json_t *list = get(r, "attributes");

	return list == NULL ? 0 : read_list(r, list);
}

int
json_attributes(const char *text, size_t len, struct head *h, struct fault *f)
{
	struct json_put out = { .spec.head = *h };
	struct reading r = { .out = &out, .f = f };
	json_t *list = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	int n = list == NULL ? bad(&r, "attributes", "not JSON") : read_list(&r, list);

	json_decref(list);
	*h = out.spec.head;
	return n;
}

static int
read_body64(struct reading *r, const json_t *value)
{
	size_t len = json_string_length(value);
	struct json_put *out = r->out;

	if (!json_is_string(value))
		return bad(r, "body64", "not a string");
	out->body = malloc(BASE64_BYTES(len) + 1);
	if (out->body == NULL)
		return fault_errno(r->f, "body64");
	if (!base64_decode(json_string_value(value), len, out->body, &out->len))
		return bad(r, "body64", "not base64");
	out->body[out->len] = '\0';
	return 0;
}

static int
read_body(struct reading *r)
{
	json_t *text = get(r, "body"), *coded = get(r, "body64");
	struct json_put *out = r->out;

	if ((text != NULL) == (coded != NULL))
		return fault_set(r->f, ST_DATA, text != NULL ? "body and body64: one of them" :
		    "neither body nor body64");
	if (coded != NULL)
		return read_body64(r, coded);
	if (!json_is_string(text))
		return bad(r, "body", "not a string");
	out->len = json_string_length(text);
	out->body = malloc(out->len + 1);
	if (out->body == NULL)
		return fault_errno(r->f, "body");
	memcpy(out->body, json_string_value(text), out->len + 1);
	return 0;
}

static bool
listed(const char *const *list, const char *name)
{
	for (; *list != NULL; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

static int
check_keys(struct reading *r)
{
	static const char *const known[] = { "id", "receipt", "queue", "state", "key",
		"route", "priority", "tries", "version", "put_time", "at", "expires_at",
		"due", "holder", "held_by", "reason", "attributes", "attachments", "body", "body64",
		"delay", "expires", "idempotency_key", NULL };
	const char *name;
	json_t *value;

	json_object_foreach(r->o, name, value) {
		if (!listed(known, name))
			return bad(r, name, "unknown key");
	}
	return 0;
}

/* A key in place of the base's. */
static int
read_key(struct reading *r, const char *name, char **to)
{
	json_t *value = get(r, name);
	const char *s = value == NULL ? NULL : plain(value);

	if (value == NULL)
		return 0;
	if (s == NULL || !key_valid(s))
		return bad(r, name, "not 1 to 1024 bytes without newline or NUL");
	free(*to);
	*to = strdup(s);
	return *to == NULL ? fault_errno(r->f, "%s", name) : 0;
}

static int
read_route(struct reading *r)
{
	json_t *value = get(r, "route");
	const char *s = value == NULL ? NULL : plain(value);

	if (value == NULL)
		return 0;
	if (s == NULL || !route_put_valid(s))
		return bad(r, "route", "not words between dots, without spaces, of at most "
		    "255 bytes");
	free(r->out->spec.head.route);
	r->out->spec.head.route = strdup(s);
	return r->out->spec.head.route == NULL ? fault_errno(r->f, "route") : 0;
}

static int
read_object(struct reading *r)
{
	struct put_spec *spec = &r->out->spec;

	if (check_keys(r) < 0 || read_key(r, "key", &spec->head.key) < 0 || read_route(r) < 0 ||
	    read_key(r, "idempotency_key", &spec->idempotency) < 0 || read_priority(r) < 0 || read_version(r) < 0 ||
	    read_time(r, "delay", "at", &spec->due) < 0 ||
	    read_time(r, "expires", "expires_at", &spec->expiry) < 0 ||
	    read_attributes(r) < 0)
		return -1;
	return read_body(r);
}

/* The base's own, attributes copied. */
static int
begin(struct json_put *out, const struct put_spec *base)
{
	const struct head *h = &base->head;

	*out = (struct json_put){ .spec = *base };
	out->spec.head = (struct head){ .version = h->version };
	out->spec.idempotency = NULL;
	if (h->key != NULL && (out->spec.head.key = strdup(h->key)) == NULL)
		return -1;
	if (h->route != NULL && (out->spec.head.route = strdup(h->route)) == NULL)
		return -1;
	for (size_t i = 0; i < h->nattrs; i++)
		if (head_attr(&out->spec.head, h->attrs[i].name, h->attrs[i].value) < 0)
			return -1;
	return 0;
}

int
json_read(const char *line, size_t len, const struct put_spec *base, int64_t now,
    struct json_put *out, struct fault *f)
{
	struct reading r = { .now = now, .out = out, .f = f };
	json_error_t error;
	int status;

	if (begin(out, base) < 0) {
		json_put_free(out);
		return fault_errno(f, "message");
	}
	r.o = json_loadb(line, len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES |
	    JSON_DECODE_ANY, &error);
	if (r.o == NULL)
		status = fault_set(f, ST_DATA, "byte %d: %s", error.position, error.text);
	else if (!json_is_object(r.o))
		status = fault_set(f, ST_DATA, "not a JSON object");
	else
		status = read_object(&r);
	json_decref(r.o);
	if (status < 0)
		json_put_free(out);
	return status;
}

void
json_put_free(struct json_put *p)
{
	head_free(&p->spec.head);
	free(p->spec.idempotency);
	free(p->body);
	p->spec.idempotency = p->body = NULL;
}

size_t
json_line_max(uint64_t max_size)
{
	return (size_t)max_size * WORST + LINE_EXTRA;
}

static bool
same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool
json_put_alike(const struct put_spec *a, const struct put_spec *b)
{
	const struct head *x = &a->head, *y = &b->head;

	if (a->idempotency != NULL || b->idempotency != NULL || !same(x->key, y->key) ||
	    !same(x->route, y->route) ||
	    a->priority != b->priority || a->due != b->due || a->expiry != b->expiry ||
	    x->version != y->version || x->nattrs != y->nattrs)
		return false;
	for (size_t i = 0; i < x->nattrs; i++)
		if (strcmp(x->attrs[i].name, y->attrs[i].name) != 0 ||
		    strcmp(x->attrs[i].value, y->attrs[i].value) != 0)
			return false;
	return true;
}
