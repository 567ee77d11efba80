#!/bin/sh
# pipeline.sh - three stages, a queue each: fetch, convert, publish. A message
# goes on to the next stage by one rename (mq-ack -t): it is never in two
# stages, and never in none.
#
#	printf '%s\n' a b c | mq-put -lq fetch; pipeline.sh
#
# Each stage has its own tries, backoff and dead letters. The command of a
# stage moves its own message on through MQ_RECEIPT; the pool then finds it
# settled and leaves it alone. The body stays the same on the way: what a stage
# makes goes into a file named by MQ_ID, which stays the same too.
set -eu

: "${DIR:=work}"
mkdir -p "$DIR"
export DIR

# shellcheck disable=SC2016 # for the inner shells
stage() { # stage QUEUE NEXT COMMAND: works off what is ready now
	mq-take -j2 "$1" -- sh -euc "$3"'
		mq-ack -t '"$2"' "$MQ_RECEIPT"'
}

# shellcheck disable=SC2016 # for the inner shells
{
	stage fetch convert 'cat >"$DIR/$MQ_ID.raw"'
	stage convert publish 'tr a-z A-Z <"$DIR/$MQ_ID.raw" >"$DIR/$MQ_ID.out"'
	# the last stage acks
	mq-take -j2 publish -- sh -euc 'printf "%s\n" "$(cat "$DIR/$MQ_ID.out")"; rm "$DIR/$MQ_ID".*'
}
