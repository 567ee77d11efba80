/* SPDX-License-Identifier: ISC
 *
 * prometheus: figures in its text format, as node_exporter's textfile collector
 * reads it: names mq_..., base units, counters that only grow (they begin anew with
 * the meter), each queue a label. */
#ifndef MQ_PROMETHEUS_H
#define MQ_PROMETHEUS_H

#include "buffer.h"
#include "figures.h"

/* Appends all of it. -1 with errno ENOMEM. */
int prometheus_print(const struct figures *, size_t n, struct buffer *);

#endif
