#!/bin/sh
# cron-drain.sh - jobs that anybody puts, worked off once a minute by cron.
#
#	* * * * *  cron-drain.sh
#	*/5 * * * *  mq-sweep
#
# A producer says:    echo /srv/in/report.csv | mq-put imports
#
# A pool without -w ends when nothing is ready. --single keeps a slow minute's
# pool from being joined by the next one: that one ends with 75, which is no
# news here. A job that fails is tried again after a backoff, so by a later
# minute's pool, and goes to the dead letters after the queue's `tries`.
set -eu

# what is done for each job: its body is standard input (without a newline of its
# own, so read(1) would say "end of file")
# shellcheck disable=SC2016 # for the inner shell
IMPORT=${IMPORT:-'file=$(cat) && wc -l <"$file" >>imported.log'}

status=0
mq-take -j2 --single imports -- sh -c "$IMPORT" || status=$?
case $status in
0 | 75) ;;
*) exit "$status" ;;
esac

# One glance, and a mail from cron if somebody should look.
if [ "$(mq-stat -o dead imports 2>/dev/null || echo 0)" -gt 0 ]; then
	echo "imports: dead letters, see: mq-dlq ls imports" >&2
	exit 1
fi
