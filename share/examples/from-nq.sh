#!/bin/sh
# from-nq.sh - the habits of nq(1), done with mq; the whole table is in mq-run(1).
#
#	nq make clean             from-nq.sh make clean
#	nq make all               from-nq.sh make all
#	fq                        tail -f log/*.log
#	nq -w                     mq-wait jobs
#	nq -t (is it done?)       mq-wait -W0 jobs
#	a failed job is lost      it is tried again, and then in: mq-dlq ls jobs
#
# nq runs one job after another, in the order they were queued: one worker (-j1)
# does that. It stays alive between jobs if told so (mq-take -w, from a systemd
# unit), or is started by whoever puts, as here: from-nq.sh without a word.
set -eu

if [ $# -gt 0 ]; then
	mq-run -q jobs "$@"
else
	mkdir -p log
	mq-take -j1 --single -L log jobs -- mq-run --worker
fi
