/* SPDX-License-Identifier: ISC */
#include "batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "buffer.h"

#define CHUNK ((size_t)256 * 1024)

int
batch_add(struct batch *b, struct lease *lease)
{
	size_t room = b->room ? 2 * b->room : 1;
	struct lease **leases;

	if (b->nleases == b->room) {
		if ((leases = reallocarray(b->leases, room, sizeof *leases)) == NULL)
			return -1;
		b->leases = leases;
		b->room = room;
	}
	b->leases[b->nleases++] = lease;
	b->count += lease_count(lease);
	return 0;
}

void
batch_drop(struct batch *b, size_t i)
{
	b->count -= lease_count(b->leases[i]);
	lease_free(b->leases[i]);
	b->nleases--;
	memmove(&b->leases[i], &b->leases[i + 1],
		(b->nleases - i) * sizeof b->leases[0]);
}

void
batch_free(struct batch *b)
{
	for (size_t i = 0; i < b->nleases; i++)
		lease_free(b->leases[i]);
	free(b->leases);
	*b = (struct batch){ 0 };
}

int
batch_take(struct batch *b, struct queue *q, const struct take_spec *spec, size_t most,
	struct fault *f)
{
	struct take_spec more = *spec;
	struct fault late;
	struct lease *lease;
	int r;

	*b = (struct batch){ 0 };
	while (b->count < spec->want && b->nleases < most) {
		more.want = spec->want - b->count;
		r = queue_take(q, &more, &lease, b->count > 0 ? &late : f);
		if (r <= 0)
			return b->count > 0 ? 1 : r;
		if (batch_add(b, lease) < 0) {
			lease_giveback(lease, &late);
			lease_free(lease);
			return b->count > 0 ? 1 : fault_set(f, ST_TRYAGAIN, "out of memory");
		}
	}
	return 1;
}

uint32_t
batch_at(const struct batch *b, uint32_t k, struct lease **lease)
{
	size_t i = 0;

	while (k >= lease_count(b->leases[i]))
		k -= lease_count(b->leases[i++]);
	*lease = b->leases[i];
	return k;
}

/* The lease that message `at` stands in becomes two, if it has to; `rest` has
 * room for the second. *i: the first lease of the rest. */
static int
split_lease(struct batch *b, size_t *i, uint32_t at, struct batch *rest,
	struct fault *f)
{
	struct lease *tail = NULL;
	uint32_t had;
	int r;

	while (*i < b->nleases && at >= lease_count(b->leases[*i]))
		at -= lease_count(b->leases[(*i)++]);
	if (*i == b->nleases || at == 0)
		return 0;
	had = lease_count(b->leases[*i]);
	if ((r = lease_split(b->leases[*i], at, &tail, f)) < 0)
		return -1;
	if (r == 0) {
		batch_drop(b, *i);
		return 0;
	}
	b->count -= had - at;
	(*i)++;
	return batch_add(rest, tail);
}

int
batch_split(struct batch *b, uint32_t at, struct batch *rest, struct fault *f)
{
	size_t i = 0;

	*rest = (struct batch){ .room = b->nleases + 1 };
	rest->leases = calloc(rest->room, sizeof rest->leases[0]);
	if (rest->leases == NULL)
		return fault_set(f, ST_TRYAGAIN, "out of memory");
	if (split_lease(b, &i, at, rest, f) < 0) {
		batch_free(rest);
		return -1;
	}
	for (size_t k = i; k < b->nleases; k++) {
		b->count -= lease_count(b->leases[k]);
		batch_add(rest, b->leases[k]);
	}
	b->nleases = i;
	return 0;
}

static int
write_out(int fd, struct buffer *b, struct fault *f)
{
	size_t done = 0;
	ssize_t n;

	while (done < b->len) {
		n = write(fd, b->data + done, b->len - done);
		if (n < 0 && errno != EINTR)
			return fault_errno(f, "cannot write a batch");
		done += n > 0 ? (size_t)n : 0;
	}
	b->len = 0;
	return 0;
}

/* Appends the bodies of one lease; 1 if there was something in the way. */
static int
add_lease(struct lease *lease, char end, int fd, struct buffer *b, uint32_t *n,
	size_t *bytes, struct fault *f)
{
	struct message *message = lease_message(lease, f);
	uint32_t first = lease_first(lease), count = lease_count(lease);
	const char *body;
	size_t len;

	if (message == NULL)
		return -1;
	for (uint32_t k = 0; k < count; k++) {
		if (message_body(message, first + k, &body, &len, f) < 0)
			return -1;
		if (memchr(body, end, len) != NULL ||
			(*n > 0 && *bytes + len > BATCH_BYTES))
			return 1;
		if (buffer_add(b, body, len) < 0 || buffer_byte(b, end) < 0)
			return fault_set(f, ST_TRYAGAIN, "out of memory");
		if (b->len >= CHUNK && write_out(fd, b, f) < 0)
			return -1;
		*bytes += len + 1;
		++*n;
	}
	return 0;
}

static int
seal(int fd, struct fault *f)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

	if (lseek(fd, 0, SEEK_SET) < 0 || fcntl(fd, F_ADD_SEALS, seals) < 0)
		return fault_errno(f, "cannot seal a batch");
	return 0;
}

int
batch_lines(const struct batch *batch, char end, uint32_t *n, struct fault *f)
{
	struct buffer b = { 0 };
	size_t bytes = 0;
	int r = 0, fd;

	*n = 0;
	fd = memfd_create("mq-batch", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0) {
		fault_errno(f, "cannot make a batch");
		return -2;
	}
	for (size_t i = 0; i < batch->nleases && r == 0; i++)
		r = add_lease(batch->leases[i], end, fd, &b, n, &bytes, f);
	if (r >= 0 && *n > 0)
		r = write_out(fd, &b, f) < 0 || seal(fd, f) < 0 ? -1 : 0;
	buffer_free(&b);
	if (r >= 0 && *n > 0)
		return fd;
	close(fd);
	return r < 0 ? -2 : -1;
}
