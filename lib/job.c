/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "diary.h"
#include "judge.h"
#include "pool.h"

#define KILL_AFTER (2000 * MS)           /* SIGTERM, then SIGKILL */
#define LONGEST_HALF (3600 * 1000LL)     /* ms between two extensions */
#define UNSTARTED_PAUSE (1000 * MS)      /* no process to be had */

bool
job_free(const struct job *j)
{
	return j->pid == 0 && j->ntodo == 0;
}

static void
report(struct pool *p, const struct job *j, const struct lease *lease,
	const char *outcome, const char *key, const char *reason)
{
	struct delivery d = {
		.queue = lease_queue_name(lease), .outcome = outcome,
		.tries = lease_tries(lease), .reason = reason, .key = key,
		.took = j->started ? now_ns() - j->started : 0,
	};

	for (uint32_t k = 0; k < lease_count(lease); k++) {
		d.id = lease_id(lease, k);
		if (p->work->verbose && diary_line(&p->line, &d, now_ms()) == 0)
			relay_say(&p->relay, p->line.data);
		if (p->work->syslog)
			(void)diary_syslog(&p->line, &d);
	}
}

/* Of its file, while that can be had; a copy, NULL for none. */
static char *
key_of(const struct pool *p, struct lease *lease)
{
	struct message *m;
	struct fault f;

	if (!p->work->verbose && !p->work->syslog)
		return NULL;
	m = lease_message(lease, &f);
	return m != NULL && message_head(m)->key != NULL ? strdup(message_head(m)->key) : NULL;
}

/* --- settling ---------------------------------------------------------------- */

static const char *
settle_as(struct lease *lease, const struct judgement *g, int *r, struct fault *f)
{
	switch (g->verdict) {
	case VERDICT_ACK:
		*r = lease_ack(lease, f);
		return "acked";
	case VERDICT_BURY:
		*r = lease_bury(lease, &g->why, f);
		return "buried";
	case VERDICT_RETRY:
		*r = lease_retry(lease, g->delay, &g->why, f);
		return *r == RETRY_BURIED ? "buried" : "retry";
	default:
		*r = lease_giveback(lease, f);
		return "returned";
	}
}

/* What COMMAND settled itself through its receipt, or what ran out. */
static const char *
settled_or_lost(struct pool *p, int64_t until)
{
	if (now_ms() < until)
		return "settled";
	p->unacked = true;
	return "lost";
}

static void
settle_lease(struct pool *p, struct job *j, struct lease *lease,
	const struct judgement *g)
{
	int64_t until = lease_until(lease);
	struct fault f;
	const char *outcome;
	char *key = key_of(p, lease);
	int r;

	outcome = settle_as(lease, g, &r, &f);
	if (r == 0)
		outcome = settled_or_lost(p, until);
	else if (r < 0 || g->verdict != VERDICT_ACK)
		p->unacked = true;
	if (r < 0) {
		p->work->complain(&f);
		outcome = "failed";
	}
	report(p, j, lease, outcome, key, g->verdict == VERDICT_ACK ? NULL : g->why.reason);
	free(key);
}

static void
settle(struct pool *p, struct job *j, struct batch *b, const struct judgement *g)
{
	for (size_t i = 0; i < b->nleases; i++)
		settle_lease(p, j, b->leases[i], g);
	batch_free(b);
}

static void
give_back(struct pool *p, struct job *j, struct batch *b)
{
	struct judgement g;

	judge_plain(&g, VERDICT_STOP, NULL);
	settle(p, j, b, &g);
}

void
job_release(struct pool *p, struct job *j)
{
	while (j->ntodo > 0)
		give_back(p, j, &j->todo[--j->ntodo]);
}

/* --- leases --------------------------------------------------------------------- */

static void
extend_by(struct job *j, const struct batch *b, int64_t now)
{
	int64_t wall = now_ms(), half;

	for (size_t i = 0; i < b->nleases; i++) {
		half = (lease_until(b->leases[i]) - wall) / 2;
		if (half < 1)
			half = 1;
		if (half > LONGEST_HALF)
			half = LONGEST_HALF;
		if (j->extend_at > now + half * MS)
			j->extend_at = now + half * MS;
	}
}

int
job_push(struct pool *p, struct job *j, struct batch *b, struct fault *f)
{
	struct batch *todo;

	if (j->ntodo == j->room) {
		todo = reallocarray(j->todo, j->room + 4, sizeof *todo);
		if (todo == NULL) {
			give_back(p, j, b);
			return fault_set(f, ST_TRYAGAIN, "out of memory");
		}
		j->todo = todo;
		j->room += 4;
	}
	extend_by(j, b, now_ns());
	j->todo[j->ntodo++] = *b;
	return 0;
}

static int64_t
lease_length(const struct pool *p, const struct lease *lease, struct fault *f)
{
	const struct conf *conf;

	if (p->work->lease > 0)
		return p->work->lease;
	conf = queue_conf(lease_queue(lease), f);
	return conf ? conf->lease : -1;
}

