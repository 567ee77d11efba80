#!/bin/bash
# run.sh [SECTION ...] - the benchmark: prints a table and writes it to
# share/doc/BENCHMARKS.md. Every figure is measured in this run, and each stands
# beside what it is to be compared with, run in turn with it: absolute figures drift
# with the machine, ratios much less.
# SHORT=1: the form for CI, under a minute; writes to $BUILD/bench/ alone.
# BENCH_DIR: where to measure, /dev/shm; several, separated by blanks, one after
# another. BUILD, MQ_BIN: where programs and tools are.
# Its last line is `N measured, N missed`; 1 if something could not be measured, or
# a count (calls, flushes, bytes, memory, wake-ups) missed its target: those do not
# depend on how busy the machine is. SECTION: these alone, and nothing is written.
# shellcheck disable=SC2016 # $ in quotes is for the inner shell
set -u
cd "$(dirname "$0")/../.." || exit 1

BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
MQ_BIN=$(cd "${MQ_BIN:-$BUILD/bin}" && pwd) || exit 1
PATH=$MQ_BIN:$BUILD/bench:$PATH
SHORT=${SHORT:-}
export PATH LC_ALL=C
unset XDG_STATE_HOME TS_SOCKET
all='start count bulk take rates backlog stat wake idle pool batch fanout bare peers'
measured=0 missed=0 broken=0
dir='' server='' # what of ours is to be cleared away
trap 'clear_away' EXIT
trap 'exit 130' INT TERM HUP

clear_away() {
	[[ -z $server ]] || kill "$server"
	server=''
	[[ ! -S ${TS_SOCKET:-} ]] || tsp -K
	[[ -z $dir ]] || rm -rf "$dir"
	dir=''
}

# full FULL SHORT: the one for this form
full() { if [[ -n $SHORT ]]; then echo "$2"; else echo "$1"; fi; }
# calc EXPRESSION [FORMAT]
calc() { awk "BEGIN { printf \"${2:-%.2f}\", $1 }"; }
holds() { awk "BEGIN { exit !($1) }"; }
ms() { calc "($1) / 1000" "${2:-%.2f} ms"; }
# rate N MICROSECONDS: 1234567 a second
rate() { calc "$1 / $2 * 1e6" '%.0f'; }

# --- the table ----------------------------------------------------------------------

format='| %-50s | %16s | %7s | %-34s | %-18s | %-6s |\n'

heading() {
	printf '\n### %s\n\n' "$1"
	# shellcheck disable=SC2059
	printf "$format" '' figure ratio to target ''
	echo '| --- | ---: | ---: | --- | --- | --- |'
}

