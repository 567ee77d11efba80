/* SPDX-License-Identifier: ISC
 *
 * id: the public id of a message, a UUID version 7 (RFC 9562). Its time is
 * the put time. The messages of one file have consecutive ids. */
#ifndef MQ_ID_H
#define MQ_ID_H

#include <stdbool.h>
#include <stdint.h>

#define ID_LEN 36            /* characters, without the NUL */

struct id {
	uint64_t hi, lo;     /* big-endian halves of the 128 bits */
};

/* A new id of which `id_add(id, k)` for k < 2^32 are new too: the top bit
 * of its random part is clear. `now` is in ms since 1970. */
struct id id_new(int64_t now);
struct id id_add(struct id, uint32_t k);
int64_t id_time(struct id);                       /* ms since 1970 */
bool id_equal(struct id, struct id);
/* k so that id_add(base, k) is id, or -1 if that is not below count */
int64_t id_offset(struct id base, struct id id, uint32_t count);
void id_print(struct id, char out[static ID_LEN + 1]);
/* Reads ID_LEN characters, lower case only; false if they are no UUID. */
bool id_parse(const char *, struct id *);

#endif
