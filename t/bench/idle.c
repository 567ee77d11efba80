/* SPDX-License-Identifier: ISC
 *
 * idle WAITERS SECONDS MESSAGES: what consumers cost that wait. Starts WAITERS
 * `mq-take -w --ack`, lets them wait SECONDS, then puts MESSAGES, one after
 * another, each of which ends one of them. Prints
 *
 *	IDLE_CPU_US TAKE_CPU_US SWITCHES OTHERS
 *
 * the CPU of all in SECONDS; that of the whole life after, and the wake-ups of all,
 * a message; and the most wake-ups in all of them that got none, a message. The
 * spool is $MQ_SPOOL. */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "store.h"

static char *taker[] = { "mq-take", "-w", "--ack", "idle", NULL };

struct one {
	pid_t pid;
	struct usage before, after;
	bool done;
};

static struct fault fault;

static void
put(struct queue *q)
{
	struct put_spec spec = { .priority = PRIORITY_DEFAULT, .head.version = -1,
		.nosync = true };
	struct put *p = put_begin(q, &spec, &fault);
	struct put_done done;

	if (p == NULL || put_add(p, "x", 1, &fault) < 0 || put_commit(p, &done, &fault) < 0)
		errx(1, "%s", fault.text);
	put_end(p);
}

/* Waits for the one that ended, and for what it woke to come to rest. */
static void
collect(struct one *all, long n)
{
	siginfo_t info;

	if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) < 0)
		err(1, "wait");
	for (long i = 0; i < n; i++)
		if (all[i].pid == info.si_pid) {
			all[i].after = usage_end(all[i].pid);
			all[i].done = true;
		}
	usleep(20000);
}

static double
idle(struct one *all, long n, long seconds)
{
	double cpu = 0;

	for (long i = 0; i < n; i++)
		all[i].before = usage_of(all[i].pid);
	sleep((unsigned)seconds);
	for (long i = 0; i < n; i++) {
		struct usage u = usage_of(all[i].pid);

		cpu += u.cpu_us - all[i].before.cpu_us;
		all[i].before = u;
	}
	return cpu;
}

static void
stop(struct one *all, long n)
{
	for (long i = 0; i < n; i++)
		if (!all[i].done)
			kill(all[i].pid, SIGKILL);
	while (wait(NULL) > 0)
		continue;
}

int
main(int argc, char **argv)
{
	struct store *s = store_open(NULL, true, &fault);
	double cpu = 0, quiet;
	long n, messages, switches = 0, others = 0;
	struct queue *q;
	struct one *all;

	if (argc != 4 || s == NULL)
		errx(64, "usage: idle WAITERS SECONDS MESSAGES");
	n = number(argv[1], 2);
	messages = number(argv[3], 1);
	if (messages >= n)
		errx(64, "more messages than waiters");
	q = queue_open(s, "idle", QUEUE_MAKE, &fault);
	if (q == NULL)
		errx(1, "%s", fault.text);
	all = need(calloc((size_t)n, sizeof *all));
	for (long i = 0; i < n; i++)
		all[i].pid = start(taker, -1, -1);
	for (long i = 0; i < n; i++)
		await_sleep(all[i].pid);
	quiet = idle(all, n, number(argv[2], 1));
	for (long k = 0; k < messages; k++) {
		put(q);
		collect(all, n);
	}
	for (long i = 0; i < n; i++) {
		struct usage u = all[i].done ? all[i].after : usage_of(all[i].pid);
		long woken = u.switches - all[i].before.switches;

		cpu += u.cpu_us - all[i].before.cpu_us;
		switches += woken;
		if (!all[i].done)
			others += woken;
	}
	stop(all, n);
	printf("%.0f %.0f %.2f %.2f\n", quiet, cpu / (double)messages,
		(double)switches / (double)messages, (double)others / (double)messages);
	return 0;
}
