#!/bin/sh
# power.sh work DIR: two bulk and two single writers and two takers at once on the
# queue in DIR/spool; prints `put ID` after each confirmation, `ack ID` before each
# ack. power.sh check DIR LOG: is what LOG confirms there, and nothing torn?
# power.sh publish, published: the same of the topic t with the subscriptions a, b, c and
# what is put into q beside it; `ack SUB ID`. Of what was not confirmed all have each
# message, or none.
set -u

MQ_SPOOL=$2/spool
export MQ_SPOOL

# a body says the same thing twice: a torn one does not
single() {
	for i in $(seq 15); do
		id=$(mq-put -m "s$1.$i s$1.$i" q) && echo "put $id"
	done
}
bulk() {
	for i in $(seq 5); do
		ids=$(seq -f "b$1.$i.%g" 40 | sed 's/.*/& &/' | mq-put -l q) || continue
		# shellcheck disable=SC2086 # a line each
		printf 'put %s\n' $ids
	done
}
taker() {
	for i in $(seq 20); do
		mq-take -n "$((i % 3 + 1))" -f '%r %i' q | while read -r receipt id; do
			echo "ack $id"
			mq-ack "$receipt"
		done
	done
}

work() {
	single 1 &
	single 2 &
	bulk 1 &
	bulk 2 &
	taker 2>/dev/null &
	taker 2>/dev/null &
	wait
}

publisher() {
	for i in $(seq 12); do
		id=$(mq-put -m "p$1.$i p$1.$i" t) && echo "put $id"
	done
}
publish_bulk() {
	for i in $(seq 4); do
		ids=$(seq -f "b$1.$i.%g" 30 | sed 's/.*/& &/' | mq-put -l t) || continue
		# shellcheck disable=SC2086 # a line each
		printf 'put %s\n' $ids
	done
}
subscriber() { # SUB
	for i in $(seq 15); do
		mq-take -n "$((i % 3 + 1))" -f '%r %i' "t/$1" | while read -r receipt id; do
			echo "ack $1 $id"
			mq-ack "$receipt"
		done
	done
}
publish() {
	for s in a b c; do mq-sub add t $s; done
	echo ready
	publisher 1 &
	publisher 2 &
	publish_bulk 1 &
	single 1 >/dev/null &
	subscriber a 2>/dev/null &
	subscriber b 2>/dev/null &
	wait
}

bad() {
	echo "$*" >&2
	exit 1
}

# The replay is of this boot, on a device that may have the same number: without
# its meter the spool is as after a boot. What was visible and torn, but never
# confirmed, may be there until a take finds it and makes it a dead letter.
check() {
	log=$1
	here=$(mktemp -d)
	trap 'rm -rf "$here"' EXIT
	rm -f "$MQ_SPOOL"/*/meter
	if [ -d "$MQ_SPOOL" ]; then
		mq-sweep >/dev/null || bad "sweep: $?"
		mq-take --ack -n 100000 -f '%i %b' q >"$here/taken" 2>/dev/null
		mq-sweep --verify >&2 || bad 'verify found that'
		mq-ls --state ready,leased,later q >"$here/left" 2>/dev/null
	fi
	touch "$here/taken" "$here/left"
	cut -f 1 "$here/left" >"$here/ids"
	cut -d ' ' -f 1 "$here/taken" | cat - "$here/ids" | sort >"$here/there"
	sed -n 's/^put //p' "$log" | sort >"$here/put"
	sed -n 's/^ack //p' "$log" | sort -u >"$here/acked"
	comm -23 "$here/put" "$here/acked" | comm -23 - "$here/there" >"$here/lost"
	[ ! -s "$here/lost" ] || bad "lost: $(head -n 3 "$here/lost")"
	[ -z "$(uniq -d "$here/there")" ] || bad "twice: $(uniq -d "$here/there")"
	torn=$(awk '$2 != $3 || NF != 3' "$here/taken")
	[ -z "$torn" ] || bad "torn, but delivered: $torn"
}

# What is in each subscription, or was acked there, is what was confirmed; any other
# message is in all three or in none.
published() {
	log=$1
	grep -qx ready "$log" || return 0
	here=$(mktemp -d)
	trap 'rm -rf "$here"' EXIT
	rm -f "$MQ_SPOOL"/*/meter "$MQ_SPOOL"/*/sub/*/meter
	[ -z "${DEBUG:-}" ] || find "$MQ_SPOOL" -type f | sort >"$DEBUG"
	mq-sweep >/dev/null || bad "sweep: $?"
	sed -n 's/^put //p' "$log" | sort >"$here/put"
	for s in a b c; do
		mq-take --ack -n 100000 -f '%i %b' "t/$s" >"$here/taken" 2>/dev/null
		mq-ls --state ready,leased,later "t/$s" >"$here/left" 2>/dev/null
		torn=$(awk '$2 != $3 || NF != 3' "$here/taken")
		[ -z "$torn" ] || bad "$s: torn, but delivered: $torn"
		{
			cut -d ' ' -f 1 "$here/taken"
			cut -f 1 "$here/left"
		} | sort >"$here/there"
		[ -z "$(uniq -d "$here/there")" ] || bad "$s: twice: $(uniq -d "$here/there")"
		sed -n "s/^ack $s //p" "$log" | sort -u >"$here/acked.$s"
		sort -u "$here/there" "$here/acked.$s" >"$here/$s"
		comm -23 "$here/put" "$here/$s" >"$here/lost"
		[ ! -s "$here/lost" ] || bad "$s: lost: $(head -n 3 "$here/lost")"
	done
	mq-take --ack -n 100000 q >/dev/null 2>&1   # what is torn there becomes a dead letter
	mq-sweep --verify >&2 || bad 'verify found that'
	cat "$here"/acked.* | sort -u >"$here/acked"
	for s in a b; do
		comm -3 "$here/$s" "$here/c" | tr -d '\t' | comm -23 - "$here/acked" >"$here/not_all"
		[ ! -s "$here/not_all" ] || bad "in $s or c alone: $(head -n 3 "$here/not_all")"
	done
}

case $1 in
work) work ;;
check) check "$3" ;;
publish) publish ;;
published) published "$3" ;;
esac
