/* SPDX-License-Identifier: ISC
 *
 * program: where the program of a command is. */
#ifndef MQ_PROGRAM_H
#define MQ_PROGRAM_H

#include "fault.h"

/* A name with a slash is a path; else it is looked for in the directory `first`
 * (unless NULL), then along PATH. The path of what is a file and may be run, for the
 * caller to free; NULL and 69, f->error telling whether it is not there (ENOENT,
 * ENOTDIR) or may not be run. */
char *program_find(const char *name, const char *first, struct fault *);

#endif
