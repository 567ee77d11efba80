/* SPDX-License-Identifier: ISC
 *
 * edit: lets the user change a text in $VISUAL, $EDITOR or vi. The text lies in
 * a file of its own in $TMPDIR or /tmp, readable by its owner alone. */
#ifndef MQ_EDIT_H
#define MQ_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "fault.h"
#include "input.h"

struct edit {
	char path[4096];
	struct input file;
	const char *text;        /* as it is now */
	size_t len;
};

/* 1: it was changed; 0: it was not. -1: the file could not be made or read, or
 * (69) the editor failed. Of what is longer than `max` only max + 1 bytes are
 * read. Ends by edit_end() in any case. */
int edit_run(struct edit *e, const char *text, size_t len, size_t max, struct fault *);
/* `keep`: the file stays, for what was typed is not yet anywhere else. */
void edit_end(struct edit *, bool keep);

#endif
