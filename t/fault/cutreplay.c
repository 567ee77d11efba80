/* SPDX-License-Identifier: ISC
 *
 * cutreplay: mounts and checks what a power cut would have left, at many points of
 * a log that cutdisk recorded.
 *
 * A cut at record K: everything up to the last flush before K is on the disk. Of the
 * writes after it there are, by mode: all (prefix), none (flush), each by the toss
 * of a coin (random), or by coin with each kept write torn into its blocks (torn). */
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cutlog.h"

#define COPY_BLOCK 65536
#define LOOP_MAJOR 7

static const char usage_text[] =
	"usage: cutreplay -i IMAGE -l LOG [options] -- CHECK\n"
	"  -f FSTYPE      ext4, xfs, btrfs (ext4)\n"
	"  -o OPTIONS     mount options of the file system\n"
	"  -m MODE        prefix, flush, random, torn, or all (all)\n"
	"  -k N           every Nth record\n"
	"  -n MAX         at most MAX cuts, spread evenly\n"
	"  -s SEED --from K --only K\n"
	"  --sector N     what a torn write is torn into (4096; with 512 ext4's own\n"
	"                 superblock can tear)\n"
	"  --fsck         ext4: e2fsck -fn after the check\n"
	"  -v             a line a cut, not for failures alone\n"
	"CHECK is run by sh -c with $M, the mounted directory, $LOG, the marks recorded\n"
	"before the cut, and $K. Ends with `N passed, N failed`; 1 on a failure.\n";

enum mode { PREFIX, FLUSH, RANDOM, TORN, MODES };
static const char *const mode_names[MODES] = { "prefix", "flush", "random", "torn" };

static struct {
	const char *image, *log, *fs, *mount_options, *mode, *check;
	long sector, every, max, seed, from, only;
	bool verbose, fsck;
} opt = { .fs = "ext4", .mount_options = "", .mode = "all", .sector = 4096,
	.every = 1, .seed = 1, .only = -1 };

struct entry {
	struct cut_record r;
	const char *data;
};

static struct entry *entries;
static long nentries;

/* base: the disk at the last flush; cut: what the loop device shows */
static char *base, *cut;
static size_t disk_size;
static int cut_fd, loop_control;
static char work[64], image_path[100], mount_path[100], marks_path[100];

