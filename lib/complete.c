/* SPDX-License-Identifier: ISC */
#include "complete.h"

#include <limits.h>
#include <string.h>

#define QUEUES "mq-ls 2>/dev/null | cut -f1"

enum kind { FLAG, FILES, DIRS, QUEUE, OTHER };

static enum kind
kind_of(const struct opt_row *r)
{
	if (r->arg == NULL)
		return FLAG;
	if (strcmp(r->arg, "FILE") == 0)
		return FILES;
	if (strcmp(r->arg, "DIR") == 0)
		return DIRS;
	return strcmp(r->arg, "QUEUE") == 0 ? QUEUE : OTHER;
}

/* Both the option that a use names and its words for it, one at a time: those
 * of the list, then --help and --version. */
static const struct opt_row *
next_row(const struct tool *t, size_t *i, const char **help)
{
	const struct opt_use *u = t->uses;
	const struct opt_row *r = opt_rows;
	size_t n = 0;
	int id;

	while (u != NULL && u[n].id != 0)
		n++;
	if (*i >= n + 2)
		return NULL;
	id = *i < n ? u[*i].id : *i == n ? OPT_HELP : OPT_VERSION;
	while (r->id != id)
		r++;
	*help = *i < n && u[*i].help != NULL ? u[*i].help : r->help;
	++*i;
	return r;
}

/* mq-conf: --spool is a flag there, and -s has no long name of its own. */
static bool
has_long(const struct tool *t, const struct opt_row *r)
{
	return r->id != 's' || !opt_takes(t, OPT_SPOOL);
}

static bool
takes_somewhere(const struct tool *t, int id)
{
	bool found = opt_takes(t, id);

	for (size_t i = 0; t->verbs != NULL && t->verbs[i] != NULL; i++)
		found = found || opt_takes(t->verbs[i], id);
	return found;
}

/* The operands have one of the words. */
static bool
has_operand(const struct tool *t, const char *const *words)
{
	bool found = false;

	for (; t->operands != NULL && *words != NULL && !found; words++)
		found = strstr(t->operands, *words) != NULL;
	return found;
}

static bool
wants_queues(const struct tool *t)
{
	static const char *const words[] = { "QUEUE", "TOPIC", "LOG", "ROOM", NULL };

	return has_operand(t, words);
}

static bool
wants_files(const struct tool *t)
{
	static const char *const words[] = { "FILE", "COMMAND", NULL };

	return has_operand(t, words);
}

/* The name of a shell function for the tool: _mq_take. */
static void
function_write(FILE *out, const struct tool *t)
{
	fputc('_', out);
	for (const char *c = t->name; *c != '\0'; c++)
		fputc(*c == '-' ? '_' : *c, out);
}

/* Within single quotes: `quote` is what a quote becomes there; the characters
 * of `special` get a backslash. */
static void
quoted_write(FILE *out, const char *text, const char *quote,
	const char *special)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			fputs(quote, out);
		else if (strchr(special, *text) != NULL)
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

/* bash */

/* A case for the options of which the next word is an argument of that kind. */
static void
bash_arguments(FILE *out, const struct tool *t, enum kind kind,
	const char *action)
{
	bool any = false;

	for (const struct opt_row *r = opt_rows; r->id < OPT_HELP && r->id; r++) {
		if (kind_of(r) != kind || !takes_somewhere(t, r->id))
			continue;
		fputs(any ? "|" : "\t", out);
		any = true;
		if (r->id <= UCHAR_MAX)
			fprintf(out, "-%c%s", r->id, has_long(t, r) ? "|" : "");
		if (has_long(t, r))
			fprintf(out, "--%s", r->name);
	}
	if (any)
		fprintf(out, ")\n%s\t\treturn;;\n", action);
}

/* What to complete for a tool or a verb. */
static void
bash_words(FILE *out, const struct tool *t)
{
	const struct opt_row *r;
	const char *help, *lead = "";

	fputs("words='", out);
	for (size_t i = 0; (r = next_row(t, &i, &help)) != NULL; lead = " ") {
		fputs(lead, out);
		if (r->id <= UCHAR_MAX)
			fprintf(out, "-%c%s", r->id, has_long(t, r) ? " " : "");
		if (has_long(t, r))
			fprintf(out, "--%s", r->name);
	}
	fprintf(out, "' queues=%d files=%d\n", wants_queues(t), wants_files(t));
}

