# mq-wait, and what waits: every exit status, who wakes, who does not.
# shellcheck disable=SC2154 # bats sets them
# shellcheck disable=SC2016 # an inner shell expands it
# runs long
load helper

# waits in line: DIRECTORY has (at least) N places
in_line() { (($(find "$MQ_SPOOL/$1/wait" -type f 2>/dev/null | wc -l) >= $2)); }

@test "mq-wait: bad options and operands are 64, 66 if there is no queue" {
	id=$(mq-put -m a q)
	for o in '' -z --nope '-W x q' '-W -1 q' ../q 'q:x' "--held q:$id" "q q" "q:$id q"; do
		# shellcheck disable=SC2086 # words
		run -64 timeout 5 mq-wait $o
	done
	run -66 mq-wait nope
	run -66 mq-wait "nope:$id"
}

@test "mq-wait: an empty queue, delayed and dead ones do not count" {
	mq-put -q -m a q
	mq-ack -K "$(mq-take q)"
	mq-put -q -d 1h -m b q
	run -0 timeout 5 mq-wait q
}

@test "mq-wait: 75 at the end of -W, in time" {
	mq-put -q -m a q
	run -75 mq-wait -W 0 q
	start=$(date +%s%N)
	run -75 mq-wait -W 0.5 q
	took=$((($(date +%s%N) - start) / 1000000))
	((took >= 500 && took < 4000))
}

@test "mq-wait: ready, leased, waiting for a retry count; then it ends" {
	mq-put -q -m a q
	background mq-wait q
	receipt=$(mq-take q)
	mq-ack --retry -d 0.3 "$receipt"
	run -75 mq-wait -W 0 q
	mq-take -W 5 --ack q
	wait_for -t 3 is_gone "$pid"
	wait "$pid"
}

@test "mq-wait: --held until nothing is leased" {
	mq-put -q -m a q
	run -0 mq-wait --held q
	receipt=$(mq-take q)
	run -75 mq-wait -W 0 --held q
	background mq-wait --held q
	mq-ack -u "$receipt"
	wait_for -t 3 is_gone "$pid"
	wait "$pid"
}

@test "mq-wait: QUEUE:ID: 0 acked, 1 buried, dropped, unknown, with keep" {
	mq-conf --create q keep=1h
	for m in ack bury drop rm; do eval "$m=$(mq-put -m $m q)"; done
	mq-ack "$(mq-take "q:$ack")"
	mq-ack -K "$(mq-take "q:$bury")"
	mq-rm "q:$rm"
	run -0 mq-wait "q:$ack"
	run -1 mq-wait "q:$bury"
	run -1 mq-wait "q:$ack" "q:$bury"
	run -1 mq-wait "q:${ack%?}0" "q:${ack%?}1"
	run -75 mq-wait -W 0.1 "q:$drop"
}

@test "mq-wait: without keep what goes while it is waited for counts as acked" {
	id=$(mq-put -m a q)
	background mq-wait -v "q:$id" >out
	sleep 0.3
	mq-take --ack q
	wait "$pid"
	assert_match acked "$(cat out)"
	run -1 mq-wait "q:$id"
	assert_match 'unknown \(set keep=\)'
}

@test "mq-wait: - reads them; 1 if there were none; 64, 74 if bad" {
	mq-conf --create q keep=1h
	seq 5 | mq-put -l q | sed 's/^/q:/' >ids
	mq-take --ack -n 5 q >/dev/null
	run -0 mq-wait - <ids
	run -1 mq-wait - </dev/null
	run -64 mq-wait - <<<nonsense
	run -74 bash -c 'mq-wait - <&-'
}

@test "mq-wait: -v to a full or closed standard output is 74" {
	mq-conf --create q keep=1h
	id=$(mq-put -m a q)
	mq-take --ack q
	run -74 bash -c "mq-wait -v q:$id >/dev/full"
	run -74 bash -c "mq-wait -v q:$id >&-"
}

@test "mq-wait: ends where the queue is removed meanwhile" {
	mq-put -q -m a q
	background mq-wait q 2>err
	sleep 0.3
	mq-rm --queue --force q
	wait_for -t 5 is_gone "$pid"
}

@test "mq-wait: a line with a NUL in it is 64" {
	id=$(mq-put -m a q)
	run -64 timeout 5 mq-wait - < <(printf 'q:%s\0\n' "$id")
}

