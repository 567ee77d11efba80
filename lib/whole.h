/* SPDX-License-Identifier: ISC
 *
 * whole: a file that others read at any moment, written whole or not at all: beside
 * it as NAME.PID.tmp, then renamed. */
#ifndef MQ_WHOLE_H
#define MQ_WHOLE_H

#include "buffer.h"
#include "fault.h"

/* -1: it is as it was. 73: it cannot be made, or what is there is no plain file. */
int whole_write(const char *path, const struct buffer *, struct fault *);

#endif
