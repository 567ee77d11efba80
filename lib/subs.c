/* SPDX-License-Identifier: ISC */
#include "subs.h"

#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "buffer.h"
#include "dir.h"

#define WANTS_MAX (1024 * 1024)
#define INDEX_MAX (256 * 1024 * 1024)
#define SUB_PATH (QUEUE_NAME_SIZE + 16)

static void
sub_free(struct sub *s)
{
	for (size_t i = 0; i < s->nfilters; i++)
		free(s->filters[i]);
	free(s->filters);
	free(s->pattern);
	match_free(s->match);
	queue_close(s->q);
}

void
subs_free(struct subs *l)
{
	if (l == NULL)
		return;
	for (size_t i = 0; i < l->n; i++)
		sub_free(&l->v[i]);
	free(l->v);
	free(l);
}

/* --- lines -------------------------------------------------------------------- */

/* Cuts the next line off; NULL at the end. */
static char *
next_line(char **text)
{
	char *line = *text, *nl = line == NULL ? NULL : strchr(line, '\n');

	if (nl == NULL)
		return NULL;
	*nl = '\0';
	*text = nl + 1;
	return line;
}

/* One line of what it wants. false: it is none. */
static bool
sub_line(struct sub *s, const char *line)
{
	char **list;

	if (strcmp(line, "ephemeral") == 0) {
		s->ephemeral = true;
	} else if (strncmp(line, "pattern ", 8) == 0) {
		free(s->pattern);
		s->pattern = strdup(line + 8);
		return s->pattern != NULL;
	} else if (strncmp(line, "filter ", 7) == 0) {
		list = reallocarray(s->filters, s->nfilters + 1, sizeof *list);
		if (list == NULL)
			return false;
		s->filters = list;
		list[s->nfilters] = strdup(line + 7);
		return list[s->nfilters] != NULL && ++s->nfilters > 0;
	} else {
		return false;
	}
	return true;
}

/* 0, or -1: what stands on the disk cannot be understood */
static int
sub_compile(struct queue *topic, struct sub *s, struct fault *f)
{
	const char *why;
	size_t at;
	int which;

	if (s->pattern == NULL && s->nfilters == 0)
		return 0;
	s->match = match_compile(s->pattern, s->filters, s->nfilters, &why, &at, &which);
	if (s->match == NULL)
		return fault_set(f, ST_CONFIG, "%s/%s: %.200s: %.100s", topic->name, s->name,
		    which < 0 ? s->pattern : s->filters[which], why);
	return 0;
}

static struct sub *
subs_add(struct subs *l, const char *name)
{
	struct sub *s;

	if (l->n == l->room) {
		s = reallocarray(l->v, l->room ? 2 * l->room : 16, sizeof *s);
		if (s == NULL)
			return NULL;
		l->v = s;
		l->room = l->room ? 2 * l->room : 16;
	}
	s = &l->v[l->n++];
	memset(s, 0, sizeof *s);
	strlcpy(s->name, name, sizeof s->name);
	return s;
}

/* --- from sub/ ------------------------------------------------------------------- */

static int
wants_print(const struct subscription *s, struct buffer *b)
{
	int r = s->ephemeral ? buffer_text(b, "ephemeral\n") : 0;

	if (s->pattern != NULL)
		r |= buffer_text(b, "pattern ") | buffer_text(b, s->pattern) |
		    buffer_byte(b, '\n');
	for (size_t i = 0; i < s->nfilters; i++)
		r |= buffer_text(b, "filter ") | buffer_text(b, s->filters[i]) |
		    buffer_byte(b, '\n');
	return r;
}

int
sub_write(int dir, const struct subscription *s, mode_t mode)
{
	struct buffer b = { 0 };
	int fd = file_make(dir, "match", O_WRONLY | O_EXCL, mode), r = -1;

	if (fd >= 0 && wants_print(s, &b) == 0 && write_all(fd, b.data, b.len) == 0 &&
	    fsync(fd) == 0)
		r = 0;
	if (fd >= 0 && close(fd) < 0)
		r = -1;
	buffer_free(&b);
	return r;
}

static int
sub_read(struct queue *topic, struct sub *s, struct fault *f)
{
	struct queue *q = queue_open_sub(topic, s->name, f);
	char *text, *p, *line;
	size_t len;
	int r = 0;

	if (q == NULL)
		return -1;
	s->mode = q->conf.mode;
	s->ttl = q->conf.ttl;
	s->limited = q->conf.limit > 0 || q->conf.limit_bytes > 0;
	text = dir_read(q->fd, "match", WANTS_MAX, &len);
	if (text == NULL && errno == ENOENT && queue_gone(q))
		r = fault_set(f, ST_NOQUEUE, "%s: no such subscription", q->name);
	else if (text == NULL)
		r = queue_fault(q, f, "match");
	for (p = text; r == 0 && (line = next_line(&p)) != NULL;)
		if (!sub_line(s, line))
			r = fault_set(f, ST_CONFIG, "%s: match: %.100s: what is that?",
			    q->name, line);
	free(text);
	queue_close(q);
	return r < 0 ? -1 : sub_compile(topic, s, f);
}

