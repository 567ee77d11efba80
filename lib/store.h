/* SPDX-License-Identifier: ISC
 *
 * store: what commands and the worker pool may ask of a message store.
 *
 * The spool on disk is its one implementation today (queue.h and below);
 * nothing above this line knows that a receipt is a path or a message a
 * file. All times are ms since 1970, durations are ms, sizes are bytes.
 *
 * Unless a comment says otherwise a function returns 0 (or 1 for "yes, done",
 * 0 for "there is none") on success and -1 with *fault filled on failure.
 * What it returns by pointer belongs to the caller; strings inside a struct
 * belong to the struct. */
#ifndef MQ_STORE_H
#define MQ_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf.h"
#include "fault.h"
#include "id.h"

#define PRIORITIES 10
#define PRIORITY_DEFAULT 5
#define FILE_RECORDS 1024              /* of a bulk put, in one file */
#define FILE_BYTES (1024 * 1024)
#define BATCH_BYTES (64 * 1024 * 1024) /* of an atomic batch */
#define QUEUE_NAME_SIZE 204            /* TOPIC/SUB and its NUL */
#define RECEIPT_SIZE 4608

int64_t now_ms(void);                  /* wall clock */
/* Milliseconds of a clock that never jumps, for how long something lasts. */
int64_t steady_ms(void);

/* --- the spool ----------------------------------------------------------- */

struct store;

/* Opens (and with `make` creates) the spool: `dir`, else $MQ_SPOOL, else
 * /var/spool/mq if it exists, else ${XDG_STATE_HOME:-$HOME/.local/state}/mq.
 * 77 if /var/spool/mq exists and cannot be used. Without `make` a spool that
 * does not exist is opened too: it has no queues. */
struct store *store_open(const char *dir, bool make, struct fault *);
void store_close(struct store *);
const char *store_path(const struct store *);   /* absolute, no final slash */

/* Calls fn with the name of each queue, sorted, each topic's subscriptions (as
 * TOPIC/SUB) right after it; stops when fn returns != 0. */
int store_each(struct store *, int (*fn)(const char *name, void *), void *,
	struct fault *);

/* Ends removals of queues that a crash cut short. */
int store_tidy(struct store *, struct fault *);
/* Calls say with a line for each entry that is no queue and nothing of ours;
 * returns how many. */
int store_verify(struct store *, void (*say)(const char *line, void *), void *,
	struct fault *);

bool queue_name_valid(const char *);     /* NAME or TOPIC/SUB */
bool part_name_valid(const char *);      /* NAME alone */
/* -1 and 64 if it is not; to ask before store_open() makes a spool for it. */
int queue_name_check(const char *, struct fault *);

/* --- a queue ------------------------------------------------------------- */

struct queue;

enum queue_how {
	QUEUE_MUST,     /* 66 if there is none */
	QUEUE_MAKE,     /* makes it, unless the spool says create=no (66) */
	QUEUE_FORCE,    /* makes it anyway (mq-conf --create) */
};

struct queue *queue_open(struct store *, const char *name, enum queue_how,
	struct fault *);
void queue_close(struct queue *);
const char *queue_name(const struct queue *);
struct store *queue_store(const struct queue *);
/* Its configuration, read again if the files changed since; 78 if bad. */
const struct conf *queue_conf(struct queue *, struct fault *);
/* Sets NAME=VALUEs, all or none, in one step; `NAME=` goes back to the default.
 * A changed mode or group is given to what is there too. 64: a bad one. */
int queue_configure(struct queue *, char *const *assignments, size_t n,
	struct fault *);
/* The spool's defaults, under those of each queue. */
int store_conf(struct store *, struct conf *, struct fault *);
int store_configure(struct store *, char *const *assignments, size_t n,
	struct fault *);
/* Removes all messages in these states (LEASED: their holders lose them), and
 * says how many. */
int queue_clear(struct queue *, unsigned states, uint64_t *removed, struct fault *);
/* Removes the queue with all that is in it. Without `force` 75 if messages are
 * left (dead ones too). The name is free at once. */
int queue_destroy(struct queue *, bool force, struct fault *);
/* Has it been removed or moved away since it was opened? */
bool queue_gone(struct queue *);
/* 1: this process is now the queue's single pool, until it ends or closes the
 * queue; 0: another one is. */
int queue_single(struct queue *, struct fault *);
/* Splits QUEUE:ID; false if it is not of that form. */
bool operand_id(const char *operand, char queue[static QUEUE_NAME_SIZE], struct id *);

/* --- topics ----------------------------------------------------------------- */

