/* SPDX-License-Identifier: ISC
 *
 * calls DIR [N]: the bare system calls that a spool is made of, as the limit of
 * what it can do there. Prints `MICROSECONDS NAME` a line; the names are those of
 * steps[]. */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

static int tmp, new, cur;                /* directories */
static char body[100];

static void
check(long r, const char *what)
{
	if (r < 0)
		err(1, "%s", what);
}

static const char *
name(long k)
{
	static char text[32];

	snprintf(text, sizeof text, "m%09ld", k);
	return text;
}

static int
create(int dir, long k)
{
	int fd = openat(dir, name(k), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	check(fd, "create");
	check(write(fd, body, sizeof body), "write");
	return fd;
}

static void
put(long k)
{
	close(create(tmp, k));
	check(renameat(tmp, name(k), new, name(k)), "rename");
}

static void
claim(long k)
{
	check(renameat(new, name(k), cur, name(k)), "rename");
}

static void
look(long k)
{
	char buf[4096];
	int fd = openat(cur, name(k), O_RDONLY | O_CLOEXEC);

	check(fd, "open");
	check(read(fd, buf, sizeof buf), "read");
	close(fd);
}

static void
join(long k)
{
	check(linkat(cur, name(k), tmp, name(k), 0), "link");
}

static void
drop(long k)
{
	check(unlinkat(tmp, name(k), 0), "unlink");
}

static void
end(long k)
{
	check(unlinkat(cur, name(k), 0), "unlink");
}

static void
sync_one(long k)
{
	int fd = create(tmp, k);

	check(renameat(tmp, name(k), new, name(k)), "rename");
	check(fsync(fd), "fsync");
	close(fd);
}

static void
unput(long k)
{
	check(unlinkat(new, name(k), 0), "unlink");
}

static const struct step {
	const char *name;
	void (*do_)(long);
	long share;              /* of N: what flushes takes long */
} steps[] = {
	{ "create+write+close+rename", put, 1 },
	{ "rename", claim, 1 },
	{ "open+read+close", look, 1 },
	{ "link", join, 1 },
	{ "unlink a link", drop, 1 },
	{ "unlink the file", end, 1 },
	{ "create+write+rename+fsync+close", sync_one, 40 },
	{ "unlink a flushed file", unput, 40 },
};

static int
directory(int at, const char *path)
{
	int fd;

	(void)mkdirat(at, path, 0700);
	fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	check(fd, path);
	return fd;
}

int
main(int argc, char **argv)
{
	long n = argc > 2 ? number(argv[2], 40) : 10000;
	double begin;
	int root;

	if (argc < 2)
		errx(64, "usage: calls DIR [N]");
	root = directory(AT_FDCWD, argv[1]);
	tmp = directory(root, "tmp");
	new = directory(root, "new");
	cur = directory(root, "cur");
	memset(body, 'x', sizeof body);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		long m = n / steps[i].share;

		begin = now_us();
		for (long k = 0; k < m; k++)
			steps[i].do_(k);
		printf("%.2f %s\n", (now_us() - begin) / (double)m, steps[i].name);
	}
	(void)unlinkat(root, "tmp", AT_REMOVEDIR);
	(void)unlinkat(root, "new", AT_REMOVEDIR);
	(void)unlinkat(root, "cur", AT_REMOVEDIR);
	return rmdir(argv[1]) < 0;
}
