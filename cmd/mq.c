/* SPDX-License-Identifier: ISC
 *
 * mq: `mq put ...` is `mq-put ...`. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "opt.h"

static const struct tool tools[] = {
	{ .name = "mq put", .about = "put messages into a queue" },
	{ .name = "mq take", .about = "lease messages, or work them off with a command" },
	{ .name = "mq ack", .about = "settle leased messages" },
	{ .name = "mq cat", .about = "print a message" },
	{ .name = "mq ls", .about = "list queues and messages" },
	{ .name = "mq rm", .about = "remove messages and queues" },
	{ .name = "mq wait", .about = "wait until messages are settled" },
	{ .name = "mq sub", .about = "subscriptions of topics" },
	{ .name = "mq dlq", .about = "dead letters" },
	{ .name = "mq stat", .about = "numbers, and monitoring" },
	{ .name = "mq conf", .about = "settings of queues" },
	{ .name = "mq sweep", .about = "return what expired, release what is due" },
	{ .name = "mq run", .about = "queue commands" },
	{ .name = "mq log", .about = "replayable logs" },
	{ .name = "mq room", .about = "waiting rooms" },
	{ .name = "mq once", .about = "run a command once for a key" },
	{ .name = "mq outbox", .about = "relay a database's outbox" },
};

#define TOOL_COUNT (sizeof tools / sizeof *tools)

static const struct tool *found[TOOL_COUNT + 1];
static const struct tool mq = { "mq", "message queues, a tool for each thing to do",
	"TOOL [argument ...]", NULL, NULL, found };

/* The path of mq-NAME beside this program. */
static int
path_beside(char *path, size_t size, const char *name)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *slash;
	size_t room;

	if (n < 0)
		return -1;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (slash == NULL)
		return -1;
	room = size - (size_t)(slash + 1 - path);
	return (size_t)snprintf(slash + 1, room, "mq-%s", name) < room ? 0 : -1;
}

/* The tools that are there; or all, for completions made before they are. */
static void
tools_find(bool all)
{
	char path[PATH_MAX];
	size_t n = 0;

	for (size_t i = 0; i < TOOL_COUNT; i++)
		if (all ||
		    (path_beside(path, sizeof path, tools[i].name + 3) == 0 &&
		    access(path, X_OK) == 0))
			found[n++] = &tools[i];
}

/* Runs it; comes back only if that fails, with the exit status. */
static int
tool_exec(const struct opt *o, char **argv)
{
	char path[PATH_MAX], name[64];
	const char *tool = argv[0];
	struct fault f;

	if (strchr(tool, '/') != NULL ||
	    (size_t)snprintf(name, sizeof name, "mq-%s", tool) >= sizeof name)
		return opt_usage(o, "unknown tool %.100s", tool);
	argv[0] = name;
	if (path_beside(path, sizeof path, tool) == 0)
		execv(path, argv);
	execvp(name, argv);
	if (errno == ENOENT)
		return opt_usage(o, "unknown tool %s", tool);
	fault_errno(&f, "%s", name);
	return opt_fault(o, &f);
}

int
main(int argc, char **argv)
{
	struct opt o;

	if (argc > 1 && argv[1][0] == '-')
		tools_find(strncmp(argv[1], "--completions", 13) == 0);
	opt_begin(&o, &mq, argc, argv);
	if (opt_next(&o) != 0)
		return o.status;
	if (o.index >= argc)
		return opt_usage(&o, "the tool is missing");
	return tool_exec(&o, argv + o.index);
}
