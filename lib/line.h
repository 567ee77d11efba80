/* SPDX-License-Identifier: ISC
 *
 * line: those who wait for a message stand in line in the queue's wait/, those
 * who wait for room in its room/, so that one of them is woken at a time. A place is a file that is open for
 * writing and locked as long as its owner lives and waits: when it goes, by
 * leaving or by kill -9, the kernel closes it, and inotify tells the next. */
#ifndef MQ_LINE_H
#define MQ_LINE_H

#include "queue.h"

#define LINE_NAME 32

struct line {
	int fd;                          /* -1: not in line */
	const char *dir;                 /* "wait" for takers, "room" for putters */
	char name[LINE_NAME];
};

/* Stands at the end. -1 */
int line_join(struct queue *, struct line *, const char *dir, struct fault *);
/* The nearest one before that is alive: 1 and its name; 0: this is the head. */
int line_before(struct queue *, const struct line *, char out[static LINE_NAME],
	struct fault *);
bool line_alive(struct queue *, const char *dir, const char *name);
void line_leave(struct queue *, struct line *);
/* Removes the places of the dead. */
int line_sweep(struct queue *, struct fault *);

#endif
