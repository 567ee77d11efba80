# Ordering groups: mq-put -k.
# shellcheck disable=SC2154,SC2016 # bats sets them; for an inner shell
load helper

# put KEY BODY ...: each a message of its own
put() {
	local key=$1 body
	shift
	for body; do mq-put -q -k "$key" -m "$body" q; done
}
# Takes one, prints its body; its receipt is in $receipt
take() {
	local line
	line=$(mq-take -f '%b %r' "$@" q)
	receipt=${line#* }
	printf '%s\n' "${line%% *}"
}
all() { mq-take --ack -n 1000 q; }
state() { mq-ls -o state q; }
clean() { mq-sweep && mq-sweep --verify; }
groups_left() { find "$MQ_SPOOL/q/grp" -mindepth 1; }

@test "mq-put -k: one at a time, in put order" {
	put a 1 2 3
	run -0 mq-take -n 10 -f '%b %r' q
	assert_lines 1
	assert_match '^1 '
	run -1 mq-take q
	run -0 mq-ls -o state,body q
	assert_output $'leased\t1\nblocked\t2\nblocked\t3'
}

@test "mq-put -k: the next comes up when the head is acked" {
	put a 1 2
	take >got
	run -1 mq-take q
	mq-ack "$receipt"
	run -0 all
	assert_output 2
	assert_equal "$(cat got)" 1
}

@test "mq-put -k: keys run in parallel, and keyless messages with them" {
	put a 1 2
	put b 3 4
	mq-put -q -m 5 q
	run -0 mq-take -n 10 -f %b%r q
	run -0 bash -c 'printf "%.1s" "$@"' - "${lines[@]}"
	assert_output 135
}

@test "mq-put -k -l: a file of many is a group too, in order" {
	seq 5 | mq-put -q -l -k a q
	seq 6 7 | mq-put -q -l -k a q
	run -0 state
	assert_equal "$(sort <<<"$output" | uniq -c | xargs)" '6 blocked 1 ready'
	run -0 all
	assert_output "$(seq 7)"
	clean
}

@test "mq-put -k -b: a batch is delivered one at a time" {
	seq 3 | mq-put -q -b -l -k a q
	run -0 mq-take -n 10 q
	assert_lines 1
	mq-ack "$output"
	run -0 all
	assert_output $'2\n3'
}

@test "mq-put -J: key in the object" {
	printf '%s\n' '{"key":"a","body":"1"}' '{"key":"b","body":"2"}' '{"key":"a","body":"3"}' |
		mq-put -q -J q
	run -0 mq-ls -o state,key q
	assert_output $'ready\ta\nready\tb\nblocked\ta'
}

@test "mq-put -k: a put does not unlock its group" {
	put a 1
	take >got
	put a 2
	run -1 mq-take q
	mq-ack -u "$receipt"
	run -0 all
	assert_output $'1\n2'
}

@test "mq-put -k: a retry holds its group back, its place is kept" {
	put a 1 2
	take >got
	mq-ack --retry -d 1h "$receipt"
	run -1 mq-take q
	run -0 mq-ls -o state,body q
	assert_output $'later\t1\nblocked\t2'
	mq-ack --retry -d 10ms "$(mq-take "q:$(mq-ls -o id --state later q)")"
	run -0 mq-take -W 5s --ack q
	assert_output 1
}

@test "mq-put -k: a buried head does not hold its group back" {
	put a 1 2
	take >got
	mq-ack -K "$receipt"
	run -0 all
	assert_output 2
	assert_equal "$(mq-stat -o dead q)" 1
	clean
}

@test "mq-put -k: tries used up bury the head, and the next comes up" {
	mq-conf --create q tries=1
	put a 1 2
	mq-ack --retry "$(mq-take q)"
	run -0 all
	assert_output 2
}

@test "mq-put -k: an expired lease returns the head, nobody gets the second" {
	put a 1 2
	take -x 1ms >got
	run -0 mq-take -W 5s -n 9 -f '%b %n' --ack q
	assert_line 0 '1 2'
	assert_line 1 '2 1'
}

@test "mq-put -k: extending the first's lease lets none pass" {
	put a 1 2
	take -x 20ms >got
	mq-ack -x 1h "$receipt"
	sleep 0.05
	mq-sweep
	run -1 mq-take q
	mq-ack "$receipt"
	run -0 all
	assert_output 2
}

@test "mq-put -k: a head that was given back comes first" {
	put a 1 2
	take >got
	mq-ack -u "$receipt"
	run -0 mq-ls -o state,body q
	assert_output $'ready\t1\nblocked\t2'
}

@test "mq-put -k -d: joins its group when it falls due, not before" {
	mq-put -q -k a -d 1h -m 1 q
	mq-put -q -k a -d 10ms -m 2 q
	put a 3 4
	run -0 mq-ls -o state,body --state later,blocked q
	assert_line 0 $'later\t1'
	run -0 mq-take -W 5s --ack -n 2 q
	wait_for bash -c 'mq-take --ack q; [ "$(mq-stat -o later,ready,blocked q)" = "1	0	0" ]'
}

@test "mq-put -k -d: behind a head that is held when it falls due" {
	put a 1
	take >got
	mq-put -q -k a -d 1ms -m 2 q
	wait_for bash -c 'mq-sweep && mq-ls -o state q | grep -q blocked'
	run -1 mq-take q
	mq-ack "$receipt"
	run -0 all
	assert_output 2
}

@test "mq-put -k -x: an expired head or waiting one is passed over" {
	mq-put -q -k a -x 1ms -m 1 q
	put a 2
	mq-put -q -k a -x 1ms -m 3 q
	put a 4
	sleep 0.01
	run -0 all
	assert_output $'2\n4'
	clean
}

@test "mq-put -k -p: the order of a key goes over priority" {
	mq-put -q -k a -p 9 -m 1 q
	mq-put -q -k a -p 0 -m 2 q
	mq-put -q -k b -p 1 -m 3 q
	run -0 all
	assert_output $'3\n1\n2'
}

@test "mq-rm: a head, and one in the middle" {
	put a 1 2
	seq 3 5 | mq-put -q -l -k a q
	mq-ls -o id,body q | awk '$2 == 1 || $2 == 4 {print "q:" $1}' | mq-rm -
	run -0 all
	assert_output $'2\n3\n5'
	clean
}

@test "mq-rm --all: a group with all that waits" {
	put a 1 2
	seq 3 5 | mq-put -q -l -k a q
	run -0 mq-rm -v --all q
	assert_output '5 removed'
	assert_equal "$(state)" ''
	clean
	assert_equal "$(groups_left)" ''
}

@test "mq-ack -t: keeps the group, and the order" {
	put a 1 2 3
	mq-put -q -k a -m 0 p
	for _ in 1 2 3; do mq-ack -t p "$(mq-take q)"; done
	run -1 mq-take q
	run -0 mq-ls -o state,key,body p
	assert_output $'ready\ta\t0\nblocked\ta\t1\nblocked\ta\t2\nblocked\ta\t3'
	run -0 mq-take --ack -n 9 p
	assert_output "$(seq 0 3)"
}

@test "mq-dlq retry: joins its group again" {
	put a 1 2 3
	mq-ack -K "$(mq-take q)"
	take >got
	mq-dlq retry --all q
	run -0 mq-ls -o state,body q
	assert_output $'blocked\t1\nleased\t2\nblocked\t3'
	mq-ack "$receipt"
	run -0 all
	assert_output $'1\n3'
}

@test "mq-dlq retry -R: each joins when it is due" {
	put a 1 2 3
	for _ in 1 2; do mq-ack -K "$(mq-take q)"; done
	mq-dlq retry -R 20/s --all q
	clean
	wait_for bash -c 'mq-sweep && [ "$(mq-stat -o later q)" = 0 ]'
	clean
	run -0 all
	assert_lines 3
}

@test "mq-take QUEUE:ID: a blocked one is not taken out of turn" {
	put a 1
	id=$(mq-put -k a -m 2 q)
	run -75 mq-take "q:$id"
	assert_match 'not the next of its key'
	run -0 all
	assert_output $'1\n2'
}

@test "mq-take QUEUE:ID: a dead one of a key, if no other of it is there" {
	put a 1 2
	take >got
	id=$(mq-ls -o id --state leased q)
	mq-ack -K "$receipt"
	run -75 mq-take "q:$id"
	assert_match 'others of its key.*: mq-dlq retry puts it in its place'
	mq-take --ack q >got
	run -0 mq-take "q:$id"
	put a 3
	assert_equal "$(mq-ls -o state,body q | xargs)" 'leased 1 blocked 3'
	mq-ack "$output"
	run -0 all
	assert_output 3
	clean
}

@test "mq-take QUEUE:ID: one of a delayed range of a key" {
	seq 3 | mq-put -l -k a -d 1h q >ids
	run -0 mq-take --ack "q:$(sed -n 2p ids)"
	assert_output 2
	mq-take "q:$(sed -n 3p ids)" >receipt
	assert_equal "$(mq-ls -o state,body q | xargs)" 'later 1 leased 3'
	run -75 mq-take "q:$(sed -n 1p ids)"
	assert_match 'q: there are others of its key, which come one at a time$'
	mq-ack "$(cat receipt)"
	clean
	assert_equal "$(groups_left)" ''
}

@test "mq-take --ack: what could not be printed is the first of its key again" {
	put a 1 2 3
	run -74 bash -c 'mq-take --ack q >/dev/full'
	run -74 bash -c 'mq-take --ack -n 9 q >&-'
	run -74 bash -c "mq-take --ack $(mq-ls -o id q | sed 's/^/q:/' | head -n 1) >/dev/full"
	assert_equal "$(mq-ls -o state,body q | xargs)" 'ready 1 blocked 2 blocked 3'
	mapfile -t ids < <(mq-ls -o id q | sed 's/^/q:/')
	run -0 mq-take --ack "${ids[@]}"
	assert_output $'1\n2\n3'
	clean
	assert_equal "$(groups_left)" ''
}

@test "mq-take --ack: while it prints none of the key passes; killed, it is gone" {
	mq-conf --create q lease=50ms
	printf '%200000s' 1 | mq-put -q -k a q
	put a 2
	mkfifo out && exec 7<>out
	background mq-take --ack q >out
	wait_for eval 'was=$(ls "$MQ_SPOOL"/q/cur/*/*,racked,*)'
	wait_for eval 'mq-sweep; now=$(ls "$MQ_SPOOL"/q/cur/*/*,racked,*) && test "$now" != "$was"'
	run -1 mq-take q
	kill -KILL "$pid"
	wait_for eval 'test "$(mq-take --ack q)" = 2'
	exec 7>&-
	run -1 mq-take q
	clean
}

@test "mq-take -j: a pool works keys in parallel, each in order" {
	for i in 1 2 3 4 5; do
		for key in a b c; do echo "{\"key\":\"$key\",\"body\":\"$i\"}"; done
	done | mq-put -q -J q
	run -0 mq-take -j 4 q -- sh -c 'read -r n || :; echo "$n" >>"out.$MQ_KEY"'
	for key in a b c; do assert_equal "$(cat "out.$key")" "$(seq 5)"; done
	clean
}

@test "mq-take -w: one who waits is woken when the next comes up" {
	put a 1 2
	take >got
	background timeout 20 mq-take -w --ack q >second
	mq-ack "$receipt"
	wait "$pid"
	assert_equal "$(cat second)" 2
}

@test "mq-wait: knows of what is blocked" {
	put a 1
	id=$(mq-put -k a -m 2 q)
	run -75 mq-wait -W 10ms "q:$id"
	run -75 mq-wait -W 10ms q
	all >got
	run -0 mq-wait -W 5s q
}

@test "mq-put -k: a group that nobody uses leaves nothing on disk" {
	put a 1 2
	put b 3
	all >got
	assert_equal "$(groups_left)" ''
	assert_equal "$(find "$MQ_SPOOL/q/hold" -mindepth 1)" ''
}

@test "mq-ls, mq-stat: what waits behind what" {
	put a 1 2 3
	put b 4 5
	run -0 mq-ls -o state,key,body --state blocked q
	assert_output $'blocked\ta\t2\nblocked\ta\t3\nblocked\tb\t5'
	run -0 mq-stat -o ready,blocked q
	assert_output $'2\t3'
	run -0 jq -c '[.groups, .blocked, .longest]' <(mq-stat -J q)
	assert_output '[2,3,2]'
}

@test "mq-put -k: spaces, UTF-8 and leading dashes are keys" {
	for key in 'a b' ' ' '-x' '--' 'é漢' $'a\tb' '../../etc' '*'; do
		mq-put -q -k "$key" -m 1 q
		mq-put -q -k "$key" -m 2 q
		run -0 mq-take -n 9 -f %k --ack q
		assert_equal "$output" "$key"$'\n'"$key"
	done
}

@test "mq-put -k: bad keys are 64, and nothing is put" {
	for key in '' $'a\nb' "$(printf '%01025d' 0)" "$(printf '%010000d' 0)"; do
		run -64 mq-put -k "$key" -m x q
		run -64 mq-put -i "$key" -m x q
	done
	[[ ! -e $MQ_SPOOL/q ]]
	run -0 mq-put -q -k "$(printf '%01024d' 0)" -m x q
}

@test "mq-put -J: a bad key is 65" {
	for key in '""' '"a\nb"' 5 '"a\u0000b"' "\"$(printf '%01025d' 0)\""; do
		run -65 mq-put -J q <<<"{\"key\":$key,\"body\":\"x\"}"
	done
}

@test "mq-sweep: finishes what a killed ack left half-way" {
	put a 1 2
	take >got
	f=$(cd "$MQ_SPOOL/q/cur" && echo */*)
	n=${f#*/}
	mv "$MQ_SPOOL/q/cur/$f" "$MQ_SPOOL/q/hold/E2.0+x+${n%%,t*}"
	rm "$MQ_SPOOL/q/meter"
	run -0 mq-sweep --verify
	run -0 all
	assert_output 2
}