static void
extend_batch(struct pool *p, struct job *j, struct batch *b)
{
	struct fault f;
	int64_t length, until;
	int r;

	for (size_t i = 0; i < b->nleases;) {
		until = lease_until(b->leases[i]);
		r = length = lease_length(p, b->leases[i], &f);
		if (length > 0)
			r = lease_extend(b->leases[i], length, &f);
		if (r < 0)
			p->work->complain(&f);
		if (r != 0) {
			i++;
			continue;
		}
		report(p, j, b->leases[i], settled_or_lost(p, until), NULL, NULL);
		batch_drop(b, i);
	}
}

void
job_extend(struct pool *p, struct job *j)
{
	int64_t now = now_ns();

	extend_batch(p, j, &j->now);
	for (size_t i = 0; i < j->ntodo; i++)
		extend_batch(p, j, &j->todo[i]);
	j->extend_at = NEVER;
	extend_by(j, &j->now, now);
	for (size_t i = 0; i < j->ntodo; i++)
		extend_by(j, &j->todo[i], now);
}

/* --- starting -------------------------------------------------------------------- */

static int
split_off(struct pool *p, struct job *j, uint32_t at, struct fault *f)
{
	struct batch rest;

	if (at >= j->now.count)
		return 0;
	if (batch_split(&j->now, at, &rest, f) < 0)
		return -1;
	if (rest.count > 0)
		return job_push(p, j, &rest, f);
	batch_free(&rest);
	return 0;
}

/* Standard input of a batch; as many messages stay in it as go together. */
static int
input_lines(struct pool *p, struct job *j, struct fault *f)
{
	uint32_t n;
	int fd = batch_lines(&j->now, p->work->end, &n, f);

	if (fd < -1)
		return -1;
	j->alone = j->now.count == 1 || n <= 1;
	if (split_off(p, j, n > 0 ? n : 1, f) < 0) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (fd < 0 && j->now.count > 0)
		fd = lease_stdin(j->now.leases[0], 0, f);
	return fd;
}

/* {}: the body becomes an argument. -1 with status 0: it has been buried. */
static int
input_argument(struct pool *p, struct job *j, struct fault *f)
{
	struct lease *lease = j->now.leases[0];
	struct message *message = lease_message(lease, f);
	struct judgement g;
	const char *body, *why;
	size_t len;
	int r;

	if (message == NULL || message_body(message, lease_first(lease), &body, &len, f) < 0)
		return -1;
	if ((r = command_body(&p->command, body, len, &why, f)) < 0)
		return -1;
	if (r == 0) {
		judge_plain(&g, VERDICT_BURY, why);
		settle(p, j, &j->now, &g);
		return fault_set(f, ST_OK, "%s", "");
	}
	r = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return r < 0 ? fault_errno(f, "/dev/null") : r;
}

static int
input_open(struct pool *p, struct job *j, struct fault *f)
{
	j->alone = true;
	if (p->command.wants_body)
		return input_argument(p, j, f);
	if (p->work->batch > 0)
		return input_lines(p, j, f);
	return lease_stdin(j->now.leases[0], 0, f);
}

