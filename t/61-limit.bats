# Limits of a queue: limit, limit_bytes, full=, mq-put -w and -W.
# shellcheck disable=SC2154,SC2016 # bats sets them; for an inner shell
load helper

limited() { mq-conf --create q "$@"; }
fill() { seq "$1" | mq-put -q -l q; }
count() { mq-stat -J q | jq '.ready + .leased + .later + .blocked'; }
# how many of many single puts have room
room() {
	local n=0
	while mq-put -q -W0 -m x q 2>/dev/null; do n=$((n + 1)); done
	echo $n
}
blocked() { background timeout 20 mq-put "$@" && wait_for in_line; }
in_line() { compgen -G "$MQ_SPOOL/q/room/[0-9]*" >/dev/null; }
ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; }

@test "limit: a put into a full queue is 75, and nothing is stored" {
	limited limit=2
	fill 2
	run -75 mq-put -m x q
	assert_match 'q: the queue is full \(not stored\)$'
	assert_equal "$(count)" 2
}

@test "limit: -l with reject prints exactly the ids that were put" {
	limited limit=5
	run --separate-stderr -75 mq-put -l q < <(seq 9)
	assert_equal "$output" "$(mq-ls -o id q)"
	run -0 mq-take --ack -n 9 q
	assert_output "$(seq 5)"
}

@test "limit: -b puts all or nothing" {
	limited limit=5
	fill 3
	run -75 mq-put -b -l q < <(seq 3)
	assert_equal "$(count)" 3
	run -0 mq-put -q -b -l q < <(seq 2)
}

@test "limit: what can never fit is 65" {
	limited limit=5 limit_bytes=100
	run -65 mq-put -b -l q < <(seq 6)
	run -65 mq-put -W 20s -m "$(printf '%0101d' 0)" q
	assert_match 'more than the queue may ever hold'
}

@test "limit_bytes: counts the bodies' bytes" {
	limited limit_bytes=10
	mq-put -q -m 123456 q
	run -75 mq-put -m 12345 q
	run -0 mq-put -q -m 1234 q
	mq-take --ack q >got
	run -0 mq-put -q -m 123456 q
	run -75 mq-put -m 1 q
}

@test "limit: ready, leased, later and blocked count, dead and done do not" {
	limited limit=4 keep=1h
	mq-put -q -m 1 q
	mq-take q
	mq-put -q -d 1h -m 2 q
	seq 2 | mq-put -q -l -k a q
	run -75 mq-put -m x q
	mq-ack -K "$(mq-take q)"
	mq-take --ack q >got
	assert_equal "$(room)" 2
}

@test "limit: room comes with ack, bury, rm, expiry and consuming" {
	limited limit=1
	mq-put -q -m 1 q
	mq-ack "$(mq-take q)"
	mq-put -q -m 2 q
	mq-ack -K "$(mq-take q)"
	mq-rm "q:$(mq-put -m 3 q)"
	mq-put -q -m 4 q
	mq-take --ack q >got
	mq-put -q -x 1ms -m 5 q
	sleep 0.01
	mq-sweep
	assert_equal "$(room)" 1
}

@test "limit: a retry, a give-back and an expired lease keep their place" {
	limited limit=1
	mq-put -q -m 1 q
	mq-ack --retry -d 0 "$(mq-take q)"
	run -75 mq-put -m x q
	mq-ack -u "$(mq-take q)"
	run -75 mq-put -m x q
	mq-take -x 1ms q
	sleep 0.01
	mq-sweep
	run -75 mq-put -m x q
}

@test "limit: parts of a file of many count one by one" {
	limited limit=5 limit_bytes=5
	fill 5
	mq-take -n 5 q >receipts
	sed -n '2p;4p' receipts | mq-ack -
	assert_equal "$(room)" 2
	sed -n 3p receipts | mq-ack -K -
	assert_equal "$(room)" 1
}

@test "limit: what comes back from the dead letters counts" {
	limited limit=2
	mq-put -q -m 1 q
	mq-ack -K "$(mq-take q)"
	mq-dlq retry --all q
	assert_equal "$(room)" 1
}

@test "limit: a move to a queue counts there, and here no more" {
	limited limit=2
	mq-conf --create p limit=1
	fill 2
	mq-take -n 2 q >receipts
	head -n 1 receipts | mq-ack -t p -
	assert_equal "$(room)" 1
	run -75 mq-put -m x p
	run -75 mq-ack -t p - < <(tail -n 1 receipts)
	mq-take --ack p
	run -0 mq-ack -t p - < <(tail -n 1 receipts)
}

@test "limit: raising, lowering and removing it take effect at once" {
	limited limit=1
	assert_equal "$(room)" 1
	mq-conf q limit=3
	assert_equal "$(room)" 2
	mq-conf q limit=2
	mq-take --ack q >got
	run -75 mq-put -m x q
	mq-conf q limit=
	run -0 mq-put -q -m x q
	mq-conf q limit=3
	run -75 mq-put -m x q
}

@test "limit: right again after the meter is gone" {
	limited limit=3
	fill 2
	rm "$MQ_SPOOL/q/meter"
	assert_equal "$(room)" 1
}

@test "limit: set on a queue that has messages, they count" {
	fill 3
	mq-conf q limit=4
	assert_equal "$(room)" 1
}

