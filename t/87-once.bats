# A command once for each key: mq-once.
# shellcheck disable=SC2154,SC2016 # bats sets them; for an inner shell
load helper

keys() { find "$MQ_SPOOL/q/once" -type l | wc -l; }
runs() { find "$MQ_SPOOL/q/once/run" -mindepth 1 | wc -l; }
# hold KEY: a process that works on it until the file `go` is there; in $pid
hold() {
	background mq-once q "$1" -- sh -c 'echo held >>held; until [ -e go ]; do sleep 0.01; done'
	wait_for test -s held
}

@test "mq-once: runs the command, and not again" {
	run -0 mq-once q key -- echo effect
	assert_output effect
	run -0 --separate-stderr mq-once q key echo effect
	assert_output ''
	assert_stderr ''
	run -0 mq-once -v q key echo effect
	assert_match "^mq-once: key: skipped: handled already \(remembered until 20.*Z\)$"
	run -0 mq-once q other -- echo effect
	assert_output effect
	run -0 mq-once p key -- echo effect
	assert_output effect
}

@test "mq-once: passes status, signal, input and output, and a failure is no success" {
	run -7 --separate-stderr mq-once q key -- sh -c 'cat; echo err >&2; exit 7' <<<in
	assert_output in
	assert_stderr err
	run -143 mq-once q key -- sh -c 'kill -TERM $$'
	for status in 1 64 75 100; do run -$status mq-once q key -- sh -c "exit $status"; done
	assert_equal "$(keys)" 0
	run -0 mq-once q key -- echo effect
	assert_output effect
	assert_equal "$(keys) $(runs)" '1 0'
}

@test "mq-once: 127 and 126 for what cannot be run" {
	run -127 mq-once q key -- no-such-command
	: >plain
	run -126 mq-once q key -- ./plain
	printf 'echo "$1"\n' >script && chmod +x script
	run -0 mq-once q key -- ./script sh
	assert_output sh
}

@test "mq-once -x: forgotten after DUR, and swept" {
	mq-once -x 20ms q key -- true
	mq-once q other -- true
	sleep 0.03
	run -0 mq-once -x 20ms q key -- echo again
	assert_output again
	sleep 0.03
	run -0 mq-sweep -N
	assert_match '1 .*forgotten'
	mq-sweep
	assert_equal "$(mq-once --list q | cut -f1)" other
	assert_equal "$(keys)" 1
}

@test "mq-once -V: only what is newer than the last one handled" {
	v() { mq-once -v -V "$1" q key -- echo "$1"; }
	run -0 v 5
	assert_output 5
	run -0 v 5
	assert_output 'mq-once: key: skipped: version 5 is not newer than 5, which was handled'
	run -0 --separate-stderr v 4
	assert_output ''
	run -0 v 9223372036854775807
	assert_output 9223372036854775807
	run -7 mq-once -V 7 q new -- sh -c 'exit 7'
	run -0 mq-once -V 6 q new -- echo 6
	assert_output 6
	assert_equal "$(mq-once --list q | cut -f2)" $'9223372036854775807\n6'
}

@test "mq-once -V: a key without a number is older than any, and -V is handled without" {
	mq-once q key -- true
	run -0 mq-once -V 0 q key -- echo 0
	assert_output 0
	run -0 mq-once q key -- echo no
	assert_output ''
}

@test "mq-once: one at a time, the second waits and then has nothing to do" {
	hold key
	run -75 mq-once -W0 q key -- true
	assert_match '^mq-once: key: another one is at work on it$'
	run -75 mq-once -W 50ms q key -- true
	run -0 mq-once -W0 q other -- echo other
	background mq-once -v q key -- echo second >second 2>&1
	: >go
	wait "$pid"
	assert_match 'skipped' "$(cat second)"
	assert_equal "$(runs)" 0
}

@test "mq-once: if the first fails the one that waits runs" {
	background mq-once q key -- sh -c 'echo >held; until [ -e go ]; do sleep 0.01; done; exit 1'
	wait_for test -s held
	background mq-once -W 10s q key -- echo second >second
	: >go
	wait "$pid"
	assert_equal "$(cat second)" second
}

@test "mq-once: killed with -9 its turn is over at once, and its command too" {
	hold key
	command=$(pgrep -P "$pid")
	kill -9 "$pid"
	run -0 timeout 2 mq-once -W0 q key -- sh -c "grep State /proc/$command/status || :"
	[[ -z $output || $output =~ [ZX] ]] # nobody there, or nobody to wait for it
}

@test "mq-once: passes a signal on to the command, and ends as it does" {
	background mq-once q key -- sh -c 'trap "exit 9" TERM; echo >held; while :; do sleep 0.01; done'
	wait_for test -s held
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	assert_status 9
	assert_equal "$(keys) $(runs)" '0 0'
}

