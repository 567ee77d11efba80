/* SPDX-License-Identifier: ISC
 *
 * columns: which fields of a message a listing shows, by their names:
 *
 *	id queue state priority tries age due key route version size holder since user command
 *	put_time expires when why body, and @NAME, an attribute
 *
 * `due` is the time left: of a lease, or until the message is due; `when` the
 * time of its last failure; `body` its first bytes. */
#ifndef MQ_COLUMNS_H
#define MQ_COLUMNS_H

#include "fault.h"
#include "record.h"
#include "table.h"

struct columns {
	struct column *heads;    /* for table_begin() */
	size_t n;
	char *list;              /* the names, each NUL-ended */
};

/* From names with commas between them. -1 and 64: there is no such field. */
int columns_parse(struct columns *, const char *list, struct fault *);
void columns_free(struct columns *);
/* Gives the table the record as a row. -1 with errno. */
int columns_row(const struct columns *, struct record *, struct table *);

#endif
