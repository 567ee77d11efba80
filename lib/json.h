/* SPDX-License-Identifier: ISC
 *
 * json: messages as JSON lines, out and in. What goes out comes back in:
 *
 *	id receipt queue state key route priority tries version put_time at
 *	expires_at due holder held_by reason attributes attachments body|body64
 *
 * in this order, those that apply; times as RFC 3339 with ms, the body as a
 * string where it is UTF-8 (a NUL in it is \u0000), else base64 in body64. */
#ifndef MQ_JSON_H
#define MQ_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "ages.h"
#include "buffer.h"
#include "figures.h"
#include "store.h"
#include "view.h"

/* --- out ------------------------------------------------------------------ */

/* Appends it and a newline. What is not UTF-8 in a key, a route, an attribute or
 * a reason stands as U+FFFD. -1 with errno ENOMEM, nothing appended. */
int json_print(const struct view *, struct buffer *);

/* Appends {"queue":NAME,...} with all figures: ages in whole seconds (0 where there is
 * none), rates a second, times in seconds; what is not known is left out, what is
 * never is null. The same. */
int json_print_figures(const struct figures *, struct buffer *);
/* Appends {"queue":NAME,KIND:VALUE,"messages":N,"ages":[{"below":SECONDS or null,
 * "messages":N},...]}; of an attribute or field KIND is `by`, and `value` apart; of the
 * sum there is none. The same. */
int json_print_ages(const char *queue, const char *kind, bool by, const struct age_row *,
	struct buffer *);
/* Appends {"queue":NAME}. The same. */
int json_print_queue(const char *queue, struct buffer *);
/* Appends {"queue":"TOPIC/SUB","topic":...,"subscription":...,"route":PATTERN or
 * null,"filters":[...],"ephemeral":...}. The same. */
int json_print_subscription(const char *topic, const struct subscription *,
	struct buffer *);

/* --- in ------------------------------------------------------------------- */

struct json_put {
	struct put_spec spec;
	char *body;              /* may have NULs in it; NUL-ended */
	size_t len;
};

/* The longest line that a body of `max_size` bytes can need. */
size_t json_line_max(uint64_t max_size);

/* One line of mq-put -J: `body` or `body64`, and `key priority delay|at
 * expires|expires_at version attributes idempotency_key`, over what `base` says; what a
 * new message gets anew is ignored. null is the same as not there. `delay` and
 * `expires` count from `now`. *out is the caller's to json_put_free(). -1 and 65
 * with what is wrong. */
int json_read(const char *line, size_t len, const struct put_spec *base, int64_t now,
	struct json_put *out, struct fault *);
void json_put_free(struct json_put *);
/* Sets the members of a JSON object as attributes, in the same way. -1 and 65. */
int json_attributes(const char *text, size_t len, struct head *, struct fault *);
/* Can both stand in one file: have they the same header, priority and times? */
bool json_put_alike(const struct put_spec *, const struct put_spec *);

#endif
