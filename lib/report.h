/* SPDX-License-Identifier: ISC
 *
 * report: how a command says what failed, and remembers it for its exit status;
 * and what it prints through stdio, of which each byte must get there. */
#ifndef MQ_REPORT_H
#define MQ_REPORT_H

#include "buffer.h"
#include "fault.h"
#include "opt.h"

/* Says it on stderr, as opt_fault() does. *status becomes the fault's, unless an
 * earlier one stands there; that something was not there (1) gives way. */
void report_fault(const struct opt *, const struct fault *, int *status);

/* Fills the fault for standard output, which failed with errno: 74. Always -1. */
int report_stdout(struct fault *);
/* Writes the buffer to standard output and empties it; -1 with the fault. */
int report_write(struct buffer *, struct fault *);
/* Writes what stdio holds back; -1 with the fault if not everything got there, also
 * of what was written before. */
int report_flush(struct fault *);
/* The same at the end: what fails is said, unless *status is 74 already. */
void report_end(const struct opt *, int *status);

#endif
