/* SPDX-License-Identifier: ISC
 *
 * crash-sweep: runs a command again and again and, at its first, second, ...
 * Nth state-changing system call, kills it, tears the write, fails the call,
 * or runs another command in the gap; then checks what is left.
 *
 * One ptrace+seccomp tracer: SECCOMP_RET_TRACE on the chosen calls only, so all
 * others run at full speed. One counter for all chosen calls in all processes of
 * the run (strace's inject=...:when=N counts each call's name apart). */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef __x86_64__
#error "crash-sweep knows the registers of x86-64 only"
#endif

#define TRACEES_MAX 4096
#define CALLS_MAX 512
#define FILTER_MAX (2 * CALLS_MAX + 32)
#define ARG_SIZE 256                     /* of a call's file, to print */

static const char usage_text[] =
	"usage: crash-sweep [options] [--setup CMD] --run CMD --check CMD\n"
	"  -s LIST          calls to count: names, @kill, @err, or openw (open for writing);\n"
	"                   default @kill, or @err with -e\n"
	"  -e E[,E...]      fail the Nth call with this errno (ENOSPC, EIO, EINTR, ...)\n"
	"  --sticky         with -e: the Nth and all later ones fail\n"
	"  --torn           half of the Nth write is done, then SIGKILL\n"
	"  --short          the Nth read or write moves half of its bytes; goes on\n"
	"  --after          SIGKILL when the Nth call is done, before it returns\n"
	"  --all-procs      SIGKILL every process of the run, not the caller alone\n"
	"  --meanwhile CMD  run CMD to its end while the Nth call is held\n"
	"  --everywhere     with -e, --short: count calls on files outside $D, $OUT, $ERR too\n"
	"  --setup-once     run the setup once, copy its result for each N\n"
	"  --from N, --to N, -j JOBS, --timeout SECONDS (10; a hang is a failure)\n"
	"  --dir BASE, -v, --keep (the first failure's directory)\n"
	"The commands run in $D, a fresh directory, by sh. $OUT and $ERR are what the run\n"
	"printed, $MOUT what the meanwhile did; the check also has $N, $SC (the call, empty\n"
	"for none), $RC (exit status of the run, 137 = killed) and $E (the errno).\n"
	"N=0 is without a fault. Ends with `N passed, N failed`; 1 on a failure.\n";

static const char kill_set[] =
	"openw,creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,"
	"fallocate,copy_file_range,sendfile,splice,link,linkat,rename,renameat,"
	"renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,symlink,symlinkat,chmod,"
	"fchmod,fchmodat,utimensat,setxattr,fsetxattr,fsync,fdatasync,syncfs,msync";
static const char err_set[] =
	"open,openat,openat2,creat,read,pread64,readv,getdents64,write,pwrite64,"
	"writev,ftruncate,fallocate,copy_file_range,sendfile,splice,link,linkat,"
	"rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,symlink,"
	"symlinkat,chmod,fchmod,fchmodat,utimensat,setxattr,fsetxattr,getxattr,"
	"fgetxattr,fsync,fdatasync,syncfs,close,stat,lstat,newfstatat,fstat,statx,"
	"flock,fcntl,poll,ppoll,select,pselect6,inotify_init1,inotify_add_watch,"
	"nanosleep,clock_nanosleep,pipe,pipe2,clone,fork,vfork,wait4,execve";
static const char torn_set[] = "write,pwrite64,writev";
static const char short_set[] = "read,pread64,write,pwrite64";

struct number {
	const char *name;
	int n;
};

