# mq-sub: subscriptions made, removed, listed and tried; tails.
# shellcheck disable=SC2154,SC2016 # bats sets them; for bash -c
load helper

# follow ARG ...: a tail of t into `out`, once it is there; its id in $tail
follow() {
	background mq-sub tail "$@" t >out 2>err
	tail=$pid
	wait_for eval 'mq-sub ls t | grep -q "tail$"'
}
no_tail() { ! mq-sub ls t | grep -q 'tail$'; }
# ends STATUS: the tail, and nothing of it is left
ends() {
	local status=0
	wait "$tail" || status=$?
	assert_equal "$status" "$1" 'status of the tail'
	run -0 mq-sub ls t
	assert_output "$(grep -v 'tail$' <<<"$output" || :)"
}

# --- add ---

@test "mq-sub add: makes the topic and the subscription, says nothing" {
	run -0 --separate-stderr mq-sub add t one
	assert_output ''
	assert_stderr ''
	mq-put -q -m hello t
	run -0 mq-take --ack t/one
	assert_output hello
}

@test "mq-sub add: again with the same is 0, with others 75" {
	mq-sub add -r 'a.#' -F x=1 -F y=2 t one
	run -0 mq-sub add -r 'a.#' -F x=1 -F y=2 t one
	run -75 mq-sub add -r 'a.*' -F x=1 -F y=2 t one
	run -75 mq-sub add -r 'a.#' -F x=1 t one
	run -75 mq-sub add t one
	run -0 mq-sub ls t
	assert_output $'t/one\ta.#\tx=1 | y=2\t-'
}

@test "mq-sub add: settings of the subscription" {
	mq-sub add t one lease=7s tries=2
	run -0 mq-conf t/one lease
	assert_output 7s
	mq-sub add t one tries=3
	assert_equal "$(mq-conf t/one tries)$(mq-conf t/one lease)" 37s
	run -0 mq-conf t tries
	assert_output 5
}

@test "mq-sub add: a queue with messages is 75, and an empty one a topic from then on" {
	mq-put -q -m x q
	run -75 mq-sub add q one
	assert_match 'q'
	mq-take --ack q
	mq-sub add q one
	mq-put -q -m y q
	run -0 mq-take --ack q/one
	assert_output y
}

@test "mq-sub add: gets nothing from before" {
	mq-sub add t one
	mq-put -q -m early t
	mq-sub add t two
	mq-put -q -m late t
	run -0 mq-take --ack -n 9 t/two
	assert_output late
	run -0 mq-take --ack -n 9 t/one
	assert_output $'early\nlate'
}

@test "mq-sub add: bad words are 64, and nothing is made" {
	for words in 't' '' 't -x' 't a/b' 't/a b' 't .a' 't a lease' 't a lease=x' 't a nope=1' \
		'-r a*b t a' '-F amount t a' '-F a= -F body*=x t a' '-r a -r b t a' '-J t a'; do
		# shellcheck disable=SC2086 # words
		run -64 mq-sub add $words
	done
	run -0 mq-ls
	assert_output ''
}

@test "mq-sub add: a caret stands under the fault of a filter or pattern" {
	run -64 --separate-stderr mq-sub add -F 'a=1,amount' t one
	assert_match $'eats > and <\\)\n    a=1,amount\n        \\^$' "$stderr"
	run -64 --separate-stderr mq-sub add -r 'a.b*.c' t one
	assert_match $'\n    a.b\\*.c\n       \\^$' "$stderr"
	run -64 --separate-stderr mq-sub add -F 'ok=1,tries>2' t one
	assert_match $'\n    ok=1,tries>2\n         \\^$' "$stderr"
}


@test "mq-sub add: 73 where the spool cannot be made" {
	: >file
	run -74 mq-sub add -s "$PWD/file/spool" t one
	run -73 mq-sub add -s /proc/spool t one
}

# --- rm ---

