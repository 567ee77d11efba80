/* SPDX-License-Identifier: ISC
 *
 * subs: the subscriptions of a topic, as a publish needs them: all of them in
 * one read, compiled once.
 *
 * What a subscription wants stands in sub/SUB/match, lines of
 *
 *	ephemeral             (only where so; its process holds sub/SUB/tail locked)
 *	pattern PATTERN
 *	filter FILTER         (each an alternative)
 *
 * and the settings in sub/SUB/conf. The topic's file `index` is a cache of all
 * that:
 *
 *	mqindex1 NUMBER SEC NSEC INO SIZE        of the spool's .conf, 0s if none
 *	sub NAME TTL LIMITED MODE EPHEMERAL      ttl in ms; 1 or 0; octal; 1 or 0
 *	pattern ... / filter ...                 of that sub
 *	end
 *
 * It is true only while NUMBER is the one in the topic's meter and the spool's
 * .conf is that one; else it is made anew from sub/. All under the topic's
 * lock; whoever changes a subscription first counts the number up
 * (subs_change), then writes the index. */
#ifndef MQ_SUBS_H
#define MQ_SUBS_H

#include "match.h"
#include "queue.h"

struct sub {
	char name[QUEUE_NAME_SIZE];      /* SUB alone */
	char *pattern;                   /* NULL: any route */
	char **filters;
	size_t nfilters;
	bool ephemeral;
	bool limited;                    /* limit or limit_bytes is set */
	mode_t mode;
	int64_t ttl;
	struct match *match;             /* NULL: wants everything */
	struct queue *q;                 /* opened where it is needed */
};

struct subs {
	struct sub *v;                   /* sorted by name */
	size_t n, room;
	uint64_t number;
	struct conf_seen conf;           /* the spool's .conf */
};

/* Under the topic's lock. They belong to the topic, until the next call. -1 */
int subs_load(struct queue *topic, struct subs **out, struct fault *);
/* What sub/ itself says, whatever the index does; the caller's to free. -1 */
int subs_read(struct queue *topic, struct subs **out, struct fault *);
/* Under the lock, before a subscription is made, changed or removed: the index
 * is not true from here on. Then, after it: reads that one again, and writes the
 * index. Between, nobody loads. */
int subs_change(struct queue *topic, struct fault *);
int subs_changed(struct queue *topic, const char *sub, struct fault *);
/* Are they the same? For --verify. */
bool subs_equal(const struct subs *, const struct subs *);
/* What the index says; 0 if it is not there or not true now. Under the lock. */
int subs_indexed(struct queue *topic, struct subs **out);
void subs_free(struct subs *);

/* Opens it as a queue (again, if its settings changed); belongs to it. NULL */
struct queue *sub_open(struct queue *topic, struct sub *, struct fault *);
bool sub_same(const struct sub *, const struct subscription *);
/* Is its process still there? (Of an ephemeral one.) */
bool sub_alive(struct queue *topic, const struct sub *);

/* Writes what it wants into its directory, flushed. -1 with errno */
int sub_write(int dir, const struct subscription *, mode_t mode);

#endif
