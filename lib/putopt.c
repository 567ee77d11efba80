/* SPDX-License-Identifier: ISC */
#include "putopt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "units.h"

static int
set_attr(const struct opt *o, struct put_spec *spec)
{
	char *name = strdup(o->arg), *value = name == NULL ? NULL : strchr(name, '=');
	int r = 0;

	if (value == NULL) {
		r = opt_bad(o, "not NAME=VALUE");
	} else {
		*value++ = '\0';
		if (!attr_name_valid(name))
			r = opt_bad(o, "not an attribute's name");
		else if (!attr_value_valid(value))
			r = opt_bad(o, "the value has a newline or is too long");
		else if (head_attr(&spec->head, name, value) < 0)
			r = opt_bad(o, strerror(errno));
	}
	free(name);
	return r;
}

static int
set_time(const struct opt *o, struct put_spec *spec)
{
	int64_t now = now_ms(), v;

	if (o->id == 'D') {
		if (!time_parse(o->arg, now, &v))
			return opt_bad(o, "not a time (2026-11-30T14:00:00Z, or 02:00)");
	} else {
		if (!duration_parse(o->arg, &v))
			return opt_bad(o, "not a duration (90, 1.5s, 500ms, 5m, 2h, 1d)");
		if (o->id == 'x' && v == 0)
			return opt_bad(o, "must be over 0");
		v += now;
	}
	if (o->id == 'x')
		spec->expiry = v;
	else if (spec->due != 0)
		return opt_usage(o, "-d and -D: one of them, once");
	else
		spec->due = v;
	return 0;
}

static int
set_priority(const struct opt *o, struct put_spec *spec)
{
	uint64_t p;

	if (!count_parse(o->arg, PRIORITIES - 1, &p))
		return opt_bad(o, "not a priority (0 most urgent .. 9)");
	spec->priority = (int)p;
	return 0;
}

static int
set_text(const struct opt *o, char **text)
{
	free(*text);
	*text = strdup(o->arg);
	return *text == NULL ? opt_bad(o, strerror(errno)) : 0;
}

static int
set_key(const struct opt *o, char **key)
{
	if (!key_valid(o->arg))
		return opt_bad(o, "a key is 1 to 1024 bytes without newline");
	return set_text(o, key);
}

static int
set_route(const struct opt *o, struct put_spec *spec)
{
	if (!route_put_valid(o->arg))
		return opt_bad(o, "a route is words between dots (order.paid), without "
		    "spaces, at most 255 bytes");
	return set_text(o, &spec->head.route);
}

int
putopt_set(const struct opt *o, struct put_spec *spec)
{
	switch (o->id) {
	case 'a':
		return set_attr(o, spec);
	case 'd':
	case 'D':
	case 'x':
		return set_time(o, spec);
	case 'i':
		return set_key(o, &spec->idempotency);
	case 'k':
		return set_key(o, &spec->head.key);
	case 'p':
		return set_priority(o, spec);
	case 'r':
		return set_route(o, spec);
	case 'S':
		spec->nosync = true;
		break;
	case 'w':
		spec->wait = WAIT_ENDLESS;
		break;
	case 'W':
		if (!duration_parse(o->arg, &spec->wait))
			return opt_bad(o, "not a duration");
		break;
	case OPT_UNIQUE:
		spec->unique = true;
		break;
	}
	return 0;
}

void
putopt_free(struct put_spec *spec)
{
	head_free(&spec->head);
	free(spec->idempotency);
}

void
putopt_say_unrouted(const struct opt *o, const char *topic, uint64_t count)
{
	struct fault f;

	if (count == 0)
		return;
	if (count == 1)
		fault_set(&f, ST_OK, "%s: no subscription wants it: stored nowhere", topic);
	else
		fault_set(&f, ST_OK, "%s: no subscription wants %" PRIu64 " of the messages: "
		    "stored nowhere", topic, count);
	opt_fault(o, &f);
}
