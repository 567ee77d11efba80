# mq-sweep: what it returns, repairs, reports; every exit status.
# shellcheck disable=SC2154 # bats sets them
load helper

in_state() { find "$MQ_SPOOL/$1/$2" -type f 2>/dev/null | wc -l; }

@test "mq-sweep: bad options, names and combinations are 64; 66 if there is no queue" {
	mq-put -q -m a q
	for o in -z --nope -J '-N -w' '-N --verify' '-w --verify' ../q .. 'q:x'; do
		# shellcheck disable=SC2086 # words
		run -64 mq-sweep $o
	done
	run -66 mq-sweep nope
	run -0 mq-sweep
	assert_output ''
}

@test "mq-sweep: no spool is nothing to sweep" {
	run -0 mq-sweep
	run -0 mq-sweep --verify
	[[ ! -e $MQ_SPOOL ]]
}

@test "mq-sweep: after a failure it goes on with the other queues" {
	mq-put -q -m a q
	mq-take -x 0.05 q >receipt
	sleep 0.1
	run -66 mq-sweep nope q
	assert_equal "$(in_state q new)" 1
}

@test "mq-sweep: returns what ran out, -N only says so" {
	mq-put -q -m a q
	mq-take -x 0.05 q >receipt
	mq-put -q -d 0.05 -m b q
	sleep 0.1
	run -0 mq-sweep -N
	assert_match '1 leases that ran out returned'
	assert_match '1 due messages released'
	assert_equal "$(in_state q cur)$(in_state q later)" 11
	run -0 mq-sweep -v
	assert_match '1 leases that ran out returned'
	assert_equal "$(in_state q new)" 2
}

@test "mq-sweep: the last try that ran out is a dead letter" {
	mq-conf --create q tries=1
	mq-put -q -m a q
	mq-take -x 0.05 q >receipt
	sleep 0.1
	run -0 mq-sweep
	assert_equal "$(in_state q dlq)" 1
}

@test "mq-sweep: drops what is over its time to live" {
	mq-put -q -x 0.05 -m a q
	mq-put -q -x 0.05 -d 60 -m b q
	sleep 0.1
	run -0 mq-sweep -v
	assert_match '2 messages dropped'
	assert_equal "$(in_state q new)$(in_state q later)" 00
}

@test "mq-sweep: -w returns what runs out, and what is due, when it is" {
	mq-put -q -m a q
	mq-put -q -d 1 -m b q
	mq-take -x 0.5 q >receipt
	background mq-sweep -w -v >out
	wait_for -t 5 grep -q 'leases that ran out' out
	wait_for -t 5 grep -q 'due messages' out
	kill -TERM "$pid"
	wait "$pid" || code=$?
	assert_equal "$code" 143
}

@test "mq-sweep: removes what a dead writer left, not what a living one writes" {
	mq-put -q -m a q
	mkfifo in
	exec 9<>in
	background mq-put -l q <in 9>&-
	cp "$(find "$MQ_SPOOL/q/new" -type f)" "$MQ_SPOOL/q/tmp/000000000009.01a22cef-0654-7dd7-9119-ffdac89156ba,n0,u0,p5"
	run -1 mq-sweep --verify
	assert_match 'left by a dead writer'
	run -0 mq-sweep -v
	assert_match '1 files of dead writers'
	run -0 mq-sweep --verify
}

@test "mq-sweep: stray files and directories are reported and left alone" {
	seq 3 | mq-put -q -l q
	mq-take q >receipt
	local d s
	for d in . new new/5 new/5/000000000 cur later dlq why hold tmp; do
		mkdir -p "$MQ_SPOOL/q/$d"
		for s in stray '-rf' 'a b' .hidden 999x; do echo s >"$MQ_SPOOL/q/$d/$s"; done
		mkdir "$MQ_SPOOL/q/$d/sub"
	done
	run -1 mq-sweep --verify
	(($(grep -c 'stray' <<<"$output") >= 50))
	run -0 mq-sweep
	run -0 mq-take --ack -n 9 q
	assert_output $'2\n3'
	assert_equal "$(find "$MQ_SPOOL/q" -name stray -o -name -rf -o -name .hidden -o -name sub -o -name 'a b' -o -name 999x | wc -l)" 60
}

