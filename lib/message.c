/* SPDX-License-Identifier: ISC */
#include "message.h"

#include <bsd/stdlib.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "hex.h"
#include "name.h"
#include "units.h"

#define FIRST_READ 4096
#define READ_AHEAD (256 * 1024)
#define MAGIC "mq1 "
#define ENTRY 9                          /* of the table, bytes */

/* --- headers ------------------------------------------------------------- */

bool
attr_name_valid(const char *s)
{
	size_t n = 0;

	if (!isascii((unsigned char)s[0]) || (!isalpha((unsigned char)s[0]) && s[0] != '_'))
		return false;
	for (; s[n] != '\0'; n++)
		if (!isascii((unsigned char)s[n]) || (!isalnum((unsigned char)s[n]) &&
		    strchr("_.-", s[n]) == NULL))
			return false;
	return n <= 64;
}

bool
attr_value_valid(const char *s)
{
	return strchr(s, '\n') == NULL && strlen(s) <= HEADER_MAX / 2;
}

bool
key_valid(const char *s)
{
	return s[0] != '\0' && strlen(s) <= 1024 && strchr(s, '\n') == NULL;
}

bool
route_put_valid(const char *s)
{
	size_t word = 0, n = strlen(s);

	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)s[i] <= ' ' || s[i] == 0x7f || (s[i] == '.' && word == 0))
			return false;
		word = s[i] == '.' ? 0 : word + 1;
	}
	return word > 0 && n <= 255;
}

static size_t
attr_slot(const struct head *h, const char *name, bool *found)
{
	size_t i;

	*found = false;
	for (i = 0; i < h->nattrs; i++) {
		int c = strcmp(h->attrs[i].name, name);

		if (c >= 0) {
			*found = c == 0;
			break;
		}
	}
	return i;
}

int
head_attr(struct head *h, const char *name, const char *value)
{
	bool found;
	size_t i = attr_slot(h, name, &found);
	char *v = strdup(value), *n;
	struct attr *a;

	if (v == NULL)
		return -1;
	if (found) {
		free(h->attrs[i].value);
		h->attrs[i].value = v;
		return 0;
	}
	n = strdup(name);
	a = reallocarray(h->attrs, h->nattrs + 1, sizeof *a);
	if (n == NULL || a == NULL) {
		free(n);
		free(v);
		if (a != NULL)
			h->attrs = a;
		return -1;
	}
	memmove(&a[i + 1], &a[i], (h->nattrs - i) * sizeof *a);
	a[i] = (struct attr){ n, v };
	h->attrs = a;
	h->nattrs++;
	return 0;
}

const char *
head_attr_get(const struct head *h, const char *name)
{
	bool found;
	size_t i = attr_slot(h, name, &found);

	return found ? h->attrs[i].value : NULL;
}

void
head_free(struct head *h)
{
	free(h->key);
	free(h->route);
	for (size_t i = 0; i < h->nattrs; i++) {
		free(h->attrs[i].name);
		free(h->attrs[i].value);
	}
	free(h->attrs);
	for (size_t i = 0; i < h->nattachments; i++)
		free(h->attachments[i]);
	free(h->attachments);
	memset(h, 0, sizeof *h);
}

/* --- writing ---------------------------------------------------------------- */

static void
print_head(FILE *o, const struct head *h)
{
	char id[ID_LEN + 1], time[TIME_SIZE];

	id_print(h->id, id);
	time_print(h->time, time);
	fprintf(o, "id: %s\ntime: %s\n", id, time);
	if (h->key != NULL)
		fprintf(o, "key: %s\n", h->key);
	if (h->route != NULL)
		fprintf(o, "route: %s\n", h->route);
	if (h->version >= 0)
		fprintf(o, "version: %" PRId64 "\n", h->version);
	for (size_t i = 0; i < h->nattachments; i++)
		fprintf(o, "attachment: %s\n", h->attachments[i]);
	for (size_t i = 0; i < h->nattrs; i++)
		fprintf(o, "@%s: %s\n", h->attrs[i].name, h->attrs[i].value);
	fputc('\n', o);
}

static void
print_table(char *p, const uint32_t *ends, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		for (int d = 0; d < 8; d++)
			p[d] = "0123456789abcdef"[ends[i] >> (28 - 4 * d) & 15];
		p[8] = '\n';
		p += ENTRY;
	}
}

static uint64_t
checksum(const void *a, size_t alen, const void *b, size_t blen)
{
	XXH3_state_t s;

	XXH3_64bits_reset(&s);
	XXH3_64bits_update(&s, a, alen);
	XXH3_64bits_update(&s, b, blen);
	return XXH3_64bits_digest(&s);
}

