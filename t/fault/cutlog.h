/* SPDX-License-Identifier: ISC
 *
 * cutlog: what cutdisk records and cutreplay plays: records, one after the other,
 * each followed by its `len` bytes of data (none for a flush or a zero). */
#ifndef CUTLOG_H
#define CUTLOG_H

#include <stdint.h>

enum cut_type { CUT_WRITE = 1, CUT_FLUSH = 2, CUT_MARK = 3, CUT_ZERO = 4 };

struct cut_record {
	uint32_t type, len;
	uint64_t offset;
};

#endif
