/* SPDX-License-Identifier: ISC
 *
 * queue: an open queue directory, and what the layers of the spool share:
 * its descriptors, lock, meter and configuration, and the one-step move.
 * Nothing above store.h includes this. */
#ifndef MQ_QUEUE_H
#define MQ_QUEUE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "meter.h"
#include "place.h"
#include "store.h"

#define DIR_CACHE 12

struct dir_cached {
	char path[PLACE_DIR_SIZE];
	int fd;                          /* -1: free */
	uint64_t used;
};

struct conf_seen {                       /* which file was read */
	bool there;
	struct timespec mtime;
	uint64_t ino;
	int64_t size;
};

struct ready_list {                      /* candidates of the last scan */
	uint64_t *order;                 /* heap, the lowest first */
	char (*names)[NAME_SIZE];
	size_t n, room;
	int priority;
	uint64_t segment;
	bool valid;
	uint64_t seen_back[PRIORITIES];
	uint64_t seen_fan[PRIORITIES];   /* of its topic */
	uint64_t seen_hint[PRIORITIES];
};

struct store {
	char *path;
	int fd;                          /* -1: the spool does not exist */
	bool checked;                    /* the file system was looked at */
};

/* Is that a queue, or cannot it be told (its tools say why)? */
bool store_has(struct store *, const char *name);

#define QUEUE_PATH_SIZE (QUEUE_NAME_SIZE + 16)

struct queue {
	struct store *store;
	char name[QUEUE_NAME_SIZE];
	char path[QUEUE_PATH_SIZE];      /* below the spool: TOPIC/sub/SUB */
	struct queue *topic;             /* of a subscription */
	bool own_topic;                  /* closes the topic with it */
	struct subs *subs;               /* of a topic, as read last; subs.h */
	int tail_fd;                     /* -1; of an ephemeral one, its life */
	bool stuck;                      /* met a message whose fan-out goes on */
	int fd;
	int lock_fd;                     /* -1: not opened yet */
	int single_fd;                   /* -1, or the lock of queue_single() */
	int locked;                      /* depth */
	sigset_t old_mask;
	struct meter *meter;
	uint64_t meter_id;
	bool used;                       /* one operation has begun already */
	struct conf conf;
	bool conf_read;
	struct conf_seen seen[2];        /* the spool's, the queue's */
	struct dir_cached dirs[DIR_CACHE];
	uint64_t clock;
	struct ready_list ready;
	bool attaches;                   /* it has attachments, or had */
	int refs;                        /* leases hold one each */
	bool own_store;                  /* closes the store with it */
};

struct queue *queue_ref(struct queue *);
/* Where the queue of that name lies below the spool. */
void queue_path(const char *name, char out[static QUEUE_PATH_SIZE]);
/* A queue object for that name whose directory is not open yet; NULL */
struct queue *queue_new(struct store *, const char *name, struct fault *);
/* Opens a subscription of a topic that is open, and outlives it. */
struct queue *queue_open_sub(struct queue *topic, const char *sub, struct fault *);
/* The meter that gives out the queue's SEQ: a subscription's are its topic's. */
struct meter *queue_counter(const struct queue *);
bool conf_same(const struct conf_seen *, const struct conf_seen *);

/* The descriptor of a directory below the queue, from a small cache. `make`:
 * makes it if it is not there. -1 with errno. Do not close it. */
int queue_dir(struct queue *, const char *path, bool make);
void queue_dir_forget(struct queue *, const char *path);
/* Makes `spare' if it is missing: an empty directory that becomes one of cur/
 * when the disk is too full to make one. */
void queue_spare(struct queue *);
/* Is it in the cache? Then it may be one that was removed meanwhile. */
bool queue_dir_open(struct queue *, const char *path);
int place_open(struct queue *, const struct place *, int flags);

/* The one step: rename with NOREPLACE, making the target's directory where it
 * is gone. 1: this caller did it; 0: the source is not there any more (or the
 * target is there already); -1. */
int queue_move(struct queue *, const struct place *from, const struct place *to,
	struct fault *);
/* 1 unlinked, 0 was gone, -1. */
int queue_unlink(struct queue *, const struct place *, struct fault *);
/* 1 there, 0 not there, -1 with errno: who knows. */
int queue_look(struct queue *, const struct place *);
bool queue_has(struct queue *, const struct place *);

/* Before each operation: maps the meter (again, if it was replaced), makes one
 * where there is none. */
int queue_ready(struct queue *, struct fault *);

/* Takes the lock (may be nested), with all signals blocked until it is let go,
 * and first finishes what somebody left half-done. */
int queue_lock(struct queue *, struct fault *);
void queue_unlock(struct queue *);

/* Reads one file of settings into c; 0 also if there is none. */
int conf_load(struct conf *, int dir, const char *path, const char *shown,
	struct fault *);
/* The number of a group by name or digits; -1 with errno. */
int group_number(const char *name, gid_t *);

/* queue_configure() without a word to its topic: of one that is being made. */
int queue_write_conf(struct queue *, char *const *assignments, size_t n, struct fault *);

/* Makes a directory a queue: its inner directories, lock and meter. */
int queue_lay_out(struct queue *, struct fault *);

/* Fills the fault from errno; 66 where the queue itself has gone. Always -1. */
int queue_fault(struct queue *, struct fault *, const char *what);

#endif
