#!/bin/sh
# power.sh work DIR: two bulk and two single writers and two takers at once on the
# queue in DIR/spool; prints `put ID` after each confirmation, `ack ID` before each
# ack. power.sh check DIR LOG: is what LOG confirms there, and nothing torn?
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

# The leases are short, so that none is left when the cuts are checked.
work() {
	mq-conf --create q lease=2s || exit 1
	single 1 &
	single 2 &
	bulk 1 &
	bulk 2 &
	taker 2>/dev/null &
	taker 2>/dev/null &
	wait
}

bad() {
	echo "$*" >&2
	exit 1
}

# The replay is of this boot, on a device that may have the same number: without
# its meter the spool is as after a boot. What was visible and torn, but never
# confirmed, also by who had taken it, is there until a take finds it and makes it a
# dead letter.
check() {
	log=$1
	here=$(mktemp -d)
	trap 'rm -rf "$here"' EXIT
	rm -f "$MQ_SPOOL"/*/meter
	if [ -d "$MQ_SPOOL" ]; then
		while mq-sweep >/dev/null || bad "sweep: $?"
			[ -n "$(mq-ls --state leased q 2>/dev/null)" ]; do sleep 0.2; done
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

case $1 in
work) work ;;
check) check "$3" ;;
esac
