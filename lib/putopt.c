/* SPDX-License-Identifier: ISC */
#include "putopt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fault.h"
#include "optmsg.h"
#include "units.h"

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

int
putopt_set(const struct opt *o, struct put_spec *spec)
{
	switch (o->id) {
	case 'a':
		return optmsg_attr(o, &spec->head);
	case 'd':
	case 'D':
	case 'x':
		return set_time(o, spec);
	case 'i':
		return optmsg_key(o, &spec->idempotency);
	case 'k':
		return optmsg_key(o, &spec->head.key);
	case 'p':
		return optmsg_priority(o, &spec->priority);
	case 'r':
		return optmsg_route(o, &spec->head.route);
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