static const struct number calls[] = {
#include "sysnames.h"
	{ NULL, 0 },
};
static const struct number errnos[] = {
	{ "ENOSPC", ENOSPC }, { "EIO", EIO }, { "EINTR", EINTR },
	{ "EMFILE", EMFILE }, { "ENFILE", ENFILE }, { "ENOMEM", ENOMEM },
	{ "EDQUOT", EDQUOT }, { "EACCES", EACCES }, { "EPERM", EPERM },
	{ "EROFS", EROFS }, { "ENOENT", ENOENT }, { "EEXIST", EEXIST },
	{ "EMLINK", EMLINK }, { "EAGAIN", EAGAIN }, { "ESTALE", ESTALE },
	{ "EXDEV", EXDEV }, { "ENOLCK", ENOLCK }, { "EPIPE", EPIPE },
	{ "EBUSY", EBUSY }, { "ENOSYS", ENOSYS }, { "EINVAL", EINVAL },
	{ "EFBIG", EFBIG }, { "EOPNOTSUPP", EOPNOTSUPP },
	{ "ENAMETOOLONG", ENAMETOOLONG }, { NULL, 0 },
};

enum mode { KILL, ERR, TORN, SHORT, AFTER, MEANWHILE };

/* the program's options */
static struct {
	enum mode mode;
	const char *setup, *run, *check, *meanwhile, *base, *calls, *errnos;
	bool sticky, all_procs, everywhere, setup_once, verbose, keep;
	long from, to;
	int jobs, timeout;
} opt = { .to = LONG_MAX, .jobs = 1, .timeout = 10 };

/* the calls to stop at, and what to fail them with */
static int chosen[CALLS_MAX], nchosen;
static bool chosen_openw;
static int fail_errno;
static const char *fail_name = "";

