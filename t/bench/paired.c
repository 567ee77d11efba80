/* SPDX-License-Identifier: ISC
 *
 * paired [-n ROUNDS] [-t SECONDS] [MARK] COMMAND [ARG ...] [MARK COMMAND ...] ...
 *
 * Runs the commands in turn, round after round, so that what else happens on
 * the machine meets all of them alike; ends after ROUNDS, or when SECONDS are
 * over (after one round at least). MARK is `:::`, or `::-` before a command that
 * only prepares and is not timed. An argument <FILE or >FILE is where its
 * input or output goes; without, /dev/null. Standard error is passed through.
 * Prints a line for each timed command:
 *
 *	WALL_US CPU_US PEAK_KB RATIO CPU_RATIO ROUNDS
 *
 * medians, the peak memory of all rounds, and the ratios of the medians to those
 * of the first one. A command that fails ends it all with 1. */
#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define COMMANDS 32

struct command {
	char **argv;
	const char *in, *out;
	bool timed;
	double *wall, *cpu;
	long peak;
};

static struct command commands[COMMANDS];
static size_t ncommands;

static bool
mark(const char *s)
{
	return strcmp(s, ":::") == 0 || strcmp(s, "::-") == 0;
}

/* Takes the redirections out of argv. */
static void
redirect(struct command *c)
{
	char **to = c->argv;

	for (char **from = c->argv; *from != NULL; from++)
		if (**from == '<')
			c->in = *from + 1;
		else if (**from == '>')
			c->out = *from + 1;
		else
			*to++ = *from;
	*to = NULL;
}

static void
parse(char **args, size_t rounds)
{
	bool timed = true;

	while (*args != NULL) {
		struct command *c = &commands[ncommands];

		if (mark(*args)) {
			timed = (*args++)[2] == ':';
			continue;
		}
		if (ncommands++ == COMMANDS)
			errx(64, "too many commands");
		*c = (struct command) { .argv = args, .timed = timed,
			.wall = need(calloc(rounds, sizeof *c->wall)),
			.cpu = need(calloc(rounds, sizeof *c->cpu)) };
		while (*args != NULL && !mark(*args))
			args++;
		if (*args != NULL) {
			timed = (*args)[2] == ':';
			*args++ = NULL;
		}
		redirect(c);
		if (c->argv[0] == NULL)
			errx(64, "a command is empty");
	}
	if (ncommands == 0)
		errx(64, "no command");
}

static int
open_for(const char *path, int flags)
{
	int fd = path == NULL ? -1 : open(path, flags | O_CLOEXEC, 0666);

	if (path != NULL && fd < 0)
		err(1, "%s", path);
	return fd;
}

static void
run(struct command *c, size_t round)
{
	int in = open_for(c->in, O_RDONLY), status;
	int out = open_for(c->out, O_WRONLY | O_CREAT | O_TRUNC);
	double begin = now_us();
	pid_t pid = start(c->argv, in, out);
	struct rusage r;

	if (wait4(pid, &status, 0, &r) < 0)
		err(1, "wait");
	c->wall[round] = now_us() - begin;
	if (status != 0)
		errx(1, "%s: failed with status %#x", c->argv[0], (unsigned)status);
	c->cpu[round] = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e6 +
		(double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
	if (r.ru_maxrss > c->peak)
		c->peak = r.ru_maxrss;
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
}

static void
report(size_t rounds)
{
	double wall, cpu, first = 0, first_cpu = 0;

	for (size_t i = 0; i < ncommands; i++) {
		struct command *c = &commands[i];

		if (!c->timed)
			continue;
		wall = quantile(c->wall, rounds, 0.5);
		cpu = quantile(c->cpu, rounds, 0.5);
		if (first == 0) {
			first = wall;
			first_cpu = cpu;
		}
		printf("%.1f %.1f %ld %.3f %.3f %zu\n", wall, cpu, c->peak, wall / first,
			first_cpu > 0 ? cpu / first_cpu : 0, rounds);
	}
}

int
main(int argc, char **argv)
{
	size_t rounds = 1, done = 0;
	double end = 0;
	int c;

	while ((c = getopt(argc, argv, "+n:t:")) != -1)
		if (c == 'n')
			rounds = (size_t)number(optarg, 1);
		else if (c == 't')
			end = now_us() + 1e6 * (double)number(optarg, 1);
		else
			return 64;
	parse(argv + optind, rounds);
	do {
		for (size_t i = 0; i < ncommands; i++)
			run(&commands[i], done);
	} while (++done < rounds && (end == 0 || now_us() < end));
	report(done);
	return 0;
}
