/* SPDX-License-Identifier: ISC */
#include "optmsg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

int
optmsg_attr(const struct opt *o, struct head *h)
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
		else if (head_attr(h, name, value) < 0)
			r = opt_bad(o, strerror(errno));
	}
	free(name);
	return r;
}

int
optmsg_priority(const struct opt *o, int *priority)
{
	uint64_t p;

	if (!count_parse(o->arg, PRIORITIES - 1, &p))
		return opt_bad(o, "not a priority (0 most urgent .. 9)");
	*priority = (int)p;
	return 0;
}

static int
copy(const struct opt *o, char **to)
{
	free(*to);
	*to = strdup(o->arg);
	return *to == NULL ? opt_bad(o, strerror(errno)) : 0;
}

int
optmsg_key(const struct opt *o, char **key)
{
	if (!key_valid(o->arg))
		return opt_bad(o, "a key is 1 to 1024 bytes without newline");
	return copy(o, key);
}

int
optmsg_route(const struct opt *o, char **route)
{
	if (!route_put_valid(o->arg))
		return opt_bad(o, "a route is words between dots (order.paid), without "
		    "spaces, at most 255 bytes");
	return copy(o, route);
}

int
optmsg_filter(const struct opt *o, struct filter **f)
{
	size_t at;
	const char *wrong = filter_add(f, o->arg, &at);

	return wrong != NULL ? opt_caret(o, at, wrong) : 0;
}