static long tried, failed, unmountable;

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...)
{
	int error = errno;
	va_list ap;

	fputs("cutreplay: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, ": %s\n", strerror(error));
	exit(2);
}

static double
seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void
sleep_us(long us)
{
	struct timespec t = { 0, us * 1000 };

	nanosleep(&t, NULL);
}

/* --- the recording ---------------------------------------------------------------- */

static char *
map_file(const char *path, int protection, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *p;

	if (fd < 0 || fstat(fd, &st) < 0)
		die("%s", path);
	*size = (size_t)st.st_size;
	p = mmap(NULL, *size, protection, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		die("%s: mmap", path);
	close(fd);
	return p;
}

static bool
has_data(const struct cut_record *r)
{
	return r->type == CUT_WRITE || r->type == CUT_MARK;
}

static bool
changes_disk(const struct cut_record *r)
{
	return r->type == CUT_WRITE || r->type == CUT_ZERO;
}

static void
read_log(void)
{
	size_t size, at = 0;
	char *log = map_file(opt.log, PROT_READ, &size);
	long room = 0;

	while (size - at >= sizeof(struct cut_record)) {
		struct entry e;

		memcpy(&e.r, log + at, sizeof e.r);
		at += sizeof e.r;
		e.data = log + at;
		if (has_data(&e.r)) {
			if (size - at < e.r.len)
				return;          /* its end is missing */
			at += e.r.len;
		}
		if (nentries == room) {
			room = room > 0 ? 2 * room : 1024;
			entries = reallocarray(entries, (size_t)room, sizeof *entries);
			if (entries == NULL)
				die("log");
		}
		entries[nentries++] = e;
	}
}

static long
count_of(enum cut_type type)
{
	long n = 0;

	for (long i = 0; i < nentries; i++)
		n += entries[i].r.type == type;
	return n;
}

/* --- the disk at a cut ---------------------------------------------------------------- */

static void
apply(char *disk, const struct entry *e, size_t from, size_t len)
{
	if (e->r.type == CUT_WRITE)
		memcpy(disk + e->r.offset + from, e->data + from, len);
	else if (e->r.type == CUT_ZERO)
		memset(disk + e->r.offset + from, 0, len);
}

static bool
coin(void)
{
	return random() & 64;
}

static void
apply_torn(char *disk, const struct entry *e)
{
	size_t sector = (size_t)opt.sector;

	for (size_t at = 0; at < e->r.len; at += sector) {
		size_t len = e->r.len - at < sector ? e->r.len - at : sector;

		if (coin())
			apply(disk, e, at, len);
	}
}

static void
apply_by_mode(const struct entry *e, enum mode mode)
{
	if (!changes_disk(&e->r) || mode == FLUSH || (mode != PREFIX && !coin()))
		return;
	if (mode == TORN && e->r.type == CUT_WRITE && e->r.len > opt.sector)
		apply_torn(cut, e);
	else
		apply(cut, e, 0, e->r.len);
}

/* The disk when the power went at record k, the last flush before it at `flush`. */
static void
make_cut(long flush, long k, enum mode mode)
{
	srandom((unsigned)(opt.seed * 1000003 + k * 17 + mode));
	for (size_t at = 0; at < disk_size; at += COPY_BLOCK) {
		size_t len = disk_size - at < COPY_BLOCK ? disk_size - at : COPY_BLOCK;

		if (memcmp(cut + at, base + at, len) != 0)
			memcpy(cut + at, base + at, len);
	}
	for (long i = flush; i < k; i++)
		apply_by_mode(&entries[i], mode);
}

static void
write_marks(long k)
{
	FILE *f = fopen(marks_path, "w");

	if (f == NULL)
		die("%s", marks_path);
	for (long i = 0; i < k; i++)
		if (entries[i].r.type == CUT_MARK)
			fwrite(entries[i].data, 1, entries[i].r.len, f);
	fclose(f);
}

/* --- mounting and checking -------------------------------------------------------------- */

/* A loop device on the cut image, its name in `device`. Another process may take
 * the free one first: tries again. */
static int
loop_open(char *device, size_t size)
{
	struct loop_config config = { .fd = (unsigned)cut_fd,
		.info.lo_flags = LO_FLAGS_AUTOCLEAR };

	for (int attempt = 0; attempt < 200; attempt++) {
		int n = ioctl(loop_control, LOOP_CTL_GET_FREE), fd;

		snprintf(device, size, "/dev/loop%d", n);
		if (access(device, F_OK) < 0)
			mknod(device, S_IFBLK | 0600, makedev(LOOP_MAJOR, (unsigned)n));
		fd = open(device, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && ioctl(fd, LOOP_CONFIGURE, &config) == 0)
			return fd;
		if (fd >= 0)
			close(fd);
		sleep_us(2000 + random() % 5000);
	}
	die("LOOP_CONFIGURE");
}

static bool
shell(const char *cmd)
{
	pid_t pid;
	int st;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", cmd, (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &st, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	return st == 0;
}

/* What is wrong with the cut disk, NULL if nothing. */
static const char *
check_cut(void)
{
	char device[32], fsck[160];
	int loop = loop_open(device, sizeof device);
	bool good;

	if (mount(device, mount_path, opt.fs, 0, opt.mount_options) < 0) {
		const char *why = strerror(errno);

		close(loop);
		unmountable++;
		return why;
	}
	close(loop);
	good = shell(opt.check);
	while (umount2(mount_path, 0) < 0) {
		if (errno != EBUSY)
			die("umount");
		sleep_us(2000);
	}
	if (!good)
		return "its check";
	if (!opt.fsck || strcmp(opt.fs, "ext4") != 0)
		return NULL;
	snprintf(fsck, sizeof fsck, "e2fsck -fn %s >/dev/null 2>&1", image_path);
	return shell(fsck) ? NULL : "e2fsck";
}

static void
try_cut(long flush, long k, enum mode mode)
{
	const char *why;
	char number[32];

	make_cut(flush, k, mode);
	write_marks(k);
	snprintf(number, sizeof number, "%ld", k);
	setenv("K", number, 1);
	why = check_cut();
	tried++;
	failed += why != NULL;
	if (why == NULL && !opt.verbose)
		return;
	printf("%s K=%ld mode=%s unflushed=%ld%s%s\n", why != NULL ? "FAIL" : "ok", k,
		mode_names[mode], k - flush, why != NULL ? " by " : "",
		why != NULL ? why : "");
	fflush(stdout);
}

static bool
is_wanted(long k)
{
	if (opt.only >= 0)
		return k == opt.only;
	return k >= opt.from && ((k - opt.from) % opt.every == 0 || k == nentries);
}

static void
replay(void)
{
	bool all = strcmp(opt.mode, "all") == 0;
	long flush = 0;

	for (long k = 0; k <= nentries; k++) {
		if (k > 0 && entries[k - 1].r.type == CUT_FLUSH) {
			for (; flush < k; flush++)
				apply(base, &entries[flush], 0, entries[flush].r.len);
		}
		if (!is_wanted(k))
			continue;
		for (enum mode mode = 0; mode < MODES; mode++) {
			if (!all && strcmp(opt.mode, mode_names[mode]) != 0)
				continue;
			if (all && mode != PREFIX && flush == k)
				continue;        /* all is flushed: the same again */
			try_cut(flush, k, mode);
		}
	}
}

static void
work_make(void)
{
	snprintf(work, sizeof work, "/dev/shm/cutreplay.%d", (int)getpid());
	snprintf(image_path, sizeof image_path, "%s/img", work);
	snprintf(mount_path, sizeof mount_path, "%s/m", work);
	snprintf(marks_path, sizeof marks_path, "%s/log", work);
	if (mkdir(work, 0755) < 0 || mkdir(mount_path, 0755) < 0)
		die("%s", work);
	cut_fd = open(image_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (cut_fd < 0 || ftruncate(cut_fd, (off_t)disk_size) < 0)
		die("%s", image_path);
	cut = mmap(NULL, disk_size, PROT_READ | PROT_WRITE, MAP_SHARED, cut_fd, 0);
	if (cut == MAP_FAILED)
		die("%s: mmap", image_path);
	setenv("M", mount_path, 1);
	setenv("LOG", marks_path, 1);
	loop_control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (loop_control < 0)
		die("/dev/loop-control");
}

static void
work_remove(void)
{
	unlink(image_path);
	unlink(marks_path);
	rmdir(mount_path);
	rmdir(work);
}

/* --- options ---------------------------------------------------------------------------- */

static bool
value_option(const char *s, const char *value)
{
	const struct {
		const char *name, **text;
		long *number;
	} options[] = {
		{ "-i", &opt.image, NULL }, { "-l", &opt.log, NULL },
		{ "-f", &opt.fs, NULL }, { "-o", &opt.mount_options, NULL },
		{ "-m", &opt.mode, NULL }, { "-k", NULL, &opt.every },
		{ "-n", NULL, &opt.max }, { "-s", NULL, &opt.seed },
		{ "--from", NULL, &opt.from }, { "--only", NULL, &opt.only },
		{ "--sector", NULL, &opt.sector },
	};

	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		if (strcmp(s, options[i].name) != 0)
			continue;
		if (options[i].text != NULL)
			*options[i].text = value;
		else
			*options[i].number = atol(value);
		return true;
	}
	return false;
}

static void __attribute__((noreturn))
usage(void)
{
	fputs(usage_text, stderr);
	exit(2);
}

static bool
mode_known(const char *mode)
{
	for (enum mode m = 0; m < MODES; m++)
		if (strcmp(mode, mode_names[m]) == 0)
			return true;
	return strcmp(mode, "all") == 0;
}

static void
parse(int argc, char **argv)
{
	int i = 1;

	for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "-v") == 0)
			opt.verbose = true;
		else if (strcmp(argv[i], "--fsck") == 0)
			opt.fsck = true;
		else if (i + 1 < argc && value_option(argv[i], argv[i + 1]))
			i++;
		else
			usage();
	}
	if (i + 2 != argc || opt.image == NULL || opt.log == NULL || opt.every < 1 ||
	    opt.sector < 1 || !mode_known(opt.mode))
		usage();
	opt.check = argv[i + 1];
}

int
main(int argc, char **argv)
{
	double start, seconds;

	parse(argc, argv);
	base = map_file(opt.image, PROT_READ | PROT_WRITE, &disk_size);
	read_log();
	if (opt.max > 0 && nentries / opt.every > opt.max)
		opt.every = (nentries + opt.max - 1) / opt.max;
	work_make();
	start = seconds_now();
	replay();
	seconds = seconds_now() - start;
	work_remove();
	printf("# log: %ld writes, %ld flushes, %ld marks; %ld cuts in %.1fs, %.1f ms per cut;"
		" mounts refused %ld\n", count_of(CUT_WRITE) + count_of(CUT_ZERO),
		count_of(CUT_FLUSH), count_of(CUT_MARK), tried, seconds,
		tried > 0 ? seconds * 1000 / tried : 0, unmountable);
	printf("%ld passed, %ld failed\n", tried - failed, failed);
	return failed > 0;
}
