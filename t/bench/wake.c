/* SPDX-License-Identifier: ISC
 *
 * wake N: how long from a put to the one that waits for it, in microseconds. The
 * body is the time at which the put began; whoever gets it writes it into a pipe,
 * and what is told is how late it comes out there. Four ways in turn, N times:
 *
 *	bare    create, write, rename, and an inotify(7) reader
 *	taker   put (no sync), and `mq-take -w --ack`, started anew for each
 *	spawn   no waiting: the start of a cat that writes the time
 *	pool    put (no sync), and `mq-take -w q -- cat`
 *
 * Prints `P50 P99 NAME` a line. The spool is $MQ_SPOOL, whose directory is there. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "store.h"

enum way { BARE, TAKER, SPAWN, POOL, WAYS };
static const char *const names[] = { "bare", "taker", "spawn", "pool" };

static char *taker[] = { "mq-take", "-w", "--ack", "wake-taker", NULL };
static char *pool[] = { "mq-take", "-w", "wake-pool", "--", "cat", NULL };
static char *cat[] = { "cat", NULL };

static int out[2];                       /* what all of them write to */
static char dir[4096];                   /* bare's */
static struct queue *queues[WAYS];
static struct fault fault;

static void
check(int good, const char *what)
{
	if (!good)
		err(1, "%s", what);
}

static void
stamp(char text[static 32])
{
	snprintf(text, 32, "%" PRId64, wall_ns());
}

/* --- bare --------------------------------------------------------------------------- */

/* Reads each event, then the file of that name. */
static void
watch_bare(void)
{
	_Alignas(struct inotify_event) char buf[4096];
	struct inotify_event *e = (void *)buf;
	char text[32], path[5000];
	int fd = inotify_init1(IN_CLOEXEC), file;
	ssize_t n;

	check(fd >= 0 && inotify_add_watch(fd, dir, IN_MOVED_TO) >= 0, "inotify");
	while (read(fd, buf, sizeof buf) > 0) {
		snprintf(path, sizeof path, "%s/%.255s", dir, e->name);
		file = open(path, O_RDONLY | O_CLOEXEC);
		n = file < 0 ? 0 : read(file, text, sizeof text - 1);
		check(n > 0, path);
		close(file);
		text[n] = '\n';
		check(write(out[1], text, (size_t)n + 1) > 0, "write");
		unlink(path);
	}
	_exit(1);
}

static void
put_bare(void)
{
	char from[5000], to[5000], text[32];
	int fd;

	snprintf(from, sizeof from, "%s.tmp", dir);
	snprintf(to, sizeof to, "%s/m", dir);
	stamp(text);
	fd = open(from, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	check(fd >= 0 && write(fd, text, strlen(text)) > 0, from);
	close(fd);
	check(rename(from, to) == 0, to);
}

/* --- by the library and the tools ------------------------------------------------- */

static struct queue *
open_queue(struct store *s, const char *name)
{
	struct queue *q = queue_open(s, name, QUEUE_MAKE, &fault);

	if (q == NULL)
		errx(1, "%s", fault.text);
	return q;
}

static void
put_queue(struct queue *q)
{
	struct put_spec spec = { .priority = PRIORITY_DEFAULT, .head.version = -1,
		.nosync = true };
	struct put *p = put_begin(q, &spec, &fault);
	struct put_done done;
	char text[32];

	stamp(text);
	strcat(text, "\n");
	if (p == NULL || put_add(p, text, strlen(text), &fault) < 0 ||
		put_commit(p, &done, &fault) < 0)
		errx(1, "%s", fault.text);
	put_end(p);
}

static pid_t
spawn_cat(void)
{
	int fd = memfd_create("body", MFD_CLOEXEC);
	char text[32];
	pid_t pid;

	stamp(text);
	check(fd >= 0 && write(fd, text, strlen(text)) > 0 && lseek(fd, 0, SEEK_SET) == 0,
		"memfd");
	pid = start(cat, fd, out[1]);
	close(fd);
	return pid;
}

/* --- measuring ---------------------------------------------------------------------- */

/* How late the time comes that is read next. */
static double
late(void)
{
	struct pollfd p = { .fd = out[0], .events = POLLIN };
	char buf[256];
	int64_t now;
	ssize_t n;

	if (poll(&p, 1, 10000) != 1)
		errx(1, "nobody woke up within 10 s");
	now = wall_ns();
	n = read(out[0], buf, sizeof buf - 1);
	check(n > 0, "read");
	buf[n] = '\0';
	return (double)(now - strtoll(buf, NULL, 10)) / 1e3;
}

static double
once(enum way way)
{
	pid_t pid;
	double us;

	switch (way) {
	case BARE:
		put_bare();
		return late();
	case TAKER:
		pid = start(taker, -1, out[1]);
		await_sleep(pid);
		put_queue(queues[TAKER]);
		us = late();
		(void)usage_end(pid);
		return us;
	case SPAWN:
		pid = spawn_cat();
		us = late();
		(void)usage_end(pid);
		return us;
	default:
		put_queue(queues[POOL]);
		return late();
	}
}

static void
measure(size_t n, pid_t pools)
{
	double *us[WAYS];

	for (int w = 0; w < WAYS; w++)
		us[w] = need(calloc(n, sizeof *us[w]));
	for (size_t i = 0; i < n; i++)
		for (int w = 0; w < WAYS; w++) {
			if (w == POOL)
				await_sleep(pools);
			us[w][i] = once((enum way)w);
		}
	for (int w = 0; w < WAYS; w++) {
		double p50 = quantile(us[w], n, 0.5);

		printf("%.0f %.0f %s\n", p50, quantile(us[w], n, 0.99), names[w]);
	}
}

int
main(int argc, char **argv)
{
	struct store *s = store_open(NULL, true, &fault);
	pid_t watcher, pools;

	if (argc != 2 || s == NULL)
		errx(64, "usage: wake N");
	queues[TAKER] = open_queue(s, "wake-taker");
	queues[POOL] = open_queue(s, "wake-pool");
	snprintf(dir, sizeof dir, "%s.bare", store_path(s));
	check(mkdir(dir, 0700) == 0, dir);
	check(pipe2(out, O_CLOEXEC) == 0, "pipe");
	watcher = fork();
	if (watcher == 0)
		watch_bare();
	await_sleep(watcher);
	pools = start(pool, -1, out[1]);
	await_sleep(pools);
	measure((size_t)number(argv[1], 1), pools);
	kill(watcher, SIGKILL);
	kill(pools, SIGTERM);
	while (wait(NULL) > 0)
		continue;
	return rmdir(dir) < 0;
}
