#!/bin/sh
# delayed.sh - what at(1) and a dozen cron lines are used for.
#
#	delayed.sh            puts four jobs and shows when each is due
#
# A delayed message is nobody's process and nobody's timer: it lies in the
# spool until it is due, over reboots too, and the next take releases it.
set -eu

queue=${1:-reminders}

# in ten minutes; at two at night, local time; at an instant
mq-put -q -d 10m -m 'tea is ready' "$queue"
mq-put -q -D 02:00 -m 'rotate the backups' "$queue"
mq-put -q -D "$(date -u -d '+1 day' +%Y-%m-%dT%H:%M:%SZ)" -m 'invoice 812' "$queue"

# urgent, and worth nothing after five minutes
mq-put -q -p0 -x 5m -m 'door bell' "$queue"

# what is scheduled, what is ready
mq-ls -o state,priority,due,body "$queue"

# A worker that waits for all of them uses no CPU meanwhile:
#	mq-take -w reminders -- notify-send
