# A topic in the store: what a publish does in each subscription.
# shellcheck disable=SC2154,SC2016 # bats sets them; for bash -c
load helper

subs() { # subs NAME ...: of the topic t
	local s
	for s; do mq-sub add t "$s" || return; done
}
bodies() { mq-take --ack -n 1000 "$1" 2>/dev/null; }
# what is there of it, as files
files() { find "$MQ_SPOOL/t" -name '0*.*' -type f "$@"; }
whole() {
	run -0 mq-sweep
	run -0 mq-sweep --verify
	assert_output ''
}

# --- names ---

@test "mq-put TOPIC: through no symbolic link" {
	mq-sub add t s
	mkdir -p elsewhere/5/0000000000
	rm -rf "$MQ_SPOOL/t/sub/s/new"
	ln -s "$PWD/elsewhere" "$MQ_SPOOL/t/sub/s/new"
	run -74 mq-put -m x t
	run -74 mq-put -k a -m x t
	run -0 find elsewhere -type f
	assert_output ''
	rm "$MQ_SPOOL/t/sub/s/new"
	mq-sweep
	run -0 mq-take --ack -n 9 t/s
	assert_output x
}

@test "topic: TOPIC/SUB is a queue in every tool" {
	mq-sub add t one
	id=$(mq-put -m hi t)
	run -0 mq-ls t/one
	assert_match "^$id"
	run -0 mq-cat "t/one:$id"
	assert_output hi
	receipt=$(mq-take t/one)
	assert_match "^$MQ_SPOOL/t/one/cur/" "$receipt"
	run -0 mq-ack -K -m no "$receipt"
	run -0 mq-dlq retry "t/one:$id"
	run -0 mq-rm "t/one:$id"
	run -0 mq-wait t/one
}

@test "topic: a receipt of a subscription is acked, retried, extended" {
	mq-sub add t one
	mq-put -q -m hi t
	receipt=$(mq-take t/one)
	run -0 mq-ack -x 1h "$receipt"
	run -0 mq-ack --retry -d 0 "$receipt"
	run -1 mq-ack "$receipt"
	run -0 mq-ack "$(mq-take t/one)"
	run -1 mq-take t/one
}

@test "topic: no such topic or subscription is 66, a bad name 64" {
	mq-sub add t one
	run -66 mq-put -m x no/one
	run -66 mq-put -m x t/two
	run -66 mq-ls t/two
	run -66 mq-conf --create t/two
	run -64 mq-put -m x t/one/two
	run -64 mq-put -m x t/
	run -64 mq-put -m x /t
	run -64 mq-put -m x t/.x
}

@test "topic: a subscription may bear any name, also of a directory" {
	for s in obj sub cur new out conf; do
		mq-sub add t "$s"
	done
	mq-put -q -m hi t
	for s in obj sub cur new out conf; do
		run -0 mq-ack "$(mq-take "t/$s")"
	done
	whole
}

@test "topic: mq-ls and mq-sweep name it and its subscriptions" {
	subs b a
	mq-put -q -m x plain
	run -0 mq-ls
	assert_output $'plain\nt\nt/a\nt/b'
}

@test "topic: mq-wait waits for all of its subscriptions" {
	subs a b
	mq-put -q -m x t
	mq-take --ack t/a >/dev/null
	run -75 mq-wait -W 50ms t
	background mq-wait t
	wait=$pid
	mq-take --ack t/b >/dev/null
	wait "$wait"
	run -0 mq-wait -W 50ms t/b
}

@test "topic: taking from it itself is 64, with a hint" {
	mq-sub add t one
	mq-put -q -m x t
	run -64 mq-take t
	assert_match 'mq-sub ls'
}

@test "topic: a direct put goes to that one alone, in the topic's order" {
	subs a b
	mq-put -q -m 1 t
	mq-put -q -m 2 t/a
	mq-put -q -m 3 t
	run -0 bodies t/a
	assert_output $'1\n2\n3'
	run -0 bodies t/b
	assert_output $'1\n3'
}

# --- fan-out ---

@test "topic: each matching one gets it, with one payload on disk" {
	mq-sub add -r 'order.#' t orders
	mq-sub add -F 'x>=2' t two
	subs all
	head -c 100000 /dev/zero >big
	mq-put -q -r order.paid -a x=3 t big
	assert_equal "$(files | wc -l)" 3
	assert_equal "$(files -printf '%i\n' | sort -u | wc -l)" 1
	mq-put -q -r stock -a x=1 -m no t
	assert_equal "$(files | wc -l)" 4
	whole
}