/* --- odds and ends ----------------------------------------------------------- */

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...)
{
	va_list ap;

	fputs("crash-sweep: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

static void __attribute__((noreturn))
die_errno(const char *what)
{
	die("%s: %s", what, strerror(errno));
}

static int
number_of(const struct number *table, const char *name)
{
	for (; table->name != NULL; table++)
		if (strcmp(table->name, name) == 0)
			return table->n;
	return -1;
}

static const char *
call_name(int nr)
{
	for (const struct number *c = calls; c->name != NULL; c++)
		if (c->n == nr)
			return c->name;
	return "?";
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return type == FTW_DP ? rmdir(path) : unlink(path);
}

static void
remove_tree(const char *path)
{
	nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

static double
seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static volatile sig_atomic_t timed_out;

static void
on_alarm(int sig)
{
	(void)sig;
	timed_out = 1;
}

static void
set_timer(int seconds)
{
	/* repeats: the signal may come just before a wait */
	struct itimerval it = { { 0, seconds > 0 ? 200000 : 0 }, { seconds, 0 } };

	setitimer(ITIMER_REAL, &it, NULL);
}

static void
setenv_long(const char *name, long n)
{
	char s[32];

	snprintf(s, sizeof s, "%ld", n);
	setenv(name, s, 1);
}

/* --- which calls -------------------------------------------------------------- */

static void
choose(const char *list)
{
	char *copy = strdup(list), *save, *word;

	for (word = strtok_r(copy, ",", &save); word != NULL;
	     word = strtok_r(NULL, ",", &save)) {
		int nr;

		if (strcmp(word, "@kill") == 0) {
			choose(kill_set);
		} else if (strcmp(word, "@err") == 0) {
			choose(err_set);
		} else if (strcmp(word, "openw") == 0) {
			chosen_openw = true;
		} else {
			nr = number_of(calls, word);
			if (nr < 0)
				die("%s: no such system call", word);
			if (nchosen == CALLS_MAX)
				die("%s: too many calls", word);
			chosen[nchosen++] = nr;
		}
	}
	free(copy);
}

static void
choose_default(void)
{
	if (opt.calls != NULL)
		choose(opt.calls);
	else if (opt.mode == TORN)
		choose(torn_set);
	else if (opt.mode == SHORT)
		choose(short_set);
	else
		choose(opt.mode == ERR ? err_set : kill_set);
}

struct filter {
	struct sock_filter code[FILTER_MAX];
	unsigned short n;
};

static void
filter_add(struct filter *f, int code, unsigned k, int if_true, int if_false)
{
	if (f->n == FILTER_MAX)
		die("filter too long");
	f->code[f->n++] = (struct sock_filter){ (unsigned short)code,
		(unsigned char)if_true, (unsigned char)if_false, k };
}

#define LOAD (BPF_LD | BPF_W | BPF_ABS)
#define IF_EQUAL (BPF_JMP | BPF_JEQ | BPF_K)
#define IF_ANY (BPF_JMP | BPF_JSET | BPF_K)
#define RETURN (BPF_RET | BPF_K)

/* stops at an open call whose flags say that it writes or creates */
static void
filter_openw(struct filter *f, int nr, int flags_arg)
{
	unsigned writes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC |
		(O_TMPFILE & ~O_DIRECTORY);

	filter_add(f, IF_EQUAL, (unsigned)nr, 0, 4);
	filter_add(f, LOAD, (unsigned)(offsetof(struct seccomp_data, args) +
		sizeof(uint64_t) * (size_t)flags_arg), 0, 0);
	filter_add(f, IF_ANY, writes, 0, 1);
	filter_add(f, RETURN, SECCOMP_RET_TRACE, 0, 0);
	filter_add(f, RETURN, SECCOMP_RET_ALLOW, 0, 0);
}

/* From here on the chosen calls of this process stop for the tracer. */
static void
filter_install(void)
{
	struct filter f = { .n = 0 };
	struct sock_fprog prog;

	filter_add(&f, LOAD, offsetof(struct seccomp_data, arch), 0, 0);
	filter_add(&f, IF_EQUAL, AUDIT_ARCH_X86_64, 1, 0);
	filter_add(&f, RETURN, SECCOMP_RET_ALLOW, 0, 0);
	filter_add(&f, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
	for (int i = 0; i < nchosen; i++) {
		filter_add(&f, IF_EQUAL, (unsigned)chosen[i], 0, 1);
		filter_add(&f, RETURN, SECCOMP_RET_TRACE, 0, 0);
	}
	if (chosen_openw) {
		filter_openw(&f, SYS_openat, 2);
		filter_openw(&f, SYS_open, 1);
	}
	filter_add(&f, RETURN, SECCOMP_RET_ALLOW, 0, 0);
	prog = (struct sock_fprog){ f.n, f.code };
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0)
		return;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		die_errno("seccomp");
}

/* --- which file a call is about ------------------------------------------------ */

static bool
takes_dir_and_path(int nr)
{
	switch (nr) {
	case SYS_openat: case SYS_openat2: case SYS_unlinkat: case SYS_mkdirat:
	case SYS_renameat: case SYS_renameat2: case SYS_linkat:
	case SYS_newfstatat: case SYS_statx: case SYS_fchmodat:
	case SYS_utimensat: case SYS_inotify_add_watch: case SYS_faccessat:
	case SYS_readlinkat:
		return true;
	default:
		return false;
	}
}

static bool
takes_path(int nr)
{
	switch (nr) {
	case SYS_open: case SYS_creat: case SYS_stat: case SYS_lstat:
	case SYS_rename: case SYS_link: case SYS_unlink: case SYS_mkdir:
	case SYS_rmdir: case SYS_symlink: case SYS_chmod: case SYS_truncate:
	case SYS_setxattr: case SYS_getxattr: case SYS_execve: case SYS_access:
	case SYS_readlink:
		return true;
	default:
		return false;
	}
}

static bool
takes_fd(int nr)
{
	switch (nr) {
	case SYS_write: case SYS_pwrite64: case SYS_writev: case SYS_pwritev:
	case SYS_fsync: case SYS_fdatasync: case SYS_close: case SYS_read:
	case SYS_pread64: case SYS_readv: case SYS_fstat: case SYS_getdents64:
	case SYS_ftruncate: case SYS_fallocate: case SYS_flock: case SYS_fcntl:
	case SYS_syncfs: case SYS_fchmod: case SYS_fsetxattr:
	case SYS_fgetxattr: case SYS_sendfile: case SYS_copy_file_range:
	case SYS_lseek:
		return true;
	default:
		return false;
	}
}

/* A string of the process; empty if it cannot be read. */
static void
read_string(pid_t pid, unsigned long address, char out[static ARG_SIZE])
{
	size_t to_page_end = 4096 - (address & 4095);
	struct iovec here = { out, ARG_SIZE - 1 };
	struct iovec there = { (void *)address, ARG_SIZE - 1 };
	ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);

	if (n <= 0 && to_page_end < ARG_SIZE - 1) {
		here.iov_len = there.iov_len = to_page_end;
		n = process_vm_readv(pid, &here, 1, &there, 1, 0);
	}
	out[n < 0 ? 0 : n] = '\0';
}

/* The file of the call: its path as given, or what its descriptor stands for.
 * False if it has none. */
static bool
call_file(pid_t pid, int nr, const struct user_regs_struct *r,
	char out[static ARG_SIZE])
{
	char link[64];
	ssize_t n;

	out[0] = '\0';
	if (takes_dir_and_path(nr) || takes_path(nr)) {
		read_string(pid, takes_path(nr) ? r->rdi : r->rsi, out);
		/* an empty path is AT_EMPTY_PATH: the descriptor */
		if (out[0] != '\0' || takes_path(nr))
			return true;
	}
	if (!takes_fd(nr) && !takes_dir_and_path(nr))
		return false;
	snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, (int)r->rdi);
	n = readlink(link, out, ARG_SIZE - 1);
	out[n < 0 ? 0 : n] = '\0';
	return true;
}

/* --- a case: its files and commands ------------------------------------------------ */

struct place {
	char dir[512], d[600], out[600], err[600], mout[600], template[600];
};

static void
place_make(struct place *p, int job)
{
	snprintf(p->dir, sizeof p->dir, "%s/cs.%d.%d", opt.base, (int)getppid(), job);
	snprintf(p->d, sizeof p->d, "%s/d", p->dir);
	snprintf(p->out, sizeof p->out, "%s/out", p->dir);
	snprintf(p->err, sizeof p->err, "%s/err", p->dir);
	snprintf(p->mout, sizeof p->mout, "%s/mout", p->dir);
	snprintf(p->template, sizeof p->template, "%s/template", p->dir);
	remove_tree(p->dir);
	if (mkdir(p->dir, 0755) < 0)
		die_errno(p->dir);
	setenv("OUT", p->out, 1);
	setenv("ERR", p->err, 1);
	setenv("MOUT", p->mout, 1);
	setenv("E", fail_name, 1);
}

static void
append_to(const char *file, int fd)
{
	int f = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);

	dup2(f, fd);
	close(f);
}