# row WHAT FIGURE RATIO TO [TARGET CONDITION [counted]]
row() {
	local verdict=''
	measured=$((measured + 1))
	if (($# > 4)); then
		verdict=met
		if ! holds "$6"; then
			verdict=missed
			missed=$((missed + 1))
			[[ -z ${7:-} ]] || broken=$((broken + 1))
		fi
	fi
	# shellcheck disable=SC2059
	printf "$format" "$1" "$2" "$3" "$4" "${5:-}" "$verdict"
}

# skipped WHAT WHY
skipped() {
	# shellcheck disable=SC2059
	printf "$format" "$1" "skipped: $2" '' '' '' ''
}

not_measured() {
	broken=$((broken + 1))
	# shellcheck disable=SC2059
	printf "$format" "$1" 'not measured' '' '' '' broken
}

# measure WHAT OPTION ... COMMANDS, as of paired: a line of each array a command
measure() {
	local what=$1 lines line
	shift
	wall=() cpu=() peak=() ratio=() cpu_ratio=()
	if ! lines=$(timeout 600 paired "$@"); then
		not_measured "$what"
		return 1
	fi
	while read -r -a line; do
		wall+=("${line[0]}") cpu+=("${line[1]}") peak+=("${line[2]}")
		ratio+=("${line[3]}") cpu_ratio+=("${line[4]}")
	done <<<"$lines"
}

# --- process start to exit ----------------------------------------------------------

start() {
	heading 'Process start to exit'
	measure 'process start' -n "$(full 400 60)" -t "$(full 60 6)" \
		noop ::: noop-static ::: mq-put -S -q -m x a ::: mq-put -q -m x b ::: \
		mq-take a '>receipt' ::: mq-ack - '<receipt' || return
	local no='the dynamic no-op'
	row 'a C program that does nothing, dynamic' "$(ms "${wall[0]}")" 1 ''
	row 'the same, static' "$(ms "${wall[1]}")" "$(calc "${ratio[1]}")" "$no"
	row '`mq-put -S -q -m x q`' "$(ms "${wall[2]}")" "$(calc "${ratio[2]}")" "$no" \
		'at most 1.5' "${ratio[2]} <= 1.5"
	row '`mq-put -q -m x q`, synced' "$(ms "${wall[3]}")" "$(calc "${ratio[3]}")" "$no"
	row '`mq-take q`' "$(ms "${wall[4]}")" "$(calc "${ratio[4]}")" "$no"
	row '`mq-ack -`' "$(ms "${wall[5]}")" "$(calc "${ratio[5]}")" "$no"
	row 'take and ack together' "$(ms "${wall[4]} + ${wall[5]}")" \
		"$(calc "${ratio[4]} + ${ratio[5]}")" "$no"
	row 'CPU of the put, not synced' "$(ms "${cpu[2]}")" "$(calc "${cpu_ratio[2]}")" \
		"that of $no"
}

# --- system calls -----------------------------------------------------------------------

# trace FILE COMMAND ...: its calls, a line each
trace() {
	local file=$1
	shift
	timeout 20 strace -o "$file" "$@" >out 2>err </dev/null
}
made() { grep -c '^[a-z0-9_]*(' "$1"; }
flushes() { grep -cE '^(fsync|fdatasync|sync|syncfs|msync|sync_file_range)\(' "$1"; }

# counted WHAT FILE FLUSHES [MOST]
counted() {
	local calls flushed
	calls=$(($(made "$2") - loader)) flushed=$(flushes "$2")
	if [[ -n ${4:-} ]]; then
		row "$1: calls" "$calls" '' '' "under $4" "$calls < $4" counted
	else
		row "$1: calls" "$calls" '' ''
	fi
	row "$1: flushes" "$flushed" '' '' "$3" "$flushed == $3" counted
}

# The loader and the C library's own start are those of a program that does nothing,
# linked as the tools are.
count() {
	heading 'System calls after the loader'
	if ! command -v strace >strace-path; then
		skipped 'system calls' 'no strace'
		return
	fi
	if ! { mq-put -q -m first c && trace t.noop noop-linked &&
		trace t.put mq-put -m x c && trace t.nosync mq-put -S -m x c &&
		trace t.take mq-take c && cp out receipt &&
		trace t.ack mq-ack "$(cat receipt)"; }; then
		not_measured 'system calls'
		return
	fi
	loader=$(made t.noop)
	counted '`mq-put -m x q`, synced' t.put 1 40
	counted '`mq-put -S -m x q`' t.nosync 0
	counted '`mq-take q`' t.take 0
	counted '`mq-ack RECEIPT`' t.ack 0
}

# the kernel counts memory in lots, a few for each processor
constant='at most 1.1 + 512K'

# --- a stream of lines ---------------------------------------------------------------------

bulk() {
	local n few cat put
	n=$(full 1000000 200000) few=$((n / 10))
	heading "\`seq $n | mq-put -l q\`, synced"
	seq "$n" >lines
	seq "$few" >few
	measure 'bulk put' -n "$(full 5 2)" \
		::: sh -c "seq $n | cat >bytes && sync bytes" \
		::: sh -c "seq $n | mq-put -l d >ids" \
		::: mq-put -q -l e '<lines' ::- rm -rf spool/e \
		::: mq-put -q -l e '<few' ::- rm -rf spool/e \
		::- cp -r spool/d spool/kept ::- rm -rf spool/d spool/e \
		::- rm -rf kept ::- mv spool/kept kept || return
	cat=$(rate "$n" "${wall[0]}") put=$(rate "$n" "${wall[1]}")
	local to='seq to cat to a file, and fsync'
	row 'the same lines to `cat`, and fsync' "$cat/s" 1 ''
	row 'messages put' "$put/s" "$(calc "${ratio[1]}")" "$to" \
		"300000/s or cat's" "$put >= 300000 || $put >= $cat"
	row 'the same from a file, no ids printed' "$(rate "$n" "${wall[2]}")/s" \
		"$(calc "${ratio[2]}")" "$to"
	row 'peak memory' "${peak[2]} KB" "$(calc "${peak[2]} / ${peak[3]}")" \
		"that of a tenth as many" "$constant" \
		"${peak[2]} <= 1.1 * ${peak[3]} + 512" counted
	local bytes inodes text
	bytes=$(du -s --block-size=1 kept | cut -f1)
	inodes=$(find kept | wc -l)
	text=$(command stat -c %s lines)
	rm -rf kept bytes ids
	row 'disk, for a million' "$(calc "$bytes * 1e6 / $n / 1e6" '%.1f MB')" \
		"$(calc "$bytes / $text")" 'the bytes of the lines' 'under 300 MB' \
		"$bytes * 1e6 / $n < 300e6" counted
	row 'inodes, for a million' "$(calc "$inodes * 1e6 / $n" '%.0f')" '' '' \
		'under 3000' "$inodes * 1e6 / $n < 3000" counted
}

take() {
	local n few
	n=$(full 1000000 200000) few=$((n / 10))
	heading "\`mq-take --ack -n $n q\` of a queue filled so"
	[[ -e lines ]] || seq "$n" >lines
	[[ -e few ]] || seq "$few" >few
	measure 'bulk take' -n "$(full 5 2)" \
		::: sh -c "seq $n | mq-put -l f >ids" ::: mq-take --ack -n "$n" f '>taken' \
		::- cmp -s lines taken \
		::- mq-put -q -l f '<few' ::: mq-take --ack -n "$few" f '>taken' \
		::: mq-put -q -l f '<lines' ::: mq-take -n "$n" f '>receipts' \
		::: mq-ack - '<receipts' || return
	local to='the put, synced'
	row 'the put' "$(rate "$n" "${wall[0]}")/s" 1 ''
	row 'taken at most once, and printed' "$(rate "$n" "${wall[1]}")/s" \
		"$(calc "${ratio[1]}")" "$to" 'at most 1' "${ratio[1]} <= 1"
	row 'the same' "" "$(calc "${wall[1]} / ${wall[3]}")" \
		'a put from a file, no ids printed'
	row 'CPU of that' "$(ms "${cpu[1]}" '%.0f')" "$(calc "${cpu[1]} / ${cpu[3]}")" \
		'CPU of that put'
	row 'peak memory' "${peak[1]} KB" "$(calc "${peak[1]} / ${peak[2]}")" \
		'that of a tenth as many' "$constant" \
		"${peak[1]} <= 1.1 * ${peak[2]} + 512" counted
	row '`mq-take -n`: a receipt for each' "$(rate "$n" "${wall[4]}")/s" \
		"$(calc "${ratio[4]}")" "$to"
	row '`mq-ack -` of those receipts' "$(rate "$n" "${wall[5]}")/s" \
		"$(calc "${ratio[5]}")" "$to"
	rm -f receipts taken ids
}

# --- one and four processes -------------------------------------------------------------------

# four times "$@", its input part, if that is there
four='p=; for i in 1 2 3 4; do if [ -e part ]; then "$@" <part & else "$@" & fi; p="$p $!"
	done; for i in $p; do wait $i || exit 1; done'

# rated WHAT N INDEX BASE
rated() {
	row "$1" "$(rate "$2" "${wall[$3]}")/s" "$(calc "${ratio[$3]}")" "$4"
}

rates() {
	local n s r
	n=$(full 400000 80000) s=$(full 8000 800) r=$(full 5 2)
	heading 'Messages a second, by one and by four processes'
	seq "$((n / 4))" >part
	seq "$n" >whole
	measure 'bulk puts' -n "$r" ::: mq-put -q -l g '<whole' \
		::: sh -c "$four" sh mq-put -q -l g \
		::: mq-put -S -q -l g '<whole' ::: sh -c "$four" sh mq-put -S -q -l g \
		::- rm -rf spool/g || return
	local to='the first of these four'
	rated 'lines put, synced, 1 process' "$n" 0 ''
	rated 'lines put, synced, 4 processes' "$n" 1 "$to"
	rated 'lines put, not synced, 1 process' "$n" 2 "$to"
	rated 'lines put, not synced, 4 processes' "$n" 3 "$to"
	measure 'bulk takes' -n "$r" ::- mq-put -S -q -l g '<whole' \
		::: mq-take --ack -n "$n" g ::- mq-put -S -q -l g '<whole' \
		::: sh -c "$four" sh mq-take --ack -n "$((n / 4))" g || return
	rated 'lines taken and acked, 1 process' "$n" 0 ''
	rated 'lines taken and acked, 4 processes' "$n" 1 'by one'
	rm -f part whole
	measure 'single puts' -n "$r" ::: driver put "$s" g ::- rm -rf spool/g \
		::: sh -c "$four" sh driver put "$((s / 4))" g ::- rm -rf spool/g \
		::: driver put -S "$s" g ::- rm -rf spool/g \
		::: sh -c "$four" sh driver put -S "$((s / 4))" g ::- rm -rf spool/g || return
	rated 'put one by one, synced, 1 process' "$s" 0 ''
	rated 'put one by one, synced, 4 processes' "$s" 1 "$to"
	rated 'put one by one, not synced, 1 process' "$s" 2 "$to"
	rated 'put one by one, not synced, 4 processes' "$s" 3 "$to"
	measure 'single takes' -n "$r" ::- driver put -S "$s" g ::: driver take "$s" g \
		::- driver put -S "$s" g ::: sh -c "$four" sh driver take "$((s / 4))" g ||
		return
	rated 'taken and acked one by one, 1 process' "$s" 0 ''
	rated 'taken and acked one by one, 4 processes' "$s" 1 'by one'
}

# --- a backlog ----------------------------------------------------------------------------------

# depth BASE-INDEX WHAT ...: rows of what depth printed
depths() {
	local base='' us name what
	while read -r us name; do
		what=${name#*-}
		[[ $what != "$1" ]] || base=$us
		row "from $what ${name%%-*}" "$(calc "$us" '%.0f us')" \
			"$(calc "$us / $base")" "from $1" 'at most 2' "$us <= 2 * $base"
	done
}

backlog() {
	local sizes singles n lines args=() base
	sizes=$(full '10 1000 100000 1000000' '10 1000 100000')
	singles=$(full '1000 100000' '1000 5000')
	heading 'One take from a backlog: open the queue and take, without the start of a process'
	for n in $sizes; do
		seq "$n" | mq-put -S -q -l "bulk-$n" || return
		args+=(-r "$n" "bulk-$n")
	done
	if ! lines=$(timeout 300 driver depth "$(full 500 100)" "${args[@]}"); then
		not_measured 'backlog of lines'
		return
	fi
	depths 10 <<<"$lines"
	args=()
	for n in $singles; do
		driver put -S "$n" "singles-$n" || return
		args+=("singles-$n")
	done
	if ! lines=$(timeout 300 driver depth "$(full 500 100)" "${args[@]}"); then
		not_measured 'backlog of singles'
		return
	fi
	depths 1000 <<<"$lines"
	n=${sizes##* }
	measure 'take of a backlog' -n "$(full 200 40)" -t "$(full 30 5)" \
		::: mq-take -x 1h bulk-1000 ::: mq-take -x 1h "bulk-$n" || return
	base='from 1000'
	row '`mq-take q`, start to exit, from 1000' "$(ms "${wall[0]}")" 1 ''
	row "\`mq-take q\`, start to exit, from $n" "$(ms "${wall[1]}")" \
		"$(calc "${ratio[1]}")" "$base" 'at most 2' "${ratio[1]} <= 2"
	rm -rf spool/bulk-* spool/singles-*
}

# --- counting -------------------------------------------------------------------------

# counted_in INDEX WHAT MS: a row of what measure() left, under so many ms
counted_in() {
	row "$2" "$(ms "${wall[$1]}")" "$(calc "${ratio[$1]}" '%.1f')" 'a static no-op' \
		"under $3 ms" "${wall[$1]} < $3 * 1000"
}
stat() {
	local many
	many=$(full 1000000 100000)
	heading '`mq-stat QUEUE`, start to exit'
	seq 1000 | mq-put -S -q -l thousand && driver put -S 1000 singles-1000 || return
	seq 1000000 | mq-put -S -q -l million && driver put -S "$many" singles || return
	measure 'mq-stat' -n "$(full 200 40)" -t "$(full 30 5)" noop-static ::: \
		mq-stat thousand ::: mq-stat singles-1000 ::: mq-stat million ::: \
		mq-stat --estimate million || return
	row 'a static program that does nothing' "$(ms "${wall[0]}")" 1 ''
	counted_in 1 '1000 lines of a bulk put' 5
	counted_in 2 '1000 put singly' 5
	counted_in 3 '1000000 lines of a bulk put' 200
	counted_in 4 'the same, `--estimate`' 5
	measure 'mq-stat of singles' -n "$(full 9 5)" -t "$(full 40 6)" noop-static ::: \
		mq-stat singles || return
	counted_in 1 "$many put singly" $((many / 500))
	rm -rf spool/thousand spool/million spool/singles*
}

# --- waiting ------------------------------------------------------------------------------------------

wake() {
	local lines p50 p99 name
	declare -A half late
	heading 'From a put to the one that waits for it'
	if ! lines=$(timeout 300 wake "$(full 300 50)"); then
		not_measured 'waking'
		return
	fi
	while read -r p50 p99 name; do
		half[$name]=$p50 late[$name]=$p99
	done <<<"$lines"
	row 'create, write, rename, inotify reader: p50' "${half[bare]} us" 1 ''
	row 'the same: p99' "${late[bare]} us" '' ''
	row 'put to a `mq-take -w --ack`: p50' "${half[taker]} us" \
		"$(calc "${half[taker]} / ${half[bare]}")" 'the bare reader' 'under 1 ms' \
		"${half[taker]} < 1000"
	row 'the same: p99' "${late[taker]} us" \
		"$(calc "${late[taker]} / ${late[bare]}")" 'the bare reader'
	row 'a bare start of `cat`, to its output: p50' "${half[spawn]} us" 1 ''
	row 'the same: p99' "${late[spawn]} us" '' ''
	row 'put to the output of `mq-take -w q -- cat`: p50' "${half[pool]} us" \
		"$(calc "${half[pool]} / ${half[spawn]}")" 'the bare start'
	row 'the same: p99' "${late[pool]} us" \
		"$(calc "${late[pool]} / ${late[spawn]}")" 'the bare start'
}

idle() {
	local lines quiet each switches others seconds
	seconds=$(full 5 2)
	heading '64 that wait'
	if ! lines=$(timeout 120 idle 64 "$seconds" 32); then
		not_measured '64 that wait'
		return
	fi
	read -r quiet each switches others <<<"$lines"
	row "CPU of all 64 in $seconds s, with nothing to do" "$(ms "$quiet" '%.3f')" \
		"$(calc "$quiet / ${seconds}e6" '%.5f')" 'a core' 'under 5 ms' "$quiet < 5000" counted
	row 'CPU of all, for a message' "$(ms "$each" '%.3f')" '' ''
	row 'wake-ups of all, for a message' "$switches" \
		"$(calc "$switches / 64")" 'waking all' 'at most 6' "$switches <= 6" counted
	row 'of these of who gets none' "$others" '' '' 'under 1' "$others < 1" counted
}

# --- the pool -----------------------------------------------------------------------------------------

pool() {
	local rounds each
	rounds=$(full 5 2) each=$(full 2000 250)
	heading "The pool: $rounds times $each messages, \`/bin/true\` for each"
	seq "$each" >work
	measure pool -n "$rounds" -t "$(full 120 12)" ::- mq-put -S -q -l h '<work' \
		::: xargs -P2 -n1 /bin/true '<work' ::: mq-take -j2 h -- /bin/true || return
	row '`xargs -P2 -n1 /bin/true`' "$(rate "$each" "${wall[0]}")/s" 1 ''
	row '`mq-take -j2 q -- /bin/true`' "$(rate "$each" "${wall[1]}")/s" \
		"$(calc "${ratio[1]}")" 'xargs' 'at most 1.3' "${ratio[1]} <= 1.3"
	row 'CPU of that, with the commands, for a message' \
		"$(ms "${cpu[1]} / $each")" "$(calc "${cpu_ratio[1]}")" 'xargs'
	rm -f work
}

batch() {
	local n all bare
	n=$(full 1000000 100000)
	heading "The pool in batches: $n lines, \`cat\` for each 1000"
	mkdir parts
	seq "$n" >lines
	split -l 1000 -a 5 lines parts/ && ls -d parts/* >names
	measure batches -n "$(full 5 1)" -t "$(full 90 15)" ::- mq-put -S -q -l i '<lines' \
		::: mq-take -B 1000 i -- cat '>out' ::- cmp -s lines out \
		::: xargs -n1 cat '<names' '>out' ::: xargs -n1000 /bin/echo '<lines' '>out' \
		::- rm -f out || return
	all=$(rate "$n" "${wall[0]}")
	bare="$n / (${wall[0]} - ${wall[1]}) * 1e6"
	row '`mq-take -B 1000 q -- cat`' "$all/s" "$(calc "${wall[0]} / ${wall[1]}")" \
		'xargs -n1 cat, of files of 1000' 'at least 1000000/s' "$all >= 1000000"
	row 'xargs -n1 cat, of files of 1000' "$(rate "$n" "${wall[1]}")/s" 1 ''
	row '`xargs -n1000 echo`' "$(rate "$n" "${wall[2]}")/s" \
		"$(calc "${wall[2]} / ${wall[1]}")" 'xargs -n1 cat, of files of 1000'
	if holds "${wall[0]} > ${wall[1]}"; then
		row 'the first less the second: without cat' "$(calc "$bare" '%.0f')/s" \
			'' '' 'at least 1000000/s' "$bare >= 1000000"
	else
		row 'the first less the second: without cat' 'no cost seen' '' '' \
			'at least 1000000/s' 1
	fi
	rm -rf parts names lines out
}

# --- fan-out ---------------------------------------------------------------------------------------

# fan_out SUBSCRIPTIONS FILE WHAT: beside as many bare linkat(2) and a put of the same
fan_out() {
	local t=topic$1 links
	measure "fan-out to $1" -n "$(full 40 10)" -t "$(full 20 4)" noop-static ::: \
		links "$2" "$MQ_SPOOL/$t"/sub/*/new/5/0000000000 ::- \
		links -u "$2" "$MQ_SPOOL/$t"/sub/*/new/5/0000000000 ::: \
		mq-put -q plain "$2" ::: mq-put -q "$t" "$2" || return
	links=$(calc "${wall[1]} - ${wall[0]}")
	row "publish $3 to $1" "$(ms "${wall[3]}")" \
		"$(calc "${wall[3]} / ($links + ${wall[2]})")" "$1 bare linkat(2) and a put" \
		'at most 1.5' "${wall[3]} <= 1.5 * ($links + ${wall[2]})"
}

fanout() {
	local n i before
	heading 'Fan-out: one put to a topic of so many subscriptions'
	head -c 100 /dev/zero >small
	head -c 1048576 /dev/zero >large
	for n in 1 10 100 $(full 1000 ''); do
		for ((i = 0; i < n; i++)); do mq-sub add "topic$n" "s$i"; done
		mq-put -q "topic$n" small
		fan_out "$n" small '100 B'
		fan_out "$n" large '1 MiB'
	done
	before=$(du -sk "$MQ_SPOOL/topic$n" | cut -f 1)
	mq-put -q "topic$n" large
	row "disk use of 1 MiB to $n" "$(($(du -sk "$MQ_SPOOL/topic$n" | cut -f 1) - before)) KiB" \
		'' '' 'one payload' "$(($(du -sk "$MQ_SPOOL/topic$n" | cut -f 1) - before)) < 1200" counted
	rm -rf small large
}

# --- the limit ------------------------------------------------------------------------------------------

bare() {
	local lines us name
	heading 'The bare system calls there'
	if ! lines=$(timeout 120 calls calls.d "$(full 20000 4000)"); then
		not_measured 'the bare calls'
		return
	fi
	while read -r us name; do
		row "$name" "$us us" '' ''
	done <<<"$lines"
}

# --- others ------------------------------------------------------------------------------------------------

have() {
	command -v "$1" >/dev/null && return
	skipped "$1" 'not installed'
	return 1
}

# one_by_one WHAT ROUNDS COMMAND ...: beside an unsynced put
one_by_one() {
	local what=$1 n=$2
	shift 2
	measure "$what" -n "$n" -t 15 ::: mq-put -S -q -m x peer ::: "$@" || return
	row "$what" "$(ms "${wall[1]}")" "$(calc "${ratio[1]}")" '`mq-put -S -q -m x q`'
}

# streamed WHAT N FILE COMMAND ...: beside mq-put -l of as many lines
streamed() {
	local what=$1 n=$2 file=$3
	shift 3
	measure "$what" -n 3 ::: mq-put -q -l peer '<lines' ::- rm -rf spool/peer \
		::: "$@" "<$file" || return
	row "$what" "$(rate "$n" "${wall[1]}")/s" "$(calc "${ratio[1]}")" \
		'`mq-put -l q`, synced'
}

peers() {
	[[ -z $SHORT ]] || return 0
	heading 'Others, where they are installed'
	seq 100000 >lines
	peer_nq
	peer_tsp
	peer_sqlite
	peer_redis
	rm -rf spool/peer lines
}

peer_nq() {
	have nq || return 0
	mkdir nq
	one_by_one '`nq true`' 100 env NQDIR=nq nq true
	NQDIR=nq timeout 60 nq -w
	rm -rf nq
}

peer_tsp() {
	have tsp || return 0
	export TS_SOCKET=$PWD/tsp TS_ONFINISH=
	timeout 10 tsp -S 1 >/dev/null
	one_by_one '`tsp -n true`' 100 tsp -n true
	timeout 60 tsp -w
	timeout 10 tsp -K
}

peer_sqlite() {
	local wal='PRAGMA journal_mode=wal; PRAGMA synchronous=full;'
	have sqlite3 || return 0
	sqlite3 db "$wal CREATE TABLE q(id INTEGER PRIMARY KEY, body TEXT)" >/dev/null
	one_by_one '`sqlite3`: one INSERT, synced' 100 \
		sqlite3 db 'PRAGMA synchronous=full; INSERT INTO q(body) VALUES(1)'
	one_by_one '`sqlite3`: one DELETE ... RETURNING, synced' 100 sqlite3 db \
		'PRAGMA synchronous=full; DELETE FROM q WHERE id=(SELECT min(id) FROM q) RETURNING body'
	awk 'BEGIN { print "PRAGMA synchronous=full;" }
		NR % 1000 == 1 { print "BEGIN;" } { print "INSERT INTO q(body) VALUES(" $1 ");" }
		NR % 1000 == 0 { print "COMMIT;" }' lines >sql
	streamed '`sqlite3`: INSERTs, 1000 a COMMIT, synced' 100000 sql sqlite3 db
	rm -f db* sql
}

peer_redis() {
	local cli
	have redis-server && have redis-cli || return 0
	cli=(redis-cli -s "$PWD/redis.sock")
	mkdir redis
	redis-server --port 0 --unixsocket "$PWD/redis.sock" --dir "$PWD/redis" --save '' \
		--appendonly yes --appendfsync always >/dev/null &
	server=$!
	timeout 10 sh -c 'until "$@" ping; do sleep 0.1; done' sh "${cli[@]}" >/dev/null 2>&1
	one_by_one '`redis-cli LPUSH`, fsync always' 100 "${cli[@]}" lpush q x
	one_by_one '`redis-cli RPOP`, fsync always' 100 "${cli[@]}" rpop q
	awk '{ print "LPUSH q " $1 }' lines >commands
	streamed '`redis-cli --pipe`: LPUSHs, fsync always' 100000 commands "${cli[@]}" --pipe
	kill "$server"
	wait "$server"
	server=''
	rm -rf redis commands
}

# --- all of it ------------------------------------------------------------------------------------------------

machine() {
	printf '\n## On %s: %s\n\n' "$1" "$(command stat -f -c %T "$1")"
	printf '%s; %s cores, %s; Linux %s; load %s.\n' "$(date -u '+%Y-%m-%d %H:%M UTC')" \
		"$(nproc)" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort -u | head -n 1)" \
		"$(uname -r)" "$(cut -d ' ' -f 1-3 /proc/loadavg)"
}

preface() {
	cat <<-'END'
		# Benchmarks

		Written by `make bench`; every figure is of one run. What stands in the column
		`to` was run in turn with it, round after round, so the ratio holds where the
		absolute figures drift; figures are medians. Under a ratio of times, 2 is twice as
		long. On /dev/shm a flush costs nothing; `BENCH_DIR='/dev/shm /var/tmp' make
		bench` measures on a disk too. A busy machine stretches what starts processes most.
		`missed`: the target in this row was not met in this run.
	END
}

on() {
	dir=$(mktemp -d "$1/mq-bench.XXXXXX") || exit 1
	export MQ_SPOOL=$dir/spool
	cd "$dir" || exit 1
	mkdir spool
	machine "$1"
	for section in $sections; do
		"$section"
	done
	printf '\nLoad afterwards: %s.\n' "$(cut -d ' ' -f 1-3 /proc/loadavg)"
	cd / && clear_away
}

sections=${*:-$all}
for section in $sections; do
	[[ " $all " == *" $section "* ]] || { echo "run.sh: no section: $section"; exit 64; }
done
result=$BUILD/bench/BENCHMARKS.md
doc=$PWD/share/doc
fifo=$BUILD/bench/table.$$
# by a pipe with a name, for the counts to stay in this shell
mkfifo "$fifo"
tee "$result" <"$fifo" &
exec 3>&1 >"$fifo"
rm -f "$fifo"
preface
for place in ${BENCH_DIR:-/dev/shm}; do
	on "$place"
done
exec >&3 3>&-
wait $!
if [[ -z $SHORT && $# == 0 ]]; then
	cp "$result" "$doc/BENCHMARKS.md"
fi
echo
echo "$measured measured, $missed missed"
((broken == 0))