@test "topic: one added later gets nothing from before" {
	subs a
	mq-put -q -m 1 t
	subs b
	mq-put -q -m 2 t
	run -0 bodies t/b
	assert_output 2
	run -0 bodies t/a
	assert_output $'1\n2'
}

@test "topic: a bulk file goes by one link, a batch whole" {
	subs a b
	seq 3000 | mq-put -q -l t
	assert_equal "$(files | wc -l)" 6
	for s in a b; do
		for _ in 1 2 3; do bodies t/$s; done >got
		cmp got <(seq 3000)
	done
	seq 5000 | mq-put -q -l -b t
	assert_equal "$(files | wc -l)" 2
	whole
}

@test "topic: a delayed one is later in each" {
	subs a b
	mq-put -q -d 1h -m x t
	for s in a b; do
		run -1 mq-take t/$s
		assert_equal "$(mq-ls --state later t/$s | wc -l)" 1
	done
	mq-put -q -d 50ms -m soon t
	for s in a b; do
		run -0 mq-take --ack -W 5s t/$s
		assert_output soon
	done
}

@test "topic: a more urgent one goes before what is there" {
	subs a
	seq 5 | mq-put -q -l t
	receipt=$(mq-take t/a)
	mq-put -q -p 0 -m first t
	run -0 mq-take --ack t/a
	assert_output first
	mq-put -q -p 9 -m last t
	run -0 bodies t/a
	assert_output $'2\n3\n4\n5\nlast'
	mq-ack "$receipt"
}

@test "topic: a pool hears of what is published while it waits" {
	subs a b
	background mq-take -w t/a -- tee -a got >/dev/null
	wait_for eval 'ls "$MQ_SPOOL/t/sub/a/wait/"* 2>/dev/null'
	for i in 1 2 3; do
		echo $i | mq-put -q t
		wait_for -t 5 has_line got $i
	done
}

@test "topic: groups hold in every subscription" {
	subs a b
	for i in 1 2 3; do mq-put -q -k k -m $i t; done
	seq 4 6 | mq-put -q -l -k k t
	receipt=$(mq-take t/a)
	run -1 mq-take t/a
	run -0 mq-take --ack t/b
	assert_output 1
	mq-ack --retry -d 0 "$receipt"
	for s in a b; do
		run -0 bodies t/$s
		[ $s = b ] || assert_line 0 1
		assert_line -1 6
	done
	whole
}

@test "topic: ttl is the message's own, else the subscription's" {
	mq-sub add t a ttl=1ms
	mq-sub add t b
	mq-put -q -m x t
	sleep 0.01
	run -1 mq-take t/a
	run -0 mq-take --ack t/b
	mq-put -q -x 1h -m y t
	sleep 0.01
	run -0 mq-take --ack t/a
	assert_output y
}

@test "topic: -i puts once" {
	subs a b
	id=$(mq-put -i k -m 1 t)
	run -0 mq-put -i k -m 2 t
	assert_output "$id"
	run -1 mq-put --fresh -i k -m 2 t
	assert_equal "$(files | wc -l)" 2
	run -0 bodies t/b
	assert_output 1
}

@test "topic: --unique holds as long as some subscription has it" {
	subs a b
	id=$(mq-put --unique -i k -m 1 t)
	mq-take --ack t/a >/dev/null
	run -0 mq-put --unique -i k -m 2 t
	assert_output "$id"
	mq-take --ack t/b >/dev/null
	run -1 grep -q "$id" <<<"$(mq-put --unique -i k -m 3 t)"
	assert_equal "$(files | wc -l)" 2
}

@test "topic: attachments are there for each, gone after the last and a sweep" {
	subs a b
	head -c 5000 /dev/zero >big
	mq-put -q -A big t
	run -0 mq-take t/a -- sh -c 'cmp "$MQ_ATTACHMENT" big'
	run -0 mq-sweep
	run -0 mq-take t/b -- sh -c 'cmp "$MQ_ATTACHMENT" big'
	run -0 mq-sweep
	run -1 grep -q . <<<"$(find "$MQ_SPOOL/t/obj" -name big)"
	whole
}

@test "topic: MQ_ROUTE, MQ_QUEUE are given; JSON has route" {
	subs a
	mq-put -q -r order.paid -m x t
	run -0 mq-ls -J t/a
	assert_equal "$(jq -r .route <<<"$output")" order.paid
	run -0 mq-take t/a -- sh -c 'echo "$MQ_ROUTE $MQ_QUEUE"'
	assert_output 'order.paid t/a'
	mq-put -q -J t <<<'{"body":"a","route":"k.l"}'
	run -0 mq-take t/a -- sh -c 'echo "$MQ_ROUTE"'
	assert_output k.l
	for bad in '' .a a. a..b 'a b' "$(printf 'a%.0s' {1..256})"; do
		run -64 mq-put -r "$bad" -m x t
	done
}