/* Starts sh -c `cmd` in `dir`, a process group of its own; its output goes to
 * files, or stays as ours. */
static pid_t
shell_start(const char *cmd, const char *dir, const char *out, const char *err)
{
	pid_t pid = fork();

	if (pid < 0)
		die_errno("fork");
	if (pid > 0)
		return pid;
	signal(SIGALRM, SIG_DFL);
	setpgid(0, 0);
	if (chdir(dir) < 0)
		_exit(126);
	if (out != NULL) {
		append_to(out, STDOUT_FILENO);
		append_to(err, STDERR_FILENO);
	}
	execl("/bin/sh", "sh", "-c", cmd, (char *)NULL);
	_exit(127);
}

static int
status_of(int st)
{
	return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}

/* Its exit status; killed, and timed_out set, if it takes too long. */
static int
shell_wait(pid_t pid)
{
	int st, status = 126;

	timed_out = 0;
	set_timer(opt.timeout);
	for (;;) {
		if (waitpid(pid, &st, 0) == pid) {
			status = status_of(st);
			break;
		}
		if (errno != EINTR)
			break;
		if (timed_out)
			kill(-pid, SIGKILL);
	}
	set_timer(0);
	return status;
}

static void
make_empty(const char *file)
{
	int fd;

	unlink(file);
	fd = open(file, O_WRONLY | O_CREAT, 0600);
	if (fd < 0)
		die_errno(file);
	close(fd);
}

