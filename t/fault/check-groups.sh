# check-groups.sh - sourced by the checks of groups.sh, in a case's fresh directory $D:
# the spool is $D/spool. A body is its key and its place among those of the key: a1, a3,
# b2. A check that fails says what and exits 1.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2120 # for those who source it

# shellcheck source=t/fault/case.sh
. "${CHECK%/*}/case.sh"

# In the queue: a1, b2, a3, b4 as files of their own, then one of a5, a6 and a7.
groups() {
	mq-put -J q <<-'EOF'
		{"key":"a","body":"a1"}
		{"key":"b","body":"b2"}
		{"key":"a","body":"a3"}
		{"key":"b","body":"b4"}
		{"key":"a","body":"a5"}
		{"key":"a","body":"a6"}
		{"key":"a","body":"a7"}
	EOF
}
# line N of what groups printed, as an operand
id_of() { sed -n "$1s/^/q:/p" put; }

# One sweep makes the spool whole, whatever happened. What is there then is in `now`
# as look(1) prints it, `now.other` for a queue `other`.
whole() {
	mq-sweep >swept 2>&1 || bad "sweep: $? $(cat swept)"
	mq-sweep --verify || bad 'verify found that'
	look "$D/spool/q" >now || bad "$(cat now)"
	[ ! -d "$D/spool/other" ] || look "$D/spool/other" >now.other || bad "$(cat now.other)"
}

# at BODY STATE ...: it is in one of these states
at() {
	wanted=$1 found=gone
	shift
	while read -r id state tries until body; do
		[ "$body" != "$wanted" ] || found=$state
	done <now
	for s; do [ "$s" != "$found" ] || return 0; done
	bad "$wanted is $found (RC $RC), not $*"
}

# drain QUEUE: all but the dead ones, in the order in which they can be taken, into
# `drained`. What is held now, or waits for its retry, is the first of its key.
drain() {
	look "$D/spool/$1" >left
	for f in "$D/spool/$1"/cur/*/*; do
		[ -f "$f" ] || continue
		t=${f##*,t}
		echo "$D/spool/$1/cur/${t%%,*}/${f##*/}"
	done | sed 's/,racked,z[0-9]*//' >leased
	[ ! -s leased ] || mq-ack - <leased || bad "not acked: $(cat leased)"
	while read -r id state tries until body; do
		case $state in
		leased) echo "$body" ;;
		later) mq-take --ack "$1:$id" || bad "not taken: $id" ;;
		esac
	done <left >drained
	mq-take --ack -n 1000 "$1" >>drained 2>err || [ $? = 1 ] || bad "take: $(cat err)"
	look "$D/spool/$1" | grep -v '^[^ ]* dead ' >left
	[ ! -s left ] || bad "stuck: $(cat left); drained: $(cat drained)"
	for f in "$D/spool/$1"/grp/*; do
		[ ! -e "$f" ] || bad "left behind: $f"
	done
}
# in_order [BODY]: what was drained, but for BODY, was in order for each key
in_order() {
	for key in a b c; do
		grep "^$key" drained | grep -vx "${1:-.}" | sort -Vc 2>err ||
			bad "out of order: $(cat drained err)"
	done
}
# came BODIES [MAYBE]: exactly these came, and perhaps those
came() {
	sort drained | uniq -d >twice
	[ ! -s twice ] || bad "twice: $(cat twice)"
	for b in $1; do
		grep -qx "$b" drained || bad "lost: $b (RC $RC); drained: $(cat drained)"
	done
	while read -r b; do
		case " $1 ${2:-} " in *" $b "*) ;; *) bad "came, but should not: $b (RC $RC)" ;; esac
	done <drained
}
all='a1 b2 a3 b4 a5 a6 a7'
# After a take --ack of all: what it printed is not there, but what it did not print is,
# unless it was killed, and all is in order. One that it was printing then is leased.
printed() {
	whole
	while read -r id state tries until body; do
		[ "$state" = leased ] || ! grep -qx "$body" "$OUT" || bad "printed, but there: $body"
	done <now
	drain q
	in_order
	cat drained >>"$OUT"
	case $RC in 137) return ;; esac
	for b in $all; do grep -qx "$b" "$OUT" || bad "lost: $b (RC $RC)"; done
}
# drained_whole BODIES [MAYBE]
drained_whole() {
	drain q
	in_order
	came "$@"
}

# A put that failed with a word that is not `may be stored` stored nothing. (With all
# calls failing there is no word.)
honest() { # BODY
	ok && { [ -s "$OUT" ] || bad '0, but no id'; }
	case $RC in 0 | 137) return ;; esac
	[ ! -s "$ERR" ] || grep -Eq 'may be stored|standard output' "$ERR" || at "$1" gone
}

# refill N: twenty more drop the oldest; N are kept
refill() {
	[ "$(seq -f c%.0f 11 30 | mq-put -l q | wc -l)" = 20 ] || bad 'refused'
	look "$D/spool/q" >now
	[ "$(wc -l <now)" = "$1" ] || bad "kept: $(cat now)"
}
# held LIMIT: so many and no more have room: it is filled, and counted
held() {
	n=$(grep -vc '^[^ ]* dead ' now)
	seq 100 | mq-put -l -W0 q >filled 2>/dev/null && bad 'no limit'
	[ $((n + $(wc -l <filled))) = "$1" ] ||
		bad "$n there, $(wc -l <filled) more had room, of $1 in all"
}
