/* SPDX-License-Identifier: ISC */
#include "figures.h"

#include <bsd/string.h>
#include <stdio.h>
#include <string.h>

/* --- what follows --------------------------------------------------------------------- */

/* Messages that are no worker's business any more. */
static double
left(const struct figures *g, enum span s)
{
	const struct activity *a = &g->activity;

	return a->recent[EV_ACKED][s] + a->recent[EV_BURIED][s] + a->recent[EV_EXPIRED][s] +
	    a->recent[EV_DROPPED][s] + a->recent[EV_REMOVED][s];
}

static double
came(const struct figures *g, enum span s)
{
	return g->activity.recent[EV_PUT][s];
}

double
event_rate(const struct figures *g, enum event e, enum span s)
{
	return g->activity.seconds[s] > 0 ? g->activity.recent[e][s] / g->activity.seconds[s] : 0;
}

static double
up(double x)
{
	double whole = (double)(int64_t)x;

	return whole < x ? whole + 1 : whole;
}

/* More than chance makes of so many. */
static bool
clearly(double more, double than)
{
	return more > than && (more - than) * (more - than) > 9 * (more + than);
}

/* The last minute; where that had a burst that is worked off since, less. */
static void
reckon_drain(struct figures *g)
{
	double waiting = (double)(g->counts.ready + g->counts.leased);
	static const enum span shorter[] = { SPAN_10S, SPAN_1S };

	g->net = g->out - g->in;
	for (size_t i = 0; g->net <= 0 && i < sizeof shorter / sizeof *shorter; i++)
		if (clearly(left(g, shorter[i]), came(g, shorter[i])))
			g->net = (left(g, shorter[i]) - came(g, shorter[i])) /
			    g->activity.seconds[shorter[i]];
	if (waiting == 0)
		g->drain = 0;
	else
		g->drain = g->net > 0 && waiting / g->net < NEVER ? waiting / g->net : NEVER;
}

void
figures_reckon(struct figures *g)
{
	double seconds = g->activity.seconds[SPAN_1M];

	g->in = event_rate(g, EV_PUT, SPAN_1M);
	g->out = seconds > 0 ? left(g, SPAN_1M) / seconds : 0;
	reckon_drain(g);
	if (g->in == 0)
		g->workers = 0;
	else if (g->activity.held.count == 0)
		g->workers = -1;
	else
		g->workers = up(g->in * g->activity.held.recent - 0.01);
	if (clearly(came(g, SPAN_1M), left(g, SPAN_1M)))
		g->trend = GROWING;
	else if (clearly(left(g, SPAN_1M), came(g, SPAN_1M)))
		g->trend = DRAINING;
	else
		g->trend = STEADY;
}

const char *
trend_word(enum trend t)
{
	return t == GROWING ? "growing" : t == DRAINING ? "draining" : "steady";
}

void
figures_explain(const struct figures *g, char drain[static EXPLAINED_SIZE],
    char workers[static EXPLAINED_SIZE])
{
	const struct spread *held = &g->activity.held;
	double waiting = (double)(g->counts.ready + g->counts.leased);

	if (g->drain >= NEVER)
		snprintf(drain, EXPLAINED_SIZE, "drain: %.0f ready or leased, %.1f/s in, %.1f/s "
		    "out: never", waiting, g->in, g->out);
	else
		snprintf(drain, EXPLAINED_SIZE, "drain: %.0f ready or leased / %.1f/s net = %.0f s",
		    waiting, g->net, g->drain);
	if (held->count == 0)
		snprintf(workers, EXPLAINED_SIZE, "workers: %.1f/s in, how long one is held is "
		    "not known yet", g->in);
	else
		snprintf(workers, EXPLAINED_SIZE, "workers: %.1f/s in x %.3f s held = %.2f: "
		    "%.0f", g->in, held->recent, g->in * held->recent, g->workers);
}

/* --- reading ---------------------------------------------------------------------------- */

/* What waits in a subscription untaken has not been counted by its meter. */
static void
add_untaken(struct figures *g)
{
	struct activity *a = &g->activity;
	double age = (double)g->counts.oldest_total / 1000;

	for (int s = 0; s < SPANS; s++) {
		double all = (double)span_ms((enum span)s) / 1000;
		double over = age < all ? age : all;

		a->recent[EV_PUT][s] += (double)g->counts.untaken[s];
		if (a->seconds[s] < over)
			a->seconds[s] = over;
	}
}

