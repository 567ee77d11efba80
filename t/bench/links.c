/* SPDX-License-Identifier: ISC
 *
 * links [-u] FILE DIR ...: links FILE into each directory by one bare linkat(2), as the
 * limit of what a publish can do there; -u takes the links away. */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	int unlinks = argc > 1 && strcmp(argv[1], "-u") == 0, first = 2 + unlinks;
	char path[4096];

	if (argc <= first)
		errx(64, "usage: links [-u] FILE DIR ...");
	for (int i = first; i < argc; i++) {
		snprintf(path, sizeof path, "%s/bare.link", argv[i]);
		if (unlinks ? unlinkat(AT_FDCWD, path, 0) < 0 :
		    linkat(AT_FDCWD, argv[first - 1], AT_FDCWD, path, 0) < 0)
			err(1, "%s", path);
	}
	return 0;
}
