#!/bin/sh
# sweep.sh [PATTERN] - the crash sweep: put, take, ack and sweep, with single
# messages and out of files of many, are killed before and after each
# state-changing call, their writes torn, their calls failed, and another command
# run in each gap. What was confirmed must be there, nothing be held twice, and
# `mq-sweep --verify` be clean after one sweep.
# SHORT=1: the form for CI. PATTERN: the cases whose names match.
# shellcheck disable=SC2016,SC2034 # $ in quotes is for the inner shell; eval
set -u
cd "$(dirname "$0")/../.." || exit 1

BUILD=${BUILD:-build}
PATH=$(cd "${MQ_BIN:-$BUILD/bin}" && pwd):$PATH
CHECK=$PWD/t/fault/check.sh
export PATH CHECK
pattern=${1:-}
passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
use='. "$CHECK";'

# sweep NAME OPTION ...: one sweep, its counts added
sweep() {
	name=$1
	shift
	case $name in *"$pattern"*) ;; *) return ;; esac
	"$BUILD/fault/crash-sweep" -j "$(nproc)" "$@" >"$log" 2>&1
	status=$?
	counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log")
	[ -n "$counts" ] || counts='0 1'
	passed=$((passed + ${counts% *}))
	failed=$((failed + ${counts#* }))
	echo "$name: $(tail -n 1 "$log")"
	[ $status = 0 ] || grep -v '^#' "$log" | head -n 40
}

# killed NAME SETUP RUN CHECK: by kill -9 in all the ways
killed() {
	sweep "$1, killed" --setup "$use $2" --run "$use $3" --check "$use $4"
	[ -z "${SHORT:-}" ] || return
	sweep "$1, killed after" --after --setup "$use $2" --run "$use $3" --check "$use $4"
	sweep "$1, torn" --torn --setup "$use $2" --run "$use $3" --check "$use $4"
}
# meanwhile NAME SETUP RUN OTHER CHECK
meanwhile() {
	sweep "$1" --setup "$use $2" --run "$use $3" --meanwhile "$use $4" --check "$use $5"
}
# failing NAME SETUP RUN CHECK
failing() {
	errors=ENOSPC,EIO
	[ -n "${SHORT:-}" ] || errors=ENOSPC,EIO,EDQUOT,EMFILE,EINTR
	sweep "$1, failing" -e $errors --setup "$use $2" --run "$use $3" --check "$use $4"
	[ -z "${SHORT:-}" ] || return
	sweep "$1, failing for good" -e ENOSPC,EIO --sticky --setup "$use $2" \
		--run "$use $3" --check "$use $4"
}

# --- put: what was printed is there, whole; bodies are a prefix of the input -----

singles='for i in 1 2 3; do mq-put -m $i q || exit; done >put;'
bulk='seq 5 | mq-put -l q >put;'
# the input in `in`; what comes out of the queue must be a prefix of it
prefix='whole; kept $OUT; drain >out; n=$(wc -l <out); head -n $n in | cmp - out || bad "not a prefix"'
stored='[ $RC != 0 ] || [ -s $OUT ] || bad "0, but no id";'

for how in '-m hi' '-S -m hi' '-p 0 -a x=y -x 1h -m hi'; do
	killed "put $how" 'echo hi >in' "mq-put $how q" "$prefix"
	failing "put $how" 'echo hi >in' "mq-put $how q" "$stored $prefix"
done
killed 'put -l' 'seq 20 >in' 'mq-put -l q <in' "$prefix"
failing 'put -l' 'seq 20 >in' 'mq-put -l q <in' "$stored $prefix"
killed 'put -d' 'echo hi >in' 'mq-put -d 1h -m hi q' 'whole; kept $OUT'
meanwhile 'put, a sweep meanwhile' 'echo hi >in' 'mq-put -m hi q' mq-sweep "$stored $prefix"
meanwhile 'put, a take meanwhile' : 'mq-put -m hi q' 'mq-take q >$MOUT' \
	'[ $RC = 0 ] || bad "put: $RC"; whole; kept $OUT; held_once $MOUT'

# --- take: nothing is lost; what was printed is held, by one --------------------

all_there='whole; kept put;'
for from in singles bulk; do
	eval "setup=\$$from"
	for how in '' '-n 2' '-n 5'; do
		killed "take $how of $from" "$setup" "mq-take $how q" \
			"$all_there"' held_once $OUT'
	done
	failing "take -n 2 of $from" "$setup" 'mq-take -n 2 q' \
		"$all_there"' [ $RC != 0 ] || [ -s $OUT ] || bad "0, but no receipt"'
	for other in 'mq-take q' 'mq-take -n 2 q' 'mq-sweep'; do
		meanwhile "take of $from, $other meanwhile" "$setup" 'mq-take -n 2 q' \
			"$other >\$MOUT" "$all_there"' [ $RC = 0 ] || bad "take: $RC"
			grep / $MOUT >other; held_once $OUT other'
	done
	killed "take --ack of $from" "$setup" 'mq-take --ack q' \
		'whole; [ $RC != 0 ] || ! is_there 1 || bad "acked, but there";
		for i in 2 3; do is_there $i || bad "lost: $i"; done'
done

# --- settling: what is said to be done is, the rest of the file is untouched ------

others='whole; for i in 1 3; do is_there $i || bad "lost: $i"; done;'
for from in singles bulk; do
	eval "setup=\$$from"
	setup="$setup mq-take -n 3 q >taken"
	run='r=$(sed -n 2p taken); mq-ack'
	killed "ack out of $from" "$setup" "$run \$r" \
		"$others"' [ $RC != 0 ] || ! is_there 2 || bad "acked, but there"'
	killed "ack of $from as a whole" "$setup" 'mq-ack - <taken' \
		'whole; for i in 1 2 3; do [ $RC != 0 ] || ! is_there $i || bad "acked, but there: $i"; done
		[ "$(wc -l <put)" = 3 ] || is_there 4 || bad "lost: 4"'
	failing "ack out of $from" "$setup" "$run \$r" \
		"$others"' [ $RC != 0 ] || ! is_there 2 || bad "acked, but there"'
	for how in '--retry' '--retry -d 1h' '-u' '-x 1h' '-K -m no'; do
		killed "ack $how out of $from" "$setup" "$run $how \$r" "$others"' kept put'
	done
	killed "ack -t out of $from" "$setup" "$run -t other \$r" \
		"$others"' n=$(cat ids.now; ids other); [ "$(echo "$n" | grep -cx "$(id_of 2)")" = 1 ] ||
		[ "$(mq-ls other 2>/dev/null | wc -l)" = 1 ] || bad "lost on the way"'
	meanwhile "ack out of $from, the same meanwhile" "$setup" "$run \$r" \
		"$run \$r; echo \$? >\$MOUT" \
		"$others"' is_there 2 && bad "acked, but there";
		[ -z "$SC" ] || case $RC$(cat $MOUT) in 01 | 10) ;; *) bad "acked: $RC $(cat $MOUT)" ;; esac'
	for other in 'mq-take -n 2 q' mq-sweep 'mq-ack -u $(sed -n 1p taken)' \
		'mq-ack --retry $(sed -n 3p taken)'; do
		meanwhile "ack out of $from, $other meanwhile" "$setup" "$run \$r" \
			"$other >\$MOUT" "$others"' is_there 2 && bad "acked, but there"; [ $RC = 0 ]'
	done
done

# --- the sweep itself: leases that ran out come back, once -------------------------

for from in singles bulk; do
	eval "setup=\$$from"
	setup="$setup mq-take -x 1ms -n 3 q >taken; sleep 0.1"
	killed "sweep of $from" "$setup" mq-sweep "$all_there"
	failing "sweep of $from" "$setup" mq-sweep "$all_there"
	for other in 'mq-take -n 3 q' mq-sweep 'mq-ack - <taken'; do
		meanwhile "sweep of $from, $other meanwhile" "$setup" mq-sweep "$other >\$MOUT" \
			'whole; case $(cat $MOUT) in */*) kept put; held_once $MOUT ;; esac'
	done
done

echo "$passed passed, $failed failed"
[ $failed = 0 ]
