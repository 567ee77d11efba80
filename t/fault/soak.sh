#!/bin/bash
# soak.sh [MESSAGES] - MESSAGES (100,000; SHORT=1: 5,000) from several producers, bulk
# and single, through 8 competing workers: pools of single commands and of batches,
# and takers by receipt. Workers are killed, commands fail, leases run out. Each
# message must be handled at least once, and twice only where the one that handled
# it was killed within a second, or came too late. Prints the counts.
# shellcheck disable=SC2016 # $ in quotes is for the inner shell
set -u
cd "$(dirname "$0")/../.." || exit 1

BUILD=${BUILD:-build}
PATH=$(cd "${MQ_BIN:-$BUILD/bin}" && pwd):$(cd "$BUILD/fault" && pwd):$PATH
messages=${1:-$([[ -n ${SHORT:-} ]] && echo 5000 || echo 100000)}
base=/tmp
[[ ! -w /dev/shm ]] || base=/dev/shm
D=$(mktemp -d "$base/mq-soak.XXXXXX")
MQ_SPOOL=$D/spool
export PATH MQ_SPOOL D
mkdir "$D/log"
: >"$D/handled"
: >"$D/excused"

bad() {
	echo "soak: $*" >&2
	touch "$D/stop"
	for w in "${!pid[@]}"; do kill -9 "${pid[w]}" 2>/dev/null; done
	echo "soak: kept $D" >&2
	exit 1
}

# --- what the workers do; W is who they are, a new one each time they start ---------
# A line `BODY W WHEN` a message handled, WHEN in seconds since boot.

cat >"$D/one" <<'END'
#!/bin/sh
read -r body
[ $(($$ % 31)) != 0 ] || exit 1
read -r now _ </proc/uptime
echo "$body $W $now" >>"$D/handled"
END
cat >"$D/many" <<'END'
#!/bin/sh
[ $(($$ % 11)) != 0 ] || exit 1
read -r now _ </proc/uptime
exec sed "s/\$/ $W $now/" >"$D/log/$W.$$"
END
# Takes up to 20, works, acks; now and then too late.
cat >"$D/taker" <<'END'
#!/bin/bash
batch=0
while [[ ! -e $D/stop ]]; do
	w=$W.$((batch++))
	mq-take -W 1s -n 20 -x 500ms -f '%r %b' q >"$D/taken.$W" 2>/dev/null || continue
	read -r now _ </proc/uptime
	sed "s/.* //; s/\$/ $w $now/" "$D/taken.$W" >"$D/log/$w"
	((RANDOM % 20)) || sleep 0.6
	cut -d ' ' -f 1 "$D/taken.$W" | mq-ack - 2>/dev/null || echo "$w late" >>"$D/excused"
done
END
chmod +x "$D/one" "$D/many" "$D/taker"

declare -a pid who
starts=0
start() { # WORKER 0..7
	who[$1]=$((starts++))
	export W=${who[$1]}
	case $1 in
	0 | 1 | 2) mq-take -w -j 2 -x 2s q -- "$D/one" 2>/dev/null & ;;
	3 | 4 | 5) mq-take -w -j 2 -B 40 -x 2s q -- "$D/many" 2>/dev/null & ;;
	*) "$D/taker" & ;;
	esac
	pid[$1]=$!
}

# --- producers ------------------------------------------------------------------------

singles=$((messages / 50))
bulk=$(((messages - 2 * singles) / 2))
produce() {
	seq -f "a%.0f" "$bulk" | mq-put -l q >"$D/ids.1" &
	seq -f "b%.0f" "$bulk" | while read -r b; do
		echo "$b"
		((RANDOM % 50)) || sleep 0.01  # so that files of few come too
	done | mq-put -S -l q >"$D/ids.2" &
	for p in c d; do
		for i in $(seq "$singles"); do mq-put -S -m "$p$i" q || exit; done >"$D/ids.$p" &
	done
	wait
}

mq-conf q --create backoff=20ms backoff_max=200ms tries=100000 >/dev/null 2>&1 ||
	mq-conf --create q backoff=20ms backoff_max=200ms tries=100000 >/dev/null ||
	bad 'mq-conf'
for i in 0 1 2 3 4 5 6 7; do start $i; done
produce &
producer=$!
kills=0
limit=$((SECONDS + 120 + messages / 100))
until ! kill -0 $producer 2>/dev/null && mq-wait -W 300ms q 2>/dev/null; do
	((SECONDS < limit)) || bad "not done in time: $(mq-stat 2>&1)"
	sleep 0.4
	i=$((RANDOM % 8))
	kill -9 "${pid[i]}"
	wait "${pid[i]}" 2>/dev/null
	kills=$((kills + 1))
	read -r now _ </proc/uptime
	echo "${who[i]} $now" >>"$D/excused"
	start $i
done
touch "$D/stop"
for i in 0 1 2 3 4 5; do kill "${pid[i]}"; done
wait

# --- what came of it ---------------------------------------------------------------------

cat "$D"/ids.* | sort >"$D/ids"
n=$(wc -l <"$D/ids")
expected=$((2 * bulk + 2 * singles))
[[ $n = "$expected" && -z $(uniq -d "$D/ids") ]] || bad "$n ids confirmed of $expected"
cat "$D/handled" "$D"/log/* >"$D/all"
{
	seq -f "a%.0f" "$bulk"
	seq -f "b%.0f" "$bulk"
	seq -f "c%.0f" "$singles"
	seq -f "d%.0f" "$singles"
} | sort >"$D/bodies"
cut -d ' ' -f 1 "$D/all" | sort -u >"$D/once"
lost=$(comm -23 "$D/bodies" "$D/once" | wc -l)
strange=$(comm -13 "$D/bodies" "$D/once" | wc -l)
# All but one of the handlings of a message need an excuse: its worker (W or W.batch)
# was killed within a second of it, or came too late.
read -r twice unexcused < <(awk '
	FILENAME ~ /excused$/ { if ($2 == "late") late[$1]; else killed[$1] = $2; next }
	{ n[$1]++; split($2, w, ".") }
	$2 in late { next }
	w[1] in killed && killed[w[1]] - $3 <= 1 { next }
	{ good[$1]++ }
	END { for (b in n) { twice += n[b] > 1; bad += good[b] > 1 }
		print twice + 0, bad + 0 }' "$D/excused" "$D/all")
echo "soak: $n put, $(wc -l <"$D/once") handled, $lost lost, $strange strange, $kills kills," \
	"$twice twice, $unexcused of them without excuse, ${SECONDS}s"
mq-sweep >/dev/null || bad 'sweep'
mq-sweep --verify || bad 'verify found that'
look "$MQ_SPOOL/q" >"$D/left" || bad "$(head -n 5 "$D/left")"
[[ ! -s $D/left ]] || bad "left: $(head -n 5 "$D/left")"
[[ $lost = 0 && $strange = 0 && $unexcused = 0 ]] || bad 'see above'
rm -rf "$D"