@test "mq-once: sixteen at the same instant, one effect" {
	for _ in {1..16}; do background mq-once q key -- sh -c 'echo effect >>effects'; done
	for p in "${background_pids[@]}"; do wait "$p"; done
	assert_equal "$(wc -l <effects)" 1
	assert_equal "$(keys) $(runs)" '1 0'
}

@test "mq-once: in a pool, exit codes compose" {
	printf '%s\n' a a b bad bad | mq-put -lq q
	mq-conf q tries=1
	mq-take q -- sh -c 'read -r k; exec mq-once q "$k" -- sh -c "echo $k >>effects; [ $k != bad ] || exit 65"'
	assert_equal "$(sort effects | tr '\n' ' ')" 'a b bad bad '
	assert_equal "$(mq-stat -o ready,leased,later,dead q)" $'0\t0\t0\t2'
	mq-put -q -m x q
	run -69 mq-take q -- mq-once q "k" -- no-such-command
}

@test "mq-once: spaces, UTF-8, dashes and 1024 bytes are keys, of a name and a file alike" {
	for key in 'a b' ' x ' -x -- 'é漢' '/../x' "$(printf '%01024d' 0)"; do
		run -0 mq-once q "$key" -- echo effect
		assert_output effect
		run -0 mq-once q "$key" -- echo effect
		assert_output ''
	done
	assert_equal "$(keys)" 7
	run -0 mq-sweep --verify
}

@test "mq-once --forget: then it runs again; 1 if it was not known" {
	mq-once q key -- true
	run -0 mq-once --forget key q
	run -1 mq-once --forget key q
	assert_match 'key: is not known$'
	run -0 mq-once q key -- echo again
	assert_output again
	run -66 mq-once --forget key none
	run -66 mq-once --list none
	hold other
	run -75 mq-once -W0 --forget other q
}

@test "mq-once --list: key, version, until when, the oldest first" {
	mq-once -x 2h -V 3 q $'tab\there' -- true
	mq-once -x 1h q first -- true
	run -0 mq-once --list q
	assert_match $'^first\t-\t20[^\n]*Z\ntab\\\\x09here\t3\t20[^\n]*Z$'
	run -74 sh -c 'mq-once --list q >/dev/full'
}

@test "mq-once: wrong use is 64, and nothing is made" {
	for words in '' q 'q k' 'q k --' '-W x q k true' '-x 0 q k true' '-x y q k true' \
		'-V -1 q k true' '-V 9223372036854775808 q k true' '-V x q k true' '--list' \
		'--list --forget k q' '--list -V 1 q' '--list q p' '--forget k -x 1h q' '../q k true'; do
		# shellcheck disable=SC2086 # words
		run -64 mq-once $words
	done
	run -64 mq-once q '' true
	run -64 mq-once q $'a\nb' true
	run -64 mq-once q "$(printf '%01025d' 0)" true
	[[ ! -e $MQ_SPOOL/q ]]
}

@test "mq-once: 66 without a queue where the spool says create=no; 73, 77, 78" {
	mq-conf --defaults create=no
	run -66 mq-once q key -- true
	mq-conf --defaults create=yes
	mq-once q key -- true
	chmod 0 "$MQ_SPOOL/q/once"
	run -77 plain mq-once q key -- true
	chmod 700 "$MQ_SPOOL/q/once"
	echo nonsense >"$MQ_SPOOL/q/conf"
	run -78 mq-once q key -- true
	run -73 mq-once -s /proc/spool q key -- true
}

@test "mq-once: 74 where it cannot be remembered, said plainly" {
	mq-once q warm -- true
	run -74 mq-once q key -- sh -c 'rm -r "$MQ_SPOOL/q/once"; mkdir "$MQ_SPOOL/q/once"'
	assert_match 'mq-once: the command has succeeded, but this could not be remembered: '
}

@test "mq-sweep: removes what a killed mq-once left, and leaves one that runs" {
	hold key
	mq-once q dead -- sh -c 'kill -9 $PPID; sleep 9' 2>&- || :
	assert_equal "$(runs)" 2
	: >"$MQ_SPOOL/q/once/run/$(printf '%032x.new' 5)"
	run -0 mq-sweep --verify
	mq-sweep
	assert_equal "$(runs)" 1
	run -75 mq-once -W0 q key -- true
}

@test "mq-once: a link EXPIRY VERSION KEY" {
	mq-once -V 7 q 'a b' -- true
	run -0 readlink "$(find "$MQ_SPOOL/q/once" -type l)"
	assert_match '^[0-9]{13} 7 a b$'
}

@test "mq-once: the command has neither the lock nor any file of the spool" {
	run -0 mq-once q key -- sh -c 'ls -l /proc/self/fd | grep -F "$MQ_SPOOL" || echo none'
	assert_output none
}
