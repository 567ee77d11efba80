/* SPDX-License-Identifier: ISC */
#include "buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
buffer_room(struct buffer *b, size_t more)
{
	size_t size = b->size ? b->size : 256;
	char *data;

	if (b->size - b->len >= more)
		return 0;
	if (more > (size_t)-1 / 4 || b->len > (size_t)-1 / 4) {
		errno = ENOMEM;
		return -1;
	}
	while (size < b->len + more)
		size *= 2;
	if ((data = realloc(b->data, size)) == NULL)
		return -1;
	b->data = data;
	b->size = size;
	return 0;
}

int
buffer_add(struct buffer *b, const void *data, size_t len)
{
	if (len == 0)
		return 0;
	if (buffer_room(b, len) < 0)
		return -1;
	memcpy(b->data + b->len, data, len);
	b->len += len;
	return 0;
}

int
buffer_byte(struct buffer *b, char c)
{
	if (b->len == b->size && buffer_room(b, 1) < 0)
		return -1;
	b->data[b->len++] = c;
	return 0;
}

int
buffer_text(struct buffer *b, const char *text)
{
	return buffer_add(b, text, strlen(text));
}

void
buffer_drop(struct buffer *b, size_t len)
{
	b->len -= len;
	if (b->len > 0)
		memmove(b->data, b->data + len, b->len);
}

void
buffer_free(struct buffer *b)
{
	free(b->data);
	*b = (struct buffer){ 0 };
}
