/* SPDX-License-Identifier: ISC */
#include "activity.h"

#include <errno.h>

#include "rates.h"

/* --- writing ------------------------------------------------------------------------ */

void
activity_put(struct queue *q, uint64_t n)
{
	if (q->topic == NULL)
		rates_count(&q->meter->rates, EV_PUT, n);
}

/* In a subscription, of messages that nobody took before. */
static void
arrived(struct queue *q, const struct name *n, int64_t now, uint64_t count)
{
	uint64_t at = rates_now(), ago;
	int64_t put = id_time(n->id);

	if (q->topic == NULL || n->deliveries > 0)
		return;
	ago = now > put ? (uint64_t)(now - put) : 0;
	rates_count_at(&q->meter->rates, EV_PUT, count, at > ago ? at - ago : 0);
}

void
activity_taken(struct queue *q, const struct place *from, int64_t now, uint64_t n)
{
	int64_t since = id_time(from->name.id);

	rates_count(&q->meter->rates, EV_TAKEN, n);
	if (from->name.deliveries > 0)
		return;
	if (from->name.due > since)
		since = from->name.due;
	rates_waited(&q->meter->rates, now - since, n);
	arrived(q, &from->name, now, n);
}

void
activity_acked(struct queue *q, int64_t taken, uint64_t n)
{
	rates_count(&q->meter->rates, EV_ACKED, n);
	if (taken > 0)
		rates_held(&q->meter->rates, now_ms() - taken, n);
}

void
activity_left(struct queue *q, const struct name *name, enum event e, uint64_t n)
{
	rates_count(&q->meter->rates, e, n);
	arrived(q, name, now_ms(), n);
}

/* --- reading ------------------------------------------------------------------------ */

const char *
event_word(enum event e)
{
	static const char *const words[] = {
		[EV_PUT] = "put", [EV_TAKEN] = "taken", [EV_ACKED] = "acked",
		[EV_RETRIED] = "retried", [EV_RETURNED] = "returned",
		[EV_EXPIRED] = "expired", [EV_BURIED] = "buried",
		[EV_DROPPED] = "dropped", [EV_REMOVED] = "removed",
		[EV_UNROUTED] = "unrouted",
	};

	return e < EVENTS ? words[e] : "";
}

/* Makes no meter, and wants no lock: mq-stat may only look. */
int
queue_activity(struct queue *q, struct activity *a, struct fault *f)
{
	struct meter *m;
	uint64_t id;

	*a = (struct activity){ 0 };
	m = meter_map(q->fd, &id);
	if (m == NULL && (errno == ENOENT || errno == ESTALE))
		return 1;
	if (m == NULL)
		return errno == EACCES || errno == EPERM || errno == EROFS ? 0 :
		    queue_fault(q, f, "meter");
	rates_read(&m->rates, rates_now(), a);
	meter_unmap(m);
	return 1;
}
