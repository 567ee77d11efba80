/* SPDX-License-Identifier: ISC */
#include "screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static volatile sig_atomic_t over;

struct screen {
	struct termios was;
	sigset_t mask;                   /* as it was, and while it waits */
};

static void
end(int signal)
{
	over = signal;
}

static void
resized(int signal)
{
	(void)signal;                    /* poll() ends, the next frame looks */
}

/* They come only while it waits for a key. */
static void
catch(struct screen *s)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction act = { .sa_handler = end }, size = { .sa_handler = resized };
	sigset_t block;

	sigemptyset(&block);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		sigaction(ends[i], &act, NULL);
		sigaddset(&block, ends[i]);
	}
	sigaction(SIGWINCH, &size, NULL);
	sigaddset(&block, SIGWINCH);
	sigprocmask(SIG_BLOCK, &block, &s->mask);
}

struct screen *
screen_begin(struct fault *f)
{
	struct termios raw;
	struct screen *s;

	f->status = 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return NULL;
	s = calloc(1, sizeof *s);
	if (s == NULL || tcgetattr(STDIN_FILENO, &s->was) < 0) {
		fault_errno(f, "terminal");
		free(s);
		return NULL;
	}
	raw = s->was;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	catch(s);
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) < 0) {
		fault_errno(f, "terminal");
		free(s);
		return NULL;
	}
	fputs("\033[?1049h\033[?25l", stdout);
	return s;
}

void
screen_frame(struct screen *s)
{
	(void)s;
	fputs("\033[H\033[2J", stdout);
}

int
screen_rows(const struct screen *s)
{
	struct winsize w = { 0 };

	(void)s;
	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	return w.ws_row > 0 ? w.ws_row : 24;
}

int
screen_key(struct screen *s, int ms)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
	unsigned char c;
	int r = over != 0 ? -1 : ppoll(&p, 1, &t, &s->mask);

	if (over != 0)
		return -1;
	if (r <= 0)
		return r == 0 || errno == EINTR ? 0 : -1;
	return read(STDIN_FILENO, &c, 1) == 1 ? c : -1;
}

void
screen_end(struct screen *s)
{
	if (s == NULL)
		return;
	fputs("\033[?25h\033[?1049l", stdout);
	(void)fflush(stdout);
	(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &s->was);
	free(s);
}