static void
bash_verbs(FILE *out, const struct tool *t)
{
	fputs("\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
		"\t\tmapfile -t COMPREPLY < <(compgen -W '", out);
	for (size_t i = 0; t->verbs[i] != NULL; i++)
		fprintf(out, "%s ", opt_verb_name(t->verbs[i]));
	fputs("--help --version' -- \"$cur\")\n\t\treturn\n\tfi\n"
		"\tcase ${COMP_WORDS[1]} in\n", out);
	for (size_t i = 0; t->verbs[i] != NULL; i++) {
		fprintf(out, "\t%s) ", opt_verb_name(t->verbs[i]));
		bash_words(out, t->verbs[i]);
		fputs("\t\t;;\n", out);
	}
	fputs("\tesac\n", out);
}

static void
bash_write(FILE *out, const struct tool *t)
{
	fputs("_mq_queues() {\n\tlocal queue\n"
		"\twhile IFS= read -r queue; do\n"
		"\t\t[[ $queue == \"$cur\"* ]] && COMPREPLY+=(\"$queue\")\n"
		"\tdone < <(" QUEUES ")\n}\n", out);
	function_write(out, t);
	fputs("() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} "
		"prev=${COMP_WORDS[COMP_CWORD-1]} words= queues=0 files=0\n"
		"\tCOMPREPLY=()\n"
		"\tif [[ $cur == = ]]; then\n\t\tcur=\n"
		"\telif [[ $prev == = ]]; then\n"
		"\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n\tfi\n"
		"\tcase $prev in\n", out);
	bash_arguments(out, t, FILES, "\t\tcompopt -o filenames\n"
		"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n");
	bash_arguments(out, t, DIRS, "\t\tcompopt -o filenames\n"
		"\t\tmapfile -t COMPREPLY < <(compgen -d -- \"$cur\")\n");
	bash_arguments(out, t, QUEUE, "\t\t_mq_queues\n");
	bash_arguments(out, t, OTHER, "");
	fputs("\tesac\n", out);
	if (t->verbs != NULL)
		bash_verbs(out, t);
	else {
		fputc('\t', out);
		bash_words(out, t);
	}
	fputs("\tif [[ $cur == -* ]]; then\n"
		"\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		"\t\treturn\n\tfi\n"
		"\tif [ \"$queues\" -ne 0 ]; then\n\t\t_mq_queues\n\tfi\n"
		"\tif [ \"$files\" -ne 0 ]; then\n"
		"\t\tcompopt -o filenames\n"
		"\t\tmapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < "
		"<(compgen -f -- \"$cur\")\n\tfi\n}\ncomplete -F ", out);
	function_write(out, t);
	fprintf(out, " %s\n", t->name);
}

/* zsh */

static void
zsh_option(FILE *out, const struct tool *t, const struct opt_row *r,
	const char *help)
{
	static const char *const actions[] = { [FILES] = "_files",
		[DIRS] = "_files -/", [QUEUE] = "_mq_queues", [OTHER] = " " };
	bool both = r->id <= UCHAR_MAX && has_long(t, r);

	fputs(" \\\n\t\t", out);
	if (r->arg != NULL)
		fputs("'*'", out);
	else if (both)
		fprintf(out, "'(-%c --%s)'", r->id, r->name);
	if (both)
		fprintf(out, r->arg ? "{-%c+,--%s=}" : "{-%c,--%s}", r->id, r->name);
	else if (r->id <= UCHAR_MAX)
		fprintf(out, "-%c%s", r->id, r->arg != NULL ? "+" : "");
	else
		fprintf(out, "--%s%s", r->name, r->arg != NULL ? "=" : "");
	fputs("'[", out);
	quoted_write(out, help, "'\\''", "[]\\:");
	fputc(']', out);
	if (r->arg != NULL)
		fprintf(out, ":%s:%s", r->arg, actions[kind_of(r)]);
	fputc('\'', out);
}

static void
zsh_arguments(FILE *out, const struct tool *t)
{
	const struct opt_row *r;
	const char *help;

	fputs("_arguments -s -S", out);
	for (size_t i = 0; (r = next_row(t, &i, &help)) != NULL; )
		zsh_option(out, t, r, help);
	if (wants_queues(t) && wants_files(t))
		fputs(" \\\n\t\t'*:operand:_mq_queues_files'", out);
	else if (wants_queues(t))
		fputs(" \\\n\t\t'*:queue:_mq_queues'", out);
	else if (wants_files(t))
		fputs(" \\\n\t\t'*:file:_files'", out);
	fputc('\n', out);
}