struct reading {
	struct queue *topic;
	struct subs *l;
	struct fault *f;
};

static int
read_entry(const char *name, void *arg)
{
	struct reading *r = arg;
	struct sub *s;

	if (!part_name_valid(name))
		return 0;
	s = subs_add(r->l, name);
	if (s == NULL)
		return fault_errno(r->f, "%s", r->topic->name);
	if (sub_read(r->topic, s, r->f) == 0)
		return 0;
	if (r->f->status != ST_NOQUEUE)
		return -1;
	sub_free(s);                     /* a file, or gone */
	r->l->n--;
	return 0;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct sub *)a)->name, ((const struct sub *)b)->name);
}

int
subs_read(struct queue *topic, struct subs **out, struct fault *f)
{
	struct reading r = { topic, calloc(1, sizeof *r.l), f };
	int fd = r.l == NULL ? -1 : dir_open(topic->fd, "sub"), n;

	if (fd < 0) {
		free(r.l);
		return queue_fault(topic, f, "sub");
	}
	f->status = 0;
	n = dir_each(fd, read_entry, &r);
	close(fd);
	if (n != 0) {
		if (f->status == 0)
			queue_fault(topic, f, "sub");
		subs_free(r.l);
		return -1;
	}
	if (r.l->n > 1)
		qsort(r.l->v, r.l->n, sizeof *r.l->v, by_name);
	r.l->conf = topic->seen[0];
	*out = r.l;
	return 0;
}

/* --- the index --------------------------------------------------------------------- */

static void
index_print(const struct subs *l, FILE *o)
{
	fprintf(o, "mqindex1 %" PRIu64 " %lld %ld %" PRIu64 " %" PRId64 "\n", l->number,
	    (long long)l->conf.mtime.tv_sec, l->conf.mtime.tv_nsec, l->conf.ino, l->conf.size);
	for (size_t i = 0; i < l->n; i++) {
		const struct sub *s = &l->v[i];

		fprintf(o, "sub %s %" PRId64 " %d %o %d\n", s->name, s->ttl, s->limited,
		    (unsigned)s->mode, s->ephemeral);
		if (s->pattern != NULL)
			fprintf(o, "pattern %s\n", s->pattern);
		for (size_t k = 0; k < s->nfilters; k++)
			fprintf(o, "filter %s\n", s->filters[k]);
	}
	fputs("end\n", o);
}

/* A cache: where it cannot be written it is missing. */
static void
index_write(struct queue *topic, const struct subs *l)
{
	char *text = NULL;
	size_t len;
	FILE *o = open_memstream(&text, &len);
	int fd;

	if (o == NULL)
		return;
	index_print(l, o);
	if (fclose(o) != 0) {
		free(text);
		return;
	}
	(void)unlinkat(topic->fd, "index.new", 0);
	fd = file_make(topic->fd, "index.new", O_WRONLY | O_EXCL, topic->conf.mode);
	if (fd >= 0 && (write_all(fd, text, len) < 0 ||
	    renameat(topic->fd, "index.new", topic->fd, "index") < 0))
		(void)unlinkat(topic->fd, "index.new", 0);
	if (fd >= 0)
		close(fd);
	free(text);
}

static bool
index_head(const char *line, struct subs *l)
{
	long long sec;
	long nsec;

	if (sscanf(line, "mqindex1 %" SCNu64 " %lld %ld %" SCNu64 " %" SCNd64, &l->number,
	    &sec, &nsec, &l->conf.ino, &l->conf.size) != 5)
		return false;
	l->conf.mtime = (struct timespec){ (time_t)sec, nsec };
	l->conf.there = l->conf.ino != 0;
	return true;
}

static struct sub *
index_sub(struct subs *l, const char *line)
{
	char name[QUEUE_NAME_SIZE];
	int64_t ttl;
	int limited, ephemeral;
	unsigned mode;
	struct sub *s;

	if (sscanf(line, "sub %203s %" SCNd64 " %d %o %d", name, &ttl, &limited, &mode,
	    &ephemeral) != 5 || !part_name_valid(name))
		return NULL;
	s = subs_add(l, name);
	if (s != NULL) {
		s->ttl = ttl;
		s->limited = limited;
		s->mode = mode;
		s->ephemeral = ephemeral;
	}
	return s;
}