@test "mq-sub rm: an empty subscription, and no more comes" {
	mq-sub add t one
	mq-sub add t two
	run -0 mq-sub rm t one
	mq-put -q -m x t
	run -66 mq-take t/one
	run -0 mq-take --ack t/two
}

@test "mq-sub rm: one with messages is 75, with --force not" {
	mq-sub add t one
	mq-put -q -m x t
	run -75 mq-sub rm t one
	assert_match force
	run -0 mq-sub rm --force t one
	run -0 mq-sub ls t
	assert_output ''
}

@test "mq-sub rm: what is not there is 66, bad words 64" {
	run -66 mq-sub rm t one
	mq-sub add t one
	run -66 mq-sub rm t two
	run -66 mq-sub rm --force u one
	run -64 mq-sub rm t
	run -64 mq-sub rm t one two
	run -64 mq-sub rm t/one
}

# --- ls ---

@test "mq-sub ls: all topics, or those named; sorted" {
	mq-sub add b y
	mq-sub add b x
	mq-sub add -r '#.z' -F 'a="1,2"' a x
	mq-put -q -m x plain
	run -0 mq-sub ls
	assert_output $'a/x\t#.z\ta="1,2"\t-\nb/x\t-\t-\t-\nb/y\t-\t-\t-'
	run -0 mq-sub ls b
	assert_lines 2
}

@test "mq-sub ls: -J" {
	mq-sub add -r 'a.#' -F x=1 -F 'y="\""' t one
	mq-sub add t two
	run -0 jq -c '[.queue,.topic,.subscription,.route,.filters,.ephemeral]' <(mq-sub ls -J)
	assert_line 0 '["t/one","t","one","a.#",["x=1","y=\"\\\"\""],false]'
	assert_line 1 '["t/two","t","two",null,[],false]'
}

@test "mq-sub ls: no topic is 66, the others are listed; bad names 64" {
	mq-sub add t one
	mq-put -q -m x plain
	run -66 --separate-stderr mq-sub ls plain t
	assert_output $'t/one\t-\t-\t-'
	assert_match 'plain: not a topic' "$stderr"
	run -66 mq-sub ls nope
	run -64 mq-sub ls t/one
	run -0 mq-sub rm t one
	run -0 mq-sub ls t
	assert_output ''
}

@test "mq-sub ls: a full standard output is 74" {
	mq-sub add t one
	run -74 bash -c 'mq-sub ls >/dev/full'
	run -74 bash -c 'mq-sub ls -J >/dev/full'
	run -74 bash -c 'mq-sub test -r a a >/dev/full'
}

# --- test ---

@test "mq-sub test: 0 and 1, and says which" {
	run -0 mq-sub test -r 'a.*' a.b
	assert_output $'yes\troute\ta.*'
	run -1 mq-sub test -r 'a.*' a
	assert_output $'no\troute\ta.*'
	run -0 mq-sub test -r '#' -F x=1 -F 'y>1,has:z' -a y=2 -a z= a
	assert_output $'yes\troute\t#\nno\tfilter\tx=1\nyes\tfilter\ty>1,has:z'
	run -1 mq-sub test -r b -F x=1 -a x=1 a
	assert_output $'no\troute\tb\nyes\tfilter\tx=1'
}

@test "mq-sub test: key, priority, route, and no route" {
	run -0 mq-sub test -q -F 'key=anna,priority<3,route=a.b' -k anna -p 2 a.b
	assert_output ''
	run -0 mq-sub test -q -F priority=5
	run -1 mq-sub test -q -F has:key
	run -0 mq-sub test -q -r '#'
	run -0 mq-sub test -q -r ''
	run -1 mq-sub test -q -r '*'
	run -0 mq-sub test
}

@test "mq-sub test: bad words are 64" {
	run -64 mq-sub test a b
	run -64 mq-sub test $'a\nb'
	run -64 mq-sub test -r 'a#' a
	run -64 mq-sub test -F a a
	run -64 mq-sub test -a a a
	run -64 mq-sub test -p 10 a
	run -64 mq-sub test -k '' a
}

