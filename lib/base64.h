/* SPDX-License-Identifier: ISC
 *
 * base64: RFC 4648, section 4, padded, without line breaks. */
#ifndef MQ_BASE64_H
#define MQ_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#define BASE64_SIZE(len) (((len) + 2) / 3 * 4)           /* of so many bytes */
#define BASE64_BYTES(len) ((len) / 4 * 3)                /* at most, of such a text */

/* Writes BASE64_SIZE(len) characters, no NUL. */
void base64_encode(const void *data, size_t len, char *out);
/* Writes at most BASE64_BYTES(len) bytes, *n of them; false: it is no base64,
 * or not the one way to write its bytes. */
bool base64_decode(const char *text, size_t len, void *out, size_t *n);

#endif