/* *fd: -1 where no log is wanted. */
static int
log_open(struct pool *p, struct job *j, int *fd, struct fault *f)
{
	const struct lease *lease = j->now.leases[0];
	char id[ID_LEN + 1], name[ID_LEN + 32];

	*fd = -1;
	if (p->log_dir < 0)
		return 0;
	id_print(lease_id(lease, 0), id);
	snprintf(name, sizeof name, "%s.%u.log", id, lease_tries(lease));
	*fd = openat(p->log_dir, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (*fd >= 0)
		return 0;
	fault_errno(f, "%s/%s", p->work->log_dir, name);
	f->status = f->status == ST_IO ? ST_CANTCREATE : f->status;
	return -1;
}

/* COMMAND could not be executed, or there was no process to be had. */
static void
unstarted(struct pool *p, struct job *j, int error)
{
	struct judgement g;
	struct fault f;

	if (error == EAGAIN || error == ENOMEM || error == ENFILE || error == EMFILE) {
		errno = error;
		fault_errno(&f, "%s: cannot be started now", p->work->command[0]);
		p->work->complain(&f);
		pace_pause(&p->pace, now_ns() + UNSTARTED_PAUSE);
		give_back(p, j, &j->now);
		return;
	}
	judge_unstarted(&g, &p->work->exits, p->work->command[0], error);
	if (error == E2BIG && j->alone)
		g.verdict = VERDICT_BURY;
	if (g.verdict == VERDICT_STOP) {
		fault_set(&f, ST_UNAVAILABLE, "%s", g.reason);
		pool_stop(p, &f);
	}
	settle(p, j, &j->now, &g);
}

/* in, out, err: its descriptors, which belong to the caller. */
static int
spawn(struct pool *p, struct job *j, int in, int out, int err, struct fault *f)
{
	struct child child = {
		.path = p->command.path, .argv = p->command.argv,
		.in = in, .out = out, .err = err, .group = j->group,
		.files = p->files_raised ? &p->files : NULL,
	};
	int64_t now;
	pid_t pid;

	if (guardian_start(&p->guardian, f) < 0 ||
		command_environment(&p->command, p->sources.store, j->now.leases[0], 0,
			j->alone, f) < 0)
		return -1;
	child.env = p->command.env;
	now = now_ns();
	if ((pid = child_start(&child)) < 0) {
		unstarted(p, j, errno);
		return fault_set(f, ST_OK, "%s", "");
	}
	j->pid = pid;
	j->started = now;
	j->limit_at = p->work->run_limit > 0 ? now + p->work->run_limit * MS : NEVER;
	j->timed_out = j->killed = false;
	p->running++;
	pace_started(&p->pace, now);
	return 0;
}

static int
launch(struct pool *p, struct job *j, struct fault *f)
{
	int in, log, err, r;

	if ((in = input_open(p, j, f)) < 0)
		return -1;
	if (log_open(p, j, &log, f) < 0) {
		close(in);
		return -1;
	}
	if (stream_open(&j->err, log, &err) < 0) {
		close(in);
		return fault_errno(f, "cannot make a pipe");
	}
	r = spawn(p, j, in, log, err, f);
	close(in);
	close(err);
	if (r < 0)
		stream_end(&p->relay, &j->err);
	return r;
}

void
job_start(struct pool *p, struct job *j)
{
	struct fault f;

	j->started = 0;
	j->now = j->todo[--j->ntodo];
	if (j->now.count == 0) {
		batch_free(&j->now);
		return;
	}
	if (launch(p, j, &f) == 0)
		return;
	if (f.status == ST_OK)
		return;
	give_back(p, j, &j->now);
	if (f.status != ST_NOTHING)
		pool_stop(p, &f);
}

/* --- ending ----------------------------------------------------------------------- */

/* A batch failed: its halves are next, the first one first. */
static void
halve(struct pool *p, struct job *j)
{
	struct fault f;

	if (split_off(p, j, j->now.count / 2, &f) < 0 || job_push(p, j, &j->now, &f) < 0)
		pool_stop(p, &f);
	else
		j->now = (struct batch){ 0 };
	give_back(p, j, &j->now);
}

static void
stop_for_command(struct pool *p, const struct judgement *g)
{
	struct fault f;

	fault_set(&f, ST_UNAVAILABLE, "%s: %s", p->work->command[0], g->reason);
	pool_stop(p, &f);
}

static void
brake(struct pool *p, const struct job *j, const struct judgement *g)
{
	struct fault f;

	if (g->verdict == VERDICT_ACK)
		pace_success(&p->pace);
	if (g->verdict != VERDICT_RETRY || j->now.count != 1)
		return;
	if (!pace_failure(&p->pace, lease_id(j->now.leases[0], 0), now_ns()))
		return;
	fault_set(&f, ST_TRYAGAIN, "%d failures in a row: pausing until one succeeds; "
		"the last: %s", BRAKE_FAILURES, g->reason);
	p->work->complain(&f);
}

static void
judge_job(struct pool *p, struct job *j, int status, struct judgement *g)
{
	if (j->killed)
		judge_plain(g, VERDICT_STOP, NULL);
	else if (j->timed_out)
		judge_limit(g, p->work->run_limit, &j->err);
	else
		judge_end(g, &p->work->exits, status, &j->err);
}

void
job_end(struct pool *p, struct job *j, int status)
{
	struct judgement g;

	j->pid = 0;
	p->running--;
	stream_end(&p->relay, &j->err);
	judge_job(p, j, status, &g);
	brake(p, j, &g);
	if (g.verdict == VERDICT_STOP && !j->killed)
		stop_for_command(p, &g);
	if ((g.verdict == VERDICT_RETRY || g.verdict == VERDICT_BURY) && j->now.count > 1)
		halve(p, j);
	else
		settle(p, j, &j->now, &g);
	if (p->stopping)
		job_release(p, j);
	if (job_free(j))
		j->extend_at = NEVER;
}

void
job_limit(struct job *j)
{
	if (j->timed_out) {
		kill(-j->pid, SIGKILL);
		kill(j->pid, SIGKILL);
		j->limit_at = NEVER;
		return;
	}
	j->timed_out = true;
	kill(-j->pid, SIGTERM);
	kill(-j->pid, SIGCONT);
	j->limit_at = now_ns() + KILL_AFTER;
}

void
job_kill(struct job *j)
{
	j->killed = true;
	kill(-j->pid, SIGKILL);
	kill(j->pid, SIGKILL);
}