static void
set_up(const struct place *p, const char *dir)
{
	setenv("D", dir, 1);
	if (mkdir(dir, 0755) < 0)
		die_errno(dir);
	if (opt.setup != NULL &&
	    shell_wait(shell_start(opt.setup, dir, p->out, p->err)) != 0)
		die("the setup failed: %s", opt.setup);
}

/* A fresh $D, with the setup done, and empty $OUT $MOUT. */
static void
place_fresh(const struct place *p)
{
	char cp[1300];

	remove_tree(p->d);
	unlink(p->err);
	if (opt.setup_once && opt.setup != NULL) {
		snprintf(cp, sizeof cp, "exec cp -a '%s' '%s'", p->template, p->d);
		if (shell_wait(shell_start(cp, p->dir, NULL, NULL)) != 0)
			die("cp -a failed");
	} else {
		set_up(p, p->d);
	}
	setenv("D", p->d, 1);
	make_empty(p->out);
	make_empty(p->mout);
}

/* --- the traced run ------------------------------------------------------------------ */

struct trace {
	const struct place *place;
	long n;                          /* the call to act at; 0: none */
	long count;                      /* calls seen */
	int hit;                         /* the call acted at, -1 none yet */
	char arg[ARG_SIZE];              /* its file */
	bool started;                    /* past the shell's exec */
	pid_t kill_at_exit;              /* SIGKILL it when its call ends */
	pid_t meanwhile;                 /* still running, 0 none */
	pid_t pids[TRACEES_MAX];
	int npids;
};

static void
tracee_add(struct trace *t, pid_t pid)
{
	for (int i = 0; i < t->npids; i++)
		if (t->pids[i] == pid)
			return;
	if (t->npids == TRACEES_MAX)
		die("too many processes");
	t->pids[t->npids++] = pid;
}

static void
tracee_remove(struct trace *t, pid_t pid)
{
	for (int i = 0; i < t->npids; i++)
		if (t->pids[i] == pid) {
			t->pids[i] = t->pids[--t->npids];
			return;
		}
}

static void
kill_all(const struct trace *t)
{
	for (int i = 0; i < t->npids; i++)
		kill(t->pids[i], SIGKILL);
}

static void
kill_chosen(const struct trace *t, pid_t pid)
{
	if (opt.all_procs)
		kill_all(t);
	else
		kill(pid, SIGKILL);
}

static void
go_on(pid_t pid, int sig)
{
	ptrace(PTRACE_CONT, pid, 0, (unsigned long)sig);
}

/* In the child: waits until it is traced, then becomes the run's shell. */
static void __attribute__((noreturn))
run_exec(const struct place *p, int ready)
{
	char c;
	int fd;

	signal(SIGALRM, SIG_DFL);
	if (read(ready, &c, 1) != 1 || chdir(p->d) < 0)
		_exit(126);
	fd = open("/dev/null", O_RDONLY);
	if (fd != STDIN_FILENO) {
		dup2(fd, STDIN_FILENO);
		close(fd);
	}
	append_to(p->out, STDOUT_FILENO);
	append_to(p->err, STDERR_FILENO);
	filter_install();
	execl("/bin/sh", "sh", "-c", opt.run, (char *)NULL);
	_exit(127);
}

static pid_t
run_start(struct trace *t)
{
	int ready[2];
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC) < 0)
		die_errno("pipe");
	pid = fork();
	if (pid < 0)
		die_errno("fork");
	if (pid == 0) {
		close(ready[1]);
		run_exec(t->place, ready[0]);
	}
	close(ready[0]);
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
		PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
		PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD) < 0)
		die_errno("PTRACE_SEIZE");
	tracee_add(t, pid);
	if (write(ready[1], "x", 1) != 1)
		die_errno("pipe");
	close(ready[1]);
	return pid;
}

static void
fail_call(pid_t pid, struct user_regs_struct *r)
{
	r->orig_rax = (unsigned long)-1;         /* no call at all */
	r->rax = (unsigned long)-(long)fail_errno;
	ptrace(PTRACE_SETREGS, pid, 0, r);
}

