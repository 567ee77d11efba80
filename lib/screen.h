/* SPDX-License-Identifier: ISC
 *
 * screen: standard output as a full screen for a while: the alternate screen, keys
 * at once and unseen, no cursor. Whatever ends it but kill -9, screen_end() or a
 * signal that screen_key() tells of, the terminal is as it was. Plain escape
 * sequences of every terminal since the VT100 (and xterm's alternate screen). */
#ifndef MQ_SCREEN_H
#define MQ_SCREEN_H

#include "fault.h"

struct screen;

/* NULL: not a terminal (status 0), or what failed. */
struct screen *screen_begin(struct fault *);
/* Begins a frame: what is printed to stdout next stands at the top. */
void screen_frame(struct screen *);
int screen_rows(const struct screen *);
/* Waits for a key, ms at most. 0: none came, or the size changed; -1: SIGINT,
 * SIGTERM, SIGHUP, or the terminal is gone. */
int screen_key(struct screen *, int ms);
void screen_end(struct screen *);        /* NULL is fine */

#endif