@test "mq-sweep: stray things beside the queues are reported and left alone" {
	mq-put -q -m a q
	cd "$MQ_SPOOL"
	touch file .hidden 'a b'
	mkdir .dir dir 'x y' empty
	touch dir/new.txt
	ln -s /etc link
	mkfifo fifo
	run -0 timeout 10 mq-sweep
	run -1 timeout 10 mq-sweep --verify
	assert_lines 8
	assert_equal "$(find . -mindepth 1 -path ./q -prune -o -print | wc -l)" 10
	assert_equal "$(mq-ls | cut -f 1)" q
}

@test "mq-sweep: --verify finds a file whose bytes changed" {
	mq-put -q -m hello q
	mq-put -q -m hello q
	file=$(find "$MQ_SPOOL/q/new" -type f | sort | head -n 1)
	sed -i 's/hello$/hellO/' "$file"
	run -1 mq-sweep --verify
	assert_lines 1
	assert_match 'torn'
}

@test "mq-sweep: --verify finds a message in two places" {
	mq-put -q -m hello q
	file=$(find "$MQ_SPOOL/q/new" -type f)
	segment=$(basename "${file%/*}")
	mkdir -p "$MQ_SPOOL/q/dlq/$segment"
	cp "$file" "$MQ_SPOOL/q/dlq/$segment/"
	run -1 mq-sweep --verify
	assert_match 'the same message twice'
}

@test "mq-sweep: a full or closed standard output is 74" {
	mq-put -q -m hello q
	touch "$MQ_SPOOL/q/stray"
	run -74 bash -c 'mq-sweep --verify >/dev/full'
	run -74 bash -c 'mq-sweep --verify >&-'
}

@test "mq-sweep: a damaged conf is 78 and names the line, other queues are swept" {
	mq-put -q -m a bad
	mq-put -q -m a q
	printf 'lease=5\nnonsense\n' >"$MQ_SPOOL/bad/conf"
	mq-take -x 0.05 q >receipt
	sleep 0.1
	run -78 mq-sweep
	assert_match 'bad/conf: line 2'
	assert_equal "$(in_state q new)" 1
}

@test "mq-sweep: ends the removal of a queue that was cut short" {
	mq-put -q -m a q
	mv "$MQ_SPOOL/q" "$MQ_SPOOL/.removed.q.1.2"
	run -0 mq-sweep
	assert_equal "$(ls -A "$MQ_SPOOL")" ''
}

@test "mq-sweep: a copied spool goes on, its meter too" {
	seq 5 | mq-put -q -l q
	mq-take --ack -n 2 q
	cp -a "$MQ_SPOOL" copy
	MQ_SPOOL=$PWD/copy
	mq-put -q -m 6 q
	run -0 mq-take --ack -n 9 q
	assert_output $'3\n4\n5\n6'
	run -0 mq-sweep --verify
}

@test "mq-sweep: caches may be deleted at any time" {
	for want in a b c; do
		mq-put -q -m $want q
		rm -rf "$MQ_SPOOL"/q/{meter,lock,tmp,hold,why,wait}
	done
	printf garbage >"$MQ_SPOOL/q/meter"
	run -0 mq-take --ack -n 9 q
	assert_output $'a\nb\nc'
	run -0 mq-sweep --verify
}

@test "mq-sweep: ten at once beside puts and takes lose nothing" {
	(for _ in {1..10}; do mq-sweep & done
	seq 300 | mq-put -q -l q &
	for want in {301..310}; do mq-put -q -m "$want" q & done
	for _ in {1..5}; do mq-take -W 5 -n 20 --ack q >>out & done
	wait)
	mq-take --ack -n 999 q >>out || :
	sort -n out | cmp - <(seq 310)
}
