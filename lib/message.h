/* SPDX-License-Identifier: ISC
 *
 * message: the format of a message file.
 *
 *	mq1 COUNT LENGTH CHECKSUM\n    XXH3-64 of all that follows this line
 *	id: UUID\n                     of the first message
 *	time: RFC 3339\n
 *	key: route: version: attachment: (those that apply)
 *	@name: value\n                 attributes, sorted by name
 *	\n
 *	table                          for COUNT > 1: COUNT end offsets, 8 hex
 *	                               digits and a newline each
 *	LENGTH bytes of bodies
 *
 * It is written once and never changes. */
#ifndef MQ_MESSAGE_H
#define MQ_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store.h"

#define HEADER_MAX (256 * 1024)          /* header lines, bytes */
#define COUNT_MAX (64 * 1024 * 1024)

struct message {
	int fd;                          /* of the file, for reading */
	uint64_t size;                   /* of the file */
	char *data;                      /* its first `loaded` bytes */
	size_t loaded, room;
	uint32_t count;
	size_t rest;                     /* where what is checked begins */
	size_t table;                    /* where the table begins */
	size_t bodies;                   /* where the bodies begin */
	uint32_t seen;                   /* message_bounds(): the body asked for next */
	uint64_t seen_end;               /* where the one before it ends */
	uint64_t length;
	uint64_t checksum;
	struct head head;
};

enum opened { MESSAGE_OK, MESSAGE_TORN, MESSAGE_ERROR /* errno */ };

/* Takes over fd (closed on failure too), reads the header and checks that the
 * file is whole by its size. *out is the caller's to message_close(). */
enum opened message_read(int fd, struct message **out);
/* Makes the paths of its attachments, relative to the spool, absolute. -1 */
int message_resolve(struct message *, const char *spool);
/* Does the checksum fit? Reads all of it. MESSAGE_OK, _TORN or _ERROR. */
enum opened message_check(struct message *);
/* The bounds of body k in the file. false: the table is wrong. -1 errno in
 * *error where it could not be read. */
bool message_bounds(struct message *, uint32_t k, uint64_t *start, uint64_t *end);
/* Does the table give n bodies from `first` on? MESSAGE_OK, _TORN or _ERROR. */
enum opened message_parts(struct message *, uint32_t first, uint32_t n);
/* Reads on until `upto` bytes of the file are loaded; -1 with errno. */
int message_load(struct message *, uint64_t upto);

/* The file's text before the bodies: a malloc'd block of *len bytes. `ends`
 * are the ends of the bodies, `count` of them; body is their bytes. NULL with
 * errno; EMSGSIZE: the header is over HEADER_MAX. */
char *message_format(const struct head *, const uint32_t *ends, uint32_t count,
	const void *body, size_t body_len, size_t *len);

#endif