# --- nobody wants it ---

@test "topic: what nobody wants is confirmed, stored nowhere, and said" {
	mq-sub add -r nothing t a
	run -0 --separate-stderr mq-put -m x t
	assert_match '^[0-9a-f-]{36}$'
	assert_stderr 'mq-put: t: no subscription wants it: stored nowhere'
	assert_equal "$(files | wc -l)" 0
	mq-conf t unrouted=reject
	run -69 --separate-stderr mq-put -m x t
	assert_stderr 'mq-put: t: no subscription wants it (not stored)'
	mq-put -q -r nothing -m x t
	whole
}

# --- limits ---

@test "topic: a full subscription refuses the publish as a whole" {
	subs a
	mq-sub add t b limit=2
	seq 2 | mq-put -q -l t
	run -75 mq-put -m 3 t
	assert_match 't/b: the queue is full'
	run -0 bodies t/a
	assert_output $'1\n2'
	run -0 mq-take --ack t/b
	mq-put -q -m 4 t
	run -0 bodies t/b
	assert_output $'2\n4'
	whole
}

@test "topic: drop-oldest drops in that one alone" {
	subs a
	mq-sub add t b limit=2 full=drop-oldest
	for i in 1 2 3; do mq-put -q -m $i t; done
	run -0 bodies t/a
	assert_output $'1\n2\n3'
	run -0 bodies t/b
	assert_output $'2\n3'
}

@test "topic: nothing is dropped where another one refuses" {
	mq-sub add t a limit=1 full=drop-oldest
	mq-sub add t b limit=1
	mq-put -q -m 1 t
	run -75 mq-put -m 2 t
	run -0 bodies t/a
	assert_output 1
}

@test "topic: full=block waits for room in that one" {
	subs a
	mq-sub add t b limit=1 full=block
	mq-put -q -m 1 t
	run -75 mq-put -W 0 -m no t
	background mq-put -q -m 2 t
	put=$pid
	wait_for eval 'ls "$MQ_SPOOL"/t/sub/b/room/*.*'
	assert_equal "$(bodies t/a)" 1
	run -0 mq-take --ack t/b
	wait "$put"
	run -0 bodies t/a
	assert_output 2
}

# --- a queue becomes a topic, and goes ---

@test "topic: a queue that holds messages cannot become one" {
	mq-put -q -m x q
	run -75 mq-sub add q a
	assert_match 'holds messages'
	run -0 mq-take --ack q
	run -0 mq-sub add q a
	mq-put -q -m y q
	run -0 mq-take --ack q/a
}

@test "topic: mq-rm --queue takes all, with messages only by force" {
	subs a b
	mq-put -q -m x t
	mq-take --ack t/a >/dev/null
	run -75 mq-rm --queue t
	run -75 mq-rm --queue t/b
	run -0 mq-rm --queue t/a
	run -0 mq-rm --queue --force t
	run -66 mq-ls t/b
	run -0 mq-ls
	assert_output ''
}

@test "topic: settings by mq-conf hold from the next publish on" {
	subs a b
	mq-conf t/a limit=1
	mq-put -q -m 1 t
	run -75 mq-put -m 2 t
	mq-conf t/a limit=
	run -0 mq-put -q -m 2 t
	mq-conf --spool-wide limit=2 2>/dev/null || echo limit=2 >"$MQ_SPOOL/.conf"
	run -75 mq-put -m 3 t
	whole
}

@test "topic: the index and the meters may be deleted at any time" {
	mq-sub add -r 'x.#' t a
	subs b
	mq-put -q -r x.y -m 1 t
	rm "$MQ_SPOOL"/t/index "$MQ_SPOOL"/t/meter "$MQ_SPOOL"/t/sub/*/meter
	mq-put -q -r x.y -m 2 t
	for s in a b; do
		run -0 bodies t/$s
		assert_output $'1\n2'
	done
	echo garbage >"$MQ_SPOOL/t/index"
	mq-put -q -m 3 t
	run -1 mq-take t/a
	whole
}

@test "topic: a message moved to it is published" {
	subs a b
	mq-put -q -a x=1 -r r.s -m hi q
	mq-ack -t t "$(mq-take q)"
	for s in a b; do
		run -0 mq-take t/$s -- sh -c 'cat; echo " $MQ_ATTR_x $MQ_ROUTE"'
		assert_output 'hi 1 r.s'
	done
	mq-put -q -m again t
	mq-ack -t t/b "$(mq-take t/a)"
	run -0 bodies t/b
	assert_output $'again\nagain'
}