/* What a subscription wants. pattern NULL: any route; nfilters 0: any message. */
struct subscription {
	const char *name;                /* SUB alone */
	const char *pattern;             /* -r */
	char *const *filters;            /* -F, alternatives */
	size_t nfilters;
	bool ephemeral;                  /* of mq-sub tail: gone with its process */
};

/* Makes the topic (if new) and the subscription, with these settings. 1 made; 0
 * the very same was there already (same pattern, filters; the settings are then
 * applied, if given). 75: the queue holds messages, or the subscription is there
 * with another pattern or filter; 64: a bad name, pattern, filter or setting:
 * nothing is written. */
int topic_subscribe(struct store *, const char *topic, const struct subscription *,
	char *const *assignments, size_t n, struct fault *);
/* 66: no such; 75: it still has messages, and not `force`. */
int topic_unsubscribe(struct store *, const char *topic, const char *sub, bool force,
	struct fault *);
bool queue_is_topic(struct queue *);
/* Each subscription, sorted by name; stops when fn returns != 0 and returns
 * that. What it points to is valid during the callback only. */
int topic_each(struct queue *topic, int (*fn)(const struct subscription *, void *),
	void *, struct fault *);
/* An ephemeral subscription held by this process until the queue is closed
 * (limit 10000, full=drop-oldest unless the assignments say else). A later
 * publish or sweep removes what a killed one left. */
struct queue *topic_tail(struct store *, const char *topic, const struct subscription *,
	char *const *assignments, size_t n, struct fault *);

/* --- messages ------------------------------------------------------------ */

struct attr {
	char *name, *value;
};

/* What all messages of a file share. Strings may be NULL for "none". */
struct head {
	struct id id;                    /* of the file's first message */
	int64_t time;                    /* put */
	char *key, *route;
	int64_t version;                 /* -1: none */
	struct attr *attrs;              /* sorted by name */
	size_t nattrs;
	char **attachments;              /* absolute paths, once it was read */
	size_t nattachments;
};

bool attr_name_valid(const char *);
bool attr_value_valid(const char *);
bool key_valid(const char *);            /* also of idempotency keys */
/* Words of printable characters but spaces, between dots; 255 bytes at most. */
bool route_put_valid(const char *);
/* Sets or replaces; takes copies. -1 with errno ENOMEM. */
int head_attr(struct head *, const char *name, const char *value);
const char *head_attr_get(const struct head *, const char *name);
void head_free(struct head *);           /* what it points to */

/* --- put ----------------------------------------------------------------- */

enum { WAIT_CONF = -2, WAIT_ENDLESS = -1 };

struct put_spec {
	struct head head;                /* id and time are set by the put */
	int priority;
	int64_t due;                     /* not before; 0: at once */
	int64_t expiry;                  /* 0: the queue's ttl */
	int64_t wait;                    /* for room, ms; WAIT_ENDLESS; WAIT_CONF:
	                                  * as the queue's full= says */
	char *idempotency;               /* key, or NULL; with one message alone */
	bool unique;                     /* its window: as long as the first is there */
	int64_t window;                  /* of this put, ms; 0: the queue's dedup */
	const char **attach;             /* paths of files to attach, of one message */
	size_t nattach;
	bool attach_link;                /* by hard link: nobody writes to them */
	void (*progress)(const char *name, uint64_t done, uint64_t total);
	bool nosync;                     /* -S */
	struct flush *flush;             /* NULL: put_commit flushes; else what it puts
	                                  * is durable only when flush_all() of this
	                                  * says so. A topic flushes itself. */
	bool batch;                      /* -b: one file whatever its size */
};

struct put;

/* spec and what it points to must outlive the put. */
struct put *put_begin(struct queue *, const struct put_spec *, struct fault *);
/* Adds a message; 65 if it is over max_size (or the batch over BATCH_BYTES).
 * Nothing is visible before put_commit. */
int put_add(struct put *, const void *body, size_t len, struct fault *);
/* Would a further message of `len` bytes need a further file? */
bool put_full(const struct put *, size_t len);
uint32_t put_count(const struct put *);

struct put_done {
	struct id first;                 /* the others follow */
	uint32_t count;                  /* how many were put */
	bool repeat;                     /* nothing: `first` was put before */
	bool unrouted;                   /* to a topic: no subscription wanted it, so
	                                  * it is stored nowhere */
};

/* Publishes what was added and flushes it once. In a queue with a limit it may
 * be only the first part of it, at least one: the rest stays in the put, for
 * the next call. Waits for room if the spec or the queue says so; 75 if there
 * is none. After a failure the put is empty; fault says `not stored` or `may
 * be stored`. */
