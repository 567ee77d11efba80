# check.sh - sourced by the checks of sweep.sh, in a case's fresh directory $D: the
# spool is $D/spool, what the setup put $D/put (ids; the body of the Nth is N), what
# it took $D/taken (receipts). A check that fails says what and exits 1.
# shellcheck shell=sh

# shellcheck source=t/fault/case.sh
. "${CHECK%/*}/case.sh"

# One sweep makes the spool whole, whatever happened. What is there then is in
# `now`, and in `now.other` for a queue `other`, as look(1) prints it.
whole() {
	[ "$N" != 0 ] || ok || bad "without a fault: $RC $(cat "$ERR")"
	mq-sweep >swept 2>&1 || bad "sweep: $? $(cat swept)"
	mq-sweep --verify || bad 'verify found that'
	look "$D/spool/q" >now || bad "$(cat now)"
	[ ! -d "$D/spool/other" ] || look "$D/spool/other" >now.other || bad "$(cat now.other)"
}

# find ID: its $state $tries $until $body in `now`; false if it is gone
find() {
	# shellcheck disable=SC2034 # tries: for who asks
	while read -r id state tries until body; do
		[ "$id" != "$1" ] || return 0
	done <now
	state=gone until=0 body=
	return 1
}

# is N STATE ...: message N of the setup is in one of the states, its body as it was
is() {
	n=$1 i=0
	shift
	while read -r wanted; do
		i=$((i + 1))
		[ $i != "$n" ] || break
	done <put
	[ $i = "$n" ] || bad "the setup put no message $n"
	! find "$wanted" || [ "$body" = "$n" ] || bad "message $n is now '$body'"
	for s; do [ "$s" != "$state" ] || return 0; done
	bad "message $n is $state (RC $RC), not $*"
}
# are STATE ...: all messages of the setup; are_but N STATE ...: all the others
are() { are_but 0 "$@"; }
are_but() {
	but=$1 of=$(wc -l <put) m=0
	shift
	while [ "$m" -lt "$of" ]; do
		m=$((m + 1))
		[ $m = "$but" ] || is $m "$@"
	done
}

# confirmed FILE: all ids in it are there
confirmed() {
	! cut -d ' ' -f 1 now | grep -vxFf - "$1" >lost || bad "confirmed, but lost: $(cat lost)"
}

# A put that says `not stored`, or fails without a word on it, stored nothing.
honest() {
	ok && { [ -s "$OUT" ] || bad '0, but no id'; }
	case $RC in 0 | 137) return ;; esac
	[ -s "$OUT" ] || [ ! -s now ] || grep -Eq 'may be stored|standard output' "$ERR" ||
		bad "stored, but told: $(cat "$ERR")"
}

# What is there is a prefix of the lines of `in`; after a success all of it.
prefix() {
	cut -d ' ' -f 5- now >bodies
	head -n "$(wc -l <bodies)" in | cmp -s - bodies || bad "no prefix: $(cat bodies)"
	! ok || cmp -s in bodies || bad "not all: $(cat bodies)"
}

# Each receipt in the files is held, and no two are of one message.
held() {
	cat "$@" >receipts
	sed 's|.*/||; s|,n[0-9].*||' receipts | sort | uniq -d >double
	[ ! -s double ] || bad "held twice: $(cat double)"
	[ ! -s receipts ] || mq-ack -x 1m - <receipts ||
		bad "printed, but not held: $(cat receipts)"
}
# told N: after a success N receipts were printed
told() {
	! ok || [ "$(grep -c / "$OUT")" = "$1" ] || bad "0, but not $1 receipts: $(cat "$OUT")"
	held "$OUT"
}
# far: the message last looked at is leased for most of an hour
far() { [ "$until" -gt $((($(date +%s) + 3000) * 1000)) ] || bad "not extended: $until"; }
