#!/bin/sh
# from-nq.sh - the habits of nq(1), done with mq.
#
#	nq make clean             mq-put -0q jobs: the command's words, NUL-ended,
#	nq make all               are one message; one worker keeps their order
#	fq                        tail -f log/*.log
#	nq -w                     mq-wait jobs
#	nq -t (is it done?)       mq-wait -W0 jobs
#	a failed job is lost      it is tried again, and then in: mq-dlq ls jobs
#
# nq runs one job after another, in the order they were queued: one worker (-j1)
# does that. It stays alive between jobs if told so (mq-take -w, from a systemd
# unit), or is started by whoever puts, as here.
set -eu

enqueue() { # enqueue COMMAND [ARG ...]
	# one record with NULs inside: a file is a message as it is
	printf '%s\0' "$@" | mq-put -q -a "dir=$PWD" jobs
}

work() {
	mkdir -p log
	# shellcheck disable=SC2016 # for the inner shell
	mq-take -j1 --single -L log jobs -- sh -c 'cd "$MQ_ATTR_dir" && exec xargs -0 env'
}

if [ $# -gt 0 ]; then
	enqueue "$@"
else
	work
fi
