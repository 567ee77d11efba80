#!/bin/sh
# xargs-pipeline.sh - take receipts, work them off by xargs, settle each by how
# its command ended. For where a pool (mq-take ... -- COMMAND) does not fit:
# the work is done by something that wants many arguments, or on another host.
#
#	find . -name '*.txt' | mq-put -lq files; xargs-pipeline.sh files
#
# The lease must be long enough for the whole batch: nobody extends it here.
# What this script does not settle, because it was killed, comes back when the
# lease ends.
set -eu

queue=${1:?usage: xargs-pipeline.sh QUEUE}
export WORK="${WORK:-wc -c}"

# a line a message: receipt, white space, body
while mq-take -n 20 -x 5m -f '%r %b' "$queue" >taken.txt; do
	# shellcheck disable=SC2016 # for the inner shell
	xargs -P4 -d '\n' -n1 sh -c '
		receipt=${1%% *} body=${1#* }
		if $WORK "$body"; then
			echo "$receipt" >>acked.$PPID
		else
			mq-ack --retry -m "exit $?" "$receipt"
		fi' sh <taken.txt || :
	# many receipts at once: neighbours in a file are acked by one rename
	cat acked.* 2>/dev/null | mq-ack - || :
	rm -f acked.*
done
rm -f taken.txt