static void
zsh_verbs(FILE *out, const struct tool *t)
{
	fputs("\tif (( CURRENT == 2 )); then\n\t\tlocal -a verbs=(", out);
	for (size_t i = 0; t->verbs[i] != NULL; i++) {
		fprintf(out, "\n\t\t\t'%s:", opt_verb_name(t->verbs[i]));
		quoted_write(out, t->verbs[i]->about, "'\\''", "\\:");
		fputc('\'', out);
	}
	fputs(")\n\t\t_describe verb verbs\n\t\treturn\n\tfi\n"
		"\tshift words\n\t(( CURRENT-- ))\n\tcase $words[1] in\n", out);
	for (size_t i = 0; t->verbs[i] != NULL; i++) {
		fprintf(out, "\t(%s) ", opt_verb_name(t->verbs[i]));
		zsh_arguments(out, t->verbs[i]);
		fputs("\t\t;;\n", out);
	}
	fputs("\tesac\n", out);
}

static void
zsh_write(FILE *out, const struct tool *t)
{
	fprintf(out, "#compdef %s\n"
		"_mq_queues() {\n"
		"\tlocal -a queues=(${(f)\"$(" QUEUES ")\"})\n"
		"\tcompadd -a queues\n}\n"
		"_mq_queues_files() {\n\t_mq_queues\n\t_files\n}\n", t->name);
	function_write(out, t);
	fputs("() {\n", out);
	if (t->verbs != NULL)
		zsh_verbs(out, t);
	else {
		fputc('\t', out);
		zsh_arguments(out, t);
	}
	fputs("}\nif [ \"$funcstack[1]\" = ", out);
	function_write(out, t);
	fputs(" ]; then\n\t", out);
	function_write(out, t);
	fputs(" \"$@\"\nelse\n\tcompdef ", out);
	function_write(out, t);
	fprintf(out, " %s\nfi\n", t->name);
}

/* fish */

/* "complete -c TOOL", for a verb under the condition that it was given. */
static void
fish_begin(FILE *out, const struct tool *t)
{
	size_t len = strcspn(t->name, " ");

	fprintf(out, "complete -c %.*s", (int)len, t->name);
	if (t->name[len] != '\0')
		fprintf(out, " -n '__fish_seen_subcommand_from %s'", opt_verb_name(t));
}

static void
fish_option(FILE *out, const struct tool *t, const struct opt_row *r,
	const char *help)
{
	static const char *const actions[] = { [FLAG] = "",
		[FILES] = " -r -F",
		[DIRS] = " -x -a '(__fish_complete_directories (commandline -ct))'",
		[QUEUE] = " -x -a '(" QUEUES ")'", [OTHER] = " -x" };

	fish_begin(out, t);
	if (r->id <= UCHAR_MAX)
		fprintf(out, " -s %c", r->id);
	if (has_long(t, r))
		fprintf(out, " -l %s", r->name);
	fprintf(out, "%s -d '", actions[kind_of(r)]);
	quoted_write(out, help, "\\'", "\\");
	fputs("'\n", out);
}

static void
fish_tool(FILE *out, const struct tool *t)
{
	const struct opt_row *r;
	const char *help;

	for (size_t i = 0; (r = next_row(t, &i, &help)) != NULL; )
		fish_option(out, t, r, help);
	fish_begin(out, t);
	fputs(wants_files(t) ? " -F" : " -f", out);
	if (wants_queues(t))
		fputs(" -a '(" QUEUES ")'", out);
	fputc('\n', out);
}

static void
fish_verbs(FILE *out, const struct tool *t)
{
	fprintf(out, "complete -c %s -f\n", t->name);
	for (size_t i = 0; t->verbs[i] != NULL; i++) {
		fprintf(out, "complete -c %s -n __fish_use_subcommand -a %s -d '",
			t->name, opt_verb_name(t->verbs[i]));
		quoted_write(out, t->verbs[i]->about, "\\'", "\\");
		fputs("'\n", out);
		fish_tool(out, t->verbs[i]);
	}
}

static void
fish_write(FILE *out, const struct tool *t)
{
	if (t->verbs != NULL)
		fish_verbs(out, t);
	else
		fish_tool(out, t);
}

bool
complete_write(FILE *out, const struct tool *t, const char *shell)
{
	if (strcmp(shell, "bash") == 0)
		bash_write(out, t);
	else if (strcmp(shell, "zsh") == 0)
		zsh_write(out, t);
	else if (strcmp(shell, "fish") == 0)
		fish_write(out, t);
	else
		return false;
	return true;
}
