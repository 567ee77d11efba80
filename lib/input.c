/* SPDX-License-Identifier: ISC */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 65536

int
input_open(struct input *in, const char *path, char end, size_t max)
{
	*in = (struct input){ .fd = STDIN_FILENO, .end = end, .max = max };
	if (strcmp(path, "-") != 0)
		in->fd = open(path, O_RDONLY | O_CLOEXEC);
	return in->fd < 0 ? -1 : 0;
}

void
input_close(struct input *in)
{
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	free(in->data);
	in->data = NULL;
}

/* Reads once; 0 also at the end. */
static int
more(struct input *in)
{
	ssize_t n;

	if (in->start > 0 && (in->start == in->len || in->room - in->len < CHUNK)) {
		memmove(in->data, in->data + in->start, in->len - in->start);
		in->len -= in->start;
		in->start = 0;
	}
	if (in->room - in->len < CHUNK) {
		size_t room = in->room * 2 > in->len + CHUNK ? in->room * 2 : in->len + CHUNK;
		char *p = realloc(in->data, room);

		if (p == NULL)
			return -1;
		in->data = p;
		in->room = room;
	}
	do
		n = read(in->fd, in->data + in->len, in->room - in->len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	in->over = n == 0;
	in->len += (size_t)n;
	return 0;
}

static const char *
find_end(const struct input *in, size_t from)
{
	if (in->start + from >= in->len)
		return NULL;
	return memchr(in->data + in->start + from, in->end, in->len - in->start - from);
}

int
input_record(struct input *in, const char **data, size_t *len)
{
	size_t seen = 0;
	const char *end;

	while ((end = find_end(in, seen)) == NULL) {
		seen = in->len - in->start;
		if (in->over || seen > in->max)
			break;
		if (more(in) < 0)
			return -1;
	}
	*data = in->data + in->start;
	*len = end != NULL ? (size_t)(end - *data) : seen;
	if (end == NULL && seen == 0)
		return 0;
	in->start += *len + (end != NULL);
	return 1;
}

bool
input_would_wait(struct input *in)
{
	struct pollfd p = { .fd = in->fd, .events = POLLIN };

	if (in->over || find_end(in, 0) != NULL)
		return false;
	return poll(&p, 1, 0) == 0;
}

int
input_whole(struct input *in, const char **data, size_t *len)
{
	while (!in->over && in->len <= in->max)
		if (more(in) < 0)
			return -1;
	*data = in->data;
	*len = in->len;
	return 0;
}