@test "mq-sub: the verb comes first" {
	run -64 mq-sub
	run -64 mq-sub nope
	run -64 mq-sub -J ls
}

# --- tail ---

@test "mq-sub tail: each message as it is published, none from before" {
	mq-sub add t one
	mq-put -q -m before t
	follow
	mq-put -q -m first t
	wait_for has_line out first
	seq 3 | mq-put -q -l t
	wait_for has_line out 3
	run -0 cat out
	assert_output $'first\n1\n2\n3'
	kill "$tail"
	ends 0
}

@test "mq-sub tail: filter and pattern; -f, -J, -0 and -n" {
	mq-sub add t one
	follow -F 'n>1' -r 'a.*' -f '%a{n} %b' -n 2
	mq-put -q -r a.b -a n=1 -m no t
	mq-put -q -r a.b -a n=2 -m yes t
	mq-put -q -r b -a n=3 -m no t
	mq-put -q -r a.c -a n=4 -m too t
	ends 0
	run -0 cat out
	assert_output $'2 yes\n4 too'
	follow -J -n 1
	mq-put -q -r a.b -m json t
	ends 0
	run -0 jq -c '[.body,.route,.receipt]' out
	assert_output '["json","a.b",null]'
	follow -0 -n 1
	mq-put -q -m nul t
	ends 0
	run -0 bash -c 'tr "\0" "!" <out'
	assert_output 'nul!'
}

@test "mq-sub tail: SIGINT, SIGTERM, SIGHUP: 0, and it is gone" {
	mq-sub add t one
	for signal in TERM HUP; do
		follow
		kill -"$signal" "$tail"
		ends 0
	done
	# a shell's background has SIGINT ignored
	run -124 timeout -s INT 1 mq-sub tail t
	wait_for no_tail
}

@test "mq-sub tail: SIGTERM ends it also when they never cease to come" {
	mq-sub add t one limit=2000 full=drop-oldest
	follow
	background bash -c 'while :; do seq 1000; done | mq-put -q -S -l t'
	wait_for has_lines out 3000
	kill "$tail"
	ends 0
}

@test "mq-sub tail: kill -9: the next publish, or a sweep, leaves nothing of it" {
	mq-sub add t one
	for next in 'mq-put -q -m x' mq-sweep; do
		follow
		mq-put -q -m seen t
		wait_for has_line out seen
		kill -KILL "$tail"
		wait "$tail" || :
		$next t
		assert_equal "$(ls -A "$MQ_SPOOL/t/sub")" one
		run -0 mq-sweep --verify
	done
}

@test "mq-sub tail: a publish to tails alone is not unrouted" {
	mq-sub add t one
	mq-sub rm t one
	follow -n 1
	run -0 --separate-stderr mq-put -q -m x t
	assert_stderr ''
	ends 0
}

lost() { sed -nE 's/^mq-sub tail: ([0-9]+) dropped.*/\1/p' err | awk '{n += $1} END {print n + 0}'; }
@test "mq-sub tail: a slow reader loses the oldest, and is told how many" {
	mq-sub add t one
	mkfifo pipe
	exec 7<>pipe
	background mq-sub tail t >pipe 2>err 7>&-
	tail=$pid
	wait_for eval 'mq-sub ls t | grep -q "tail$"'
	seq -f '%0200.0f' 15000 | mq-put -q -l t
	background cat <pipe >out 7>&-
	exec 7>&-
	wait_for has_line out "$(printf '%0200d' 15000)"
	kill "$tail"
	ends 0
	wait "$pid"
	assert_equal "$(($(wc -l <out) + $(lost)))" 15000
	[[ $(lost) -ge 3000 && $(sort -u out | wc -l) == $(wc -l <out) ]]
}

