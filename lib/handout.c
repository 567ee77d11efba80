/* SPDX-License-Identifier: ISC */
#include "handout.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "buffer.h"
#include "format.h"
#include "json.h"
#include "source.h"
#include "view.h"
#include "work.h"

#define ENOUGH ((size_t)64 * 1024)       /* bytes, then they are written */
#define HELD 256                         /* leases, each a file */

struct hand {
	const struct handout *how;
	struct sources sources;
	struct buffer out;               /* not written yet */
	size_t *ends;                    /* of each message in it */
	size_t nends, room;
	struct lease *held[HELD];        /* whose messages stand in it */
	size_t nheld;
	bool keyed;                      /* one of them has a key, and is acked: no other
	                                  * of that key comes before it is written */
	uint64_t done;                   /* messages taken */
	bool regular;                    /* fd never blocks */
	bool closed;                     /* nobody reads fd any more */
	uint64_t dropped;                /* of those followed: said so far */
	int64_t said;                    /* when, by monotonic_ms() */
	sigset_t awake;                  /* signal mask while we sleep */
};

static volatile sig_atomic_t caught;

static void
catch_signal(int sig)
{
	caught = sig;
}

/* From here on signals come only while we sleep, in doze(). */
static void
signals_catch(sigset_t *awake)
{
	static const int list[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction act = { .sa_handler = catch_signal }, was;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
		sigaction(list[i], NULL, &was);
		if (was.sa_handler == SIG_IGN)
			continue;
		sigaction(list[i], &act, NULL);
		sigaddset(&set, list[i]);
	}
	sigprocmask(SIG_BLOCK, &set, awake);
	act.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &act, NULL);
}

/* Until fd is ready, ms are over (-1: never) or a signal came; true: fd is. One
 * that follows also learns here that nobody reads any more. */
static bool
doze(struct hand *h, int fd, short events, int64_t ms)
{
	struct pollfd p[] = {
		{ .fd = fd, .events = events },
		{ .fd = h->how->follow != NULL ? h->how->fd : -1 },
	};
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	if (ppoll(p, 2, ms < 0 ? NULL : &ts, &h->awake) <= 0)
		return false;
	h->closed = p[1].revents != 0;
	return p[0].revents != 0;
}

static int64_t
monotonic_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* --- settling ------------------------------------------------------------------- */

static int
give_back(struct hand *h, struct lease *lease)
{
	struct fault f;
	int r = lease_giveback(lease, &f);

	if (r < 0)
		h->how->complain(&f);
	lease_free(lease);
	return r;
}

/* The first `written` messages of the lease are out. */
static int
settle(struct hand *h, struct lease *lease, size_t written, struct fault *f)
{
	struct lease *rest;
	int r = 1;

	if (written == 0) {
		give_back(h, lease);
		return 0;
	}
	if (written < lease_count(lease)) {
		r = lease_split(lease, (uint32_t)written, &rest, f);
		if (r == 1)
			give_back(h, rest);
	}
	if (r >= 0 && h->how->ack)
		r = lease_ack(lease, f);
	lease_free(lease);
	return r < 0 ? -1 : 0;
}

static int
settle_all(struct hand *h, size_t written, struct fault *f)
{
	size_t count, n;
	int r = 0;

	for (size_t i = 0; i < h->nheld; i++) {
		count = lease_count(h->held[i]);
		n = written < count ? written : count;
		written -= n;
		if (settle(h, h->held[i], n, f) < 0)
			r = -1;
	}
	h->nheld = h->nends = h->out.len = 0;
	h->keyed = false;
	return r;
}

/* --- writing ---------------------------------------------------------------------- */

/* Returns how many bytes went out; fewer than all: errno, EINTR for a signal
 * to end by. What poll(2) calls writable takes PIPE_BUF bytes at once. */
static size_t
write_out(struct hand *h)
{
	int fd = h->how->fd;
	size_t done = 0, len;
	ssize_t n;

	while (done < h->out.len) {
		len = h->out.len - done;
		if (!h->regular && !doze(h, fd, POLLOUT, -1)) {
			if (caught)
				return done;
			continue;
		}
		if (!h->regular && len > PIPE_BUF)
			len = PIPE_BUF;
		n = write(fd, h->out.data + done, len);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return done;
		done += n > 0 ? (size_t)n : 0;
	}
	return done;
}

