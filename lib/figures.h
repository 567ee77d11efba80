/* SPDX-License-Identifier: ISC
 *
 * figures: all that is to be told of a queue, and what follows from it. Each field
 * has a name, by which listings, orders and checks know it:
 *
 *	ready leased later blocked dead published unrouted dropped
 *	oldest oldest_ready oldest_total in out drain workers */
#ifndef MQ_FIGURES_H
#define MQ_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

#include "holders.h"
#include "store.h"
#include "table.h"

#define NEVER 999999999                  /* seconds */

enum trend { STEADY, GROWING, DRAINING };
const char *trend_word(enum trend);

struct figures {
	char name[QUEUE_NAME_SIZE];
	bool topic;
	bool estimated;                  /* counts without ages, from counters */
	bool known;                      /* the activity is; else it is all 0 */
	uint64_t limit;                  /* of conf; 0: none */
	struct counts counts;
	struct activity activity;
	double in, out;                  /* messages a second, in the last minute */
	double net;                      /* out less in, of the time that `drain`
	                                  * was reckoned from */
	double drain;                    /* seconds until all is done; NEVER */
	double workers;                  /* in x mean time held; < 0: not known */
	enum trend trend;
	struct holders holders;          /* holders_look(); else none */
};

/* Looks at the queue; `estimate`: not at its messages, if it can be helped. */
int figures_read(struct queue *, bool estimate, struct figures *, struct fault *);
/* What follows from the rest. */
void figures_reckon(struct figures *);
/* Two lines of how drain and workers were reckoned. */
#define EXPLAINED_SIZE 512
void figures_explain(const struct figures *, char drain[static EXPLAINED_SIZE],
	char workers[static EXPLAINED_SIZE]);
double event_rate(const struct figures *, enum event, enum span);    /* a second */

/* --- fields ------------------------------------------------------------------ */

enum figure {
	F_READY, F_LEASED, F_LATER, F_BLOCKED, F_DEAD, F_PUBLISHED, F_UNROUTED, F_DROPPED,
	F_OLDEST, F_OLDEST_READY, F_OLDEST_TOTAL, F_IN, F_OUT, F_DRAIN, F_WORKERS,
	FIGURES,
};
enum figure_unit { UNIT_COUNT, UNIT_SECONDS, UNIT_RATE };

const char *figure_name(enum figure);
const char *figure_head(enum figure);            /* of its column */
enum figure_unit figure_unit(enum figure);
/* FIGURES if there is none of that name. */
enum figure figure_find(const char *name, size_t len);
/* False: it is not known, or the queue has none. */
bool figure_value(const struct figures *, enum figure, double *);
/* The next cell. */
void figure_print(const struct figures *, enum figure, struct table *);

#endif
