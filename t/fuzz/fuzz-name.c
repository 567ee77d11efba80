/* SPDX-License-Identifier: ISC
 *
 * Names and held names: what parses is printed again just as it was. */
#include <stdlib.h>
#include <string.h>

#include "place.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char text[NAME_SIZE], again[NAME_SIZE];
	struct name n;
	struct held h;

	if (len >= sizeof text)
		return 0;
	memcpy(text, data, len);
	text[len] = '\0';
	if (name_parse(text, &n) && (name_print(&n, again) != len || strcmp(text, again) != 0))
		abort();
	if (held_parse(text, &h) && held_print(&h, again) && !held_parse(again, &h))
		abort();
	return 0;
}
