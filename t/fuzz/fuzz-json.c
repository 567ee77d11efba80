/* SPDX-License-Identifier: ISC
 *
 * Any bytes as a line of mq-put -J. What is taken comes back the same when it
 * is printed and read again. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "json.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct put_spec base = { .priority = 5, .head = { .version = -1 } };
	struct buffer b = { 0 };
	struct json_put p, again;
	struct fault f;
	struct view v;

	if (json_read((const char *)data, size, &base, 1000, &p, &f) < 0) {
		assert(f.status == ST_DATA && f.text[0] != '\0');
		return 0;
	}
	v = (struct view){ .head = &p.spec.head, .priority = p.spec.priority,
		.at = p.spec.due, .expires_at = p.spec.expiry, .body = p.body, .len = p.len };
	assert(json_print(&v, &b) == 0);
	assert(json_read(b.data, b.len, &base, 1000, &again, &f) == 0);
	assert(json_put_alike(&p.spec, &again.spec) && p.len == again.len);
	assert(memcmp(p.body, again.body, p.len) == 0);
	json_put_free(&p);
	json_put_free(&again);
	buffer_free(&b);
	return 0;
}
