/* SPDX-License-Identifier: ISC */
#include "pace.h"

#define SECOND 1e9

void
pace_init(struct pace *p, double rate, bool brake, int64_t now)
{
	*p = (struct pace){ .rate = rate, .tokens = 1, .counted = now, .brake = brake };
}

/* The bucket holds 10 ms worth, at least one: late wake-ups are made good,
 * but no second sees noticeably more than the rate. */
static void
count_tokens(struct pace *p, int64_t now)
{
	double most = p->rate > 100 ? p->rate / 100 : 1;

	if (now <= p->counted)
		return;
	p->tokens += (double)(now - p->counted) / SECOND * p->rate;
	if (p->tokens > most)
		p->tokens = most;
	p->counted = now;
}

int64_t
pace_next(struct pace *p, int64_t now)
{
	int64_t when = p->not_before;
	double ns;

	if (p->rate <= 0)
		return when;
	count_tokens(p, now);
	if (p->tokens >= 1)
		return when;
	ns = (1 - p->tokens) / p->rate * SECOND + 1;
	if (ns > 1e17)
		ns = 1e17;
	return now + (int64_t)ns > when ? now + (int64_t)ns : when;
}

void
pace_started(struct pace *p, int64_t now)
{
	if (p->rate > 0)
		p->tokens -= 1;
	if (p->pause == 0)
		return;
	if ((p->pause *= 2) > BRAKE_LONGEST)
		p->pause = BRAKE_LONGEST;
	p->not_before = now + p->pause;
}

void
pace_success(struct pace *p)
{
	p->nfailed = 0;
	if (p->pause == 0)
		return;
	p->pause = 0;
	p->not_before = 0;
}

bool
pace_failure(struct pace *p, struct id id, int64_t now)
{
	if (!p->brake || p->pause > 0)
		return false;
	for (size_t i = 0; i < p->nfailed; i++)
		if (id_equal(p->failed[i], id))
			return false;
	p->failed[p->nfailed++] = id;
	if (p->nfailed < BRAKE_FAILURES)
		return false;
	p->pause = BRAKE_FIRST;
	p->not_before = now + p->pause;
	return true;
}

void
pace_pause(struct pace *p, int64_t when)
{
	if (p->not_before < when)
		p->not_before = when;
}
