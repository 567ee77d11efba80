/* SPDX-License-Identifier: ISC
 *
 * look QUEUE-DIRECTORY: reads a queue by its format as mq(5) tells it, with no
 * code of lib/. Prints `ID STATE TRIES UNTIL BODY` a message, oldest first, and
 * `BAD ...` for what must not be on a quiet queue after a sweep: a stray name, a
 * name in the wrong directory, a file that is torn or not the name's, a message
 * with two names, anything in tmp/ and hold/. 1 if there was such. */
#include <dirent.h>
#include <inttypes.h>
#include <regex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

static const char name_pattern[] =
	"^([0-9a-f]{12})\\.([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})"
	"(,o([0-9]+),c([0-9]+))?,n([0-9]+),u([0-9]+),p([0-9])(,g[0-9a-f]{16})?"
	"(,e[0-9]+)?(,d([0-9]+))?(,j)?(,t([0-9]+)(,h[0-9]+\\.[0-9]+(\\.[0-9]+)?)?)?"
	"(,r(acked|buried|dropped|expired),z[0-9]+)?(,f)?$";
#define GROUPS 20
enum { SEQ = 1, UUID, RANGE, FIRST, COUNT, DELIVERIES, UNTRIED, PRIORITY, GROUP,
	DUE = 12, LEASE = 14, OUTCOME = 18, WORD };

struct name {
	uint64_t seq, first, count, deliveries, untried, priority, due;
	bool ranged, grouped, due_given, leased, settled, acked;
	char id[37];
};

struct one {
	char id[37];
	uint64_t order;
	char *line;
};

static struct one *all;
static size_t n_all, room;
static int bad_count;
static regex_t pattern;

static void __attribute__((format(printf, 1, 2)))
bad(const char *fmt, ...)
{
	va_list ap;

	fputs("BAD ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	bad_count++;
}

static uint64_t
number(const char *s, const regmatch_t *m, int base)
{
	return m->rm_so < 0 ? 0 : strtoull(s + m->rm_so, NULL, base);
}

static bool
parse(const char *s, struct name *n)
{
	regmatch_t m[GROUPS];

	if (regexec(&pattern, s, GROUPS, m, 0) != 0)
		return false;
	n->seq = number(s, &m[SEQ], 16);
	snprintf(n->id, sizeof n->id, "%.36s", s + m[UUID].rm_so);
	n->ranged = m[RANGE].rm_so >= 0;
	n->first = number(s, &m[FIRST], 10);
	n->count = n->ranged ? number(s, &m[COUNT], 10) : 1;
	n->deliveries = number(s, &m[DELIVERIES], 10);
	n->untried = number(s, &m[UNTRIED], 10);
	n->priority = number(s, &m[PRIORITY], 10);
	n->due_given = m[DUE].rm_so >= 0;
	n->due = number(s, &m[DUE], 10);
	n->leased = m[LEASE].rm_so >= 0;
	n->grouped = m[GROUP].rm_so >= 0;
	n->settled = m[OUTCOME].rm_so >= 0;
	n->acked = n->settled && s[m[WORD].rm_so] == 'a';
	return true;
}

/* The id of message k of the file: the low half counts. */
static void
id_of(const struct name *n, uint64_t k, char out[static 37])
{
	char hex[17];
	uint64_t low;

	snprintf(hex, sizeof hex, "%.4s%.12s", n->id + 19, n->id + 24);
	low = strtoull(hex, NULL, 16) + k;
	snprintf(out, 37, "%.19s%04x-%012" PRIx64, n->id, (unsigned)(low >> 48),
		low & UINT64_C(0xffffffffffff));
}

static char *
read_all(const char *path, size_t *len)
{
	struct stat st;
	char *data = NULL;
	FILE *f = fopen(path, "r");

	if (f == NULL)
		return NULL;
	if (fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode)) {
		*len = (size_t)st.st_size;
		data = malloc(*len + 1);
		if (data == NULL || fread(data, 1, *len, f) != *len)
			exit(2);
		data[*len] = '\0';
	}
	fclose(f);
	return data;
}

static void
add(const struct name *n, uint64_t k, const char *state, uint64_t until, const char *body,
	int len)
{
	struct one *o;

	if (n_all == room) {
		room = room ? 2 * room : 64;
		all = realloc(all, room * sizeof *all);
		if (all == NULL)
			exit(2);
	}
	o = &all[n_all++];
	id_of(n, k, o->id);
	o->order = n->seq + k;
	if (asprintf(&o->line, "%s %s %" PRIu64 " %" PRIu64 " %.*s", o->id, state,
		n->deliveries - n->untried, until, len, body) < 0)
		exit(2);
}