int put_commit(struct put *, struct put_done *, struct fault *);
void put_end(struct put *);

/* One flush for many puts. */
struct flush *flush_new(struct fault *);
/* Flushes what was put since the last time. -1: some of it may not be stored, though
 * it may be seen. */
int flush_all(struct flush *, struct fault *);
void flush_free(struct flush *);
/* These idempotency keys, put with a window of their own, hold no longer than `window`
 * from now, or the queue's dedup, if that is longer. */
int queue_narrow_keys(struct queue *, const char *const *keys, size_t n, int64_t window,
	struct fault *);

/* --- take and settle ------------------------------------------------------ */

/* One delivery: a leased range of messages of one file, with one header. */
struct lease;

struct take_spec {
	int64_t lease;                   /* 0: the queue's */
	uint32_t want;                   /* at most that many */
};

/* Leases up to `want` messages that stand together in one file: the oldest of
 * the most urgent. First returns what has expired and releases what is due.
 * 1 and *out, or 0: nothing is ready (looked twice, the last time under the
 * lock). Never delivers a torn file. A paused queue has nothing ready. */
int queue_take(struct queue *, const struct take_spec *, struct lease **out,
	struct fault *);
/* The message with that id, ready, later or dead. 0: no such message there. */
int queue_take_id(struct queue *, struct id, const struct take_spec *,
	struct lease **out, struct fault *);

/* A lease by its receipt (opens the queue, looks nothing up). `like`, which may
 * be NULL, is one whose open queue is used again where it is the same one.
 * NULL and 64: malformed, or of no spool; NULL and 1: its queue is gone. */
struct lease *lease_by_receipt(const char *receipt, const struct lease *like,
	struct fault *);
/* Of message k (0 .. count-1) of the lease. */
void lease_receipt(const struct lease *, uint32_t k, char out[static RECEIPT_SIZE]);
/* Does b go on where a ends, in the same delivery? Then a takes it in (and b
 * may be freed). For acking many receipts as few ranges. */
bool lease_join(struct lease *a, const struct lease *b);
/* For sorting receipts so that lease_join() finds its neighbours. */
int lease_compare(const struct lease *, const struct lease *);

uint32_t lease_count(const struct lease *);
struct id lease_id(const struct lease *, uint32_t k);
uint32_t lease_tries(const struct lease *);       /* this one included */
int lease_priority(const struct lease *);
int64_t lease_until(const struct lease *);        /* last deadline known */
int64_t lease_expiry(const struct lease *);       /* its time to live ends; 0 */
struct queue *lease_queue(const struct lease *);
const char *lease_queue_name(const struct lease *);
void lease_free(struct lease *);

/* The file behind it; opened at take, or here for a receipt. NULL and status 1
 * if it is not held any more. Belongs to the lease. */
struct message *lease_message(struct lease *, struct fault *);

/* Each of these returns 1 done, 0 lease lost, -1 failure. After 1 or 0 the
 * lease stands for nothing any more (but after lease_extend and lease_split). */

struct why {                             /* what went wrong, kept in why/ID */
	const char *reason;              /* one line; NULL: none given */
	const char *tail;                /* last stderr, may be NULL */
	size_t tail_len;
};

enum retried { RETRIED = 1, RETRY_BURIED = 2 };

int lease_ack(struct lease *, struct fault *);
/* delay < 0: the backoff of the queue. Returns RETRIED, or RETRY_BURIED where
 * the tries were used up (delay < 0 or not). */
int lease_retry(struct lease *, int64_t delay, const struct why *, struct fault *);
int lease_giveback(struct lease *, struct fault *);      /* untried, at once */
int lease_bury(struct lease *, const struct why *, struct fault *);
int lease_extend(struct lease *, int64_t lease, struct fault *);
int lease_move(struct lease *, struct queue *to, struct fault *);
/* Leaves the first `at` messages in the lease, the rest becomes *rest. */
int lease_split(struct lease *, uint32_t at, struct lease **rest, struct fault *);
/* At most once: after 1 a crash drops the messages and nobody else can get
 * them. lease_ack ends them; lease_split cuts off what was not printed, and
 * lease_giveback of that puts it back. */
int lease_consume(struct lease *, struct fault *);

/* --- reading a message ----------------------------------------------------- */

struct message;

const struct head *message_head(const struct message *);
/* Message k of the file (not of the range). *body points into the message and
 * moves with the next call. */
int message_body(struct message *, uint32_t k, const char **body, size_t *len,
	struct fault *);