/* What was dropped since it was last said. `late`: not more often than once a second. */
static void
say_dropped(struct hand *h, bool late)
{
	int64_t now = monotonic_ms();
	struct activity t;
	struct fault f;

	if (late && now - h->said < 1000)
		return;
	if (queue_activity(h->how->follow, &t, &f) != 1 || t.total[EV_DROPPED] <= h->dropped)
		return;
	fault_set(&f, ST_OK, "%" PRIu64 " dropped: they come faster than they are read here",
	    t.total[EV_DROPPED] - h->dropped);
	h->how->complain(&f);
	h->dropped = t.total[EV_DROPPED];
	h->said = now;
}

static int
flush(struct hand *h, struct fault *f)
{
	struct fault ours;
	size_t written, n = 0;
	int error, r;

	written = write_out(h);
	error = caught ? EINTR : errno;
	while (n < h->nends && h->ends[n] <= written)
		n++;
	if (h->how->follow != NULL) {
		say_dropped(h, true);
		(void)doze(h, -1, 0, 0); /* signals, however fast they come */
	}
	if (n == h->nends)
		return settle_all(h, n, f);
	r = settle_all(h, n, &ours);
	if (r < 0)
		h->how->complain(&ours);
	errno = error;
	fault_errno(f, "standard output");
	f->status = ST_IO;
	return -1;
}

static int
mark_end(struct hand *h, struct fault *f)
{
	size_t room = h->room ? 2 * h->room : 1024;
	size_t *ends;

	if (h->nends == h->room) {
		if ((ends = reallocarray(h->ends, room, sizeof *ends)) == NULL)
			return fault_set(f, ST_TRYAGAIN, "out of memory");
		h->ends = ends;
		h->room = room;
	}
	h->ends[h->nends++] = h->out.len;
	return 0;
}

/* What the lease added to the buffer is taken out again. */
static void
unprint(struct hand *h, size_t len, size_t nends)
{
	h->out.len = len;
	h->nends = nends;
}

/* What is acked has no receipt, and is no more. */
static int
print_json(struct hand *h, struct lease *lease, uint32_t k, struct fault *f)
{
	char receipt[RECEIPT_SIZE];
	struct view v;

	if (view_lease(&v, lease, k, receipt, f) < 0)
		return -1;
	if (h->how->ack) {
		v.receipt = v.state = NULL;
		v.due = 0;
	}
	if (json_print(&v, &h->out) < 0)
		return fault_set(f, ST_TRYAGAIN, "out of memory");
	return 0;
}

static int
print_lease(struct hand *h, struct lease *lease, struct fault *f)
{
	uint32_t count = lease_count(lease);

	for (uint32_t k = 0; k < count; k++) {
		if (h->how->format == NULL) {
			if (print_json(h, lease, k, f) < 0)
				return -1;
		} else {
			if (format_print(h->how->format, lease, k, &h->out, f) < 0)
				return -1;
			if (buffer_byte(&h->out, h->how->end) < 0)
				return fault_set(f, ST_TRYAGAIN, "out of memory");
		}
		if (mark_end(h, f) < 0)
			return -1;
	}
	return 0;
}

static bool
has_key(struct lease *lease)
{
	struct fault f;
	const struct message *m = lease_message(lease, &f);

	return m != NULL && message_head(m)->key != NULL;
}

/* Prints into the buffer; owns the lease. */
static int
hand_over(struct hand *h, struct lease *lease, struct fault *f)
{
	size_t len = h->out.len, nends = h->nends;
	int r = 1;

	if (h->how->ack)
		r = lease_consume(lease, f);
	if (r == 0) {
		lease_free(lease);
		return 0;
	}
	if (r < 0 || print_lease(h, lease, f) < 0) {
		unprint(h, len, nends);
		give_back(h, lease);
		return r < 0 || f->status != ST_NOTHING ? -1 : 0;
	}
	h->done += lease_count(lease);
	h->held[h->nheld++] = lease;
	h->keyed |= h->how->ack && has_key(lease);
	if (h->out.len >= ENOUGH || h->nheld == HELD)
		return flush(h, f);
	return 0;
}

/* --- taking ------------------------------------------------------------------------ */

