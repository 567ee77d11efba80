/* SPDX-License-Identifier: ISC */
#include "dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where the kernel (or a sandbox) has no openat2(2): component by component. */
static int
walk_open(int at, const char *path, int flags, mode_t mode)
{
	char part[256];
	int fd = at, next;

	for (;;) {
		size_t n = strcspn(path, "/");

		if (n == 0 || n >= sizeof part || (n == 2 && memcmp(path, "..", 2) == 0)) {
			next = -1;
			errno = EINVAL;
			break;
		}
		memcpy(part, path, n);
		part[n] = '\0';
		if (path[n] == '\0') {
			next = openat(fd, part, flags | O_NOFOLLOW, mode);
			break;
		}
		next = openat(fd, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			break;
		if (fd != at)
			close(fd);
		fd = next;
		path += n + 1;
	}
	if (fd != at) {
		int saved = errno;

		close(fd);
		errno = saved;
	}
	return next;
}

int
dir_openat(int at, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH,
	};
	int fd = (int)syscall(SYS_openat2, at, path, &how, sizeof how);

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return walk_open(at, path, flags | O_CLOEXEC, mode);
	return fd;
}

int
dir_open(int at, const char *path)
{
	return dir_openat(at, path, O_RDONLY | O_DIRECTORY, 0);
}

mode_t
dir_mode(mode_t file)
{
	mode_t m = file | (file & 0444) >> 2;

	return m & 0020 ? m | S_ISGID : m;
}

/* Only where the umask could cut something: 0600 and 0700 need no calls. */
static mode_t
umask_off(mode_t mode)
{
	return (mode & 077) != 0 ? umask(0) : 0;
}

static void
umask_on(mode_t mode, mode_t old)
{
	int saved = errno;

	if ((mode & 077) != 0)
		umask(old);
	errno = saved;
}

int
file_make(int at, const char *name, int flags, mode_t mode)
{
	mode_t old = umask_off(mode);
	int fd = dir_openat(at, name, flags | O_CREAT | O_NOFOLLOW, mode);

	umask_on(mode, old);
	return fd;
}

static int
make_one(int at, const char *path, mode_t mode)
{
	mode_t old = umask_off(mode);
	int r = mkdirat(at, path, mode & 0777);  /* set-gid is inherited */

	umask_on(mode, old);
	return r < 0 && errno != EEXIST ? -1 : 0;
}

int
dir_make(int at, const char *path, mode_t mode)
{
	char part[512];
	size_t n = strlen(path);

	if (make_one(at, path, mode) == 0)
		return 0;
	if (errno != ENOENT || n >= sizeof part)
		return -1;
	memcpy(part, path, n + 1);
	for (char *p = strchr(part + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (make_one(at, part, mode) < 0)
			return -1;
		*p = '/';
	}
	return make_one(at, path, mode);
}

int
dir_each(int fd, int (*fn)(const char *name, void *), void *arg)
{
	_Alignas(struct dirent64) char buf[32768];

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -1;
	for (;;) {
		ssize_t n = getdents64(fd, buf, sizeof buf);

		if (n == 0 || (n < 0 && errno == ENOENT)) /* removed meanwhile */
			return 0;
		if (n < 0)
			return -1;
		for (char *p = buf; p < buf + n;) {
			struct dirent64 *d = (struct dirent64 *)(void *)p;
			const char *s = d->d_name;
			int r;

			p += d->d_reclen;
			if (s[0] == '.' && (s[1] == '\0' || (s[1] == '.' && s[2] == '\0')))
				continue;
			r = fn(s, arg);
			if (r != 0)
				return r;
		}
	}
}

static ssize_t
read_up_to(int fd, char *buf, size_t max)
{
	size_t got = 0;

	while (got < max) {
		ssize_t n = read(fd, buf + got, max - got);

		if (n < 0)
			return -1;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

char *
dir_read(int at, const char *path, size_t max, size_t *len)
{
	int fd = dir_openat(at, path, O_RDONLY | O_NONBLOCK, 0);
	struct stat st;
	char *buf = NULL;
	ssize_t n = -1;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0) {
		size_t want = (size_t)st.st_size < max ? (size_t)st.st_size : max;

		buf = malloc(want + 1);
		if (buf != NULL)
			n = read_up_to(fd, buf, want);
	}
	close(fd);
	if (n < 0) {
		free(buf);
		return NULL;
	}
	buf[n] = '\0';
	*len = (size_t)n;
	return buf;
}

bool
path_has_dots(const char *path)
{
	for (const char *p = path; (p = strstr(p, "..")) != NULL; p += 2)
		if ((p == path || p[-1] == '/') && (p[2] == '/' || p[2] == '\0'))
			return true;
	return false;
}

int
write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		p += n;
		len -= (size_t)n;
	}
	return 0;
}
