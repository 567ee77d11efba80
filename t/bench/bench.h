/* SPDX-License-Identifier: ISC
 *
 * bench: clocks, medians and children, for the programs of the benchmark. Each
 * of these ends the program with a message where it fails. */
#ifndef MQ_BENCH_H
#define MQ_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

double now_us(void);                     /* of a clock that never jumps */
int64_t wall_ns(void);                   /* CLOCK_REALTIME */

/* p of 0 .. 1; sorts v. */
double quantile(double *v, size_t n, double p);

void *need(void *);                      /* not NULL: there is memory */
long number(const char *text, long least);

/* Starts argv with these as its standard input, output (-1: /dev/null). */
pid_t start(char *const *argv, int in, int out);
/* Until the process sleeps and goes on sleeping: it waits for something. */
void await_sleep(pid_t);

struct usage {
	double cpu_us;
	long switches;                   /* times it went to sleep */
};
struct usage usage_of(pid_t);            /* of one that runs */
struct usage usage_end(pid_t);           /* waits for its end */

#endif
