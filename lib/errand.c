/* SPDX-License-Identifier: ISC */
#include "errand.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "program.h"

struct errand {
	pid_t pid;
	sigset_t mine, old;
};

static void
hold_signals(struct errand *e)
{
	static const int list[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1,
		SIGUSR2 };

	signal(SIGCHLD, SIG_DFL);        /* else there is no status to wait for */
	sigemptyset(&e->mine);
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		sigaddset(&e->mine, list[i]);
	sigprocmask(SIG_BLOCK, &e->mine, &e->old);
}

static int
unstarted(struct fault *f)
{
	f->status = f->error == ENOENT || f->error == ENOTDIR ? ERRAND_MISSING : ERRAND_CANNOT;
	return -1;
}

/* words[-1] is there: what the command line has before it. */
static int
start(struct errand *e, char **words, struct fault *f)
{
	struct child c = { .argv = words, .env = environ, .in = -1, .out = -1, .err = -1 };
	char *path = program_find(words[0], NULL, f);

	if (path == NULL)
		return unstarted(f);
	c.path = path;
	e->pid = child_start(&c);
	if (e->pid < 0)
		fault_errno(f, "%.300s", words[0]);
	free(path);
	return e->pid < 0 ? unstarted(f) : 0;
}

struct errand *
errand_start(char **words, struct fault *f)
{
	struct errand *e = calloc(1, sizeof *e);

	if (e == NULL) {
		fault_errno(f, "%.300s", words[0]);
		return NULL;
	}
	hold_signals(e);
	if (start(e, words, f) == 0)
		return e;
	sigprocmask(SIG_SETMASK, &e->old, NULL);
	free(e);
	return NULL;
}

pid_t
errand_pid(const struct errand *e)
{
	return e->pid;
}

int
errand_wait(struct errand *e)
{
	siginfo_t info;
	int status;

	while (waitpid(e->pid, &status, WNOHANG) == 0)
		if (sigwaitinfo(&e->mine, &info) > 0 && info.si_signo != SIGCHLD &&
		    info.si_code <= 0)
			kill(e->pid, info.si_signo);
	free(e);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
