/* SPDX-License-Identifier: ISC
 *
 * table: a listing, cell by cell. In a pipe: no header, a row a line, tabs
 * between the cells, bytes outside printable ASCII and the backslash as \xNN,
 * `-` for what there is none of (a text that is just that is \x2d), ages in whole
 * seconds, times as RFC 3339; nothing is held back but the row. On a terminal:
 * headed, in columns, ages and times for people, cut to its width; the first
 * screenful is held back to find the widths.
 *
 *	t = table_begin(stdout, columns, 2);
 *	while (...) {
 *		table_text(t, name, strlen(name));
 *		table_number(t, n);
 *		if (table_row(t) < 0)
 *			break;
 *	}
 *	if (table_end(t) < 0)
 *		fault_errno(f, "standard output"); */
#ifndef MQ_TABLE_H
#define MQ_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct column {
	const char *head;
	bool right;              /* numbers stand to the right */
};

struct table;

/* columns must outlive the table. NULL with errno. */
struct table *table_begin(FILE *, const struct column *, size_t n);
/* Is it for people? */
bool table_screen(const struct table *);
bool table_utf8(const struct table *);

/* The next cell of the row; what fails is told by table_row(). */
void table_text(struct table *, const char *, size_t len);
void table_word(struct table *, const char *);     /* NULL: none */
void table_number(struct table *, uint64_t);
/* The same for people where there are many: 1.23M. */
void table_count(struct table *, uint64_t);
/* A second; whole ones, but on a terminal. */
void table_rate(struct table *, double);
void table_age(struct table *, int64_t ms);        /* < 0: none */
void table_time(struct table *, int64_t ms);       /* since 1970; 0: none */
void table_none(struct table *);

/* The row is complete: all its cells were given. -1 with errno: it cannot be
 * written, and no more will be. */
int table_row(struct table *);
/* Writes what is held back, flushes, frees. -1 with errno, also for what
 * failed before. NULL is fine. */
int table_end(struct table *);

#endif