# --- what waits in mq-take ------------------------------------------------------------

@test "wait: one message wakes one waiter, each gets one" {
	mq-put -q -m x q && mq-take --ack q >/dev/null
	for n in {1..6}; do background mq-take -w --ack q >"out$n"; done
	wait_for in_line q 6
	mq-put -q -m 1 q
	wait_for sh -c 'cat out* | grep -qx 1'
	seq 2 6 | mq-put -q -l q
	for p in "${background_pids[@]}"; do wait "$p"; done
	assert_equal "$(sort out* | tr '\n' ' ')" '1 2 3 4 5 6 '
}

@test "wait: a waiter that is killed with -9, first or in the middle, strands nobody" {
	mq-put -q -m x q && mq-take --ack q >/dev/null
	for n in {1..5}; do
		background mq-take -w --ack q >>out
		wait_for in_line q "$n"
	done
	kill -KILL "${background_pids[0]}" "${background_pids[2]}"
	for n in 1 2 3; do
		mq-put -q -m "$n" q
		wait_for -t 3 has_line out "$n"
	done
}

@test "wait: -W ends in time, also among others, and beside puts elsewhere" {
	mq-put -q -m x q && mq-take --ack q >/dev/null
	background mq-take -w q
	start=$(date +%s%N)
	run -1 mq-take -W 0.7 q
	took=$((($(date +%s%N) - start) / 1000000))
	((took >= 700 && took < 4000))
}

@test "wait: wakes for what is due, what ran out, and the end of a pause" {
	mq-put -q -d 0.7 -m due q
	run -0 timeout 5 mq-take -w --ack q
	assert_output due
	mq-put -q -m lease q
	mq-take -x 0.5 q >receipt
	run -0 timeout 5 mq-take -w --ack q
	assert_output lease
	mq-put -q -m paused q
	mq-conf q paused=yes
	background mq-take -w --ack q >out
	wait_for in_line q 1
	mq-conf q paused=no
	wait_for -t 3 has_line out paused
}

@test "wait: a pool that waits goes on with what is due, ran out, is tried again" {
	mq-conf --create q backoff=0.3
	mq-put -q -d 0.5 -m due q
	mq-put -q -m lease q
	mq-take -x 0.5 q >receipt
	mq-put -q -m again q
	background mq-take -w q -- sh -c 'b=$(cat); echo "$b $MQ_TRIES" >>out; [ "$b$MQ_TRIES" != again1 ]'
	for want in 'due 1' 'lease 2' 'again 1' 'again 2'; do wait_for has_line out "$want"; done
}

@test "wait: a later message that is nearer moves the timer" {
	mq-put -q -d 1h -m far q
	background mq-take -w --ack q >out
	wait_for in_line q 1
	mq-put -q -d 0.3 -m near q
	wait_for -t 3 has_line out near
}

@test "wait: for a queue and a spool that do not exist yet" {
	background mq-take -w --ack q >out
	sleep 0.2
	mq-put -q -m a other
	mq-put -q -m a q
	wait_for -t 5 has_line out a
	wait "$pid"
}

@test "wait: several queues, one of which comes later" {
	mq-put -q -m x a && mq-take --ack a >/dev/null
	background mq-take -w --ack -n 1 a b >out
	wait_for in_line a 1
	mq-put -q -m hello b
	wait_for -t 3 has_line out hello
}

@test "wait: a queue that is removed and made anew under the waiter" {
	mq-put -q -m x q && mq-take --ack q >/dev/null
	background mq-take -w --ack q >out
	wait_for in_line q 1
	mq-rm --queue q
	mq-put -q -m anew q
	wait_for -t 15 has_line out anew
}

@test "wait: a spool that is moved away and made anew under the waiter" {
	mq-put -q -m x q && mq-take --ack q >/dev/null
	background mq-take -w --ack q >out
	wait_for in_line q 1
	mv "$MQ_SPOOL" moved
	mq-put -q -m anew q
	wait_for -t 15 has_line out anew
}

@test "wait: urgent first, whatever wakes" {
	mq-put -q -m x q && mq-take --ack q >/dev/null
	mq-conf q paused=yes
	background mq-take -w -n 3 --ack q >out
	wait_for in_line q 1
	for p in 9 5 0; do mq-put -q -p $p -m $p q; done
	mq-conf q paused=no
	wait "$pid"
	assert_equal "$(cat out)" $'0\n5\n9'
}
