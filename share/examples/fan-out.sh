#!/bin/sh
# fan-out.sh - one producer, three subscriptions. Each order is to be mailed and
# to get into the search index, and somebody looks at the large ones.
#
#	fan-out.sh [QUEUE]
#
# The producer knows the topic alone. Who works off a subscription knows that
# alone: it is a queue, with its own lease, tries and dead letters, and if one is
# slow or down, its orders wait there and the others do not notice.
set -eu

topic=${1:-orders}

# Once, when it is set up; to do it again does no harm.
mq-sub add "$topic" mail
mq-sub add "$topic" search lease=5m tries=20
mq-sub add -F 'amount>=1000' -F 'has:vip' "$topic" manager

# The producer: what it knows of an order is in its attributes and its route.
order() { # order NUMBER AMOUNT COUNTRY [MORE ...]
	number=$1 amount=$2 country=$3
	shift 3
	mq-put -q -r "order.new.$country" -a "amount=$amount" "$@" -m "order $number" "$topic"
}
order 1 30 br
order 2 2500 de
order 3 15 br -a vip=yes

# The workers; as services they would be `mq-take -w -j4 ...`, each where it likes.
for sub in mail search manager; do
	done=$(mq-take -j2 "$topic/$sub" -- sh -c 'read -r order || :; echo "$order"' | wc -l)
	echo "$sub: $done"
done
