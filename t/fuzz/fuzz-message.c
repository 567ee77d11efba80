/* SPDX-License-Identifier: ISC
 *
 * Message files: any bytes are a message or torn, and no body reaches out of
 * its file. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dir.h"
#include "message.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct message *m;
	struct fault f;
	const char *body;
	size_t n;

	if (fd < 0 || write_all(fd, data, len) < 0)
		abort();
	if (message_read(fd, &m) != MESSAGE_OK)
		return 0;
	(void)message_check(m);
	for (uint32_t k = 0; k < m->count && k < 2000; k++)
		if (message_body(m, k, &body, &n, &f) == 0 && n > len)
			abort();
	message_close(m);
	return 0;
}
