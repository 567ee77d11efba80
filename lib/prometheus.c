/* SPDX-License-Identifier: ISC */
#include "prometheus.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct page {
	const struct figures *rows;
	size_t n;
	struct buffer *out;
	bool failed;
};

__attribute__((format(printf, 2, 3)))
static void
add(struct page *p, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	p->failed |= buffer_text(p->out, text) < 0;
}

static void
head(struct page *p, const char *name, const char *type, const char *help)
{
	add(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Every label value goes through here, whatever names may hold one day. */
static void
sample(struct page *p, const char *name, const char *queue, const char *more, double value)
{
	char label[2 * QUEUE_NAME_SIZE];
	size_t n = 0;

	for (; *queue != '\0' && n < sizeof label - 3; queue++) {
		if (*queue == '\\' || *queue == '"' || *queue == '\n')
			label[n++] = '\\';
		label[n++] = *queue == '\n' ? 'n' : *queue;
	}
	label[n] = '\0';
	if (value > 1e300)
		add(p, "%s{queue=\"%s\"%s} +Inf\n", name, label, more);
	else
		add(p, "%s{queue=\"%s\"%s} %.15g\n", name, label, more, value);
}

/* --- gauges --------------------------------------------------------------------- */

static void
messages(struct page *p)
{
	static const enum figure states[] = { F_READY, F_LEASED, F_LATER, F_BLOCKED, F_DEAD };
	char more[40];
	double value;

	head(p, "mq_messages", "gauge", "Messages on disk, by state.");
	for (size_t i = 0; i < p->n; i++)
		for (size_t s = 0; s < sizeof states / sizeof *states; s++) {
			(void)figure_value(&p->rows[i], states[s], &value);
			snprintf(more, sizeof more, ",state=\"%s\"", figure_name(states[s]));
			sample(p, "mq_messages", p->rows[i].name, more, value);
		}
}

static void
gauges(struct page *p)
{
	static const struct {
		enum figure figure;
		const char *name, *help;
	} all[] = {
		{ F_OLDEST, "mq_oldest_message_age_seconds", "Age of the oldest message that "
		    "is ready, blocked, leased or waits for a retry; 0 if none." },
		{ F_OLDEST_READY, "mq_oldest_ready_message_age_seconds",
		    "Age of the oldest message that is ready; 0 if none." },
		{ F_DRAIN, "mq_drain_seconds", "Time until nothing is ready or leased at the "
		    "rates of the last minute; +Inf if never." },
		{ F_WORKERS, "mq_workers_needed", "Workers that what comes in keeps busy, by "
		    "Little's law." },
	};
	double value;

	for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
		head(p, all[k].name, "gauge", all[k].help);
		for (size_t i = 0; i < p->n; i++) {
			if (!figure_value(&p->rows[i], all[k].figure, &value))
				continue;
			if (all[k].figure == F_DRAIN && value >= NEVER)
				value = __builtin_inf();
			sample(p, all[k].name, p->rows[i].name, "", value);
		}
	}
	head(p, "mq_limit_messages", "gauge",
	    "Messages that limit= lets in, without dead letters.");
	for (size_t i = 0; i < p->n; i++)
		if (p->rows[i].limit > 0)
			sample(p, "mq_limit_messages", p->rows[i].name, "",
			    (double)p->rows[i].limit);
	head(p, "mq_paused", "gauge", "1 if takes find nothing (paused=yes).");
	for (size_t i = 0; i < p->n; i++)
		sample(p, "mq_paused", p->rows[i].name, "", p->rows[i].counts.paused);
}

/* --- counters -------------------------------------------------------------------- */

static const char *
event_help(enum event e)
{
	static const char *const help[] = {
		[EV_PUT] = "Messages put; of a subscription, when they are taken or leave.",
		[EV_TAKEN] = "Deliveries.",
		[EV_ACKED] = "Messages acked.",
		[EV_RETRIED] = "Deliveries that failed and are to be repeated.",
		[EV_RETURNED] = "Deliveries whose lease ran out.",
		[EV_EXPIRED] = "Messages whose time to live was over.",
		[EV_BURIED] = "Messages that became dead letters.",
		[EV_DROPPED] = "Messages dropped by full=drop-oldest.",
		[EV_REMOVED] = "Messages removed by hand.",
		[EV_UNROUTED] = "Messages of a topic that no subscription wanted.",
	};

	return help[e];
}

static void
counters(struct page *p)
{
	char name[64];

	for (int e = 0; e < EVENTS; e++) {
		snprintf(name, sizeof name, "mq_messages_%s_total", event_word((enum event)e));
		head(p, name, "counter", event_help((enum event)e));
		for (size_t i = 0; i < p->n; i++)
			if (p->rows[i].known && (e != EV_UNROUTED || p->rows[i].topic))
				sample(p, name, p->rows[i].name, "",
				    (double)p->rows[i].activity.total[e]);
	}
}

/* --- histograms -------------------------------------------------------------------- */

static void
spread(struct page *p, const char *name, const char *queue, const struct spread *s)
{
	char series[64], more[40];

	snprintf(series, sizeof series, "%s_bucket", name);
	for (unsigned i = 0; i < SPREAD_STEPS; i++) {
		snprintf(more, sizeof more, ",le=\"%.12g\"",
		    (double)(UINT64_C(1) << spread_step(i)) / 1000);
		sample(p, series, queue, more, (double)s->below[i]);
	}
	sample(p, series, queue, ",le=\"+Inf\"", (double)s->count);
	snprintf(series, sizeof series, "%s_sum", name);
	sample(p, series, queue, "", s->sum);
	snprintf(series, sizeof series, "%s_count", name);
	sample(p, series, queue, "", (double)s->count);
}

static void
histograms(struct page *p)
{
	head(p, "mq_message_wait_seconds", "histogram",
	    "From the put, or the due time, to the first take.");
	for (size_t i = 0; i < p->n; i++)
		if (p->rows[i].known && !p->rows[i].topic)
			spread(p, "mq_message_wait_seconds", p->rows[i].name,
			    &p->rows[i].activity.waited);
	head(p, "mq_message_held_seconds", "histogram",
	    "From the take to the ack, where it is known.");
	for (size_t i = 0; i < p->n; i++)
		if (p->rows[i].known && !p->rows[i].topic)
			spread(p, "mq_message_held_seconds", p->rows[i].name,
			    &p->rows[i].activity.held);
}

int
prometheus_print(const struct figures *rows, size_t n, struct buffer *out)
{
	struct page p = { .rows = rows, .n = n, .out = out };

	messages(&p);
	gauges(&p);
	counters(&p);
	histograms(&p);
	return p.failed ? -1 : 0;
}
