/* SPDX-License-Identifier: ISC */
#include "source.h"

#include <stdlib.h>
#include <string.h>

#define POLL_MS 1000                     /* where nothing wakes us */

static int
no_memory(struct fault *f)
{
	return fault_set(f, ST_TRYAGAIN, "out of memory");
}

static int
source_parse(struct source *s, const char *operand, struct fault *f)
{
	const char *colon = strchr(operand, ':');
	size_t len = colon ? (size_t)(colon - operand) : strlen(operand);

	if (len >= sizeof s->buffer)
		return fault_set(f, ST_USAGE, "%s: not a queue's name", operand);
	memcpy(s->buffer, operand, len);
	s->buffer[len] = '\0';
	s->name = s->buffer;
	if (!queue_name_valid(s->name))
		return fault_set(f, ST_USAGE, "%s: not a queue's name", s->name);
	if (colon == NULL)
		return 0;
	if (strlen(colon + 1) != ID_LEN || !id_parse(colon + 1, &s->id))
		return fault_set(f, ST_USAGE, "%s: not an id", operand);
	s->by_id = true;
	return 0;
}

int
sources_init(struct sources *ss, struct store *store, char *const *operands, size_t n,
	struct fault *f)
{
	*ss = (struct sources){ .store = store, .n = n, .most_leases = 1 };
	if ((ss->list = calloc(n, sizeof *ss->list)) == NULL)
		return no_memory(f);
	for (size_t i = 0; i < n; i++) {
		if (source_parse(&ss->list[i], operands[i], f) < 0)
			return -1;
		if (ss->list[i].by_id != ss->list[0].by_id)
			return fault_set(f, ST_USAGE, "either QUEUEs or QUEUE:IDs, not both");
	}
	return 0;
}

void
sources_tidy(struct sources *ss)
{
	while (ss->nold > 0)
		queue_close(ss->old[--ss->nold]);
}

void
sources_free(struct sources *ss)
{
	sources_tidy(ss);
	for (size_t i = 0; i < ss->n && ss->list != NULL; i++)
		if (ss->list[i].queue != NULL)
			queue_close(ss->list[i].queue);
	if (ss->waiter != NULL)
		waiter_free(ss->waiter);
	free(ss->list);
	free(ss->old);
	*ss = (struct sources){ 0 };
}

/* 1 open, -1; 66 if there is none. */
static int
source_open(struct sources *ss, struct source *s, struct fault *f)
{
	int r;

	if (s->queue != NULL)
		return 1;
	if ((s->queue = queue_open(ss->store, s->name, QUEUE_MUST, f)) == NULL)
		return -1;
	if (!ss->single || (r = queue_single(s->queue, f)) == 1)
		return 1;
	queue_close(s->queue);
	s->queue = NULL;
	return r < 0 ? -1 : fault_set(f, ST_TRYAGAIN, "%s: another pool runs", s->name);
}

int
sources_must(struct sources *ss, struct fault *f)
{
	for (size_t i = 0; i < ss->n; i++)
		if (source_open(ss, &ss->list[i], f) < 0)
			return -1;
	return 0;
}

/* The queue has been removed: forget it, so that it is opened again. */
static int
source_retire(struct sources *ss, struct source *s, struct fault *f)
{
	struct queue **old = reallocarray(ss->old, ss->nold + 1, sizeof *old);

	if (old == NULL)
		return no_memory(f);
	ss->old = old;
	old[ss->nold++] = s->queue;
	s->queue = NULL;
	return 0;
}

static int
take_by_id(struct sources *ss, struct source *s, const struct take_spec *spec,
	struct batch *b, struct fault *f)
{
	char id[ID_LEN + 1];
	struct lease *lease;
	struct fault absent;
	int r;

	if (s->taken)
		return 0;
	s->taken = true;
	if (source_open(ss, s, f) < 0)
		return -1;
	if ((r = queue_take_id(s->queue, s->id, spec, &lease, f)) < 0)
		return -1;
	if (r == 0) {
		id_print(s->id, id);
		fault_set(&absent, ST_NOTHING, "%s:%s: no such message to take", s->name, id);
		ss->missing = true;
		ss->complain(&absent);
		return 0;
	}
	*b = (struct batch){ 0 };
	if (batch_add(b, lease) == 0)
		return 1;
	lease_free(lease);
	return no_memory(f);
}

static int
take_next(struct sources *ss, struct source *s, const struct take_spec *spec,
	struct batch *b, struct fault *f)
{
	int r;

	for (;;) {
		if (source_open(ss, s, f) < 0)
			return f->status == ST_NOQUEUE ? 0 : -1;
		r = batch_take(b, s->queue, spec, ss->most_leases, f);
		if (r == 1 || !queue_gone(s->queue))
			return r;
		if (source_retire(ss, s, f) < 0)
			return -1;
	}
}

int
sources_take(struct sources *ss, const struct take_spec *spec, struct batch *b,
	struct fault *f)
{
	int r = 0;

	for (size_t i = 0; i < ss->n && r == 0; i++)
		if (ss->list[i].by_id)
			r = take_by_id(ss, &ss->list[i], spec, b, f);
		else
			r = take_next(ss, &ss->list[i], spec, b, f);
	return r;
}

static int
waiter_make(struct sources *ss, struct fault *f)
{
	if ((ss->waiter = waiter_new(f)) == NULL)
		return -1;
	for (size_t i = 0; i < ss->n; i++)
		if (waiter_add(ss->waiter, ss->store, ss->list[i].name, f) < 0)
			return -1;
	return 0;
}

int
sources_arm(struct sources *ss, struct fault *f)
{
	if (ss->waiter == NULL && waiter_make(ss, f) < 0)
		return -1;
	if (waiter_arm(ss->waiter, f) < 0)
		return -1;
	ss->armed = true;
	return 0;
}

void
sources_leave(struct sources *ss)
{
	if (!ss->armed)
		return;
	waiter_leave(ss->waiter);
	ss->armed = false;
}

int
sources_fd(const struct sources *ss)
{
	return ss->armed ? waiter_fd(ss->waiter) : -1;
}

bool
sources_woken(struct sources *ss)
{
	return ss->armed && waiter_look(ss->waiter);
}

int
sources_timeout(struct sources *ss)
{
	int ms = ss->armed ? waiter_timeout(ss->waiter) : POLL_MS;

	if (ss->armed && waiter_fd(ss->waiter) < 0 && ms > POLL_MS)
		ms = POLL_MS;
	return ms > 0 ? ms : 1;
}
