/* SPDX-License-Identifier: ISC
 *
 * dir: directories by descriptor, never through symbolic links. Functions
 * return -1 with errno. */
#ifndef MQ_DIR_H
#define MQ_DIR_H

#include <stdbool.h>
#include <sys/types.h>

/* Opens `path`, some components below `at`, none of which may be a link
 * (ELOOP) or lead out of it. Flags are open(2)'s; O_CLOEXEC is added. */
int dir_openat(int at, const char *path, int flags, mode_t mode);
int dir_open(int at, const char *path);           /* as a directory */

/* Opens a file that it makes if there is none, with just that mode, whatever the
 * umask says: from its first moment, so that no crash leaves another one. Flags
 * as for open(2); O_CREAT and O_NOFOLLOW are added. */
int file_make(int at, const char *name, int flags, mode_t mode);

/* Makes each missing component of `path` below `at` with that mode, whatever
 * the umask says. 0, also if it is there already. */
int dir_make(int at, const char *path, mode_t mode);

/* The mode of a directory around files of that mode: x where there is r, and
 * set-gid if the group may use it. */
mode_t dir_mode(mode_t file);

/* Calls fn with each entry but . and .. of the open directory, from its start,
 * in the file system's order; stops when fn returns != 0 and returns that. */
int dir_each(int fd, int (*fn)(const char *name, void *), void *);

/* Reads a whole small file, at most `max` bytes, NUL-ended; NULL with errno. */
char *dir_read(int at, const char *path, size_t max, size_t *len);

/* Is one of its components `..'? */
bool path_has_dots(const char *path);

/* Writes all of it; -1 with errno. */
int write_all(int fd, const void *, size_t);

#endif
