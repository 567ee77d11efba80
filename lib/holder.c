/* SPDX-License-Identifier: ISC */
#include "holder.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store.h"

#define STATE_FIELD 3                    /* of /proc/PID/stat, from 1 */
#define START_FIELD 22
#define CLOCK_SLACK 2000                 /* ms: ticks are coarse, clocks are set */

/* The file alone: getpwuid(3) wants shared libraries, and these are static. */
static void
user_look(struct holder *h)
{
	FILE *in = fopen("/etc/passwd", "re");
	struct passwd *p = NULL;

	snprintf(h->user, sizeof h->user, "%" PRIu32, h->uid);
	while (in != NULL && (p = fgetpwent(in)) != NULL && p->pw_uid != h->uid)
		;
	if (p != NULL)
		snprintf(h->user, sizeof h->user, "%s", p->pw_name);
	if (in != NULL)
		fclose(in);
}

/* Its text, with a NUL behind; its length, or -1. */
static ssize_t
proc_read(uint32_t pid, const char *name, char *out, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, out, size - 1);
	close(fd);
	if (n >= 0)
		out[n] = '\0';
	return n;
}

/* Field n, from 3 on, of what /proc tells of it, or NULL. */
static const char *
stat_field(char *text, int n)
{
	char *p = strrchr(text, ')');

	for (int field = 2; field < n && p != NULL; field++)
		p = strchr(p + 1, ' ');
	return p == NULL ? NULL : p + 1;
}

uint64_t
process_started(uint32_t pid)
{
	char text[1024];
	const char *state, *start;

	if (proc_read(pid, "stat", text, sizeof text) < 0 ||
	    (state = stat_field(text, STATE_FIELD)) == NULL || strchr("ZX", *state) != NULL ||
	    (start = stat_field(text, START_FIELD)) == NULL)
		return 0;
	return strtoull(start, NULL, 10);
}

/* When the process was started, in ms since 1970; -1: not known. */
static int64_t
started(uint32_t pid)
{
	struct timespec now, up;
	uint64_t ticks = process_started(pid);

	if (ticks == 0)
		return -1;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	return (now.tv_sec - up.tv_sec) * 1000 + (now.tv_nsec - up.tv_nsec) / 1000000 +
		(int64_t)ticks * 1000 / sysconf(_SC_CLK_TCK);
}

static bool
is_there(const struct holder *h)
{
	char path[32];
	struct stat st;
	int64_t start;

	snprintf(path, sizeof path, "/proc/%" PRIu32, h->pid);
	if (stat(path, &st) < 0 || st.st_uid != h->uid)
		return false;
	start = started(h->pid);
	return start >= 0 && (h->since == 0 || start <= h->since + CLOCK_SLACK);
}

static void
command_look(struct holder *h)
{
	ssize_t n;

	h->command[0] = '\0';
	if (!is_there(h))
		return;
	n = proc_read(h->pid, "cmdline", h->command, sizeof h->command);
	while (n > 0 && h->command[n - 1] == '\0')
		n--;
	for (ssize_t i = 0; i < n; i++)
		if (h->command[i] == '\0')
			h->command[i] = ' ';
}

void
holder_look(struct holder *h, uint32_t pid, uint32_t uid, int64_t since)
{
	bool same_user = h->user[0] != '\0' && h->uid == uid;

	if (same_user && h->pid == pid && h->since == since)
		return;
	h->pid = pid;
	h->uid = uid;
	h->since = since;
	if (!same_user)
		user_look(h);
	if (h->host[0] == '\0' && gethostname(h->host, sizeof h->host - 1) < 0)
		snprintf(h->host, sizeof h->host, "localhost");
	command_look(h);
}
