/* SPDX-License-Identifier: ISC */
#include "edit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dir.h"

static const char *
variable(const char *name, const char *other)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : other;
}

static int
write_text(struct edit *e, const char *text, size_t len)
{
	int fd, r;

	snprintf(e->path, sizeof e->path, "%.4000s/mq-edit.XXXXXX", variable("TMPDIR", "/tmp"));
	fd = mkostemp(e->path, O_CLOEXEC);
	if (fd < 0)
		return -1;
	r = write_all(fd, text, len);
	return close(fd) < 0 ? -1 : r;
}

/* The shell takes the editor's arguments apart. Its wait status; -1 with errno.
 * ^C is meant for the editor. */
static int
run_editor(char *path)
{
	const char *editor = variable("VISUAL", variable("EDITOR", "vi"));
	char command[4200], *argv[] = { "sh", "-c", command, "sh", path, NULL };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, intr, quit;
	posix_spawnattr_t attr;
	int status, error;
	sigset_t set;
	pid_t pid;

	snprintf(command, sizeof command, "%.4000s \"$1\"", editor);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	sigaction(SIGINT, &ignore, &intr);
	sigaction(SIGQUIT, &ignore, &quit);
	error = posix_spawn(&pid, "/bin/sh", NULL, &attr, argv, environ);
	while (error == 0 && waitpid(pid, &status, 0) < 0)
		error = errno == EINTR ? 0 : errno;
	sigaction(SIGINT, &intr, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	posix_spawnattr_destroy(&attr);
	errno = error;
	return error == 0 ? status : -1;
}

int
edit_run(struct edit *e, const char *text, size_t len, size_t max, struct fault *f)
{
	int status;

	*e = (struct edit){ .path = "" };
	if (write_text(e, text, len) < 0)
		return fault_errno(f, "%.300s", e->path);
	status = run_editor(e->path);
	if (status < 0)
		return fault_errno(f, "editor");
	if (status != 0)
		return fault_set(f, ST_UNAVAILABLE, "the editor failed: nothing was changed");
	if (input_open(&e->file, e->path, '\n', max) < 0 ||
	    input_whole(&e->file, &e->text, &e->len) < 0)
		return fault_errno(f, "%.300s", e->path);
	return e->len != len || (len > 0 && memcmp(e->text, text, len) != 0);
}

void
edit_end(struct edit *e, bool keep)
{
	input_close(&e->file);
	if (!keep && e->path[0] != '\0')
		(void)unlink(e->path);
}
