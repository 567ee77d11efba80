# check-topics.sh - sourced by the checks of publish.sh, in a case's fresh directory $D:
# the spool is $D/spool, the topic t with the subscriptions a, b (of routes r.#) and c,
# which all hold one message of before, `old`. A check that fails says what and exits 1.
# shellcheck shell=sh

# shellcheck source=t/fault/case.sh
. "${CHECK%/*}/case.sh"

topic() { # topic SETTING ...: of c
	mq-sub add t a && mq-sub add -r 'r.#' t b && mq-sub add t c "$@" &&
		mq-put -q -r r.s -m old t
}

# One sweep makes the spool whole, whatever happened. What is there then is in now.SUB,
# as look(1) prints it.
whole() {
	[ "$N" != 0 ] || ok || [ -n "${refused:-}" ] || bad "without a fault: $RC $(cat "$ERR")"
	mq-sweep >swept 2>&1 || bad "sweep: $? $(cat swept)"
	mq-sweep --verify || bad 'verify found that'
	for d in "$D"/spool/t/sub/*; do
		[ ! -d "$d" ] || look "$d" >"now.${d##*/}" || bad "${d##*/}: $(cat "now.${d##*/}")"
	done
	for d in "$D"/spool/t/out/* "$D"/spool/t/sub/.[!.]*; do
		[ ! -e "$d" ] || bad "left behind: $d"
	done
}

# count BODY SUB: how often it is there, or was taken by `taken`, into $n
count() {
	n=0
	[ ! -f "now.$2" ] || n=$(cut -d ' ' -f 5- "now.$2" | grep -cx "$1")
	[ ! -f "taken.$2" ] || n=$((n + $(grep -cx "$1" "taken.$2")))
}
# once BODY SUB ...: it is in each of these once, or in none; after a success once
once() {
	body=$1 all=
	shift
	for s; do
		count "$body" "$s"
		[ "$n" -le 1 ] || bad "$body: $n times in $s (RC $RC)"
		all="$all$n"
	done
	case $all in
	*1*0* | *0*1*) bad "$body: in some alone: $all of $* (RC $RC)" ;;
	0*) ! ok || bad "$body: confirmed, but in none" ;;
	esac
}
# kept SUB ...: what was there before is
kept() {
	for s; do
		count old "$s"
		[ "$n" = 1 ] || bad "old: $n times in $s"
	done
}
# taken SUB: a consumer comes before anybody has swept
taken() {
	mq-take --ack -n 9 "t/$1" >"taken.$1" 2>taken.err || [ $? = 1 ] ||
		bad "take: $(cat taken.err)"
	while mq-take --ack -n 9 "t/$1" >another 2>taken.err; do
		cat another >>"taken.$1"
	done
}
# A put that says `not stored`, or fails without a word on it, stored nothing.
honest() {
	ok && { [ -s "$OUT" ] || bad '0, but no id'; }
	case $RC in 0 | 137) return ;; esac
	count hi a
	[ -s "$OUT" ] || [ "$n" = 0 ] || [ ! -s "$ERR" ] ||
		grep -Eq 'may be stored|standard output' "$ERR" || bad "stored, but told: $(cat "$ERR")"
}
