/* SPDX-License-Identifier: ISC
 *
 * Any bytes as the body of a job; one that is read is written as it was, but for
 * its umask and the number of its arguments, and reads the same again. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runjob.h"

static void
same(char *const *a, char *const *b)
{
	size_t i = 0;

	for (; a[i] != NULL; i++)
		assert(b[i] != NULL && strcmp(a[i], b[i]) == 0);
	assert(b[i] == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *body = malloc(size > 0 ? size : 1);   /* ends where ASan sees it */
	struct buffer b = { 0 };
	struct runjob j, again;
	struct fault f = { 0 };

	memcpy(body, data, size);
	if (runjob_parse(body, size, &j, &f) < 0) {
		assert(f.status == ST_DATA && f.text[0] != '\0' && j.argv == NULL);
		free(body);
		return 0;
	}
	assert(j.argv[0][0] != '\0' && j.dir[0] == '/' && j.umask <= 0777);
	assert(runjob_pack(&j, &b) == 0);
	assert(runjob_parse(b.data, b.len, &again, &f) == 0);
	same(j.argv, again.argv);
	same(j.vars, again.vars);
	assert(strcmp(j.dir, again.dir) == 0 && j.umask == again.umask);
	runjob_free(&j);
	runjob_free(&again);
	buffer_free(&b);
	free(body);
	return 0;
}
