/* SPDX-License-Identifier: ISC */
#include "bench.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int64_t
wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
quantile(double *v, size_t n, double p)
{
	if (n == 0)
		errx(1, "nothing was measured");
	qsort(v, n, sizeof *v, ascending);
	return v[(size_t)((double)(n - 1) * p + 0.5)];
}

void *
need(void *p)
{
	if (p == NULL)
		err(1, NULL);
	return p;
}

long
number(const char *text, long least)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end != '\0' || end == text || n < least)
		errx(64, "%s: not a number that can be used here", text);
	return n;
}

pid_t
start(char *const *argv, int in, int out)
{
	posix_spawn_file_actions_t fa;
	pid_t pid;
	int e;

	posix_spawn_file_actions_init(&fa);
	if (in < 0)
		posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	else
		posix_spawn_file_actions_adddup2(&fa, in, 0);
	if (out < 0)
		posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	else
		posix_spawn_file_actions_adddup2(&fa, out, 1);
	e = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
	if (e != 0)
		errx(1, "%s: %s", argv[0], strerror(e));
	posix_spawn_file_actions_destroy(&fa);
	return pid;
}

/* Reads /proc/PID/NAME; the empty string where the process is gone. */
static void
proc_read(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, buf, size - 1);
	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
}

struct usage
usage_of(pid_t pid)
{
	struct usage u = { 0 };
	char buf[4096], *p;
	double user, sys;
	long long ns;

	proc_read(pid, "schedstat", buf, sizeof buf);
	if (sscanf(buf, "%lld", &ns) == 1) {     /* finer than the ticks of stat */
		u.cpu_us = (double)ns / 1e3;
	} else {
		proc_read(pid, "stat", buf, sizeof buf);
		p = strrchr(buf, ')');
		if (p != NULL && sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
			"%lf %lf", &user, &sys) == 2)
			u.cpu_us = (user + sys) * 1e6 / (double)sysconf(_SC_CLK_TCK);
	}
	proc_read(pid, "status", buf, sizeof buf);
	p = strstr(buf, "\nvoluntary_ctxt_switches:");
	if (p != NULL)
		u.switches = strtol(strchr(p, ':') + 1, NULL, 10);
	return u;
}

struct usage
usage_end(pid_t pid)
{
	struct rusage r;
	int status;

	if (wait4(pid, &status, 0, &r) < 0)
		err(1, "wait");
	if (status != 0)
		errx(1, "process %d failed with status %#x", (int)pid, (unsigned)status);
	return (struct usage) {
		.cpu_us = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e6 +
			(double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec),
		.switches = r.ru_nvcsw,
	};
}

static char
state_of(pid_t pid)
{
	char buf[512], *p;

	proc_read(pid, "stat", buf, sizeof buf);
	p = strrchr(buf, ')');
	return p != NULL && p[1] == ' ' ? p[2] : '\0';
}

void
await_sleep(pid_t pid)
{
	double end = now_us() + 20e6;
	long switches = -1;

	for (int quiet = 0; quiet < 4; usleep(1500)) {
		struct usage u = usage_of(pid);

		quiet = state_of(pid) == 'S' && u.switches == switches ? quiet + 1 : 0;
		switches = u.switches;
		if (now_us() > end)
			errx(1, "process %d does not come to rest", (int)pid);
	}
}