/* Where the lease's message k stands in its file. */
uint32_t lease_first(const struct lease *);
/* A descriptor to read message k (of the lease) from, at its start: a sealed
 * memfd of the body. Not the message file, which a command that rewinds or
 * opens /dev/stdin would read from its header on. */
int lease_stdin(struct lease *, uint32_t k, struct fault *);

/* --- looking --------------------------------------------------------------- */

enum state {
	READY = 1, LEASED = 2, LATER = 4, BLOCKED = 8, DEAD = 16, DONE = 32,
	STATES_ALL = 63,
};
const char *state_word(enum state);

/* A message as it lies in the queue; valid during the callback only. */
struct entry {
	enum state state;
	struct id id;
	uint64_t order;
	int priority;
	uint32_t tries;
	int64_t put_time, due, expiry;
	int64_t until;                   /* LEASED: lease's end; DONE: kept until */
	bool retried;                    /* LATER: waits for a retry */
	uint32_t pid, uid;               /* holder; pid 0: none, or not known */
	int64_t since;                   /* LEASED: taken then; 0: not known */
	const char *outcome;             /* DONE */
	int64_t settled;
	const void *place;               /* for the functions below */
};

/* Each message in one of `states`, oldest first; stops when fn returns != 0
 * and returns that. A range comes as its messages one by one. */
int queue_each(struct queue *, unsigned states,
	int (*fn)(const struct entry *, void *), void *, struct fault *);
/* The message with that id in one of `states`: calls fn with it; 0: none. */
int queue_find(struct queue *, struct id, unsigned states,
	int (*fn)(const struct entry *, void *), void *, struct fault *);

/* 1 and its file and place in it, or 0: it has gone meanwhile. */
int entry_open(struct queue *, const struct entry *, struct message **,
	uint32_t *k, struct fault *);
void message_close(struct message *);
/* 1 and what went wrong with it so far (the text of why/ID), or 0: nothing. */
int entry_why(struct queue *, struct id, char **text, struct fault *);

/* 1 done, 0: not there any more. */
int entry_remove(struct queue *, const struct entry *, struct fault *);
/* A dead or later message back to ready (in `to`, or NULL: here), tries reset;
 * not before `due`, if that is still to come. */
int entry_revive(struct queue *, const struct entry *, struct queue *to, int64_t due,
	struct fault *);

enum span { SPAN_1S, SPAN_10S, SPAN_1M, SPAN_5M, SPAN_15M, SPANS };
int64_t span_ms(enum span);

struct counts {
	uint64_t ready, leased, later, blocked, dead, done;
	uint64_t retrying;               /* the part of later that waits for a retry */
	uint64_t groups, longest;        /* keys in use; most that wait for one */
	int64_t oldest;                  /* age in ms, see mq-stat(1); -1: none */
	int64_t oldest_ready;
	int64_t oldest_total;
	struct {
		uint64_t ready;
		int64_t oldest;          /* age; -1: none */
	} priority[PRIORITIES];
	uint64_t untaken[SPANS];         /* put in the last ..., and not taken yet */
	bool paused;
};
/* Counts what is on disk; a lease that ran out counts as ready. */
int queue_count(struct queue *, struct counts *, struct fault *);

/* The same from counters, at once, without ages and what is of priorities. 1; 0: they
 * are not known (a subscription's never are): count. */
int queue_estimate(struct queue *, struct counts *, struct fault *);

enum event {
	EV_PUT, EV_TAKEN, EV_ACKED, EV_RETRIED,
	EV_RETURNED,                     /* its lease ran out */
	EV_EXPIRED, EV_BURIED,
	EV_DROPPED,                      /* by full=drop-oldest */
	EV_REMOVED, EV_UNROUTED, EVENTS,
};
const char *event_word(enum event);

/* How long something took, in seconds. */
enum { SPREAD_STEPS = 12 };
struct spread {
	uint64_t count;
	double sum, mean;
	double recent;                   /* mean of the last 15 minutes, if any */
	double p50, p95, p99;
	uint64_t below[SPREAD_STEPS];    /* less than 2^spread_step(i) ms */
};
unsigned spread_step(unsigned i);

/* What its meter has counted since that was made: it is a cache, and anew after each
 * boot. Of a topic EV_PUT is all that was published. A subscription counts a put
 * when the message is taken or leaves, as of when it was put: those still there
 * are in struct counts. */
struct activity {
	uint64_t total[EVENTS];
	double recent[EVENTS][SPANS];    /* messages in the last ... */
	double seconds[SPANS];           /* ... that many: less in a young meter */
	struct spread waited;            /* put (or due) until the first take */
	struct spread held;              /* take until ack, where it is known */
};
/* 1, or 0: it may not be read. */
int queue_activity(struct queue *, struct activity *, struct fault *);