static void
halve_call(pid_t pid, int nr, struct user_regs_struct *r)
{
	switch (nr) {
	case SYS_write: case SYS_pwrite64: case SYS_read: case SYS_pread64:
		if (r->rdx > 1) {
			r->rdx /= 2;
			ptrace(PTRACE_SETREGS, pid, 0, r);
		}
	}
}

/* Runs the other command to its end; if it does not end in a second and a half
 * (it waits for a lock of the held one, say), it goes on beside the run. */
static void
run_meanwhile(struct trace *t)
{
	const struct timespec soon = { 0, 500000 }, later = { 0, 5000000 };
	int st;

	t->meanwhile = shell_start(opt.meanwhile, t->place->d, t->place->mout,
		t->place->err);
	for (int i = 0; i < 400; i++) {
		if (waitpid(t->meanwhile, &st, WNOHANG) == t->meanwhile) {
			t->meanwhile = 0;
			return;
		}
		nanosleep(i < 100 ? &soon : &later, NULL);
	}
}

/* This is the Nth call: do to it what the options say. */
static void
act(struct trace *t, pid_t pid, int nr, struct user_regs_struct *r)
{
	if (t->hit < 0) {
		t->hit = nr;
		call_file(pid, nr, r, t->arg);
	}
	switch (opt.mode) {
	case KILL:
		kill_chosen(t, pid);
		break;
	case ERR:
		fail_call(pid, r);
		break;
	case SHORT:
		halve_call(pid, nr, r);
		break;
	case MEANWHILE:
		run_meanwhile(t);
		break;
	case TORN:
		halve_call(pid, nr, r);
		/* fallthrough */
	case AFTER:
		t->kill_at_exit = pid;
		ptrace(PTRACE_SYSCALL, pid, 0, 0);
		return;
	}
	go_on(pid, 0);
}

static bool
is_elsewhere(const struct place *p, const char *file)
{
	return file[0] == '/' && strncmp(file, p->d, strlen(p->d)) != 0 &&
		strcmp(file, p->out) != 0 && strcmp(file, p->err) != 0;
}

static void
on_call(struct trace *t, pid_t pid)
{
	struct user_regs_struct r;
	char file[ARG_SIZE];
	int nr;

	if (ptrace(PTRACE_GETREGS, pid, 0, &r) < 0)
		return;                          /* it has been killed */
	nr = (int)r.orig_rax;
	if (!opt.everywhere && call_file(pid, nr, &r, file) &&
	    is_elsewhere(t->place, file)) {
		go_on(pid, 0);
		return;
	}
	t->count++;
	if (t->n > 0 && (t->count == t->n || (opt.sticky && t->count > t->n)))
		act(t, pid, nr, &r);
	else
		go_on(pid, 0);
}

static void
on_group_stop(pid_t pid, int sig)
{
	if (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)
		ptrace(PTRACE_LISTEN, pid, 0, 0);
	else
		go_on(pid, 0);
}

static void
on_stop(struct trace *t, pid_t pid, int st)
{
	int sig = WSTOPSIG(st), event = st >> 16;

	tracee_add(t, pid);
	if (event == PTRACE_EVENT_EXEC)
		t->started = true;
	if (event == PTRACE_EVENT_STOP) {
		on_group_stop(pid, sig);
	} else if (event == PTRACE_EVENT_SECCOMP && t->started) {
		on_call(t, pid);
	} else if (sig == (SIGTRAP | 0x80)) {    /* the end of a call */
		if (pid == t->kill_at_exit) {
			t->kill_at_exit = 0;
			kill_chosen(t, pid);
		}
		go_on(pid, 0);
	} else {
		go_on(pid, event != 0 ? 0 : sig);
	}
}

/* What still runs beside the run may end by itself now; a hang if it does not. */
static void
end_meanwhile(struct trace *t)
{
	int st;

	while (t->meanwhile != 0) {
		if (waitpid(t->meanwhile, &st, 0) == t->meanwhile)
			t->meanwhile = 0;
		else if (timed_out)
			kill(-t->meanwhile, SIGKILL);
	}
}