static bool
index_parse(struct queue *topic, char *text, struct subs *l)
{
	struct sub *s = NULL;
	struct fault f;
	char *line = next_line(&text);

	if (line == NULL || !index_head(line, l))
		return false;
	while ((line = next_line(&text)) != NULL) {
		if (strcmp(line, "end") == 0 || strncmp(line, "sub ", 4) == 0) {
			if (s != NULL && sub_compile(topic, s, &f) < 0)
				return false;
			if (line[0] == 'e')
				return true;
			s = index_sub(l, line);
			if (s == NULL)
				return false;
		} else if (s == NULL || !sub_line(s, line)) {
			return false;
		}
	}
	return false;
}

static bool
current(struct queue *topic, const struct subs *l)
{
	return l->number == atomic_load(&topic->meter->index) &&
	    conf_same(&l->conf, &topic->seen[0]);
}

int
subs_indexed(struct queue *topic, struct subs **out)
{
	struct subs *l = calloc(1, sizeof *l);
	size_t len;
	char *text = l == NULL ? NULL : dir_read(topic->fd, "index", INDEX_MAX, &len);
	bool good = text != NULL && index_parse(topic, text, l) && current(topic, l);

	free(text);
	if (!good)
		subs_free(l);
	else
		*out = l;
	return good;
}

int
subs_load(struct queue *topic, struct subs **out, struct fault *f)
{
	if (topic->subs != NULL && current(topic, topic->subs)) {
		*out = topic->subs;
		return 0;
	}
	subs_free(topic->subs);
	topic->subs = NULL;
	if (!subs_indexed(topic, &topic->subs)) {
		if (subs_read(topic, &topic->subs, f) < 0)
			return -1;
		/* an index of that number is not true */
		topic->subs->number = atomic_fetch_add(&topic->meter->index, 1) + 1;
		index_write(topic, topic->subs);
	}
	*out = topic->subs;
	return 0;
}

int
subs_change(struct queue *topic, struct fault *f)
{
	struct subs *l;

	if (subs_load(topic, &l, f) < 0)
		return -1;
	l->number = atomic_fetch_add(&topic->meter->index, 1) + 1;
	return 0;
}

static void
subs_forget(struct subs *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++) {
		if (strcmp(l->v[i].name, name) != 0)
			continue;
		sub_free(&l->v[i]);
		memmove(&l->v[i], &l->v[i + 1], (l->n - i - 1) * sizeof *l->v);
		l->n--;
		return;
	}
}

int
subs_changed(struct queue *topic, const char *name, struct fault *f)
{
	struct reading r = { topic, topic->subs, f };

	subs_forget(r.l, name);
	if (read_entry(name, &r) < 0) {
		subs_free(topic->subs);  /* the next one reads them all */
		topic->subs = NULL;
		atomic_fetch_add(&topic->meter->index, 1);
		return -1;
	}
	if (r.l->n > 1)
		qsort(r.l->v, r.l->n, sizeof *r.l->v, by_name);
	index_write(topic, r.l);
	return 0;
}

static bool
text_equal(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
wants_equal(const struct sub *a, const char *pattern, char *const *filters, size_t n)
{
	if (!text_equal(a->pattern, pattern) || a->nfilters != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strcmp(a->filters[i], filters[i]) != 0)
			return false;
	return true;
}

bool
sub_same(const struct sub *a, const struct subscription *b)
{
	return a->ephemeral == b->ephemeral &&
	    wants_equal(a, b->pattern, b->filters, b->nfilters);
}

bool
subs_equal(const struct subs *x, const struct subs *y)
{
	if (x->n != y->n)
		return false;
	for (size_t i = 0; i < x->n; i++) {
		const struct sub *a = &x->v[i], *b = &y->v[i];

		if (strcmp(a->name, b->name) != 0 || a->ttl != b->ttl || a->mode != b->mode ||
		    a->limited != b->limited || a->ephemeral != b->ephemeral ||
		    !wants_equal(a, b->pattern, b->filters, b->nfilters))
			return false;
	}
	return true;
}

/* --- one of them ---------------------------------------------------------------------- */

struct queue *
sub_open(struct queue *topic, struct sub *s, struct fault *f)
{
	if (s->q != NULL && queue_gone(s->q)) {
		queue_close(s->q);
		s->q = NULL;
	}
	if (s->q == NULL)
		s->q = queue_open_sub(topic, s->name, f);
	if (s->q == NULL || queue_conf(s->q, f) == NULL || queue_ready(s->q, f) < 0)
		return NULL;
	return s->q;
}

bool
sub_alive(struct queue *topic, const struct sub *s)
{
	char path[SUB_PATH];
	bool alive;
	int fd;

	snprintf(path, sizeof path, "sub/%s/tail", s->name);
	fd = dir_openat(topic->fd, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
	if (fd < 0)
		return errno != ENOENT;  /* another user's: who knows */
	alive = flock(fd, LOCK_SH | LOCK_NB) < 0;
	close(fd);
	return alive;
}
