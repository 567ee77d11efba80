# max_leased and rate: for a queue as a whole, across its pools.
# shellcheck disable=SC2154,SC2016 # bats sets them; for an inner shell
load helper

limited() { mq-conf --create q "$@"; }
ms() { date +%s%3N; }

@test "max_leased: no more in flight, however they are taken" {
	limited max_leased=2
	seq 5 | mq-put -q -l q
	mq-take -n 5 q >receipts
	assert_equal "$(wc -l <receipts)" 2
	run -1 mq-take q
	head -n 1 receipts | mq-ack -
	run -0 mq-take -n 5 q
	assert_lines 1
}

@test "max_leased: a retry, a bury, a give-back and an expired lease free a place" {
	limited max_leased=1 backoff=1h
	seq 5 | mq-put -q -l q
	mq-ack --retry "$(mq-take q)"
	mq-ack -K "$(mq-take q)"
	mq-ack -u "$(mq-take q)"
	mq-take -x 1ms q
	sleep 0.01
	run -0 mq-take q
	run -1 mq-take q
}

@test "max_leased=1: a mutex over two pools" {
	limited max_leased=1
	seq 12 | mq-put -q -l q
	cat >job <<-'EOF'
		#!/bin/sh
		mkdir busy || echo both >>bad
		cat >>out
		rmdir busy
	EOF
	chmod +x job
	background timeout 30 mq-take -w -n 6 -j 2 q -- ./job
	timeout 30 mq-take -w -n 6 -j 2 q -- ./job
	wait "$pid"
	[[ ! -e bad ]]
	assert_equal "$(wc -c <out)" 15
}

@test "max_leased: who waits is woken when a place comes free" {
	limited max_leased=1
	seq 2 | mq-put -q -l q
	r=$(mq-take q)
	background timeout 20 mq-take -w --ack q >second
	run -1 mq-take q
	mq-ack "$r"
	wait "$pid"
	assert_equal "$(cat second)" 2
}

@test "max_leased: raising it takes effect at once" {
	limited max_leased=1
	seq 2 | mq-put -q -l q
	mq-take q
	run -1 mq-take q
	mq-conf q max_leased=
	run -0 mq-take q
}

@test "max_leased: a killed taker leaks no place" {
	limited max_leased=1 lease=200ms
	seq 2 | mq-put -q -l q
	background mq-take -w q -- sleep 60
	wait_for bash -c '[ "$(mq-stat -o leased q)" = 1 ]'
	kill -9 "$pid"
	run -0 timeout 10 mq-take -w q
}

@test "max_leased: with groups, only the next of a key" {
	limited max_leased=2
	seq 3 | mq-put -q -l -k a q
	mq-put -q -k b -m 4 q
	mq-put -q -k c -m 5 q
	run -0 mq-take -n 9 -f '%b %r' q
	run -0 bash -c 'printf "%s\n" "$@" | cut -d " " -f 1 | xargs' - "${lines[@]}"
	assert_output '1 4'
}

@test "rate: tokens come one by one, for all that take" {
	limited rate=20/s
	seq 100 | mq-put -q -l q
	begin=$(ms)
	background timeout 20 mq-take -w -n 5 q -- true
	timeout 20 mq-take -w -n 6 q -- true
	wait "$pid"
	took=$(($(ms) - begin))
	((took >= 400 && took < 3000)) || fail "11 at 20/s took $took ms"
}

@test "rate: without a token there is nothing to take" {
	limited rate=1/m
	seq 3 | mq-put -q -l q
	run -0 mq-take -n 3 q
	assert_lines 1
	run -1 mq-take q
	run -1 timeout 5 mq-take -W 50ms q
}

@test "rate: who waits for a token uses no CPU" {
	limited rate=1/m
	seq 3 | mq-put -q -l q
	mq-take --ack q
	background mq-take -w --ack q
	wait_for compgen -G "$MQ_SPOOL/q/wait/[0-9]*"
	a=$(awk '{print $14 + $15}' "/proc/$pid/stat")
	sleep 0.3
	assert_equal "$(awk '{print $14 + $15}' "/proc/$pid/stat")" "$a"
}

@test "rate: removing it wakes who waits" {
	limited rate=1/h
	seq 2 | mq-put -q -l q
	mq-take --ack q
	background timeout 20 mq-take -w --ack q >second
	wait_for compgen -G "$MQ_SPOOL/q/wait/[0-9]*"
	mq-conf q rate=
	wait "$pid"
	assert_equal "$(cat second)" 2
}