/* Runs the command with the fault at call t->n; its exit status. */
static int
traced_run(struct trace *t)
{
	int st, status = -1;
	pid_t pid, run;

	timed_out = 0;
	run = run_start(t);
	set_timer(opt.timeout);
	while (t->npids > 0) {
		pid = waitpid(-1, &st, __WALL);
		if (pid < 0 && errno != EINTR)
			break;
		if (pid < 0) {
			if (timed_out)
				kill_all(t);
		} else if (pid == t->meanwhile) {
			t->meanwhile = 0;
		} else if (WIFSTOPPED(st)) {
			on_stop(t, pid, st);
		} else {
			tracee_remove(t, pid);
			if (pid == run)
				status = status_of(st);
		}
	}
	end_meanwhile(t);
	set_timer(0);
	return status;
}

/* --- the sweep -------------------------------------------------------------------------- */

struct tally {
	long tried, failed, calls;       /* calls: the most of any run */
};

static void
report(const struct trace *t, int status, const char *why)
{
	printf("%s N=%ld at %s(%s)%s%s rc=%d%s%s\n", why != NULL ? "FAIL" : "ok  ",
		t->n, t->hit < 0 ? "-" : call_name(t->hit), t->arg,
		*fail_name != '\0' ? " " : "", fail_name, status,
		why != NULL ? " by " : "", why != NULL ? why : "");
	fflush(stdout);
}

/* One case; false when the command has no Nth call any more. */
static bool
sweep_one(const struct place *p, long n, struct tally *sum, bool *bad)
{
	static struct trace t;
	const char *why = NULL;
	int status;

	t = (struct trace){ .place = p, .n = n, .hit = -1 };
	place_fresh(p);
	status = traced_run(&t);
	if (n > 0 && t.hit < 0 && !timed_out)
		return false;
	setenv_long("N", n);
	setenv_long("RC", status);
	setenv("SC", t.hit < 0 ? "" : call_name(t.hit), 1);
	if (timed_out)
		why = "a hang";
	else if (shell_wait(shell_start(opt.check, p->d, NULL, NULL)) != 0)
		why = timed_out ? "a hang of its check" : "its check";
	*bad = why != NULL;
	sum->tried++;
	sum->failed += *bad;
	if (t.count > sum->calls)
		sum->calls = t.count;
	if (*bad || opt.verbose)
		report(&t, status, why);
	return true;
}

static struct tally
sweep(int job)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct tally sum = { 0, 0, 0 };
	struct place p = { .dir = "" };

	sigaction(SIGALRM, &sa, NULL);
	place_make(&p, job);
	if (opt.setup_once && opt.setup != NULL)
		set_up(&p, p.template);
	for (long n = opt.from + job; n <= opt.to; n += opt.jobs) {
		bool bad = false;

		if (!sweep_one(&p, n, &sum, &bad))
			break;
		if (bad && opt.keep) {
			printf("kept %s\n", p.dir);
			fflush(stdout);
			return sum;
		}
		if (bad && n == 0) {
			puts("the run without a fault fails its own check: stop");
			fflush(stdout);
			break;
		}
	}
	remove_tree(p.dir);
	return sum;
}

/* Sweeps in opt.jobs processes and adds up what they found. */
static void
sweep_all(struct tally *sum)
{
	struct tally one;
	int fds[2], got = 0;

	fflush(stdout);
	if (pipe(fds) < 0)
		die_errno("pipe");
	for (int job = 0; job < opt.jobs; job++) {
		pid_t pid = fork();

		if (pid < 0)
			die_errno("fork");
		if (pid == 0) {
			close(fds[0]);
			one = sweep(job);
			_exit(write(fds[1], &one, sizeof one) != sizeof one);
		}
	}
	close(fds[1]);
	while (read(fds[0], &one, sizeof one) == sizeof one) {
		sum->tried += one.tried;
		sum->failed += one.failed;
		if (one.calls > sum->calls)
			sum->calls = one.calls;
		got++;
	}
	close(fds[0]);
	while (wait(NULL) > 0)
		;
	if (got != opt.jobs)
		die("a worker died");
}

