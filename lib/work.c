/* SPDX-License-Identifier: ISC */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pool.h"
#include "store.h"

#define SECOND (1000 * MS)
#define FILES_A_PLACE 6
#define FILES_ELSE (2 * RELAY_LINGERING + 64)

/* What the loop itself knows. */
struct loop {
	struct pool pool;
	int signals;             /* signalfd */
	bool child_ended;
	unsigned stops;          /* signals to stop so far */
	bool look;               /* there may be something to take */
	bool in_line;            /* armed since it was last woken */
	int64_t look_at;         /* when there may be again */
	int64_t idle_since;      /* nothing was ready or running */
	struct pollfd *fds;
};

int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* Tells each place that nothing more is to be started. */
static void
stop_taking(struct pool *p)
{
	p->stopping = true;
	for (size_t i = 0; i < p->njobs; i++)
		job_release(p, &p->jobs[i]);
}

void
pool_stop(struct pool *p, const struct fault *f)
{
	if (p->fault.status == ST_OK)
		p->fault = *f;
	stop_taking(p);
}

/* --- beginning -------------------------------------------------------- */

static unsigned
cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return (unsigned)CPU_COUNT(&set);
	return (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
}

static int
signals_take_over(struct loop *l, struct fault *f)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction by_default = { .sa_handler = SIG_DFL };
	struct sigaction hangup;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGCHLD, &by_default, NULL);
	sigaction(SIGTERM, &by_default, NULL);
	sigaction(SIGINT, &by_default, NULL);
	l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return l->signals < 0 ? fault_errno(f, "signalfd") : 0;
}

static int
log_dir_open(struct pool *p, struct fault *f)
{
	const char *dir = p->work->log_dir;

	p->log_dir = -1;
	if (dir == NULL)
		return 0;
	if (mkdir(dir, 0777) < 0 && errno != EEXIST) {
		fault_errno(f, "%s", dir);
		f->status = f->status == ST_IO ? ST_CANTCREATE : f->status;
		return -1;
	}
	p->log_dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return p->log_dir < 0 ? fault_errno(f, "%s", dir) : 0;
}

/* A batch of singles holds a file open for each; a place needs some more. */
static void
files_allow(struct pool *p)
{
	size_t want = p->work->batch > 0 ? p->work->batch : 1, most;
	struct rlimit more;

	getrlimit(RLIMIT_NOFILE, &p->files);
	more = p->files;
	more.rlim_cur = p->njobs * (want + FILES_A_PLACE) + FILES_ELSE;
	if (more.rlim_cur > more.rlim_max)
		more.rlim_cur = more.rlim_max;
	if (more.rlim_cur > p->files.rlim_cur && setrlimit(RLIMIT_NOFILE, &more) == 0)
		p->files_raised = true;
	else
		more = p->files;
	most = more.rlim_cur > FILES_ELSE ? (more.rlim_cur - FILES_ELSE) / p->njobs : 0;
	most = most > FILES_A_PLACE ? most - FILES_A_PLACE : 1;
	p->sources.most_leases = most < want ? most : want;
}

static int
places_make(struct loop *l, struct fault *f)
{
	struct pool *p = &l->pool;

	p->njobs = p->work->jobs > 0 ? p->work->jobs : cores();
	p->jobs = calloc(p->njobs, sizeof *p->jobs);
	l->fds = calloc(p->njobs + RELAY_LINGERING + 3, sizeof *l->fds);
	if (p->jobs == NULL || l->fds == NULL || relay_init(&p->relay, p->work->err) < 0)
		return fault_set(f, ST_TRYAGAIN, "out of memory");
	if (guardian_init(&p->guardian, p->njobs, f) < 0)
		return -1;
	files_allow(p);
	for (size_t i = 0; i < p->njobs; i++) {
		p->jobs[i].group = &p->guardian.groups[i];
		p->jobs[i].err.fd = p->jobs[i].err.log = -1;
		p->jobs[i].extend_at = p->jobs[i].limit_at = NEVER;
	}
	return 0;
}

