/* SPDX-License-Identifier: ISC */
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)64 * 1024)
#define OUT_MOST CHUNK
#define DRAIN_MOST 4                     /* chunks of one that has ended */

int
relay_init(struct relay *r, int err)
{
	struct stat st;

	*r = (struct relay){ .err = err };
	r->regular = fstat(err, &st) == 0 && S_ISREG(st.st_mode);
	return (r->chunk = malloc(CHUNK)) == NULL ? -1 : 0;
}

static void
close_both(int fd, int log)
{
	close(fd);
	if (log >= 0)
		close(log);
}

void
relay_free(struct relay *r)
{
	for (size_t i = 0; i < r->nlingering; i++)
		close_both(r->lingering[i].fd, r->lingering[i].log);
	buffer_free(&r->out);
	free(r->chunk);
	*r = (struct relay){ .err = -1 };
}

int
stream_open(struct stream *s, int log, int *end)
{
	int fds[2];

	s->fd = -1;
	s->log = log;
	s->seen = 0;
	if (pipe2(fds, O_CLOEXEC) < 0) {
		if (log >= 0)
			close(log);
		return -1;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	s->fd = fds[0];
	*end = fds[1];
	return 0;
}

static void
tail_add(struct stream *s, const char *data, size_t len)
{
	size_t at, n;

	if (len > RELAY_TAIL) {
		s->seen += len - RELAY_TAIL;
		data += len - RELAY_TAIL;
		len = RELAY_TAIL;
	}
	at = s->seen % RELAY_TAIL;
	n = len < RELAY_TAIL - at ? len : RELAY_TAIL - at;
	memcpy(s->tail + at, data, n);
	memcpy(s->tail, data + n, len - n);
	s->seen += len;
}

size_t
stream_tail(const struct stream *s, char out[static RELAY_TAIL])
{
	size_t at = s->seen % RELAY_TAIL;

	if (s->seen < RELAY_TAIL) {
		memcpy(out, s->tail, at);
		return at;
	}
	memcpy(out, s->tail + at, RELAY_TAIL - at);
	memcpy(out + RELAY_TAIL - at, s->tail, at);
	return RELAY_TAIL;
}

static void
pass_on(struct relay *r, int log, const char *data, size_t len)
{
	ssize_t n;

	if (log < 0) {
		if (!r->dead)
			buffer_add(&r->out, data, len);
		return;
	}
	for (; len > 0; data += n, len -= (size_t)n)
		if ((n = write(log, data, len)) < 0) {
			if (errno != EINTR)
				return;
			n = 0;
		}
}

/* One read of fd: 1 something, 0 end of file or broken, -1 nothing now. */
static int
take_chunk(struct relay *r, int fd, int log, struct stream *s)
{
	ssize_t n = read(fd, r->chunk, CHUNK);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -1 : 0;
	if (n == 0)
		return 0;
	if (s != NULL)
		tail_add(s, r->chunk, (size_t)n);
	pass_on(r, log, r->chunk, (size_t)n);
	return 1;
}

void
stream_read(struct relay *r, struct stream *s)
{
	if (take_chunk(r, s->fd, s->log, s) != 0)
		return;
	close_both(s->fd, s->log);
	s->fd = s->log = -1;
}

static void
linger_drop(struct relay *r, size_t i)
{
	close_both(r->lingering[i].fd, r->lingering[i].log);
	r->nlingering--;
	memmove(&r->lingering[i], &r->lingering[i + 1],
		(r->nlingering - i) * sizeof r->lingering[0]);
}

void
stream_end(struct relay *r, struct stream *s)
{
	int got = 1;

	if (s->fd < 0)
		return;
	for (int i = 0; i < DRAIN_MOST && got == 1; i++)
		got = take_chunk(r, s->fd, s->log, s);
	if (got == 0) {
		close_both(s->fd, s->log);
	} else {
		if (r->nlingering == RELAY_LINGERING)
			linger_drop(r, 0);
		r->lingering[r->nlingering].fd = s->fd;
		r->lingering[r->nlingering++].log = s->log;
	}
	s->fd = s->log = -1;
}

void
relay_say(struct relay *r, const char *line)
{
	pass_on(r, -1, line, strlen(line));
}

/* A pipe that poll(2) calls writable takes PIPE_BUF bytes without blocking. */
void
relay_flush(struct relay *r)
{
	struct pollfd p = { .fd = r->err, .events = POLLOUT };
	size_t done = 0, len;
	ssize_t n;

	while (done < r->out.len) {
		if (!r->regular && poll(&p, 1, 0) <= 0)
			break;
		len = r->out.len - done;
		if (!r->regular && len > PIPE_BUF)
			len = PIPE_BUF;
		n = write(r->err, r->out.data + done, len);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n < 0) {
			r->dead = true;
			done = r->out.len;
			break;
		}
		done += (size_t)n;
	}
	if (done > 0)
		buffer_drop(&r->out, done);
}

bool
relay_full(const struct relay *r)
{
	return r->out.len > OUT_MOST;
}

size_t
relay_poll(const struct relay *r, struct pollfd *p)
{
	size_t n = 0;

	if (r->out.len > 0)
		p[n++] = (struct pollfd){ .fd = r->err, .events = POLLOUT };
	if (relay_full(r))
		return n;
	for (size_t i = 0; i < r->nlingering; i++)
		p[n++] = (struct pollfd){ .fd = r->lingering[i].fd, .events = POLLIN };
	return n;
}

void
relay_polled(struct relay *r, const struct pollfd *p, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		if (p[k].revents == 0 || p[k].events != POLLIN)
			continue;
		for (size_t i = 0; i < r->nlingering; i++) {
			if (r->lingering[i].fd != p[k].fd)
				continue;
			if (take_chunk(r, p[k].fd, r->lingering[i].log, NULL) == 0)
				linger_drop(r, i);
			break;
		}
	}
	relay_flush(r);
}
