/* SPDX-License-Identifier: ISC
 *
 * Any text as a filter; it is matched against what stands behind a NUL in it. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"

struct value {
	const char *data;
	size_t len;
};

static const char *
get(const char *field, size_t *len, void *arg)
{
	const struct value *v = arg;

	*len = v->len;
	return field[0] < 'n' ? v->data : NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	size_t at = 0, len;
	struct filter *f = NULL;

	memcpy(text, data, size);
	text[size] = '\0';
	len = strlen(text);
	if (filter_add(&f, text, &at) == NULL) {
		struct value v = { text + len, size - len };

		(void)filter_match(f, get, &v);
		assert(filter_add(&f, "a=1,b", &at) != NULL && at == 4);
	} else {
		assert(at <= len && f == NULL);
	}
	filter_free(f);
	free(text);
	return 0;
}