static int
begin(struct loop *l, struct store *store, char *const *operands, size_t n,
	const struct work *work, struct fault *f)
{
	struct pool *p = &l->pool;

	*l = (struct loop){ .signals = -1, .look = true, .idle_since = now_ns() };
	*p = (struct pool){ .work = work, .log_dir = -1, .guardian.alive = -1 };
	pace_init(&p->pace, work->rate, !work->no_brake, now_ns());
	if (sources_init(&p->sources, store, operands, n, f) < 0)
		return -1;
	p->sources.single = work->single;
	p->sources.complain = work->complain;
	if (command_init(&p->command, work->command, f) < 0 || log_dir_open(p, f) < 0)
		return -1;
	if (places_make(l, f) < 0)
		return -1;
	return signals_take_over(l, f);
}

/* --- taking and starting --------------------------------------------------------- */

static bool
counted_out(const struct pool *p)
{
	return p->work->count > 0 && p->taken >= p->work->count;
}

/* A place that has nothing to do, if the pool may take something for it. */
static struct job *
place_free(struct pool *p)
{
	if (p->stopping || counted_out(p))
		return NULL;
	for (size_t i = 0; i < p->njobs; i++)
		if (job_free(&p->jobs[i]))
			return &p->jobs[i];
	return NULL;
}

/* A place whose next half-batch waits for its turn. */
static struct job *
place_waiting(struct pool *p)
{
	for (size_t i = 0; i < p->njobs; i++)
		if (p->jobs[i].pid == 0 && p->jobs[i].ntodo > 0)
			return &p->jobs[i];
	return NULL;
}

static bool
may_start(struct pool *p)
{
	int64_t now;

	if (relay_full(&p->relay))
		return false;
	if (p->pace.rate <= 0 && p->pace.not_before == 0)
		return true;
	now = now_ns();
	return pace_next(&p->pace, now) <= now;
}

/* 1 the place has got something, 0 there is nothing. */
static int
place_fill(struct loop *l, struct job *j, struct fault *f)
{
	struct pool *p = &l->pool;
	struct take_spec spec = { .lease = p->work->lease, .want = 1 };
	struct batch b;
	int r;

	if (p->work->batch > 0)
		spec.want = p->work->batch;
	if (p->work->count > 0 && spec.want > p->work->count - p->taken)
		spec.want = (uint32_t)(p->work->count - p->taken);
	if ((r = sources_take(&p->sources, &spec, &b, f)) <= 0)
		return r;
	sources_leave(&p->sources);
	l->in_line = false;
	p->taken += b.count;
	l->idle_since = now_ns();
	return job_push(p, j, &b, f) < 0 ? -1 : 1;
}

/* Starts all that can be started now. */
static void
start_what_may(struct loop *l)
{
	struct pool *p = &l->pool;
	struct fault f;
	struct job *j;
	int r;

	while (!p->stopping && may_start(p)) {
		if ((j = place_waiting(p)) == NULL) {
			if (!l->look || (j = place_free(p)) == NULL)
				return;
			if ((r = place_fill(l, j, &f)) < 0)
				pool_stop(p, &f);
			if (r <= 0) {
				l->look = false;
				return;
			}
		}
		job_start(p, j);
	}
}

/* --- what ends, what is due ---------------------------------------------------------- */

static struct job *
job_of(struct pool *p, pid_t pid)
{
	for (size_t i = 0; i < p->njobs; i++)
		if (p->jobs[i].pid == pid)
			return &p->jobs[i];
	return NULL;
}

/* The group leaves the guardian's table before its number can be used again. */
static void
reap(struct loop *l)
{
	struct pool *p = &l->pool;
	siginfo_t info;
	struct job *j;
	int status;

	l->child_ended = false;
	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
			return;
		j = job_of(p, info.si_pid);
		if (j != NULL && j->timed_out)
			kill(-j->pid, SIGKILL);
		if (j != NULL)
			*j->group = 0;
		if (waitpid(info.si_pid, &status, 0) != info.si_pid)
			return;
		if (info.si_pid == p->guardian.pid)
			guardian_died(&p->guardian);
		if (j == NULL)
			continue;
		job_end(p, j, status);
		l->look = true;
		l->idle_since = now_ns();
	}
}

