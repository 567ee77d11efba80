/* SPDX-License-Identifier: ISC */
#include "admit.h"

#include "activity.h"
#include "hold.h"
#include "ready.h"
#include "vacancy.h"
#include "settle.h"

/* 1 one went, 0 nothing is ready, -1 */
static int
drop_oldest(struct queue *q, struct fault *f)
{
	struct place p, to;
	int r = ready_least(q, &p, f);

	if (r != 1)
		return r;
	q->stuck = false;
	to = settle_end(q, &p.name, OUT_DROPPED);
	if (p.name.count == 1)
		r = settle_carry(q, &p, &to, f);
	else
		r = hold_split(q, &p, p.name.first, p.name.first + 1, &to, NULL, f);
	if (r == 1)
		activity_left(q, &p.name, EV_DROPPED, 1);
	if (r == 0 && q->stuck)
		return 0;                /* it is still being published */
	return r < 0 ? -1 : 1;
}

int
admit(struct queue *q, uint64_t count, uint64_t bytes, struct fault *f)
{
	int r = vacancy_limited(q) ? vacancy_take(q, count, bytes, f) : 1;

	while (r == 0 && q->conf.full == FULL_DROP_OLDEST && vacancy_ever(q, count, bytes)) {
		r = drop_oldest(q, f);
		if (r <= 0)
			return r;
		r = vacancy_take(q, count, bytes, f);
	}
	return r;
}
