# Puts that may be repeated: mq-put -i, --unique, --fresh; dedup=.
# shellcheck disable=SC2154,SC2016 # bats sets them; for an inner shell
load helper

once() { mq-put -i id "$@" q; }
bodies() { mq-ls -o body q; }
keys() { find "$MQ_SPOOL/q/dedup" -type l | wc -l; }

@test "mq-put -i: a repeat puts nothing and prints the first one's id" {
	first=$(once -m a)
	run -0 once -m b
	assert_output "$first"
	assert_equal "$(bodies)" a
}

@test "mq-put -i: also after the first was acked, or is dead" {
	first=$(once -m a)
	mq-take --ack q
	run -0 once -m a
	assert_output "$first"
	mq-put -q -i other -m b q
	mq-ack -K "$(mq-take q)"
	run -0 mq-put -q -i other -m b q
	run -1 mq-take q
}

@test "mq-put -i --fresh: 1 and the id if it was put before" {
	run -0 mq-put -i id --fresh -m a q
	first=$output
	run -1 mq-put -i id --fresh -m a q
	assert_output "$first"
}

@test "mq-put -i -q: prints nothing, either time" {
	run -0 once -q -m a
	assert_output ''
	run -0 once -q -m a
	assert_output ''
}

@test "mq-put -i: other keys, other queues, are others" {
	once -q -m a
	mq-put -q -i id2 -m b q
	mq-put -q -i id -m c p
	assert_equal "$(bodies)" $'a\nb'
	assert_equal "$(mq-ls -o body p)" c
}

@test "dedup=: after it, the same is a new one" {
	mq-conf --create q dedup=20ms
	first=$(once -m a)
	sleep 0.03
	second=$(once -m b)
	[[ $first != "$second" ]]
	assert_equal "$(bodies)" $'a\nb'
}

@test "dedup=0: -i does nothing but with --unique" {
	mq-conf --create q dedup=0
	once -q -m a
	once -q -m b
	assert_equal "$(bodies)" $'a\nb'
	mq-put -q -i u --unique -m c q
	mq-put -q -i u --unique -m d q
	assert_equal "$(bodies)" $'a\nb\nc'
}

@test "mq-put -i --unique: as long as the first is ready, leased or later" {
	unique() { mq-put -i u --unique --fresh -q "$@" q; }
	unique -d 20ms -m a
	run -1 unique -m b
	r=$(mq-take -W 5s q)
	run -1 unique -m b
	mq-ack --retry -d 1h "$r"
	run -1 unique -m b
	mq-rm --all q
	run -0 unique -m c
	assert_equal "$(bodies)" c
}

@test "mq-put -i --unique: not while it waits behind its key" {
	mq-put -q -k a -m 0 q
	mq-put -q -k a -i u --unique -m 1 q
	run -1 mq-put -q -i u --unique --fresh -m 2 q
	mq-take --ack -n 2 q
	run -0 mq-put -q -i u --unique --fresh -m 3 q
}

@test "mq-put -i --unique: a dead one is no longer there" {
	mq-put -q -i u --unique -m 1 q
	mq-ack -K "$(mq-take q)"
	run -0 mq-put -q -i u --unique --fresh -m 2 q
}

@test "mq-put -i: two at the same instant: one message, the same id" {
	for n in 1 2 3 4 5 6 7 8; do
		for i in 1 2; do background mq-put -i "id$n" -m "$n.$i" q >"out.$n.$i"; done
	done
	for p in "${background_pids[@]}"; do wait "$p"; done
	for n in 1 2 3 4 5 6 7 8; do cmp "out.$n.1" "out.$n.2"; done
	assert_equal "$(bodies | wc -l)" 8
}

@test "mq-put -i: a refused put burns no key" {
	mq-conf --create q limit=1 max_size=10
	mq-put -q -m 0 q
	run -75 once -m a
	run -65 once -m 12345678901
	mq-take --ack q
	run -0 once --fresh -m a
	assert_equal "$(bodies)" a
}

@test "mq-put -i: a repeat into a full queue is none" {
	mq-conf --create q limit=1
	first=$(once -m a)
	run -0 once -m a
	assert_output "$first"
}

