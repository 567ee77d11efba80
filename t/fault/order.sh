#!/bin/bash
# order.sh [order|busy|limit ...] - what ordering groups and limits promise, at work.
# order: 1,000 keys with 100 messages each, 8 workers that fail, are killed and come too
#   late: of each key the messages are completed in the order of their puts, and none is
#   handed out before the one in front of it is settled.
# busy: 100,000 messages of one key ahead of one of another: how long that one takes.
# limit: 50 producers that wait, 4 workers, limit=100: never more, all arrive, and who
#   waits uses no CPU.
# SHORT=1: the form for CI: 50 x 20, 2,000 and 500 messages.
# shellcheck disable=SC2016 # $ in quotes is for the inner shell
set -u
cd "$(dirname "$0")/../.." || exit 1

BUILD=${BUILD:-build}
PATH=$(cd "${MQ_BIN:-$BUILD/bin}" && pwd):$PATH
SHORT=${SHORT:-}
base=/tmp
[[ ! -w /dev/shm ]] || base=/dev/shm
D=$(mktemp -d "$base/mq-order.XXXXXX")
MQ_SPOOL=$D/spool
export PATH MQ_SPOOL D
pids=()

bad() {
	echo "order: $*" >&2
	touch "$D/stop"
	kill -9 "${pids[@]}" 2>/dev/null
	echo "order: kept $D" >&2
	exit 1
}
sound() {
	mq-sweep >/dev/null || bad 'sweep'
	mq-sweep --verify || bad 'verify found that'
}

# --- order: a line of the log is `start|end|fail|late KEY N WORKER`, a new WORKER each
# time one starts. `end` stands there before the ack, `late` if the ack was refused.

cat >"$D/one" <<'END'
#!/bin/sh
read -r key n
echo "start $key $n $W.$$" >>"$D/log"
[ $(($$ % 17)) != 0 ] || { echo "fail $key $n $W.$$" >>"$D/log"; exit 1; }
echo "end $key $n $W.$$" >>"$D/log"
END
cat >"$D/taker" <<'END'
#!/bin/bash
batch=0
while [[ ! -e $D/stop ]]; do
	w=$W.$((batch++))
	mq-take -W 1s -n 20 -x 500ms -f '%r %b' q >"$D/taken.$W" 2>/dev/null || continue
	while read -r _ key n; do echo "start $key $n $w"; done <"$D/taken.$W" >>"$D/log"
	((RANDOM % 10)) || sleep 0.7
	while read -r receipt key n; do
		end=end how=
		((RANDOM % 17)) || end=fail how=-u
		echo "$end $key $n $w" >>"$D/log"
		mq-ack $how "$receipt" || echo "late $key $n $w" >>"$D/log"
	done <"$D/taken.$W" 2>/dev/null
done
END
chmod +x "$D/one" "$D/taker"

# Who was killed, or came too late, may have begun what another one began again, or
# ended it without an ack.
cat >"$D/judge" <<'JUDGE'
FILENAME ~ /killed$/ { killed[$1] = 1; next }
{ split($4, w, "."); gone = w[1] in killed }
FILENAME ~ /late$/ { late[$2, $3, $4] = 1; next }
$1 == "start" {
	starts++
	d = done[$2] + 0
	if ($3 > d + 1)
		print "overtaken: " $0 " when " d " was the last done"
	if ($3 <= d && !(($2, $3) in loose))
		print "once more: " $0 " though it was done"
	if ($2 in open && !(opener[$2] in excused) && !((open[$2], opener[$2]) in slow))
		print "two at once: " $0 " and " open[$2] " of " opener[$2]
	open[$2] = $2 SUBSEP $3
	opener[$2] = $4
	if (gone)
		excused[$4] = 1
	if (($2, $3, $4) in late)
		slow[$2 SUBSEP $3, $4] = 1
	next
}
{ if (opener[$2] == $4) { delete open[$2]; delete opener[$2] } }
$1 == "end" && (($2, $3, $4) in late) { next }
$1 == "end" {
	if ($3 > done[$2] + 1)
		print "out of order: " $0
	if (gone)
		loose[$2, $3] = 1
	if ($3 > done[$2])
		done[$2] = $3
}
$1 == "fail" { fails++ }
END { for (k in done) if (done[k] != n) print k " ends at " done[k] + 0
	for (k in done) keys++
	if (keys != K) print keys " keys of " K
	printf "%d starts, %d failed\n", starts, fails >"/dev/stderr" }
JUDGE

starts=0
worker() { # 0..7
	export W=w$((starts++))
	who[$1]=$W
	if (($1 < 5)); then
		mq-take -w -j 2 -x 2s --no-brake q -- "$D/one" 2>/dev/null &
	else
		"$D/taker" &
	fi
	pids[$1]=$!
}