@test "mq-sub tail: nobody reads any more: 74, at once, and it is gone" {
	mq-sub add t one
	run -0 bash -c '{ mq-sub tail t; echo $? >status; } 2>err | { sleep 0.2; }'
	run -0 cat status
	assert_output 74
	wait_for no_tail
	run -0 bash -c '{ mq-sub tail t; echo $? >status; } 2>err | head -n 1 &
		until mq-sub ls t | grep -q "tail$"; do sleep 0.02; done; mq-put -q -m x t; wait'
	assert_output x
	run -0 cat status
	assert_output 74
}

@test "mq-sub tail: a full disk is 74" {
	mq-sub add t one
	background bash -c 'exec mq-sub tail t >/dev/full 2>err'
	tail=$pid
	wait_for eval 'mq-sub ls t | grep -q "tail$"'
	mq-put -q -m x t
	ends 74
	run -0 cat err
	assert_match 'standard output: No space left'
}

@test "mq-sub tail: no topic is 66, bad words 64" {
	run -66 mq-sub tail t
	mq-put -q -m x t
	run -66 mq-sub tail t
	for words in '' 'a b' 't/one' '-n 0 t' '-n x t' '-J -0 t' '-J -f %b t' '-f %r t' '-f %z t' \
		'-F a t' '-r a# t'; do
		# shellcheck disable=SC2086 # words
		run -64 mq-sub tail $words
	done
}

@test "mq-sub tail: the topic is removed: 66" {
	mq-sub add t one
	follow
	mq-rm --force --queue t
	local status=0
	wait "$tail" || status=$?
	assert_equal "$status" 66
	run -0 cat err
	assert_match 'was removed'
}

@test "mq-sub tail: two at once, each gets all" {
	mq-sub add t one
	background mq-sub tail -n 50 t >a
	first=$pid
	background mq-sub tail -n 50 t >b
	wait_for eval '(($(mq-sub ls t | grep -c "tail$") == 2))'
	seq 50 | mq-put -q -l t
	wait "$first"
	wait "$pid"
	run -0 cmp a b
	assert_equal "$(cat a)" "$(seq 50)"
}

# --- mq-stat ---

@test "mq-stat: a topic with its subscriptions below it" {
	mq-sub add t one
	mq-sub add -r 'a.#' t two
	mq-put -q -m x t
	mq-put -q -r a.b -m x t
	run -0 mq-stat
	assert_match $'^t\t0\t0\t0\t0\t0\nt/one\t2\t.*\nt/two\t1\t'
	run -0 mq-stat t
	assert_lines 3
	run -0 mq-stat t/two
	assert_match $'^t/two\t1\t0\t0\t0\t[0-9]$'
	run -0 mq-stat -o ready t/one
	assert_output 2
	run -0 mq-stat -o published t
	assert_output 2
}

@test "mq-stat: on a terminal they are indented" {
	mq-sub add t one
	run -0 script -qec mq-stat /dev/null
	assert_match $'\nt  .*\n  one '
}

@test "mq-stat: published, unrouted and dropped" {
	mq-sub add -r a t one limit=2 full=drop-oldest
	for i in 1 2 3; do mq-put -q -r a -m "$i" t; done
	mq-put -q -r b -m x t 2>/dev/null
	run -0 jq -c '[.queue,.ready,.published,.unrouted,.dropped]' <(mq-stat -J t)
	assert_output $'["t",0,4,1,0]\n["t/one",2,null,null,1]'
	run -0 mq-stat -o published,unrouted,dropped t t/one
	assert_output $'t\t4\t1\t0\nt/one\t0\t0\t1\nt/one\t0\t0\t1'
}

# --- completions ---

@test "mq-sub: subscriptions complete as queues do" {
	mq-sub add t one
	mq-sub --completions=bash >completion
	run -0 bash -c '. ./completion; COMP_WORDS=(mq-sub ls t); COMP_CWORD=2; _mq_sub
		printf "%s\n" "${COMPREPLY[@]}"'
	assert_output $'t\nt/one'
}