@test "mq-put -i: spaces, UTF-8 and leading dashes are keys" {
	for key in 'a b' ' x ' -x -- 'é漢' '/../x' "$(printf '%01024d' 0)"; do
		first=$(mq-put -i "$key" -m x q)
		run -0 mq-put -i "$key" -m y q
		assert_output "$first"
	done
	assert_equal "$(bodies | sort -u)" x
}

@test "mq-put -i: for one message alone, else 64" {
	for o in -l -0 -b -J; do run -64 mq-put -i id "$o" q </dev/null; done
	echo x | tee a >b
	run -64 mq-put -i id q a b
	run -64 mq-put --fresh -m x q
	run -64 mq-put --unique -m x q
	[[ ! -e $MQ_SPOOL/q ]]
}

@test "mq-put -J: idempotency_key, each its own" {
	for _ in 1 2; do
		printf '{"idempotency_key":"%s","body":"x"}\n' a b a | mq-put -J q >>ids
	done
	assert_equal "$(bodies | wc -l)" 2
	assert_equal "$(sort -u ids | wc -l)" 2
	assert_equal "$(wc -l <ids)" 6
}

@test "mq-put -i -k: a key of each kind" {
	mq-put -q -k a -m 0 q
	for _ in 1 2; do mq-put -q -k a -i x -m 1 q; done
	run -0 mq-ls -o state,body q
	assert_output $'ready\t0\nblocked\t1'
}

@test "mq-put -i -d: a delayed first counts" {
	first=$(once -d 1h -m a)
	run -0 once -m a
	assert_output "$first"
}

@test "mq-sweep: expired keys go, live ones stay" {
	mq-conf --create q dedup=1ms
	once -q -m a
	mq-put -q -i u --unique -m b q
	mq-conf q dedup=1h
	mq-put -q -i live -m c q
	sleep 0.01
	mq-sweep
	assert_equal "$(keys)" 2
	mq-take --ack -n 9 q
	mq-sweep
	assert_equal "$(keys)" 1
}

@test "mq-sweep: finishes a put that died between key and message" {
	first=$(once -m a)
	f=$(cd "$MQ_SPOOL/q/new/5/0000000000" && echo *)
	mv "$MQ_SPOOL/q/new/5/0000000000/$f" "$MQ_SPOOL/q/tmp/-${f#000000000001}"
	mq-sweep
	assert_equal "$(mq-ls -o id q)" "$first"
	run -0 once -m a
	assert_output "$first"
}

@test "mq-put -i: a repeat finishes a first that died between key and message" {
	first=$(once -m a)
	f=$(cd "$MQ_SPOOL/q/new/5/0000000000" && echo *)
	mv "$MQ_SPOOL/q/new/5/0000000000/$f" "$MQ_SPOOL/q/tmp/-${f#000000000001}"
	run -0 once -m b
	assert_output "$first"
	assert_equal "$(bodies)" a
}

@test "mq-put -i: a torn first is none: the repeat puts its own" {
	once -q -m a
	f=$(cd "$MQ_SPOOL/q/new/5/0000000000" && echo *)
	head -c 40 "$MQ_SPOOL/q/new/5/0000000000/$f" >"$MQ_SPOOL/q/tmp/-${f#000000000001}"
	rm "$MQ_SPOOL/q/new/5/0000000000/$f"
	run -0 once --fresh -m b
	assert_equal "$(bodies)" b
}

@test "mq-put -i: a first torn by a power cut is none, found by the repeat or a take" {
	for how in repeat take; do
		mq-put -q -i "$how" -m "$how" q
		f=$(find "$MQ_SPOOL/q/new" -name '0*.*')
		truncate -s 40 "$f"
		[[ $how = repeat ]] || run -1 mq-take q
		run -0 mq-put -q -i "$how" --fresh -m again q
		run -0 mq-take --ack q
		assert_output again
	done
	assert_equal "$(mq-stat -o ready,dead q)" $'0\t2'
}

@test "dedup: a symbolic link, UUID EXPIRY SEQ KEY" {
	id=$(mq-put -i 'a b' -m x q)
	run -0 readlink "$(find "$MQ_SPOOL/q/dedup" -type l)"
	assert_match "^$id [0-9]{13} 1 a b\$"
}
