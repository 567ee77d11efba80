/* SPDX-License-Identifier: ISC
 *
 * conf: the settings of a queue, NAME=VALUE lines in its `conf`, below them
 * the spool's defaults in `.conf` of the spool, below them the built-in ones.
 * Times in ms, sizes in bytes.
 *
 *	lease          1ms to 365d      how long a taken message is hidden
 *	tries          1 to 10^6        deliveries before the dead letters
 *	backoff        0 to 365d        before the second try; doubles
 *	backoff_max    0 to 365d
 *	ttl keep       0 to 100 years   0: for ever; not at all
 *	max_size       1 to 64M         of one body
 *	limit          0 to 10^12       messages; 0: no limit (so the next two)
 *	max_leased     0 to 10^12       messages
 *	limit_bytes    0 to 1024T
 *	full           reject, block, drop-oldest
 *	unrouted       accept, reject: what no subscription of a topic wants
 *	rate           as rate_parse(); 0: no limit
 *	dedup          0 to 30d
 *	sync paused create              yes, no
 *	mode           0600 to 0666, octal: reading and writing, never execution
 *	group          [A-Za-z0-9_][A-Za-z0-9_.-]{0,62}, or empty: none */
#ifndef MQ_CONF_H
#define MQ_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fault.h"

enum full { FULL_REJECT, FULL_BLOCK, FULL_DROP_OLDEST };
enum unrouted { UNROUTED_ACCEPT, UNROUTED_REJECT };

struct conf {
	int64_t lease, backoff, backoff_max, ttl, keep, dedup;
	uint64_t tries;
	uint64_t max_size, limit, limit_bytes, max_leased;
	double rate;                     /* a second; 0: no limit */
	enum full full;
	enum unrouted unrouted;
	bool sync, paused, create;
	mode_t mode;
	char group[64];                  /* group name, "" none */
};

void conf_defaults(struct conf *);
/* One NAME=VALUE into c; `NAME=` sets the built-in default. -1 and 64 with
 * what is wrong: unknown name, bad value; c is then as it was. */
int conf_set(struct conf *, const char *assignment, struct fault *);
/* A whole file's text (not NUL-ended) into c: lines of NAME=VALUE, the last of a
 * name wins, lines that begin with #, empty lines; blanks around a line are
 * ignored. -1 and 78, naming `file` and the line; c is then as it was. */
int conf_read(struct conf *, const char *file, const char *text, size_t len,
	struct fault *);
/* The settings' names in order, NULL at the end. */
const char *const *conf_names(void);
/* The value of one, as conf_set() takes it; false if there is no such name. */
bool conf_value(const struct conf *, const char *name, char *out, size_t size);

#endif