int
figures_read(struct queue *q, bool estimate, struct figures *g, struct fault *f)
{
	const struct conf *c = queue_conf(q, f);
	int r;

	if (c == NULL)
		return -1;
	*g = (struct figures){ .topic = queue_is_topic(q), .limit = c->limit };
	strlcpy(g->name, queue_name(q), sizeof g->name);
	r = estimate ? queue_estimate(q, &g->counts, f) : 0;
	g->estimated = r == 1;
	if (r < 0 || (r == 0 && queue_count(q, &g->counts, f) < 0))
		return -1;
	r = queue_activity(q, &g->activity, f);
	if (r < 0)
		return -1;
	g->known = r == 1;
	if (g->known && strchr(g->name, '/') != NULL)
		add_untaken(g);
	figures_reckon(g);
	return 0;
}

/* --- fields ------------------------------------------------------------------------------- */

static const struct {
	const char *name, *head;
	enum figure_unit unit;
} fields[] = {
	[F_READY] = { "ready", "READY", UNIT_COUNT },
	[F_LEASED] = { "leased", "LEASED", UNIT_COUNT },
	[F_LATER] = { "later", "LATER", UNIT_COUNT },
	[F_BLOCKED] = { "blocked", "BLOCKED", UNIT_COUNT },
	[F_DEAD] = { "dead", "DEAD", UNIT_COUNT },
	[F_PUBLISHED] = { "published", "PUBLISHED", UNIT_COUNT },
	[F_UNROUTED] = { "unrouted", "UNROUTED", UNIT_COUNT },
	[F_DROPPED] = { "dropped", "DROPPED", UNIT_COUNT },
	[F_OLDEST] = { "oldest", "OLDEST", UNIT_SECONDS },
	[F_OLDEST_READY] = { "oldest_ready", "OLDEST READY", UNIT_SECONDS },
	[F_OLDEST_TOTAL] = { "oldest_total", "OLDEST TOTAL", UNIT_SECONDS },
	[F_IN] = { "in", "IN/s", UNIT_RATE },
	[F_OUT] = { "out", "OUT/s", UNIT_RATE },
	[F_DRAIN] = { "drain", "DRAIN", UNIT_SECONDS },
	[F_WORKERS] = { "workers", "WORKERS", UNIT_COUNT },
};

const char *
figure_name(enum figure i)
{
	return fields[i].name;
}

const char *
figure_head(enum figure i)
{
	return fields[i].head;
}

enum figure_unit
figure_unit(enum figure i)
{
	return fields[i].unit;
}

enum figure
figure_find(const char *name, size_t len)
{
	int i = 0;

	while (i < FIGURES && (strncmp(fields[i].name, name, len) != 0 ||
	    fields[i].name[len] != '\0'))
		i++;
	return (enum figure)i;
}

static bool
of_meter(enum figure i)
{
	return (i >= F_PUBLISHED && i <= F_DROPPED) || i >= F_IN;
}

bool
figure_value(const struct figures *g, enum figure i, double *value)
{
	const struct counts *c = &g->counts;
	const uint64_t *total = g->activity.total;
	const double values[] = {
		[F_READY] = (double)c->ready, [F_LEASED] = (double)c->leased,
		[F_LATER] = (double)c->later, [F_BLOCKED] = (double)c->blocked,
		[F_DEAD] = (double)c->dead, [F_PUBLISHED] = g->topic ? (double)total[EV_PUT] : 0,
		[F_UNROUTED] = (double)total[EV_UNROUTED],
		[F_DROPPED] = (double)total[EV_DROPPED],
		[F_OLDEST] = (double)c->oldest / 1000,
		[F_OLDEST_READY] = (double)c->oldest_ready / 1000,
		[F_OLDEST_TOTAL] = (double)c->oldest_total / 1000,
		[F_IN] = g->in, [F_OUT] = g->out, [F_DRAIN] = g->drain,
		[F_WORKERS] = g->workers,
	};

	*value = values[i] > 0 ? values[i] : 0;
	if (of_meter(i) && !g->known)
		return false;
	if (g->estimated && i >= F_OLDEST && i <= F_OLDEST_TOTAL)
		return false;
	if (g->topic && i >= F_OUT)              /* nothing waits in a topic itself */
		return false;
	return values[i] >= 0 || (i >= F_OLDEST && i <= F_OLDEST_TOTAL);
}

void
figure_print(const struct figures *g, enum figure i, struct table *t)
{
	double value;
	bool there = figure_value(g, i, &value);

	if (!there)
		table_none(t);
	else if (i == F_DRAIN && value >= NEVER && table_screen(t))
		table_word(t, "never");
	else if (fields[i].unit == UNIT_RATE)
		table_rate(t, value);
	else if (fields[i].unit == UNIT_COUNT)
		table_count(t, (uint64_t)value);
	else if (i == F_DRAIN)
		table_age(t, (int64_t)up(value) * 1000);
	else if (table_screen(t) && g->counts.oldest_total < 0)
		table_none(t);
	else
		table_age(t, (int64_t)(value * 1000));
}
