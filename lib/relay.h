/* SPDX-License-Identifier: ISC
 *
 * relay: what commands write to standard error, on its way to the pool's own
 * (or to a log file), with the last of it kept.
 *
 * A command that has ended may leave a background child that still holds its
 * pipe: the pipe then lingers, and is relayed for as long as the pool runs
 * (the oldest of more than RELAY_LINGERING is closed). A standard error that
 * does not take what is written to it never blocks the pool: commands then
 * wait for it, as they would without a pool. */
#ifndef MQ_RELAY_H
#define MQ_RELAY_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

#define RELAY_TAIL 4096
#define RELAY_LINGERING 64

struct stream {
	int fd;                  /* read end, -1: closed */
	int log;                 /* where it goes; -1: to the relay's err */
	uint64_t seen;           /* bytes, of which the last stand in tail */
	char tail[RELAY_TAIL];   /* a ring */
};

struct relay {
	int err;
	bool regular;            /* err never blocks */
	bool dead;               /* err cannot be written to */
	struct buffer out;       /* waits for err */
	char *chunk;
	struct { int fd, log; } lingering[RELAY_LINGERING];
	size_t nlingering;
};

int relay_init(struct relay *, int err);         /* -1 with errno */
void relay_free(struct relay *);

/* Makes the pipe, *end being the command's; owns `log` from here, also on
 * failure. -1 with errno. */
int stream_open(struct stream *, int log, int *end);
/* Relays what is there now: one read. */
void stream_read(struct relay *, struct stream *);
/* The command has ended: relays the rest, and lets the pipe linger if somebody
 * still holds it. The tail stays. */
void stream_end(struct relay *, struct stream *);
/* Copies the tail out, in order; returns its length. */
size_t stream_tail(const struct stream *, char out[static RELAY_TAIL]);

/* Adds a line of the pool's own. */
void relay_say(struct relay *, const char *line);
/* Writes what err takes without blocking. */
void relay_flush(struct relay *);
/* Too much waits: start nothing, read nothing. */
bool relay_full(const struct relay *);
/* Fills in what to poll for (at most RELAY_LINGERING + 1), and after the poll
 * does what is to be done. */
size_t relay_poll(const struct relay *, struct pollfd *);
void relay_polled(struct relay *, const struct pollfd *, size_t n);

#endif