/* Takes and prints until it has enough or nothing is ready. */
static int
take_all(struct hand *h, struct fault *f)
{
	struct take_spec spec = { .lease = h->how->lease };
	struct batch b;
	int r = 0;

	while (h->done < h->how->count && !caught) {
		spec.want = FILE_RECORDS;
		if (h->how->count - h->done < spec.want)
			spec.want = (uint32_t)(h->how->count - h->done);
		if (h->keyed && h->sources.list[0].by_id && (r = flush(h, f)) < 0)
			break;
		r = sources_take(&h->sources, &spec, &b, f);
		if (r == 0 && h->keyed && (r = flush(h, f)) == 0)
			continue;        /* the next of that key may be ready now */
		if (r <= 0)
			break;
		r = hand_over(h, b.leases[0], f);
		b.nleases = 0;
		batch_free(&b);
		if (r < 0)
			break;
	}
	return r < 0 ? -1 : 0;
}

/* Sleeps until there may be something: true, or false: the time is over. */
static bool
wait_more(struct hand *h, int64_t until)
{
	int64_t end = monotonic_ms() + sources_timeout(&h->sources), now;
	bool last = h->how->wait != WAIT_FOREVER && end >= until;

	if (last)
		end = until;
	while ((now = monotonic_ms()) < end) {
		if (doze(h, sources_fd(&h->sources), POLLIN, end - now) &&
			sources_woken(&h->sources))
			return true;
		if (caught || h->closed)
			return false;
	}
	return !last;
}

static int
wait_and_take(struct hand *h, struct fault *f)
{
	int64_t until = monotonic_ms() + h->how->wait;

	if (take_all(h, f) < 0)
		return -1;
	if (h->done > 0 || h->how->wait == WAIT_NOT || h->sources.list[0].by_id)
		return 0;
	do {
		if (sources_arm(&h->sources, f) < 0 || take_all(h, f) < 0)
			return -1;
	} while (h->done == 0 && wait_more(h, until));
	sources_leave(&h->sources);
	return 0;
}

/* --- following ------------------------------------------------------------------------ */

/* Takes what there is, and writes it. */
static int
follow_once(struct hand *h, struct fault *f)
{
	struct fault first;
	int r;

	if (sources_arm(&h->sources, f) < 0)
		return -1;
	r = take_all(h, f);
	first = *f;
	if (h->nheld > 0 && flush(h, f) < 0 && r == 0)
		return -1;
	if (r < 0)
		*f = first;
	return r;
}

static int
follow(struct hand *h, struct fault *f)
{
	struct queue *q = h->how->follow;
	int r = 0;

	while (r == 0 && !caught && h->done < h->how->count) {
		uint64_t before = h->done;

		r = follow_once(h, f);
		say_dropped(h, false);
		if (r == 0 && queue_gone(q))
			r = fault_set(f, ST_NOQUEUE, "%s: was removed", queue_name(q));
		if (r == 0 && h->done == before)
			(void)wait_more(h, 0);
		if (r == 0 && h->closed) {
			errno = EPIPE;
			fault_errno(f, "standard output");
			f->status = ST_IO;
			r = -1;
		}
	}
	return r;
}

static int
status_of(struct hand *h, int r, struct fault *f)
{
	struct fault last;

	if (caught)
		return 128 + caught;
	if (r < 0)
		return f->status;
	if (h->done > 0 && !h->sources.missing)
		return ST_OK;
	f->text[0] = '\0';
	if (h->done == 0 && sources_must(&h->sources, &last) < 0) {
		*f = last;
		return f->status;
	}
	return ST_NOTHING;
}

static int
hand_out(struct hand *h, struct fault *f)
{
	struct fault first;
	int r;

	if (h->how->wait == WAIT_NOT && sources_must(&h->sources, f) < 0)
		return f->status;
	if (h->how->follow != NULL)
		return status_of(h, follow(h, f), f);
	r = wait_and_take(h, f);
	first = *f;
	if (h->nheld > 0 && flush(h, f) < 0 && r == 0)
		r = -1;
	else if (r < 0)
		*f = first;
	return status_of(h, r, f);
}

int
handout_run(struct store *store, char *const *operands, size_t n,
	const struct handout *how, struct fault *f)
{
	struct hand h = { .how = how };
	struct stat st;
	int status;

	f->text[0] = '\0';
	if (sources_init(&h.sources, store, operands, n, f) == 0) {
		h.sources.complain = how->complain;
		h.regular = fstat(how->fd, &st) == 0 && S_ISREG(st.st_mode);
		signals_catch(&h.awake);
		status = hand_out(&h, f);
		sigprocmask(SIG_SETMASK, &h.awake, NULL);
	} else {
		status = f->status;
	}
	sources_free(&h.sources);
	buffer_free(&h.out);
	free(h.ends);
	return status;
}
