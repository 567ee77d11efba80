/* SPDX-License-Identifier: ISC */
#include "command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"
#include "store.h"
#include "units.h"

#define ARGUMENT_BYTES (128 * 1024)      /* the kernel's MAX_ARG_STRLEN, NUL included */

static const char *const ours[] = {
	"MQ_QUEUE", "MQ_ID", "MQ_KEY", "MQ_ROUTE", "MQ_TRIES", "MQ_VERSION",
	"MQ_RECEIPT", "MQ_PUT_TIME", "MQ_ATTACHMENT", "MQ_SPOOL",
};
#define NOURS (sizeof ours / sizeof ours[0])

static int
no_memory(struct fault *f)
{
	return fault_set(f, ST_TRYAGAIN, "out of memory");
}

static bool
is_ours(const char *var)
{
	if (strncmp(var, "MQ_", 3) != 0)
		return false;
	if (strncmp(var, "MQ_ATTR_", 8) == 0)
		return true;
	for (size_t i = 0; i < NOURS; i++) {
		size_t n = strlen(ours[i]);

		if (strncmp(var, ours[i], n) == 0 && var[n] == '=')
			return true;
	}
	return false;
}

static int
environment_base(struct command *c)
{
	size_t n = 0;

	while (environ != NULL && environ[n] != NULL)
		n++;
	if ((c->base = calloc(n + 1, sizeof *c->base)) == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!is_ours(environ[i]))
			c->base[c->nbase++] = environ[i];
	return 0;
}

int
command_init(struct command *c, char *const *words, struct fault *f)
{
	size_t n = 0;
	char **argv;

	*c = (struct command){ .words = words };
	for (; words[n] != NULL; n++)
		c->wants_body |= n > 0 && strcmp(words[n], "{}") == 0;
	if ((argv = calloc(n + 2, sizeof *argv)) == NULL)
		return no_memory(f);
	c->argv = argv + 1;
	memcpy(c->argv, words, n * sizeof *argv);
	if (environment_base(c) < 0)
		return no_memory(f);
	c->path = program_find(words[0], NULL, f);
	return c->path == NULL ? -1 : 0;
}

void
command_free(struct command *c)
{
	if (c->argv != NULL)
		free(c->argv - 1);
	free(c->path);
	free(c->env);
	free(c->base);
	buffer_free(&c->vars);
	buffer_free(&c->body);
	*c = (struct command){ 0 };
}

static int
var_add(struct buffer *b, const char *name, const char *value)
{
	if (buffer_text(b, name) < 0 || buffer_byte(b, '=') < 0)
		return -1;
	return buffer_add(b, value ? value : "", value ? strlen(value) + 1 : 1);
}

static int
attr_add(struct buffer *b, const struct attr *attr)
{
	size_t from = b->len + 8;

	if (buffer_text(b, "MQ_ATTR_") < 0 || var_add(b, attr->name, attr->value) < 0)
		return -1;
	for (char *p = b->data + from; *p != '='; p++)
		if (*p == '.' || *p == '-')
			*p = '_';
	return 0;
}

/* One a line, where there are several. */
static int
attachments_add(struct buffer *b, const struct head *h)
{
	int r = buffer_text(b, "MQ_ATTACHMENT=");

	for (size_t i = 0; i < h->nattachments; i++) {
		if (i > 0)
			r |= buffer_byte(b, '\n');
		r |= buffer_text(b, h->attachments[i]);
	}
	return r | buffer_byte(b, '\0');
}

static int
message_vars(struct buffer *b, struct lease *lease, uint32_t k, const struct head *h)
{
	char text[RECEIPT_SIZE];
	int r = 0;

	id_print(lease_id(lease, k), text);
	r |= var_add(b, "MQ_ID", text);
	r |= var_add(b, "MQ_KEY", h->key);
	r |= var_add(b, "MQ_ROUTE", h->route);
	snprintf(text, sizeof text, "%u", lease_tries(lease));
	r |= var_add(b, "MQ_TRIES", text);
	snprintf(text, sizeof text, "%lld", (long long)h->version);
	r |= var_add(b, "MQ_VERSION", h->version < 0 ? NULL : text);
	lease_receipt(lease, k, text);
	r |= var_add(b, "MQ_RECEIPT", text);
	time_print(h->time, text);
	r |= var_add(b, "MQ_PUT_TIME", text);
	r |= attachments_add(b, h);
	for (size_t i = 0; i < h->nattrs && r == 0; i++)
		r = attr_add(b, &h->attrs[i]);
	return r;
}

/* env: the base, then each of the NUL-ended strings in vars. */
static int
environment_point(struct command *c, size_t nvars)
{
	size_t n = c->nbase, want = n + nvars + 1;
	char **env;

	if (want > c->nenv) {
		if ((env = reallocarray(c->env, want, sizeof *env)) == NULL)
			return -1;
		c->env = env;
		c->nenv = want;
		memcpy(env, c->base, c->nbase * sizeof *env);
	}
	for (char *p = c->vars.data; p < c->vars.data + c->vars.len; p += strlen(p) + 1)
		c->env[n++] = p;
	c->env[n] = NULL;
	return 0;
}

int
command_environment(struct command *c, const struct store *store, struct lease *lease,
	uint32_t k, bool alone, struct fault *f)
{
	struct message *message;
	const struct head *head;
	size_t nattrs = 0;

	c->vars.len = 0;
	if (var_add(&c->vars, "MQ_SPOOL", store_path(store)) < 0 ||
		var_add(&c->vars, "MQ_QUEUE", lease_queue_name(lease)) < 0)
		return no_memory(f);
	if (alone) {
		if ((message = lease_message(lease, f)) == NULL)
			return -1;
		head = message_head(message);
		nattrs = head->nattrs;
		if (message_vars(&c->vars, lease, k, head) < 0)
			return no_memory(f);
	}
	return environment_point(c, NOURS + nattrs) < 0 ? no_memory(f) : 0;
}

int
command_body(struct command *c, const char *body, size_t len, const char **why,
	struct fault *f)
{
	if (len > 0 && body[len - 1] == '\n')
		len--;
	if (memchr(body, '\0', len) != NULL) {
		*why = "body cannot be an argument: has a NUL";
		return 0;
	}
	if (len >= ARGUMENT_BYTES) {
		*why = "body cannot be an argument: over 128 KiB";
		return 0;
	}
	c->body.len = 0;
	if (buffer_add(&c->body, body, len) < 0 || buffer_byte(&c->body, '\0') < 0)
		return no_memory(f);
	for (size_t i = 1; c->words[i] != NULL; i++)
		if (strcmp(c->words[i], "{}") == 0)
			c->argv[i] = c->body.data;
	return 1;
}
