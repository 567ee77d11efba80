/* SPDX-License-Identifier: ISC
 *
 * buffer: bytes that grow. Start from a zeroed struct; buffer_free() at the
 * end. Additions return 0, or -1 with errno ENOMEM and nothing added. */
#ifndef MQ_BUFFER_H
#define MQ_BUFFER_H

#include <stddef.h>

struct buffer {
	char *data;
	size_t len, size;
};

int buffer_room(struct buffer *, size_t more);   /* that many can be added */
int buffer_add(struct buffer *, const void *data, size_t len);
int buffer_byte(struct buffer *, char);
int buffer_text(struct buffer *, const char *);  /* without its NUL */
void buffer_drop(struct buffer *, size_t len);   /* from the front */
void buffer_free(struct buffer *);

#endif
