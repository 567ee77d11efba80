/* SPDX-License-Identifier: ISC
 *
 * destroy: removing a queue, and what is in a directory. */
#ifndef MQ_DESTROY_H
#define MQ_DESTROY_H

/* Removes that entry of the directory with all that is in it. 0, also if it is
 * not there; -1 with errno */
int raze(int dir, const char *name);

#endif