static void
guard_again(struct pool *p)
{
	struct fault f;

	if (p->running > 0 && p->guardian.pid == 0 && guardian_start(&p->guardian, &f) < 0)
		pool_stop(p, &f);
}

static void
told_to_stop(struct loop *l)
{
	struct pool *p = &l->pool;

	if (l->stops++ == 0) {
		stop_taking(p);
		return;
	}
	for (size_t i = 0; i < p->njobs; i++)
		if (p->jobs[i].pid != 0)
			job_kill(&p->jobs[i]);
}

static void
signals_read(struct loop *l)
{
	struct signalfd_siginfo info[8];
	ssize_t n;

	while ((n = read(l->signals, info, sizeof info)) > 0)
		for (size_t i = 0; i < (size_t)n / sizeof info[0]; i++)
			if (info[i].ssi_signo == SIGCHLD)
				l->child_ended = true;
			else
				told_to_stop(l);
}

/* Once more after that the watches are set anew: directories may have come. */
static void
look_again(struct loop *l)
{
	l->look = true;
	l->in_line = false;
}

static void
do_what_is_due(struct loop *l)
{
	struct pool *p = &l->pool;
	int64_t now = now_ns();

	if (!l->look && now >= l->look_at)
		look_again(l);
	for (size_t i = 0; i < p->njobs; i++) {
		struct job *j = &p->jobs[i];

		if (j->pid != 0 && now >= j->limit_at)
			job_limit(j);
		if (now >= j->extend_at)
			job_extend(p, j);
	}
}

/* --- sleeping ---------------------------------------------------------------------- */

static void
sooner(int64_t *when, int64_t other)
{
	if (*when > other)
		*when = other;
}

/* Could the pool start something now if only there were something? */
static bool
hungry(struct pool *p)
{
	return place_free(p) != NULL && may_start(p);
}

static int64_t
idle_end(const struct loop *l)
{
	int64_t wait = l->pool.work->wait;

	if (l->pool.running > 0 || wait == WAIT_FOREVER)
		return NEVER;
	return l->idle_since + wait * MS;
}

/* When the loop has to go round again without any event. */
static int64_t
wake_at(struct loop *l)
{
	struct pool *p = &l->pool;
	int64_t when = NEVER;

	for (size_t i = 0; i < p->njobs; i++) {
		sooner(&when, p->jobs[i].extend_at);
		if (p->jobs[i].pid != 0)
			sooner(&when, p->jobs[i].limit_at);
	}
	if (p->stopping || relay_full(&p->relay))
		return when;
	if (place_waiting(p) != NULL || (l->look && place_free(p) != NULL))
		sooner(&when, pace_next(&p->pace, now_ns()));
	else if (place_free(p) != NULL) {
		sooner(&when, l->look_at);
		sooner(&when, idle_end(l));
	}
	return when;
}

static size_t
poll_streams(struct loop *l, size_t n)
{
	struct pool *p = &l->pool;

	for (size_t i = 0; i < p->njobs && !relay_full(&p->relay); i++)
		if (p->jobs[i].err.fd >= 0)
			l->fds[n++] = (struct pollfd){
				.fd = p->jobs[i].err.fd, .events = POLLIN };
	return n;
}

static void
streams_read(struct pool *p, const struct pollfd *fds, size_t n)
{
	size_t i = 0;

	for (size_t k = 0; k < n; k++) {
		while (p->jobs[i].err.fd != fds[k].fd)
			i++;
		if (fds[k].revents != 0)
			stream_read(&p->relay, &p->jobs[i].err);
	}
}

static void
nap(struct pollfd *fds, size_t n, int64_t when)
{
	struct timespec ts = { 0 }, *timeout = &ts;
	int64_t ns;

	if (when == NEVER)
		timeout = NULL;
	else if ((ns = when - now_ns()) > 0)
		ts = (struct timespec){ ns / SECOND, ns % SECOND };
	if (ppoll(fds, n, timeout, NULL) < 0)
		for (size_t i = 0; i < n; i++)
			fds[i].revents = 0;
}

