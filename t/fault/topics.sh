#!/bin/bash
# topics.sh [MESSAGES] - 20 publishers, 10 subscriptions with patterns and filters, 4
# workers each, others added, removed and followed meanwhile: MESSAGES (20,000; SHORT=1:
# 1,000) in all, single and bulk, some of groups, some late. A publisher or a worker is
# killed now and then. What was confirmed must have come to each subscription that
# wants it, once, unless its worker was killed, and to no other. Prints the counts.
# shellcheck disable=SC2016 # $ in quotes is for the inner shell
set -u
cd "$(dirname "$0")/../.." || exit 1

BUILD=${BUILD:-build}
PATH=$(cd "${MQ_BIN:-$BUILD/bin}" && pwd):$PATH
messages=${1:-$([[ -n ${SHORT:-} ]] && echo 1000 || echo 20000)}
base=/tmp
[[ ! -w /dev/shm ]] || base=/dev/shm
D=$(mktemp -d "$base/mq-topics.XXXXXX")
MQ_SPOOL=$D/spool
export PATH MQ_SPOOL D

bad() {
	echo "topics: $*; kept $D" >&2
	touch "$D/stop"
	jobs -p | xargs -r kill -9 2>/dev/null
	exit 1
}

# Message I has the route kind.(I mod 3).x, n=I and odd=I mod 2; so it is known who
# wants it: the condition on I, in awk, beside each subscription.
wants=('1' 'i%3==0' 'i%3!=0' 'i%2==1' 'i>=N/2' 'i%3==1 && i%2==0' 'i<10||i>=N-10'
	'i%3==0 || i%3==2' '0' '1')
add() { mq-sub add "${@:2}" t "s$1" || bad "add $1"; }
add 0
add 1 -r 'kind.0.#'
add 2 -r '#' -F 'third!=0'
add 3 -r 'kind.*.x' -F 'odd=1'
add 4 -F "n>=$((messages / 2 + messages % 2))"
add 5 -r 'kind.1.*' -F 'odd=0'
add 6 -F 'n<10' -F "n>=$((messages - 10))"
add 7 -r '*.*.x' -F 'third=0' -F 'third=2'
add 8 -r 'other.#'
mq-sub add t s9 limit=2000 full=block || bad 'add 9'

# --- 20 publishers: each its own numbers, from P on in steps of 20 -------------------------

cat >"$D/publisher" <<'END'
#!/bin/bash
for ((i = P; i < N; i += 20)); do
	how=()
	((i % 7)) || how+=(-k "key$((i % 5))")
	((i % 11)) || how+=(-d 20ms)
	((i % 13)) || how+=(-p $((i % 10)))
	mq-put -q "${how[@]}" -r "kind.$((i % 3)).x" -a n=$i -a odd=$((i % 2)) \
		-a third=$((i % 3)) -m "$i" t && echo $i >>"$D/confirmed.$P"
done
END
# One that is killed, again and again: what it puts is confirmed or not, and goes to s0
# and s9 alone; its numbers are from N on.
cat >"$D/victim" <<'END'
#!/bin/bash
i=$N
while [[ ! -e $D/published ]]; do
	mq-put -r lost -m "$i" t >"$D/v.out" 2>/dev/null & p=$!
	sleep 0.00$((RANDOM % 9))
	kill -9 $p 2>/dev/null
	wait $p 2>/dev/null && [[ -s $D/v.out ]] && echo $i >>"$D/confirmed.victim"
	((i++))
	sleep 0.05
done
END
# Subscriptions that come and go, and a tail.
cat >"$D/churn" <<'END'
#!/bin/bash
while [[ ! -e $D/published ]]; do
	mq-sub add -r 'kind.#' t "temp$W" && mq-take --ack -n 5 "t/temp$W" >/dev/null
	timeout -s "$([[ $((RANDOM % 2)) = 0 ]] && echo KILL || echo TERM)" 0.2 \
		mq-sub tail t >/dev/null
	mq-sub rm --force t "temp$W" || echo "rm: $?" >>"$D/errors"
	mq-sweep || echo "sweep: $?" >>"$D/errors"
done
END
chmod +x "$D"/publisher "$D"/victim "$D"/churn
export N=$messages

publishers=()
for P in {0..19}; do
	P=$P "$D/publisher" 2>>"$D/errors" & publishers+=($!)
done
"$D/victim" & others=($!)
for W in 1 2; do
	W=$W "$D/churn" >/dev/null 2>>"$D/churn.err" & others+=($!)
done
workers=()
for s in {0..9}; do
	mq-take -w -j 4 "t/s$s" -- sh -c "read -r x; echo \$x >>'$D/got.$s'" &
	workers+=($!)
done 2>>"$D/workers.err"

wait "${publishers[@]}"
touch "$D/published"
wait "${others[@]}"
mq-sweep || bad sweep
for s in {0..9}; do
	timeout 120 mq-wait "t/s$s" || bad "s$s does not end: $(mq-ls "t/s$s" | head -3)"
done
for s in {0..9}; do # delayed ones
	until [[ -z $(mq-ls "t/s$s") ]]; do sleep 0.1; done
done
kill "${workers[@]}"
wait "${workers[@]}"

# --- each has what its filter says ---------------------------------------------------------------

[[ ! -s $D/errors ]] || bad "$(head "$D/errors")"
cat "$D"/confirmed.{0..19} | sort -n >"$D/all"
[[ $(wc -l <"$D/all") = "$messages" ]] || bad "published: $(wc -l <"$D/all")"
for s in {0..9}; do
	touch "$D/got.$s"
	awk -v N="$messages" "{ i = \$1 } ${wants[s]}" "$D/all" | sort >"$D/wanted"
	awk -v N="$messages" '$1 < N' "$D/got.$s" | sort >"$D/came"
	cmp -s "$D/wanted" "$D/came" || bad "s$s: $(diff "$D/wanted" "$D/came" | head -5)"
	[[ -z $(sort "$D/got.$s" | uniq -d | head -3) ]] || bad "s$s: twice"
	echo "s$s: $(wc -l <"$D/came")"
done
for s in 0 9; do
	awk -v N="$messages" '$1 >= N' "$D/got.$s" | sort >"$D/lost.$s"
done
cmp -s "$D/lost.0" "$D/lost.9" || bad "of the killed: $(diff "$D/lost.0" "$D/lost.9" | head -5)"
[[ -z $(sort "$D/confirmed.victim" 2>/dev/null | comm -23 - "$D/lost.0") ]] ||
	bad "confirmed, but lost"
mq-sweep && mq-sweep --verify || bad verify
[[ -z $(ls "$D/spool/t/out") && $(mq-sub ls t | wc -l) = 10 ]] || bad "left: $(mq-sub ls t)"
echo "topics: $messages published, $(wc -l <"$D/lost.0") more of killed publishers: all right"
rm -rf "$D"
