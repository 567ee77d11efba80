/* SPDX-License-Identifier: ISC
 *
 * cutdisk IMAGE LOG MOUNTPOINT: a disk that remembers every write, flush and mark
 * (dm-log-writes without the device mapper). A FUSE file system with the files
 *   disk  the disk, for a loop mount; starts as IMAGE, which is not changed
 *   mark  write a line when an operation is confirmed: it goes into LOG in order
 *         with the disk's writes
 *   ctl   faults: `eio 0|1` (writes and flushes fail), `eiofsync 0|1`, `eioread 0|1`,
 *         `enospc 0|1`, `after N` (eio after N more writes), `delay MS` (a flush
 *         takes that long); reading it gives counters */
#define FUSE_USE_VERSION 31

#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <linux/falloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cutlog.h"

static char *disk;
static size_t disk_size;
static FILE *record;

static struct {
	unsigned long writes, flushes, marks, reads;
} seen;

static struct {
	int eio, eiofsync, eioread, enospc, after, delay;
} fault = { .after = -1 };

static void
record_add(enum cut_type type, size_t len, off_t offset, const void *data)
{
	struct cut_record r = { type, (uint32_t)len, (uint64_t)offset };

	fwrite(&r, sizeof r, 1, record);
	if (data != NULL)
		fwrite(data, 1, len, record);
	fflush(record);
}

static bool
is_disk(const char *path)
{
	return strcmp(path, "/disk") == 0;
}

static bool
is_mark(const char *path)
{
	return strcmp(path, "/mark") == 0;
}

static bool
fits(off_t offset, size_t len)
{
	return (size_t)offset <= disk_size && len <= disk_size - (size_t)offset;
}

static int
do_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	(void)fi;
	memset(st, 0, sizeof *st);
	if (strcmp(path, "/") == 0) {
		st->st_mode = S_IFDIR | 0755;
		st->st_nlink = 2;
		return 0;
	}
	st->st_mode = S_IFREG | 0666;
	st->st_nlink = 1;
	if (is_disk(path))
		st->st_size = (off_t)disk_size;
	else if (!is_mark(path) && strcmp(path, "/ctl") != 0)
		return -ENOENT;
	return 0;
}

static int
do_readdir(const char *path, void *buf, fuse_fill_dir_t fill, off_t offset,
	struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	static const char *const names[] = { ".", "..", "disk", "mark", "ctl" };

	(void)path;
	(void)offset;
	(void)fi;
	(void)flags;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		fill(buf, names[i], NULL, 0, 0);
	return 0;
}

static int
do_open(const char *path, struct fuse_file_info *fi)
{
	if (is_disk(path))
		fi->keep_cache = 1;
	else
		fi->direct_io = 1;
	return 0;
}

static int
read_counters(char *buf, size_t n, off_t offset)
{
	char text[200];
	int len = snprintf(text, sizeof text,
		"writes %lu flushes %lu marks %lu reads %lu eio %d\n", seen.writes,
		seen.flushes, seen.marks, seen.reads, fault.eio);

	if (offset >= len)
		return 0;
	if ((size_t)(len - offset) < n)
		n = (size_t)(len - offset);
	memcpy(buf, text + offset, n);
	return (int)n;
}

static int
do_read(const char *path, char *buf, size_t n, off_t offset, struct fuse_file_info *fi)
{
	(void)fi;
	if (!is_disk(path))
		return read_counters(buf, n, offset);
	if (fault.eioread)
		return -EIO;
	seen.reads++;
	if ((size_t)offset >= disk_size)
		return 0;
	if (!fits(offset, n))
		n = disk_size - (size_t)offset;
	memcpy(buf, disk + offset, n);
	return (int)n;
}

static int
write_disk(const char *buf, size_t n, off_t offset)
{
	if (fault.after >= 0 && fault.after-- == 0)
		fault.eio = 1;
	if (fault.eio)
		return -EIO;
	if (fault.enospc)
		return -ENOSPC;
	if (!fits(offset, n))
		return -EIO;
	memcpy(disk + offset, buf, n);
	record_add(CUT_WRITE, n, offset, buf);
	seen.writes++;
	return (int)n;
}

static int
write_ctl(const char *buf, size_t n)
{
	const struct {
		const char *format;
		int *value;
	} words[] = {
		{ "eio %d", &fault.eio }, { "eiofsync %d", &fault.eiofsync },
		{ "eioread %d", &fault.eioread }, { "enospc %d", &fault.enospc },
		{ "after %d", &fault.after }, { "delay %d", &fault.delay },
	};
	char text[64];

	snprintf(text, sizeof text, "%.*s", (int)n, buf);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (sscanf(text, words[i].format, words[i].value) == 1)
			return (int)n;
	return -EINVAL;
}

static int
do_write(const char *path, const char *buf, size_t n, off_t offset,
	struct fuse_file_info *fi)
{
	(void)fi;
	if (is_disk(path))
		return write_disk(buf, n, offset);
	if (!is_mark(path))
		return write_ctl(buf, n);
	record_add(CUT_MARK, n, 0, buf);
	seen.marks++;
	return (int)n;
}

static int
do_fsync(const char *path, int datasync, struct fuse_file_info *fi)
{
	struct timespec t = { fault.delay / 1000, fault.delay % 1000 * 1000000L };

	(void)datasync;
	(void)fi;
	if (!is_disk(path))
		return 0;
	if (fault.delay > 0)
		nanosleep(&t, NULL);
	if (fault.eiofsync || fault.eio)
		return -EIO;
	record_add(CUT_FLUSH, 0, 0, NULL);
	seen.flushes++;
	return 0;
}

static int
do_fallocate(const char *path, int mode, off_t offset, off_t len,
	struct fuse_file_info *fi)
{
	(void)fi;
	if (!is_disk(path) || !(mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)))
		return -EOPNOTSUPP;
	if (fault.eio || !fits(offset, (size_t)len))
		return -EIO;
	memset(disk + offset, 0, (size_t)len);
	record_add(CUT_ZERO, (size_t)len, offset, NULL);
	seen.writes++;
	return 0;
}

static int
do_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
	(void)path;
	(void)size;
	(void)fi;
	return 0;
}

static const struct fuse_operations operations = {
	.getattr = do_getattr,
	.readdir = do_readdir,
	.open = do_open,
	.read = do_read,
	.write = do_write,
	.fsync = do_fsync,
	.fallocate = do_fallocate,
	.truncate = do_truncate,
};

int
main(int argc, char **argv)
{
	struct stat st;
	int fd;

	if (argc != 4) {
		fputs("usage: cutdisk IMAGE LOG MOUNTPOINT\n", stderr);
		return 2;
	}
	char *args[] = { argv[0], argv[3], "-s", "-f", NULL };

	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0) {
		perror(argv[1]);
		return 1;
	}
	disk_size = (size_t)st.st_size;
	disk = mmap(NULL, disk_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (disk == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	record = fopen(argv[2], "w");
	if (record == NULL) {
		perror(argv[2]);
		return 1;
	}
	return fuse_main(4, args, &operations, NULL);
}
