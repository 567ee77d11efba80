#!/bin/sh
# from-tsp.sh - the habits of tsp(1), the task spooler, done with mq; the whole table
# is in mq-run(1).
#
#	tsp COMMAND           id=$(from-tsp.sh add COMMAND ...)
#	tsp                   mq-ls tasks
#	tsp -S 4              the pool's -j4
#	tsp -i ID, -t ID      mq-ls, the pool's log/ID.TRIES.log
#	tsp -w ID             mq-wait tasks:ID   (mq-conf tasks keep=1d)
#	tsp -r ID             mq-rm tasks:ID
#	tsp -u ID (urgent)    mq-run -p0
#	tsp -C                mq-rm --dead tasks
#	tsp -d (after the last)   both with the same key: mq-run -k
#
# Unlike tsp there is no server: the spool is the state, and survives a reboot.
set -eu

case ${1:-} in
add)
	shift
	mq-run tasks "$@"
	;;
work)
	mkdir -p log
	mq-take -j"${SLOTS:-4}" -L log tasks -- mq-run --worker
	;;
*)
	echo "usage: from-tsp.sh add COMMAND [ARG ...] | work" >&2
	exit 64
	;;
esac
