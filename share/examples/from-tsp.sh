#!/bin/sh
# from-tsp.sh - the habits of tsp(1), the task spooler, done with mq.
#
#	tsp COMMAND           id=$(from-tsp.sh add COMMAND ...)
#	tsp                   mq-ls tasks
#	tsp -S 4              the pool's -j4
#	tsp -i ID, -t ID      mq-ls, the pool's log/ID.TRIES.log
#	tsp -w ID             mq-wait tasks:ID   (mq-conf tasks keep=1d)
#	tsp -r ID             mq-rm tasks:ID
#	tsp -u ID (urgent)    put it with -p0
#	tsp -C                mq-rm --dead tasks
#	tsp -d (after the last)   put both with the same key: mq-put -k
#
# Unlike tsp there is no server: the spool is the state, and survives a reboot.
set -eu

case ${1:-} in
add)
	shift
	printf '%s\0' "$@" | mq-put -a "dir=$PWD" tasks
	;;
work)
	mkdir -p log
	# shellcheck disable=SC2016 # for the inner shell
	mq-take -j"${SLOTS:-4}" -L log tasks -- sh -c 'cd "$MQ_ATTR_dir" && exec xargs -0 env'
	;;
*)
	echo "usage: from-tsp.sh add COMMAND [ARG ...] | work" >&2
	exit 64
	;;
esac
