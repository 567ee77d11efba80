/* SPDX-License-Identifier: ISC */
#include "fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int
fault_set(struct fault *f, int status, const char *fmt, ...)
{
	va_list ap;

	f->status = status;
	f->error = 0;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof f->text, fmt, ap);
	va_end(ap);
	return -1;
}

static int
status_of(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return ST_PERMISSION;
	case ENOMEM:
	case EMFILE:
	case ENFILE:
	case EAGAIN:
		return ST_TRYAGAIN;
	default:
		return ST_IO;
	}
}

int
fault_errno(struct fault *f, const char *fmt, ...)
{
	int error = errno;
	va_list ap;
	size_t n;

	f->status = status_of(error);
	f->error = error;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof f->text, fmt, ap);
	va_end(ap);
	n = strlen(f->text);
	snprintf(f->text + n, sizeof f->text - n, ": %s", strerror(error));
	return -1;
}
