#!/bin/sh
# power-topics.sh work DIR: two single and two bulk publishers on the topic t in DIR/spool,
# and a taker of its subscription a; prints `put ID` after each confirmation, `ack ID`
# before each ack. power-topics.sh check DIR LOG: is what LOG confirms in each of a, b
# and c, once, nothing torn, and the rest in both b and c or in neither?
set -u

MQ_SPOOL=$2/spool
export MQ_SPOOL

# a body says the same thing twice: a torn one does not
single() {
	for i in $(seq 12); do
		id=$(mq-put -r "r.$i" -m "s$1.$i s$1.$i" t) && echo "put $id"
	done
}
bulk() {
	for i in $(seq 4); do
		ids=$(seq -f "b$1.$i.%g" 40 | sed 's/.*/& &/' | mq-put -l t) || continue
		# shellcheck disable=SC2086 # a line each
		printf 'put %s\n' $ids
	done
}
taker() {
	for i in $(seq 20); do
		mq-take -n "$((i % 3 + 1))" -f '%r %i' t/a | while read -r receipt id; do
			echo "ack $id"
			mq-ack "$receipt"
		done
	done
}

work() {
	mq-sub add t a && mq-sub add t b && mq-sub add -r '#' t c || exit 1
	echo made
	single 1 &
	single 2 &
	bulk 1 &
	bulk 2 &
	taker 2>/dev/null &
	wait
}

bad() {
	echo "$*" >&2
	exit 1
}

# As power.sh has it: without the meters the spool is as after a boot.
check() {
	log=$1
	here=$(mktemp -d)
	trap 'rm -rf "$here"' EXIT
	rm -f "$MQ_SPOOL"/*/meter "$MQ_SPOOL"/*/sub/*/meter
	grep -q made "$log" || return 0
	mq-sweep >/dev/null || bad "sweep: $?"
	sed -n 's/^put //p' "$log" | sort >"$here/put"
	sed -n 's/^ack //p' "$log" | sort -u >"$here/acked"
	for s in a b c; do
		mq-take --ack -n 100000 -f '%i %b' "t/$s" >"$here/taken" 2>/dev/null
		mq-ls --state ready,leased,later "t/$s" 2>/dev/null | cut -f 1 >"$here/left"
		cut -d ' ' -f 1 "$here/taken" | cat - "$here/left" | sort >"$here/$s"
		[ $s = a ] || : >"$here/acked"
		comm -23 "$here/put" "$here/acked" | comm -23 - "$here/$s" >"$here/lost"
		[ ! -s "$here/lost" ] || bad "lost in $s: $(head -n 3 "$here/lost")"
		[ -z "$(uniq -d "$here/$s")" ] || bad "twice in $s: $(uniq -d "$here/$s")"
		torn=$(awk '$2 != $3 || NF != 3' "$here/taken")
		[ -z "$torn" ] || bad "torn, but delivered: $torn"
	done
	cmp -s "$here/b" "$here/c" || bad "in one alone: $(comm -3 "$here/b" "$here/c" | head -n 3)"
	mq-sweep && mq-sweep --verify >&2 || bad 'verify found that'
}

case $1 in
work) work ;;
check) check "$3" ;;
esac
