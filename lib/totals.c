/* SPDX-License-Identifier: ISC */
#include <errno.h>

#include "meter.h"
#include "queue.h"

/* Makes no meter, and wants no lock: mq-stat may only look. */
int
queue_totals(struct queue *q, struct totals *t, struct fault *f)
{
	struct meter *m;
	uint64_t id;

	*t = (struct totals){ 0 };
	m = meter_map(q->fd, &id);
	if (m == NULL && (errno == ENOENT || errno == ESTALE))
		return 1;
	if (m == NULL)
		return errno == EACCES || errno == EPERM || errno == EROFS ? 0 :
		    queue_fault(q, f, "meter");
	t->published = atomic_load(&m->published);
	t->unrouted = atomic_load(&m->unrouted);
	t->dropped = atomic_load(&m->overflowed);
	meter_unmap(m);
	return 1;
}