@test "full=drop-oldest: the oldest of the least urgent priority goes" {
	limited limit=3 full=drop-oldest
	mq-put -q -p 9 -m a q
	mq-put -q -p 9 -m b q
	mq-put -q -p 0 -m c q
	run -0 mq-put -q -p 0 -m d q
	run -0 mq-ls -o body q
	assert_output $'b\nc\nd'
}

@test "full=drop-oldest: out of a file of many, one by one" {
	limited limit=4 full=drop-oldest
	fill 4
	mq-put -q -m 5 q
	seq 6 7 | mq-put -q -l q
	run -0 mq-take --ack -n 9 q
	assert_output "$(seq 4 7)"
	mq-sweep && mq-sweep --verify
}

@test "full=drop-oldest: a group's head brings up the next" {
	limited limit=3 full=drop-oldest
	seq 3 | mq-put -q -l -k a q
	mq-put -q -k a -m 4 q
	run -0 mq-ls -o state,body q
	assert_output $'ready\t2\nblocked\t3\nblocked\t4'
	mq-sweep && mq-sweep --verify
}

@test "full=drop-oldest: never a leased one: 75 if nothing is ready" {
	limited limit=2 full=drop-oldest
	fill 2
	mq-take -n 2 q >receipts
	run -75 mq-put -m x q
	mq-ack - <receipts
}

@test "full=drop-oldest: with keep=, mq-wait knows that it was dropped" {
	limited limit=1 full=drop-oldest keep=1h
	id=$(mq-put -m 1 q)
	mq-put -q -m 2 q
	run -1 mq-wait -W 5s "q:$id"
	assert_match dropped
}

@test "full=block: waits, and puts when a worker makes room" {
	limited limit=1 full=block
	mq-put -q -m 1 q
	blocked -m 2 q >id
	run -0 mq-take --ack q
	assert_output 1
	wait "$pid"
	assert_equal "$(cat id)" "$(mq-ls -o id q)"
}

@test "full=block: -l streams on at the workers' pace" {
	limited limit=10 full=block
	background timeout 60 bash -c 'seq 500 | mq-put -l q' >ids
	mq-take -w -n 500 -B 10 q -- cat >out 3>&-
	wait "$pid"
	assert_equal "$(cat out)" "$(seq 500)"
	assert_equal "$(sort -u ids | wc -l)" 500
}

@test "mq-put -W0: never waits, though the queue would" {
	limited limit=1 full=block
	mq-put -q -m 1 q
	run -75 timeout 5 mq-put -W0 -m 2 q
}

@test "mq-put -W: waits so long, then 75" {
	limited limit=1
	mq-put -q -m 1 q
	run -75 timeout 5 mq-put -W 30ms -m 2 q
	assert_match 'the queue is full \(not stored\)$'
	assert_equal "$(count)" 1
}

@test "mq-put -w: waits though the queue would reject" {
	limited limit=1
	mq-put -q -m 1 q
	blocked -q -w -m 2 q
	mq-rm --all q
	wait "$pid"
	assert_equal "$(mq-ls -o body q)" 2
}

@test "mq-put -w: raising or removing the limit wakes who waits" {
	limited limit=1
	mq-put -q -m 1 q
	blocked -q -w -m 2 q
	mq-conf q limit=2
	timeout 5 tail --pid="$pid" -f /dev/null
	blocked -q -w -m 3 q
	mq-conf q limit=
	timeout 5 tail --pid="$pid" -f /dev/null
	assert_equal "$(mq-ls -o body q)" "$(seq 3)"
}

@test "mq-put -w: in turn, one put for one place" {
	limited limit=1
	mq-put -q -m 0 q
	for i in 1 2 3; do
		background timeout 20 mq-put -q -w -m "$i" q
		wait_for bash -c "(( \$(ls '$MQ_SPOOL/q/room' | grep -c '^[0-9]') == $i ))"
	done
	run -0 timeout 10 mq-take -w -n 4 q -- cat
	assert_output 0123
}

@test "mq-put -w: one who waits in line does not starve one with -W0" {
	limited limit=1
	mq-put -q -m 0 q
	blocked -q -w -m 1 q
	run -75 timeout 5 mq-put -W0 -m 2 q
}

@test "mq-put -w: uses no CPU while it waits" {
	limited limit=1
	mq-put -q -m 0 q
	blocked -q -w -m 1 q
	p=$(pgrep -P "$pid")
	a=$(ticks "$p")
	sleep 0.3
	assert_equal "$(ticks "$p")" "$a"
}

@test "mq-put -w: killed while it waits, the next is served" {
	limited limit=1
	mq-put -q -m 0 q
	background mq-put -q -w -m 1 q
	first=$pid
	wait_for in_line
	background timeout 20 mq-put -q -w -m 2 q
	kill -9 "$first"
	mq-take --ack q
	wait "$pid"
	assert_equal "$(mq-ls -o body q)" 2
}

@test "mq-put: no two of many at once get the last place" {
	limited limit=5
	for i in 1 2 3 4 5 6 7 8 9; do background mq-put -q -m "$i" q 2>/dev/null; done
	for p in "${background_pids[@]}"; do wait "$p" || :; done
	assert_equal "$(count)" 5
}

@test "mq-conf: bad limits are 64" {
	for v in limit=-1 limit=x limit_bytes=1X full=maybe max_leased=1.5 rate=x dedup=31d; do
		run -64 mq-conf --create q "$v"
	done
}
