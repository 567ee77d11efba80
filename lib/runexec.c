/* SPDX-License-Identifier: ISC */
#include "runexec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int
runexec_here(struct runjob *j, char **dir, struct fault *f)
{
	j->umask = umask(0);
	umask(j->umask);
	j->dir = *dir = get_current_dir_name();
	return *dir == NULL ? fault_errno(f, "the current directory") : 0;
}

bool
runexec_variable_valid(const char *text)
{
	return *text != '\0' && *text != '=';
}

char *
runexec_variable(const char *text)
{
	const char *value;
	char *both;

	if (strchr(text, '=') != NULL || (value = getenv(text)) == NULL)
		return strdup(text);
	return asprintf(&both, "%s=%s", text, value) < 0 ? NULL : both;
}

/* The strings stay in the environment: the job outlives it, until exec. */
static int
environment_set(const struct runjob *j)
{
	for (char *const *v = j->vars; *v != NULL; v++)
		if ((strchr(*v, '=') != NULL ? putenv(*v) : unsetenv(*v)) != 0)
			return -1;
	unsetenv("OLDPWD");
	return setenv("PWD", j->dir, 1);
}

static int
no_input(void)
{
	int fd = open("/dev/null", O_RDONLY), r;

	if (fd <= 0)
		return fd;
	r = dup2(fd, STDIN_FILENO);
	close(fd);
	return r;
}

int
runexec_become(const struct runjob *j, struct fault *f)
{
	if (chdir(j->dir) < 0)
		return fault_set(f, ST_TRYAGAIN, "the job's directory %.300s: %s", j->dir,
			strerror(errno));
	if (environment_set(j) < 0)
		return fault_errno(f, "the job's environment");
	if (no_input() < 0)
		return fault_errno(f, "/dev/null");
	umask(j->umask);
	execvp(j->argv[0], j->argv);
	fault_errno(f, "%.300s", j->argv[0]);
	f->status = f->error == ENOENT || f->error == ENOTDIR ? RUNEXEC_MISSING : RUNEXEC_CANNOT;
	return -1;
}
