/* SPDX-License-Identifier: ISC */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 1 a program that we may run, 0 not there, -1 there, but with errno. */
static int
runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EACCES;
		return -1;
	}
	return access(path, X_OK) < 0 ? -1 : 1;
}

/* DIR/NAME if it is runnable; else NULL, *error being set if it was there. */
static char *
try(const char *dir, size_t len, const char *name, int *error)
{
	char *path;
	int r;

	if (asprintf(&path, "%.*s%s%s", (int)len, dir, len > 0 ? "/" : "", name) < 0) {
		*error = ENOMEM;
		return NULL;
	}
	if ((r = runnable(path)) == 1)
		return path;
	if (r < 0)
		*error = errno;
	free(path);
	return NULL;
}

static char *
search(const char *name, const char *first, int *error)
{
	const char *path = getenv("PATH"), *end;
	char *found = first != NULL ? try(first, strlen(first), name, error) : NULL;

	if (path == NULL)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (; found == NULL; path = end + 1) {
		end = strchrnul(path, ':');
		found = try(path, (size_t)(end - path), name, error);
		if (*end == '\0')
			break;
	}
	return found;
}

char *
program_find(const char *name, const char *first, struct fault *f)
{
	int error = ENOENT;
	char *path = NULL;

	if (strchr(name, '/') != NULL)
		path = try("", 0, name, &error);
	else if (*name != '\0')
		path = search(name, first, &error);
	if (path == NULL) {
		errno = error;
		fault_errno(f, "%s", name);
		f->status = ST_UNAVAILABLE;
	}
	return path;
}
