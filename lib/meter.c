/* SPDX-License-Identifier: ISC */
#include "meter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "dir.h"

#define GENERATIONS 20

uint64_t
hint_value(uint64_t raw)
{
	return raw >> GENERATIONS;
}

static uint64_t
hint_next(uint64_t raw, uint64_t value)
{
	uint64_t gen = (raw + 1) & ((UINT64_C(1) << GENERATIONS) - 1);

	return value << GENERATIONS | gen;
}

void
hint_lower(hint *h, uint64_t value)
{
	uint64_t raw = atomic_load(h), v;

	do
		v = hint_value(raw) < value ? hint_value(raw) : value;
	while (!atomic_compare_exchange_weak(h, &raw, hint_next(raw, v)));
}

void
hint_raise(hint *h, uint64_t seen, uint64_t value)
{
	atomic_compare_exchange_strong(h, &seen, hint_next(seen, value));
}

static int
nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int
boot_id(uint8_t out[static 16])
{
	char text[64];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n;
	int digits = 0;

	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof text);
	close(fd);
	memset(out, 0, 16);
	for (ssize_t i = 0; i < n && digits < 32; i++)
		if (nibble(text[i]) >= 0) {
			out[digits / 2] = (uint8_t)(out[digits / 2] << 4 | nibble(text[i]));
			digits++;
		}
	if (digits == 32)
		return 0;
	errno = EIO;
	return -1;
}

/* Is it this boot's, this directory's? A copy or a power cut shows here. */
static bool
meter_fits(const struct meter *m, int dir)
{
	struct stat st;
	uint8_t boot[16];

	return memcmp(m->magic, METER_MAGIC, sizeof m->magic) == 0 &&
	    fstat(dir, &st) == 0 && m->dev == st.st_dev && m->ino == st.st_ino &&
	    boot_id(boot) == 0 && memcmp(m->boot, boot, sizeof boot) == 0;
}

static struct meter *
map(int fd, int dir, uint64_t *id)
{
	struct meter *m;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return NULL;
	if (!S_ISREG(st.st_mode) || st.st_size != METER_SIZE) {
		errno = ESTALE;
		return NULL;
	}
	m = mmap(NULL, METER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m == MAP_FAILED)
		return NULL;
	if (!meter_fits(m, dir)) {
		munmap(m, METER_SIZE);
		errno = ESTALE;
		return NULL;
	}
	*id = st.st_ino;
	return m;
}

struct meter *
meter_map(int dir, uint64_t *id)
{
	int fd = openat(dir, "meter", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct meter *m;
	int saved;

	if (fd < 0)
		return NULL;
	m = map(fd, dir, id);
	saved = errno;
	close(fd);
	errno = saved;
	return m;
}

void
meter_unmap(struct meter *m)
{
	if (m != NULL)
		munmap(m, METER_SIZE);
}

/* The blocks must be there before the file is mapped, and stay the same ones:
 * a store to a page that finds no room is a SIGBUS. */
static int
fill(int fd, const struct meter *m)
{
	char page[METER_SIZE] = { 0 };
	int flags = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
		flags |= FS_NOCOW_FL;
		(void)ioctl(fd, FS_IOC_SETFLAGS, &flags); /* btrfs only */
	}
	memcpy(page, m, sizeof *m);
	if (write_all(fd, page, sizeof page) < 0)
		return -1;
	if (fallocate(fd, 0, 0, METER_SIZE) < 0 && errno != EOPNOTSUPP)
		return -1;
	return 0;
}

int
meter_make(int dir, uint64_t seq, mode_t mode)
{
	struct meter m = { .magic = METER_MAGIC, .boot_seq = seq, .seq = seq,
		.busy = 1 };
	struct timespec now;
	struct stat st;
	int fd, saved;

	if (fstat(dir, &st) < 0 || boot_id(m.boot) < 0)
		return -1;
	clock_gettime(CLOCK_REALTIME, &now);
	m.made = m.index = m.fan_due = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	for (int p = 0; p < 10; p++)
		m.fan[p] = m.index;
	m.topic = faccessat(dir, "sub", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	m.dev = st.st_dev;
	m.ino = st.st_ino;
	(void)unlinkat(dir, "meter.new", 0);     /* of one that died here */
	fd = file_make(dir, "meter.new", O_RDWR | O_EXCL, mode);
	if (fd < 0)
		return -1;
	if (fill(fd, &m) < 0 || renameat(dir, "meter.new", dir, "meter") < 0) {
		saved = errno;
		(void)unlinkat(dir, "meter.new", 0);
		close(fd);
		errno = saved;
		return -1;
	}
	close(fd);
	return 0;
}