static void
sweep_errnos(struct tally *sum)
{
	char *copy = strdup(opt.errnos), *save, *word;

	for (word = strtok_r(copy, ",", &save); word != NULL;
	     word = strtok_r(NULL, ",", &save)) {
		fail_errno = number_of(errnos, word);
		if (fail_errno < 0)
			die("%s: no such errno", word);
		fail_name = word;
		sweep_all(sum);
	}
	free(copy);
}

/* --- options ------------------------------------------------------------------------------- */

static bool
flag_option(const char *s)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "--sticky", &opt.sticky }, { "--all-procs", &opt.all_procs },
		{ "--everywhere", &opt.everywhere }, { "-v", &opt.verbose },
		{ "--setup-once", &opt.setup_once }, { "--keep", &opt.keep },
	};

	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (strcmp(s, flags[i].name) == 0)
			return *flags[i].flag = true;
	return false;
}

static bool
mode_option(const char *s)
{
	if (strcmp(s, "--torn") == 0)
		opt.mode = TORN;
	else if (strcmp(s, "--short") == 0)
		opt.mode = SHORT;
	else if (strcmp(s, "--after") == 0)
		opt.mode = AFTER;
	else
		return false;
	return true;
}

static bool
string_option(const char *s, const char *value)
{
	const struct {
		const char *name, **to;
	} strings[] = {
		{ "-s", &opt.calls }, { "-e", &opt.errnos }, { "--setup", &opt.setup },
		{ "--run", &opt.run }, { "--check", &opt.check },
		{ "--meanwhile", &opt.meanwhile }, { "--dir", &opt.base },
	};

	for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
		if (strcmp(s, strings[i].name) == 0) {
			*strings[i].to = value;
			return true;
		}
	return false;
}

static bool
number_option(const char *s, const char *value)
{
	if (strcmp(s, "--from") == 0)
		opt.from = atol(value);
	else if (strcmp(s, "--to") == 0)
		opt.to = atol(value);
	else if (strcmp(s, "-j") == 0)
		opt.jobs = atoi(value);
	else if (strcmp(s, "--timeout") == 0)
		opt.timeout = atoi(value);
	else
		return false;
	return true;
}

static void
parse(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *s = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(s, "--help") == 0) {
			fputs(usage_text, stdout);
			exit(0);
		}
		if (flag_option(s) || mode_option(s))
			continue;
		if (strncmp(s, "-j", 2) == 0 && s[2] != '\0') {
			opt.jobs = atoi(s + 2);
			continue;
		}
		if (value == NULL || !(string_option(s, value) || number_option(s, value)))
			die("%s: unknown option, or it needs a value; see --help", s);
		i++;
	}
	if (opt.run == NULL || opt.check == NULL || opt.jobs < 1) {
		fputs(usage_text, stderr);
		exit(2);
	}
	if (opt.meanwhile != NULL)
		opt.mode = MEANWHILE;
	if (opt.errnos != NULL)
		opt.mode = ERR;
	if (opt.mode != ERR && opt.mode != SHORT)
		opt.everywhere = true;
	if (opt.base == NULL)
		opt.base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

int
main(int argc, char **argv)
{
	struct tally sum = { 0, 0, 0 };
	double start, seconds;

	parse(argc, argv);
	choose_default();
	start = seconds_now();
	if (opt.mode == ERR)
		sweep_errnos(&sum);
	else
		sweep_all(&sum);
	seconds = seconds_now() - start;
	printf("# %ld runs, up to %ld calls each, %.2fs, %.2f ms per run\n", sum.tried,
		sum.calls, seconds, sum.tried > 0 ? seconds * 1000 / sum.tried : 0);
	printf("%ld passed, %ld failed\n", sum.tried - sum.failed, sum.failed);
	return sum.failed > 0;
}