/* Sleeps until something happens, and does what is to be done about it; what
 * commands wrote comes before their end. */
static void
sleep_and_see(struct loop *l)
{
	struct pool *p = &l->pool;
	size_t streams = 2, relayed, end;

	l->fds[0] = (struct pollfd){ .fd = l->signals, .events = POLLIN };
	l->fds[1] = (struct pollfd){ .fd = sources_fd(&p->sources), .events = POLLIN };
	relayed = poll_streams(l, streams);
	end = relayed + relay_poll(&p->relay, l->fds + relayed);
	nap(l->fds, end, wake_at(l));
	streams_read(p, l->fds + streams, relayed - streams);
	if (l->fds[0].revents != 0)
		signals_read(l);
	if (l->child_ended)
		reap(l);
	guard_again(p);
	if (l->fds[1].revents != 0 && sources_woken(&p->sources))
		look_again(l);
	do_what_is_due(l);
	relay_polled(&p->relay, l->fds + relayed, end - relayed);
}

/* --- the loop ------------------------------------------------------------------------ */

static bool
finished(struct loop *l)
{
	struct pool *p = &l->pool;

	if (p->running > 0 || place_waiting(p) != NULL)
		return false;
	if (p->stopping || counted_out(p))
		return true;
	return !l->look && now_ns() >= idle_end(l);
}

/* Nothing is ready: stands in line for more, where the pool may wait. Returns
 * true if it has to look once more before it sleeps. */
static bool
stand_in_line(struct loop *l)
{
	struct pool *p = &l->pool;
	struct fault f;

	if (l->look || !hungry(p)) {
		sources_leave(&p->sources);
		l->in_line = false;
		return false;
	}
	if (p->running == 0)
		sources_tidy(&p->sources);
	if (p->work->wait != WAIT_NOT && !l->in_line) {
		l->in_line = true;
		if (sources_arm(&p->sources, &f) < 0)
			pool_stop(p, &f);
		l->look = true;
		return true;
	}
	l->look_at = now_ns() + sources_timeout(&p->sources) * MS;
	return false;
}

static void
run(struct loop *l)
{
	for (;;) {
		start_what_may(l);
		if (finished(l))
			return;
		if (!stand_in_line(l))
			sleep_and_see(l);
	}
}

/* What commands have said still goes out, unless one more signal comes. */
static void
last_words(struct loop *l)
{
	struct pool *p = &l->pool;
	unsigned stops = l->stops;
	struct pollfd fds[2] = {
		{ .fd = l->signals, .events = POLLIN },
		{ .fd = p->relay.err, .events = POLLOUT },
	};

	relay_flush(&p->relay);
	while (p->relay.out.len > 0 && stops < 2 && l->stops == stops) {
		poll(fds, 2, -1);
		signals_read(l);
		relay_flush(&p->relay);
	}
}

static void
end(struct loop *l)
{
	struct pool *p = &l->pool;

	if (p->relay.chunk != NULL)
		last_words(l);
	sources_free(&p->sources);
	guardian_end(&p->guardian);
	relay_free(&p->relay);
	command_free(&p->command);
	buffer_free(&p->line);
	for (size_t i = 0; p->jobs != NULL && i < p->njobs; i++)
		free(p->jobs[i].todo);
	free(p->jobs);
	free(l->fds);
	if (p->log_dir >= 0)
		close(p->log_dir);
	if (l->signals >= 0)
		close(l->signals);
}

int
work_run(struct store *store, char *const *operands, size_t n, const struct work *work,
	struct fault *f)
{
	struct loop l;
	struct pool *p = &l.pool;
	int status;

	if (begin(&l, store, operands, n, work, f) < 0) {
		end(&l);
		return f->status;
	}
	run(&l);
	*f = p->fault;
	status = f->status;
	if (status == ST_OK && (p->sources.missing || (work->strict && p->unacked)))
		status = ST_NOTHING;
	end(&l);
	return status;
}
