/* SPDX-License-Identifier: ISC */
#include "report.h"

#include <errno.h>
#include <stdio.h>

void
report_fault(const struct opt *o, const struct fault *f, int *status)
{
	opt_fault(o, f);
	if (*status == ST_OK || *status == ST_NOTHING)
		*status = f->status;
}

int
report_stdout(struct fault *f)
{
	fault_errno(f, "standard output");
	f->status = ST_IO;
	return -1;
}

int
report_write(struct buffer *b, struct fault *f)
{
	size_t n = b->len;

	b->len = 0;
	return fwrite(b->data, 1, n, stdout) != n ? report_stdout(f) : 0;
}

int
report_flush(struct fault *f)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	if (errno == 0)
		errno = EIO;             /* it failed earlier */
	return report_stdout(f);
}

void
report_end(const struct opt *o, int *status)
{
	struct fault f;

	if (report_flush(&f) < 0 && *status != ST_IO)
		report_fault(o, &f, status);
}
