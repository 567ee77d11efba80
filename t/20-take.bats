# mq-take without COMMAND.
# shellcheck disable=SC1003,SC2016 # formats, and what an inner shell expands
# shellcheck disable=SC2154 # bats sets them
load helper

held() { find "$MQ_SPOOL/$1/cur" -type f | wc -l; }
ready() { find "$MQ_SPOOL/$1/new" -type f | wc -l; }

@test "mq-take: prints a receipt that mq-ack takes" {
	mq-put -q -m one q
	run -0 mq-take q
	assert_match "^$MQ_SPOOL/q/cur/[0-9]+/[^ ]+\$"
	run -0 mq-ack "$output"
	run -1 mq-take q
	assert_output ''
}

@test "mq-take: -n, oldest first, one queue before the other" {
	printf '%s\n' a b c | mq-put -q -l q1
	mq-put -q -m d q2
	run -0 mq-take --ack -n 3 q2 q1
	assert_output $'d\na\nb'
}

@test "mq-take: 66 if there is no such queue, and takes nothing from the others" {
	mq-put -q -m one q
	run -66 mq-take q nope
	assert_equal "$(ready q)" 1
}

@test "mq-take: -W ends with 1 if nothing comes, 66 if there is no queue" {
	mq-put -q -m one q
	mq-take --ack q >/dev/null
	run -1 mq-take -W 0.1 q
	run -66 mq-take -W 0.1 nope
}

@test "mq-take: -w wakes for a put" {
	mq-put -q -m first q
	mq-take --ack q >/dev/null
	background mq-take -w --ack q >out
	sleep 0.2
	mq-put -q -m second q
	wait "$pid"
	assert_equal "$(cat out)" second
}

@test "mq-take: a signal while it waits ends it as by default" {
	background mq-take -w q
	wait_for test -e "/proc/$pid/fd/3"
	sleep 0.1
	kill -TERM "$pid"
	wait "$pid" || code=$?
	assert_equal "$code" 143
}

@test "mq-take: -f prints what it says" {
	mq-put -q -p 2 -a color=red -m hello q
	run -0 mq-take --ack -f '%b|%n|%p|%q|%k|%a{color}|%a{none}|%%|\t|\\' q
	assert_output $'hello|1|2|q||red||%|\t|\\'
}

@test "mq-take: -f with receipt and id" {
	id=$(mq-put -m hello q)
	run -0 mq-take -f '%r %i' q
	assert_equal "${output#* }" "$id"
	run -0 mq-ack "${output% *}"
}

@test "mq-take: -f without %r is refused, as are bad formats" {
	mq-put -q -m hello q
	run -64 mq-take -f '%b' q
	run -64 mq-take --ack -f '%z' q
	run -64 mq-take --ack -f '%a{x' q
	assert_equal "$(ready q)" 1
}

@test "mq-take: -0 ends each with NUL" {
	mq-put -q -m $'a\nb' q
	mq-put -q -m c q
	mq-take -0 --ack -n 2 q >out
	printf 'a\nb\0c\0' | cmp - out
}

@test "mq-take: --ack of many, bodies in order" {
	seq 5000 | mq-put -q -l q
	mq-take --ack -n 10000 q >out
	seq 5000 | cmp - out
	assert_equal "$(held q)$(ready q)" 00
}

@test "mq-take: a full or closed stdout is 74, and nothing stays held" {
	printf '%s\n' a b c | mq-put -q -l q
	run -74 bash -c 'mq-take -n 3 q >/dev/full'
	run -74 bash -c 'mq-take -n 3 q >&-'
	run -74 bash -c 'mq-take --ack -n 3 q >/dev/full'
	assert_equal "$(held q)" 0
	run -0 mq-take --ack -f '%n %b' -n 3 q
	assert_output $'1 a\n1 b\n1 c'
}

@test "mq-take: a reader that goes away gets no more than it took" {
	seq 100000 | mq-put -q -l q
	run -0 bash -c 'mq-take --ack -n 100000 q 2>/dev/null | head -n 1; exit ${PIPESTATUS[1]}'
	assert_output 1
	mq-take --ack -n 100000 q >rest
	(($(wc -l <rest) > 50000))
	assert_equal "$(held q)" 0
}

@test "mq-take: QUEUE:ID takes that one; 1 if it is not there" {
	mq-put -q -m a q
	id=$(mq-put -m b q)
	run -0 mq-take --ack "q:$id"
	assert_output b
	run -1 mq-take --ack "q:$id"
	assert_equal "$(ready q)" 1
}

@test "mq-take: what is no queue, no id, no command is 64" {
	run -64 mq-take
	run -64 mq-take ../q
	run -64 mq-take q:nonsense
	run -64 mq-take q --
	run -64 mq-take -J -f %r q
	run -64 mq-take -j 2 q
	run -64 mq-take --ack q -- true
	run -64 mq-take -B 2 q -- echo {}
	run -64 mq-take -0 q -- true
	run -64 mq-take -n 0 q
	run -64 mq-take -x 0 q
	run -64 mq-take -e 1=what q -- true
}

@test "mq-take: -x is the lease; then it is somebody else's" {
	mq-put -q -m hello q
	receipt=$(mq-take -x 0.2 q)
	run -0 mq-take -W 5 -f '%n %r' q
	assert_match '^2 '
	run -1 mq-ack "$receipt"
}