/* The messages of the name's range, if the file is what the name says. */
static const char *
messages(const struct name *n, char *data, size_t len, const char *state, uint64_t until)
{
	unsigned long long count, length, sum;
	char *rest = memchr(data, '\n', len), *table, *bodies;
	uint64_t start = 0, end;
	char id[64];
	int used = 0;

	if (rest == NULL || sscanf(data, "mq1 %llu %llu %16llx%n", &count, &length, &sum,
		&used) != 3 || data + used != rest++)
		return "its first line";
	if (XXH3_64bits(rest, len - (size_t)(rest - data)) != sum)
		return "its checksum";
	snprintf(id, sizeof id, "id: %s\n", n->id);
	if (strncmp(rest, id, strlen(id)) != 0)
		return "its id";
	if (n->ranged != (count > 1) || n->first + n->count > count || n->count == 0)
		return "its count";
	if ((table = strstr(rest, "\n\n")) == NULL)
		return "its header";
	table += 2;
	bodies = table + (count > 1 ? 9 * count : 0);
	if (bodies + length != data + len)
		return "its length";
	for (uint64_t k = 0; k < n->first + n->count; k++, start = end) {
		end = count > 1 ? strtoull(table + 9 * k, NULL, 16) : length;
		if (end < start || end > length)
			return "its table";
		if (k >= n->first)
			add(n, k, state, until, bodies + start, (int)(end - start));
	}
	return NULL;
}

static void
look_file(const char *path, const char *base, const char *state, uint64_t bucket)
{
	const char *why;
	struct name n;
	size_t len = 0;
	char *data;

	if (!parse(base, &n)) {
		bad("%s: stray name", path);
		return;
	}
	if (n.leased != (strcmp(state, "leased") == 0) ||
		(n.settled != (strcmp(state, "done") == 0) &&
		    !(n.acked && n.grouped && strcmp(state, "leased") == 0)) ||
		(strcmp(state, "later") == 0 && (!n.due_given || n.due < bucket)))
		bad("%s: not a name for there", path);
	data = read_all(path, &len);
	why = data == NULL ? "no regular file" :
		messages(&n, data, len, state, strcmp(state, "later") == 0 ? n.due : bucket);
	if (why != NULL && strcmp(state, "dead") != 0)
		bad("%s: torn or foreign: %s", path, why);
	free(data);
}

/* Calls itself for the directories down to `depth`. */
static void
look_dir(const char *path, int depth, const char *state, uint64_t bucket)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	char sub[4096];

	if (dir == NULL)
		return;
	while ((e = readdir(dir)) != NULL) {
		char *end = NULL;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(sub, sizeof sub, "%s/%s", path, e->d_name);
		if (depth == 0) {
			look_file(sub, e->d_name, state, bucket);
			continue;
		}
		bucket = strtoull(e->d_name, &end, *state == 'b' || (depth == 1 &&
			(*state == 'r' || strcmp(state, "dead") == 0)) ? 16 : 10);
		if (*end != '\0')
			bad("%s: stray entry", sub);
		look_dir(sub, depth - 1, state, bucket);
	}
	closedir(dir);
}

static void
look_empty(const char *queue, const char *dir)
{
	char path[4096];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof path, "%s/%s", queue, dir);
	if ((d = opendir(path)) == NULL)
		return;
	while ((e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			bad("%s/%s: left behind", dir, e->d_name);
	closedir(d);
}

static int
by_order(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	return x->order != y->order ? (x->order < y->order ? -1 : 1) : strcmp(x->id, y->id);
}

static int
by_id(const void *a, const void *b)
{
	return strcmp(((const struct one *)a)->id, ((const struct one *)b)->id);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *dir, *state;
		int depth;
	} dirs[] = {
		{ "new", "ready", 2 }, { "cur", "leased", 1 }, { "later", "later", 1 },
		{ "grp", "blocked", 2 }, { "dlq", "dead", 1 }, { "done", "done", 1 },
	};
	char path[4096];

	if (argc != 2 || regcomp(&pattern, name_pattern, REG_EXTENDED) != 0)
		return 2;
	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		snprintf(path, sizeof path, "%s/%s", argv[1], dirs[i].dir);
		look_dir(path, dirs[i].depth, dirs[i].state, 0);
	}
	look_empty(argv[1], "tmp");
	look_empty(argv[1], "hold");
	if (n_all > 0)
		qsort(all, n_all, sizeof *all, by_id);
	for (size_t i = 1; i < n_all; i++)
		if (strcmp(all[i - 1].id, all[i].id) == 0)
			bad("twice: %s / %s", all[i - 1].line, all[i].line);
	if (n_all > 0)
		qsort(all, n_all, sizeof *all, by_order);
	for (size_t i = 0; i < n_all; i++)
		puts(all[i].line);
	return bad_count > 0;
}
