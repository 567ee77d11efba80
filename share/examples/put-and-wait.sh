#!/bin/sh
# put-and-wait.sh - put a job, wait for its outcome, tell the user.
#
#	put-and-wait.sh QUEUE [TEXT]; exit status 0: it was done, 1: it was
#	buried or dropped, 75: not done within the time
#
# The queue must keep outcomes for a while, else a job that was done before
# mq-wait looked is unknown:    mq-conf QUEUE keep=1h
set -eu

queue=${1:?usage: put-and-wait.sh QUEUE [TEXT]}
id=$(mq-put -m "${2:-}" "$queue")

status=0
mq-wait -W "${PATIENCE:-30s}" "$queue:$id" || status=$?
case $status in
0) echo "$id: done" ;;
1)
	echo "$id: failed" >&2
	mq-dlq show "$queue:$id" >&2 || :
	;;
75) echo "$id: still waiting; look later: mq-wait $queue:$id" >&2 ;;
esac
exit "$status"
