/* SPDX-License-Identifier: ISC
 *
 * check: figures held against thresholds, as monitoring systems (Nagios, Icinga) want
 * it: one line with performance data.
 *
 *	TERM[,TERM...]           all of them
 *	TERM:   FIELD<N          critical unless it is less
 *	        FIELD<WARN:CRIT  a warning unless it is less than WARN, critical
 *	                         unless it is less than CRIT
 *	        FIELD>N, FIELD>WARN:CRIT, FIELD=N
 *
 * FIELD is one of figures.h; N a decimal number, or of times a duration (`5m`). A
 * field that is not known is UNKNOWN; one that a topic cannot have is passed over. */
#ifndef MQ_CHECK_H
#define MQ_CHECK_H

#include "buffer.h"
#include "figures.h"

enum verdict { CHECK_OK, CHECK_WARNING, CHECK_CRITICAL, CHECK_UNKNOWN };

struct check;

/* NULL and 64: what is wrong with it. */
struct check *check_parse(const char *expr, struct fault *);
/* Holds a queue against it. -1 with errno ENOMEM, as the next two. */
int check_queue(struct check *, const struct figures *);
/* Something could not be looked at. */
int check_trouble(struct check *, const char *text);
/* Appends the line. The worst verdict: critical, warning, unknown, ok. Without
 * a queue that is UNKNOWN. */
int check_line(const struct check *, struct buffer *);
void check_free(struct check *);

/* Appends the line of a check that was none. */
int check_unknown(const char *text, struct buffer *);

#endif