char *
message_format(const struct head *h, const uint32_t *ends, uint32_t count,
    const void *body, size_t body_len, size_t *len)
{
	size_t head_len, table = count > 1 ? (size_t)count * ENTRY : 0;
	char *head = NULL, *out, line[80];
	FILE *o = open_memstream(&head, &head_len);
	int n;

	if (o == NULL)
		return NULL;
	print_head(o, h);
	if (fclose(o) != 0 || head == NULL || head_len > HEADER_MAX) {
		if (head != NULL && head_len > HEADER_MAX)
			errno = EMSGSIZE;
		free(head);
		return NULL;
	}
	/* room for the first line in front, whose length shows at the end */
	out = malloc(sizeof line + head_len + table);
	if (out == NULL) {
		free(head);
		return NULL;
	}
	memcpy(out + sizeof line, head, head_len);
	free(head);
	if (count > 1)
		print_table(out + sizeof line + head_len, ends, count);
	n = snprintf(line, sizeof line, MAGIC "%" PRIu32 " %zu %016" PRIx64 "\n",
	    count, body_len, checksum(out + sizeof line, head_len + table, body, body_len));
	memcpy(out, line, (size_t)n);
	memmove(out + n, out + sizeof line, head_len + table);
	*len = (size_t)n + head_len + table;
	return out;
}

/* --- reading ------------------------------------------------------------------ */

int
message_load(struct message *m, uint64_t upto)
{
	if (upto > m->size)
		upto = m->size;
	if (upto <= m->loaded)
		return 0;
	if (upto > m->room) {
		char *p = realloc(m->data, upto + 1);

		if (p == NULL)
			return -1;
		m->data = p;
		m->room = upto;
	}
	while (m->loaded < upto) {
		ssize_t n = pread(m->fd, m->data + m->loaded, upto - m->loaded,
		    (off_t)m->loaded);

		if (n < 0)
			return -1;
		if (n == 0) {                    /* cut off since it was opened */
			errno = EIO;
			return -1;
		}
		m->loaded += (size_t)n;
	}
	m->data[m->loaded] = '\0';
	return 0;
}

static bool
get_number(char **p, char end, uint64_t max, uint64_t *out)
{
	char *e = strchr(*p, end);

	if (e == NULL)
		return false;
	*e = '\0';
	if (!number_parse(*p, max, out)) {
		*e = end;
		return false;
	}
	*e = end;
	*p = e + 1;
	return true;
}

static bool
parse_first_line(struct message *m)
{
	uint64_t count, sum;
	char *p = m->data;

	if (strncmp(p, MAGIC, strlen(MAGIC)) != 0)
		return false;
	p += strlen(MAGIC);
	if (!get_number(&p, ' ', COUNT_MAX, &count) || count == 0 ||
	    !get_number(&p, ' ', m->size, &m->length))
		return false;
	if (!hex_parse(p, 16, &sum) || p[16] != '\n')
		return false;
	m->count = (uint32_t)count;
	m->checksum = sum;
	m->rest = (size_t)(p + 17 - m->data);
	return true;
}

/* Loads up to the empty line; *end is where it begins. */
static enum opened
find_header_end(struct message *m, size_t *end)
{
	for (;;) {
		char *p = memmem(m->data + m->rest - 1, m->loaded - m->rest + 1, "\n\n", 2);

		if (p != NULL) {
			*end = (size_t)(p + 1 - m->data);
			return MESSAGE_OK;
		}
		if (m->loaded == m->size || m->loaded > HEADER_MAX + FIRST_READ)
			return MESSAGE_TORN;
		if (message_load(m, m->loaded * 4) < 0)
			return MESSAGE_ERROR;
	}
}

static bool
add_attachment(struct head *h, const char *value)
{
	char **a = reallocarray(h->attachments, h->nattachments + 1, sizeof *a);

	if (a == NULL)
		return false;
	h->attachments = a;
	a[h->nattachments] = strdup(value);
	return a[h->nattachments++] != NULL;
}

static bool
set_text(char **to, const char *value)
{
	if (*to != NULL)
		return false;
	*to = strdup(value);
	return *to != NULL;
}

static bool
parse_field(struct head *h, const char *name, const char *value)
{
	uint64_t v;

	if (name[0] == '@')
		return attr_name_valid(name + 1) && head_attr(h, name + 1, value) == 0;
	if (strcmp(name, "id") == 0)
		return strlen(value) == ID_LEN && id_parse(value, &h->id);
	if (strcmp(name, "time") == 0)
		return time_parse(value, 0, &h->time);
	if (strcmp(name, "key") == 0)
		return set_text(&h->key, value);
	if (strcmp(name, "route") == 0)
		return set_text(&h->route, value);
	if (strcmp(name, "attachment") == 0)
		return add_attachment(h, value);
	if (strcmp(name, "version") == 0 && number_parse(value, INT64_MAX, &v)) {
		h->version = (int64_t)v;
		return true;
	}
	return false;
}