/* --- sweeping --------------------------------------------------------------- */

struct swept {
	uint64_t returned, released, expired, recovered, torn, stale, forgotten;
};

enum sweep_how {
	SWEEP_ALL,
	SWEEP_DRY,                       /* only counts what it would do */
	SWEEP_TIMED,                     /* only leases and due times, by the hints */
};

/* Does what mq-sweep(1) says; of a topic in its subscriptions too. `next` (may be
 * NULL) is when there will be
 * something to do again, 0: not known of. */
int queue_sweep(struct queue *, enum sweep_how, struct swept *, int64_t *next,
	struct fault *);
/* Calls say with a line for each breach of an invariant; returns how many. Of a
 * topic in its subscriptions too. */
int queue_verify(struct queue *, void (*say)(const char *line, void *), void *,
	struct fault *);

/* --- keys that were handled -------------------------------------------------- */

/* What mq-once(1) remembers of a key. */
struct handled {
	const char *key;
	int64_t version;                 /* of the last one; -1: none was given */
	int64_t expiry;                  /* known until then */
};

/* 1 and *out: it was handled; 0: not, or so long ago that it is forgotten. */
int queue_handled(struct queue *, const char *key, struct handled *out, struct fault *);
/* Each of them, in no order; stops when fn returns != 0 and returns that. What it
 * points to is valid during the callback only. */
int queue_each_handled(struct queue *, int (*fn)(const struct handled *, void *),
	void *, struct fault *);

/* The turn to work on a key, which one process has at a time. It is over at once
 * when that is killed; children do not inherit it. */
struct turn;

/* 1 and *out; 0: it is another one's, and `wait' (ms or WAIT_ENDLESS) is over. Waits
 * also for a command (turn_note) that outlives the one whose turn it was. Uses
 * SIGALRM and its timer if it waits. */
int turn_take(struct queue *, const char *key, int64_t wait, struct turn **out,
	struct fault *);
/* This process works on the key for us. */
int turn_note(struct turn *, pid_t, struct fault *);
/* It was handled, with that version (-1: none): known for `keep' ms, flushed. A
 * crash before the end may have lost it, or not; what was known before is known
 * until then. -1: it may be known. */
int turn_remember(struct turn *, int64_t version, int64_t keep, struct fault *);
/* 1 it is not known any more, 0 it was not. */
int turn_forget(struct turn *, struct fault *);
void turn_end(struct turn *);

/* --- until something is over ----------------------------------------------- */

/* 1: a message is ready, leased or waits for a retry (`held`: is leased); 0. Of a
 * topic, in any of its subscriptions. */
int queue_busy(struct queue *, bool held, struct fault *);

enum fate { FATE_UNKNOWN, FATE_WAITING, FATE_ACKED, FATE_LOST };
/* What became of a message: still waiting, acked, or buried, dropped, expired
 * (*how: which). Unknown: nothing is known of it (any more). */
int queue_fate(struct queue *, struct id, enum fate *, const char **how,
	struct fault *);

/* Sleeps until messages may have left the queue, ms at most. */
struct changes;
struct changes *changes_new(struct fault *);
void changes_watch(struct changes *, struct queue *);  /* then look, then sleep */
void changes_sleep(struct changes *, int ms);
void changes_free(struct changes *);

/* --- waiting ------------------------------------------------------------------ */

/* Waits for something to take in any of some queues. Waiting consumers of a
 * queue form a line; only its head watches, so that one message wakes one. */
struct waiter;

struct waiter *waiter_new(struct fault *);
/* Stands in line for that queue (by name: it need not exist yet). */
int waiter_add(struct waiter *, struct store *, const char *name, struct fault *);
/* Pollable (POLLIN: call waiter_look); -1 where inotify cannot be had. */
int waiter_fd(const struct waiter *);
/* Joins the lines, if it has not, and sets the watches. The caller must look
 * for messages after it returned, before it sleeps. */
int waiter_arm(struct waiter *, struct fault *);
/* Eats what is on waiter_fd(); true if the caller should look. */
bool waiter_look(struct waiter *);
/* How long to sleep at most, in ms: the next lease end or due time, else a
 * safety net. Never 0 for ever: it is at least 1. */
int waiter_timeout(struct waiter *);
/* Leaves all lines: the next one is woken. Call it as soon as something was
 * taken; waiter_arm() joins again, at the end. */
void waiter_leave(struct waiter *);
void waiter_free(struct waiter *);

#endif
