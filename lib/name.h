/* SPDX-License-Identifier: ISC
 *
 * name: the name of a message file, which carries all state that changes.
 *
 *   SEQ.UUID[,oFIRST,cCOUNT],nN,uU,pP[,gHASH][,eEXPIRY][,dDUE][,j]
 *           [,tLEASE][,hPID.UID.HELD][,rOUTCOME,zTIME][,f]
 *
 * This is the one place that prints and parses it. Times are ms since 1970;
 * 0 means "has none". A name stands for the range [first, first+count) of
 * the messages in its file. */
#ifndef MQ_NAME_H
#define MQ_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "id.h"

#define NAME_SIZE 256                    /* buffer for any name */
#define SEQ_NONE UINT64_MAX              /* printed as `-`: in tmp/ */
#define SEQ_BITS 48
#define SEG_BITS 10
#define SEG_LEN 10                       /* hex digits of a segment */

enum outcome { OUT_NONE, OUT_ACKED, OUT_BURIED, OUT_DROPPED, OUT_EXPIRED };

struct name {
	uint64_t seq;                    /* of the file's first message */
	struct id id;                    /* of the file's first message */
	uint32_t first, count;
	bool ranged;                     /* the file holds more than one */
	bool joins;                      /* j */
	bool fanout;                     /* f */
	int priority;                    /* 0 most urgent .. 9 */
	uint32_t deliveries, untried;
	uint64_t group;                  /* 0: none */
	int64_t expiry, due;
	int64_t lease;                   /* first deadline of this delivery */
	uint32_t pid, uid;               /* who took it; pid 0: nobody */
	int64_t since;                   /* when; 0: not known. HELD is lease - since */
	enum outcome outcome;
	int64_t settled;                 /* when it got its outcome */
};

/* Print n; never longer than NAME_SIZE. Returns the length. */
size_t name_print(const struct name *n, char out[static NAME_SIZE]);
/* False if `s` is not exactly what name_print() would print. */
bool name_parse(const char *s, struct name *n);

/* The place in the order of its queue, the segment, and its text. */
uint64_t name_order(const struct name *);
uint64_t name_segment(const struct name *);
void segment_print(uint64_t seg, char out[static SEG_LEN + 1]);
bool segment_parse(const char *, uint64_t *seg);

uint32_t name_tries(const struct name *);         /* deliveries - untried */
/* Both names are of one delivery (lease, deliveries) of one file. */
bool name_same_delivery(const struct name *, const struct name *);
/* The same, also where one's file is a copy of a part of the other's: message k
 * of `part` is message k + *shift of `whole`. */
bool name_part_of_delivery(const struct name *whole, const struct name *part,
	int64_t *shift);
const char *outcome_word(enum outcome);           /* "acked" ... or "" */

/* Decimal or lower-case hex number that fills the string; false if none. */
bool number_parse(const char *s, uint64_t max, uint64_t *out);

#endif
