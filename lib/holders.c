/* SPDX-License-Identifier: ISC */
#include "holders.h"

#include "store.h"

/* NULL: there is no place for one more. */
static struct holding *
holding_of(struct holders *h, uint32_t pid, uint32_t uid)
{
	size_t i = 0;

	while (i < h->n && (h->v[i].pid != pid || h->v[i].uid != uid))
		i++;
	if (pid == 0 || i == HOLDERS_MAX)
		return NULL;
	if (i == h->n)
		h->v[h->n++] = (struct holding){ .pid = pid, .uid = uid };
	return &h->v[i];
}

static int
count(const struct entry *e, void *arg)
{
	struct holders *h = arg;
	struct holding *one = holding_of(h, e->pid, e->uid);

	if (one == NULL) {
		h->others++;
		return 0;
	}
	one->messages++;
	if (one->since == 0 || (e->since != 0 && e->since < one->since))
		one->since = e->since;
	return 0;
}

int
holders_look(struct queue *q, struct holders *h, struct fault *f)
{
	*h = (struct holders){ 0 };
	return queue_each(q, LEASED, count, h, f) < 0 ? -1 : 0;
}