static bool
parse_head(struct message *m, size_t end)
{
	char *copy = strndup(m->data + m->rest, end - m->rest), *p = copy, *line;
	bool good = copy != NULL && strlen(copy) == end - m->rest;

	m->head.version = -1;
	while (good && (line = strsep(&p, "\n")) != NULL && *line != '\0') {
		char *value = strstr(line, ": ");

		good = value != NULL;
		if (good) {
			*value = '\0';
			good = parse_field(&m->head, line, value + 2);
		}
	}
	free(copy);
	return good && m->head.id.hi != 0 && m->head.time != 0;
}

static enum opened
parse(struct message *m)
{
	enum opened r;
	size_t end;

	if (message_load(m, FIRST_READ) < 0)
		return MESSAGE_ERROR;
	if (m->loaded == 0 || !parse_first_line(m))
		return MESSAGE_TORN;
	r = find_header_end(m, &end);
	if (r != MESSAGE_OK)
		return r;
	m->table = end + 1;
	m->bodies = m->table + (m->count > 1 ? (size_t)m->count * ENTRY : 0);
	if (m->bodies + m->length != m->size || !parse_head(m, end))
		return MESSAGE_TORN;
	return MESSAGE_OK;
}

enum opened
message_read(int fd, struct message **out)
{
	struct message *m = calloc(1, sizeof *m);
	enum opened r = MESSAGE_ERROR;
	struct stat st;
	int saved;

	if (m == NULL) {
		close(fd);
		return MESSAGE_ERROR;
	}
	m->fd = fd;
	if (fstat(fd, &st) == 0) {
		m->size = (uint64_t)st.st_size;
		r = S_ISREG(st.st_mode) ? parse(m) : MESSAGE_TORN;
	}
	if (r == MESSAGE_OK) {
		*out = m;
		return r;
	}
	saved = errno;
	message_close(m);
	errno = saved;
	return r;
}

int
message_resolve(struct message *m, const char *spool)
{
	for (size_t i = 0; i < m->head.nattachments; i++) {
		char *path;

		if (asprintf(&path, "%s/%s", spool, m->head.attachments[i]) < 0)
			return -1;
		free(m->head.attachments[i]);
		m->head.attachments[i] = path;
	}
	return 0;
}

enum opened
message_check(struct message *m)
{
	if (message_load(m, m->size) < 0)
		return MESSAGE_ERROR;
	return XXH3_64bits(m->data + m->rest, m->size - m->rest) == m->checksum ?
	    MESSAGE_OK : MESSAGE_TORN;
}

static bool
table_entry(const struct message *m, uint32_t k, uint64_t *end)
{
	const char *p = m->data + m->table + (size_t)k * ENTRY;

	return hex_parse(p, ENTRY - 1, end) && p[ENTRY - 1] == '\n';
}

bool
message_bounds(struct message *m, uint32_t k, uint64_t *start, uint64_t *end)
{
	*start = 0;
	*end = m->length;
	if (m->count == 1)
		return k == 0;
	if (k >= m->count || message_load(m, m->bodies) < 0)
		return false;
	if (k == m->seen)
		*start = m->seen_end;
	else if (k > 0 && !table_entry(m, k - 1, start))
		return false;
	if (!table_entry(m, k, end) || *start > *end || *end > m->length)
		return false;
	m->seen = k + 1;
	m->seen_end = *end;
	return true;
}

enum opened
message_parts(struct message *m, uint32_t first, uint32_t n)
{
	uint64_t start, end;

	if (m->count > 1 && message_load(m, m->bodies) < 0)
		return MESSAGE_ERROR;
	for (uint32_t k = first; k < first + n; k++)
		if (!message_bounds(m, k, &start, &end))
			return MESSAGE_TORN;
	return MESSAGE_OK;
}

int
message_body(struct message *m, uint32_t k, const char **body, size_t *len,
    struct fault *f)
{
	uint64_t start, end;

	if (!message_bounds(m, k, &start, &end))
		return fault_set(f, ST_DATA, "damaged message file");
	if (m->bodies + end > m->loaded &&
	    message_load(m, m->bodies + end + (m->count > 1 ? READ_AHEAD : 0)) < 0)
		return fault_errno(f, "message");
	*body = m->data + m->bodies + start;
	*len = end - start;
	return 0;
}

const struct head *
message_head(const struct message *m)
{
	return &m->head;
}

void
message_close(struct message *m)
{
	if (m == NULL)
		return;
	if (m->fd >= 0)
		close(m->fd);
	head_free(&m->head);
	free(m->data);
	free(m);
}