order() {
	local keys=1000 n=100 kills=0 limit i
	[[ -z $SHORT ]] || keys=50 n=20
	: >"$D/killed"
	: >"$D/log"
	who=()
	mq-conf --create q backoff=10ms backoff_max=100ms tries=100000 >/dev/null || bad 'mq-conf'
	awk -v K=$keys -v n=$n 'BEGIN { for (i = 1; i <= n; i++) for (k = 1; k <= K; k++)
		printf "{\"key\":\"k%d\",\"body\":\"k%d %d\"}\n", k, k, i }' |
		mq-put -S -q -J q || bad 'put'
	for i in 0 1 2 3 4 5 6 7; do worker $i; done
	limit=$((SECONDS + 120 + keys * n / 20))
	until mq-wait -W 500ms q 2>/dev/null; do
		((SECONDS < limit)) || bad "not done in time: $(mq-stat -J q)"
		i=$((RANDOM % 8))
		kill -9 "${pids[i]}"
		wait "${pids[i]}" 2>/dev/null
		echo "${who[i]}" >>"$D/killed"
		sleep 0.05  # its guardian ends what it ran
		kills=$((kills + 1))
		worker $i
	done
	touch "$D/stop"
	for i in 0 1 2 3 4; do kill "${pids[i]}"; done
	wait
	pids=()
	grep '^late' "$D/log" >"$D/late"
	awk -v K=$keys -v n=$n -f "$D/judge" "$D/killed" "$D/late" "$D/log" >"$D/judged" 2>"$D/counts"
	echo "order: $keys keys x $n, $kills kills, $(wc -l <"$D/late") late, $(cat "$D/counts"), ${SECONDS}s"
	[[ ! -s $D/judged ]] || bad "$(head "$D/judged")"
	sound
	[[ -z $(mq-ls q) ]] || bad "left: $(mq-ls q | head -n 5)"
	[[ -z $(find "$MQ_SPOOL/q/grp" -mindepth 1 -name '????????????????') ]] || bad 'grp/ is not empty'
}

# --- busy: the time of a take does not depend on what waits behind another key -------------

# Microseconds of a take, in the middle of 21; each is given back
take_time() {
	local i begin r
	for ((i = 0; i < 21; i++)); do
		begin=${EPOCHREALTIME/[.,]/}
		r=$(mq-take "$1") || bad "nothing to take in $1"
		echo $((${EPOCHREALTIME/[.,]/} - begin))
		mq-ack -u "$r" || bad 'give back'
	done | sort -n | sed -n 11p
}
busy() {
	local n=100000 empty full head begin
	[[ -z $SHORT ]] || n=2000
	seq $n | mq-put -q -S -l -k busy crowd || bad 'put'
	head=$(mq-take -x 1h crowd) || bad 'take'
	mq-put -q -k other -m x crowd
	mq-put -q -k other -m x alone
	empty=$(take_time alone)
	full=$(take_time crowd)
	begin=${EPOCHREALTIME/[.,]/}
	mq-ack "$head" || bad 'ack'
	echo "busy: a take behind $n of another key: $full us, in an empty queue: $empty us," \
		"ratio $(awk "BEGIN { printf \"%.2f\", $full / $empty }");" \
		"ack of the head: $((${EPOCHREALTIME/[.,]/} - begin)) us"
	((full < 3 * empty + 2000)) || bad 'too slow'
}

# --- limit ------------------------------------------------------------------------------------

# How many messages there are. Under the lock none comes or goes; one that is taken
# meanwhile may be seen twice, so it is told by its number and range.
counted() {
	flock "$MQ_SPOOL/p/lock" find "$MQ_SPOOL"/p/{new,cur,later} -type f -printf '%f\n' 2>/dev/null |
		sed -nE 's/^([0-9a-f]+)\.[^,]*(,o([0-9]+),c([0-9]+))?,n.*/\1 \3 \4/p' |
		sort -u | awk '{ n += NF == 3 ? $3 : 1 } END { print n + 0 }'
}
# Clock ticks that these processes used so far
used() {
	local p
	for p; do cat "/proc/$p/stat" 2>/dev/null; done | awk '{ n += $14 + $15 } END { print n + 0 }'
}
producers() { pgrep -x mq-put -g "$(ps -o pgid= -p $$ | tr -d ' ')"; }

limit() {
	local each=200 most=0 now samples=0 i before after w
	[[ -z $SHORT ]] || each=10
	mq-conf --create p limit=100 full=block >/dev/null || bad 'mq-conf'
	for ((i = 0; i < 50; i++)); do
		if ((i % 2)); then
			seq -f "$i.%.0f" $each | mq-put -S -q -l p
		else
			for j in $(seq $each); do mq-put -S -q -m "$i.$j" p || exit; done
		fi &
		pids+=($!)
	done
	until [[ $(counted) = 100 ]]; do sleep 0.1; done
	sleep 0.5
	mapfile -t waiting < <(producers)
	before=$(used "${waiting[@]}")
	sleep 2
	after=$(used "${waiting[@]}")
	w=()
	for i in 1 2 3 4; do
		mq-take -w -B 8 p -- sh -c 'cat >>"$1"' sh "$D/out.$i" 2>/dev/null &
		w+=($!)
	done
	until wait -n "${pids[@]}" 2>/dev/null && ! kill -0 "${pids[@]}" 2>/dev/null; do
		now=$(counted)
		samples=$((samples + 1))
		((now <= most)) || most=$now
		((now <= 100)) || bad "$now are counted"
		((SECONDS < 1200)) || bad "not done in time: $(mq-stat -J p)"
		kill -0 "${pids[@]}" 2>/dev/null || break
	done
	wait "${pids[@]}"
	mq-wait -W 60s p || bad 'not worked off'
	kill "${w[@]}"
	wait
	pids=()
	for ((i = 0; i < 50; i++)); do seq -f "$i.%.0f" $each; done | sort >"$D/wanted"
	sort "$D"/out.* | cmp -s - "$D/wanted" || bad 'not each arrived once'
	sound
	echo "limit: $((50 * each)) arrived, at most $most of 100 seen in $samples looks;" \
		"${#waiting[@]} producers used $((after - before)) ticks in 2 s, ${SECONDS}s"
	((after - before <= 2 + ${#waiting[@]} / 25)) || bad 'producers use CPU while they wait'
}

(($# > 0)) || set -- order busy limit
for part; do $part; done
rm -rf "$D"
