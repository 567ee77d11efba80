/* SPDX-License-Identifier: ISC */
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct birth {
	struct child *child;
	pid_t parent;
	volatile int error;      /* the child writes it: memory is shared */
};

static int
replace(int fd, int by)
{
	return by < 0 || dup2(by, fd) >= 0 ? 0 : -1;
}

/* What all of the pool's group was sent before this left it (^C, a timeout(1))
 * is the pool's to handle: ignoring it drops what is pending. */
static void
drop_signals(void)
{
	static const int list[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, was;

	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
		if (sigaction(list[i], &ignore, &was) == 0)
			sigaction(list[i], &was, NULL);
}

/* Runs in the child, on the parent's memory: only async-signal-safe calls. */
__attribute__((noreturn, noinline)) static void
become(struct birth *b)
{
	struct child *c = b->child;
	struct sigaction by_default = { .sa_handler = SIG_DFL };
	sigset_t none;

	if (c->group != NULL) {
		setpgid(0, 0);
		*c->group = getpid();
	}
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != b->parent)
		_exit(127);
	if (c->files != NULL)
		setrlimit(RLIMIT_NOFILE, c->files);
	sigaction(SIGPIPE, &by_default, NULL);
	drop_signals();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (replace(0, c->in) == 0 && replace(1, c->out) == 0 && replace(2, c->err) == 0) {
		execve(c->path, c->argv, c->env);
		if (errno == ENOEXEC) {
			c->argv[-1] = (char *)"/bin/sh";
			c->argv[0] = (char *)c->path;
			execve("/bin/sh", c->argv - 1, c->env);
		}
	}
	b->error = errno;
	_exit(127);
}

pid_t
child_start(struct child *c)
{
	struct birth b = { .child = c, .parent = getpid() };
	pid_t pid;

	pid = vfork();
	if (pid == 0)
		become(&b);
	if (pid > 0 && b.error == 0)
		return pid;
	if (pid > 0) {
		if (c->group != NULL)
			*c->group = 0;
		waitpid(pid, NULL, 0);
		errno = b.error;
	}
	return -1;
}
