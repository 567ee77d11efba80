/* SPDX-License-Identifier: ISC
 *
 * What people write: durations, times, sizes, rates, settings. The first
 * byte chooses. */
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "units.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
round_trips(const char *s)
{
	char out[64];
	int64_t ms, again;
	uint64_t bytes, bytes2;

	if (duration_parse(s, &ms)) {
		duration_print(ms, out, sizeof out);
		if (!duration_parse(out, &again) || again != ms)
			abort();
	}
	if (size_parse(s, &bytes)) {
		size_print(bytes, out, sizeof out);
		if (!size_parse(out, &bytes2) || bytes2 != bytes)
			abort();
	}
	if (time_parse(s, 1796046526000, &ms)) {
		time_print(ms, out);
		if (!time_parse(out, 0, &again) || again != ms)
			abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *s = malloc(len + 1);
	struct conf c;
	struct fault f;

	if (s == NULL || len == 0) {
		free(s);
		return 0;
	}
	memcpy(s, data + 1, len - 1);
	s[len - 1] = '\0';
	conf_defaults(&c);
	switch (data[0] % 3) {
	case 0:
		round_trips(s);
		break;
	case 1:
		(void)conf_set(&c, s, &f);
		break;
	default:
		(void)conf_read(&c, "conf", s, len - 1, &f);
		break;
	}
	free(s);
	return 0;
}
