/* SPDX-License-Identifier: ISC
 *
 * input: records from a stream as they come, each ended by one byte; or a
 * whole file. */
#ifndef MQ_INPUT_H
#define MQ_INPUT_H

#include <stdbool.h>
#include <stddef.h>

struct input {
	int fd;
	char end;                /* of a record: '\n' or '\0' */
	size_t max;              /* a longer record is given cut, over max */
	char *data;
	size_t start, len, room; /* what is there: data[start..len) */
	bool over;               /* nothing more will come */
};

/* `path` to read, "-" for standard input. -1 with errno. */
int input_open(struct input *, const char *path, char end, size_t max);
void input_close(struct input *);

/* The next record without its end; it stays where it is until the next call.
 * The last one may lack its end. 1; 0: there is none; -1 with errno. */
int input_record(struct input *, const char **data, size_t *len);
/* Would input_record() have to wait for the other side? */
bool input_would_wait(struct input *);
/* All of it, at most max + 1 bytes; it stays in the input. -1 with errno. */
int input_whole(struct input *, const char **data, size_t *len);

#endif
