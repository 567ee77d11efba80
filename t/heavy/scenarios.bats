# Scripted scenarios with known answers: what mq-stat says of them is what arithmetic
# says, within 5 %. build/bench/arrive puts, takes and acks at given times, and reckons
# from what it did itself, also where the machine is late.
# shellcheck disable=SC2154,SC2034 # bats sets them; shown by name
load ../helper

PATH=${BENCH:-$ROOT/build/bench}:$PATH

# scene BURST PUTS ACKS HELD MS: what mq-stat says into $ready, $in, ... , what is
# reckoned into $in60, $out60, ... $held, $waiting
scene() {
	local f try
	for try in 1 2 3 4 5; do
		run arrive "$@" "q$try" mq-stat -J "q$try"
		((status == 75)) || break
	done
	assert_equal "$status" 0
	assert_lines 2
	for f in ready leased in out drain workers trend; do
		printf -v "$f" %s "$(jq -r ".$f // 999999999" <<<"${lines[0]}")"
	done
	read -r in60 out60 in10 out10 in1 out1 held waiting <<<"${lines[1]}"
	echo "$output"
}
# near A B: A, an expression as all of them, within 5 % of B; whole numbers are rounded up
near() {
	awk "BEGIN { a = $1; b = $2; up = a == int(a); exit !(a >= b * 0.95 && a <= b * 1.05 + up) }" ||
		fail "$1 is not within 5 % of $2"
}

@test "scenario: 300 a second held 0.2 s are 60 workers" {
	scene 0 300 300 200 9000
	near "$workers" "$in60 * $held"
	near "$workers" 60
	near "$in" "$in60"
	near "$out" "$out60"
	near "$leased" "$in60 * $held"
	assert_equal $((ready + leased)) "$waiting"
	assert_equal "$drain $trend" '999999999 steady'
}

@test "scenario: 12,000 wait, 400 a second net: 30 s, by the last minute" {
	scene 36600 100 500 20 61500
	assert_equal $((ready + leased)) "$waiting"
	near "$waiting" 12000
	near "$in" "$in60"
	near "$out" "$out60"
	near "$drain" "$waiting / ($out60 - $in60)"
	near "$drain" 30
	near "$workers" "$in60 * $held"
	assert_equal "$trend" draining
}

@test "scenario: 1,000 in a burst, 200 a second drained: 800 after a second, 4 to 5 s" {
	scene 1000 0 200 50 1120
	assert_equal $((ready + leased)) "$waiting"
	near "$waiting" 800
	near "$drain" "$waiting / ($out1 - $in1)"
	((drain == 4 || drain == 5))
}

# What find(1) sees in a directory of the queue, ranges as the messages they are.
on_disk() {
	find "$MQ_SPOOL/q/$1" -type f -printf '%f\n' 2>/dev/null |
		awk '{ n += match($0, /,c[0-9]+/) ? substr($0, RSTART + 2, RLENGTH - 2) : 1 } END { print n + 0 }'
}
one_of_them() {
	case $((RANDOM % 8)) in
	0) seq 40 | mq-put -q -l q ;;
	1) mq-put -q -k "k$((RANDOM % 4))" -m "$RANDOM" q ;;
	2) seq 6 | mq-put -q -l -k "k$((RANDOM % 4))" q ;;
	3) mq-take -n 9 -j2 q -- bash -c 'exit $((RANDOM % 3 * 65 % 128))' ;;
	4) mq-take -n 20 --ack q ;;
	5) mq-take -n 9 q | mq-ack --retry - ;;
	6) mq-take -n 3 q | mq-ack -K - ;;
	7) mq-dlq retry --all q ;;
	esac
}
# Each is killed with all it started, some hundredths of a second later.
chaos() {
	local end=$((SECONDS + 10))
	RANDOM=$1
	while ((SECONDS < end)); do
		setsid bash -c "$(declare -f one_of_them); RANDOM=$RANDOM; one_of_them" &
		sleep 0.0$((RANDOM % 8))
		kill -KILL -- -$! && wait $! || :
	done >/dev/null 2>&1
}

@test "scenario: killed at random, counts on disk and counts shown agree after a sweep" {
	mq-conf --create q lease=200ms backoff=1h tries=9
	for seed in 1 2 3; do chaos "$seed" 3>&- & done
	wait
	wait_for eval 'mq-sweep; (($(mq-stat -o leased q) == 0))'
	mq-sweep
	run -0 mq-sweep --verify
	on="$(on_disk new)	$(on_disk cur)	$(on_disk later)	$(on_disk grp)	$(on_disk dlq)"
	run -0 mq-stat -o ready,leased,later,blocked,dead q
	assert_equal "$output" "$on"
	run -0 mq-stat --estimate -o ready,leased,later,blocked,dead q
	assert_equal "$output" "$on"
	run -0 mq-stat -J --estimate q
	assert_equal "$(jq .estimated <<<"$output")" true
	echo "ready, leased, later, blocked, dead: $on" >&3
}
