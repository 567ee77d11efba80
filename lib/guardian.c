/* SPDX-License-Identifier: ISC */
#include "guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int
guardian_init(struct guardian *g, size_t ngroups, struct fault *f)
{
	void *table = mmap(NULL, ngroups * sizeof *g->groups, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*g = (struct guardian){ .alive = -1 };
	if (table == MAP_FAILED)
		return fault_errno(f, "cannot start the guardian");
	g->groups = table;
	g->ngroups = ngroups;
	return 0;
}

static void
kill_groups(const struct guardian *g)
{
	for (size_t i = 0; i < g->ngroups; i++)
		if (g->groups[i] > 0)
			kill(-g->groups[i], SIGKILL);
}

/* The guardian's whole life. */
static void
watch(const struct guardian *g, int fd)
{
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "mq-guardian");
	if (fd != 0 && dup2(fd, 0) < 0)
		return;
	closefrom(1);
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
	kill_groups(g);
}

int
guardian_start(struct guardian *g, struct fault *f)
{
	int fds[2];

	if (g->pid != 0)
		return 0;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return fault_errno(f, "cannot start the guardian");
	g->pid = fork();
	if (g->pid == 0) {
		close(fds[1]);
		watch(g, fds[0]);
		_exit(0);
	}
	close(fds[0]);
	if (g->pid > 0) {
		g->alive = fds[1];
		return 0;
	}
	g->pid = 0;
	fault_errno(f, "cannot start the guardian");
	close(fds[1]);
	return -1;
}

void
guardian_died(struct guardian *g)
{
	close(g->alive);
	g->alive = -1;
	g->pid = 0;
}

void
guardian_end(struct guardian *g)
{
	if (g->pid > 0) {
		kill(g->pid, SIGKILL);
		waitpid(g->pid, NULL, 0);
		close(g->alive);
	}
	if (g->groups != NULL)
		munmap((void *)g->groups, g->ngroups * sizeof *g->groups);
	*g = (struct guardian){ .alive = -1 };
}
