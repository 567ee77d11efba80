# mq-take with a COMMAND: the worker pool.
# shellcheck disable=SC2154 # bats sets them
# shellcheck disable=SC2016 # the command's shell expands it, not ours
# runs long
load helper

in_state() { find "$MQ_SPOOL/$1/$2" -type f | wc -l; }
why() { cat "$MQ_SPOOL/$1"/why/*; }
# runs, and is no zombie that nobody reaps here
alive() { [[ -r /proc/$1/stat && $(sed 's/.*) //' "/proc/$1/stat") != Z* ]]; }
all_gone() {
	local p
	for p in "$@"; do ! alive "$p" || return; done
}
# only ever among the children of a pool that this test started
guardian_of() { pgrep -P "$1" -x mq-guardian; }
other_guardian() { local g; g=$(guardian_of "$1") && [[ $g != "$2" ]]; }

# --- what COMMAND gets --------------------------------------------------------

@test "pool: the body on standard input, seekable" {
	mq-put -q -m hello q
	run -0 mq-take q -- cat
	assert_output hello
	assert_equal "$(find "$MQ_SPOOL/q/new" "$MQ_SPOOL/q/cur" -type f)" ''
}

@test "pool: the environment" {
	id=$(mq-put -a a.b-c=val -m hello q)
	MQ_KEY=stale MQ_ATTR_old=1 run -0 mq-take q -- sh -c 'echo "$MQ_QUEUE $MQ_ID \
$MQ_TRIES [$MQ_KEY$MQ_ROUTE$MQ_VERSION$MQ_ATTACHMENT] $MQ_ATTR_a_b_c ${MQ_ATTR_old-none} $MQ_SPOOL"'
	assert_output "q $id 1 [] val none $MQ_SPOOL"
}

@test "pool: MQ_PUT_TIME and MQ_RECEIPT" {
	mq-put -q -m hello q
	run -0 mq-take -v q -- sh -c 'echo "$MQ_PUT_TIME"; mq-ack "$MQ_RECEIPT"; exit 1'
	assert_match '^20[0-9-]+T[0-9:]+\.[0-9]{3}Z' "${lines[0]}"
	assert_match 'settled' "${lines[1]}"
	assert_equal "$(in_state q later)" 0
}

@test "pool: {} is the body less one newline, standard input is empty" {
	printf 'two words\n\n' | mq-put -q q
	run -0 mq-take q -- sh -c 'printf "<%s>" "$1"; cat' sh {}
	assert_output $'<two words\n>'
}

@test "pool: {} that cannot be an argument is buried" {
	printf 'a\0b' | mq-put -q nul
	head -c 131072 /dev/zero | tr '\0' a | mq-put -q long
	run -0 mq-take nul long -- echo {}
	assert_output ''
	assert_match 'has a NUL' "$(why nul)"
	assert_match 'over 128 KiB' "$(why long)"
	head -c 131071 /dev/zero | tr '\0' a | mq-put -q fits
	mq-take fits -- echo {} >out
	assert_equal "$(wc -c <out)" 131072
}

@test "pool: no descriptor but 0, 1 and 2" {
	mq-put -q -m hello q
	run -0 bash -c 'for fd in /proc/self/fd/*; do fd=${fd##*/}; ((fd > 2)) && eval "exec $fd>&-"; done
		mq-take -j2 q -- ls /proc/self/fd'
	assert_output $'0\n1\n2\n3'
}

# --- what its end means ----------------------------------------------------------

@test "pool: 65 and 100 bury, with the reason and the tail of stderr" {
	mq-put -q -m a q
	mq-put -q -m b q
	run -0 --separate-stderr mq-take q -- sh -c 'echo why >&2; exit 65'
	assert_stderr $'why\nwhy'
	assert_equal "$(in_state q dlq)" 2
	assert_match 'exit 65: why' "$(why q)"
	mq-put -q -m a r
	mq-take r -- sh -c 'exit 100'
	assert_equal "$(in_state r dlq)" 1
}

@test "pool: anything else retries, a signal too" {
	mq-put -q -m a q
	run -0 mq-take q -- sh -c 'echo "  the reason  " >&2; echo >&2; exit 3'
	assert_match 'exit 3: the reason' "$(why q)"
	mq-put -q -m a r
	run -0 mq-take r -- sh -c 'kill -9 $$'
	assert_match 'signal KILL' "$(why r)"
	assert_equal "$(in_state q later)$(in_state r later)" 11
}

@test "pool: the last 4 KiB of stderr are kept, all of it is passed on" {
	mq-put -q -m a q
	mq-take q -- sh -c 'seq 5000 >&2; exit 1' 2>err
	seq 5000 | cmp - err
	assert_match 'exit 1: 5000' "$(why q)"
	size=$(why q | tr -d '\t' | wc -c)
	((size > 4096 && size < 4500))
}

@test "pool: 126 and 127 stop it with 69, the message is untried" {
	printf '%s\n' a b c | mq-put -q -l q
	run -69 mq-take q -- sh -c 'exit 127'
	run -69 mq-take q -- sh -c 'exit 126'
	run -0 mq-take -n 3 --ack -f '%n' q
	assert_output $'1\n1\n1'
}

@test "pool: a command that is not there takes nothing" {
	mq-put -q -m a q
	run -69 mq-take q -- no-such-command
	assert_match 'no-such-command'
	run -69 mq-take q -- ./nor-here
	run -69 mq-take q -- /
	assert_equal "$(in_state q new)" 1
}

@test "pool: -e maps codes" {
	for i in 1 2 3 4; do mq-put -q -m "$i" q; done
	run -69 mq-take -e 1=ack -e 2,137=bury -e 3=retry:1h -e 4=stop q -- \
		sh -c 'exit $(cat)'
	assert_equal "$(in_state q new) $(in_state q dlq) $(in_state q later)" '1 1 1'
}

@test "pool: a script without #! runs" {
	echo 'echo "ran $1"' >script
	chmod +x script
	mq-put -q -m a q
	run -0 mq-take q -- ./script arg
	assert_output 'ran arg'
}

@test "pool: --strict is 1 if anything was not acked" {
	mq-put -q -m a q
	run -0 mq-take --strict q -- true
	mq-put -q -m a q
	run -1 mq-take --strict q -- false
}

@test "pool: -v says a line a delivery" {
	id=$(mq-put -m a -k $'order 812\x1b' q)
	run -0 --separate-stderr mq-take -v q -- true
	assert_match "^20[0-9-]+T[0-9:.]+Z	q:$id	1	acked	[0-9]+\.[0-9]{3}	[0-9]+\.$EUID	order 812\\\\x1b	-\$" "$stderr"
}

@test "pool: -v tells the reason of a failure, and each message of a batch" {
	id=$(mq-put -m a q)
	run -0 --separate-stderr mq-take -v q -- sh -c 'echo why >&2; exit 65'
	assert_match "q:$id	1	buried	[0-9.]+	[0-9.]+	-	exit 65: why\$" "$stderr"
	seq 3 | mq-put -q -l q
	run -0 --separate-stderr mq-take -v -B3 q -- true
	assert_equal "$(cut -f3,4 <<<"$stderr")" $'1\tacked\n1\tacked\n1\tacked'
}

@test "pool: --syslog where there is no syslog is no failure" {
	mq-put -q -m a q
	run -0 mq-take --syslog q -- true
	run -64 mq-take --syslog q
}

# --- how many, how long -------------------------------------------------------------

@test "pool: a queue that does not exist yet is an end, not an error" {
	run -0 mq-take nope -- true
}

@test "pool: -j runs that many at once, and leases no more" {
	seq 4 | mq-put -q -l q
	background mq-take -j2 q -- sh -c 'echo x >>started; until [ -e go ]; do sleep 0.02; done'
	wait_for has_lines started 2
	sleep 0.2
	assert_equal "$(wc -l <started) $(in_state q cur)" '2 2'
	touch go
	wait "$pid"
	assert_equal "$(wc -l <started)" 4
}

@test "pool: -n stops after that many" {
	seq 10 | mq-put -q -l q
	run -0 mq-take -n 3 q -- cat
	assert_output 123
}

@test "pool: what a command puts is worked off too" {
	mq-put -q -m 3 q
	run -0 mq-take q -- sh -c 'n=$(cat); echo $n; [ $n = 0 ] || mq-put -q -m $((n - 1)) q'
	assert_output $'3\n2\n1\n0'
}

@test "pool: -R starts no more than that" {
	seq 6 | mq-put -q -l q
	start=$(date +%s%N)
	mq-take -j4 -R 10/s q -- true
	(($(date +%s%N) - start >= 480000000))
}

@test "pool: -T kills what runs longer, as a retry" {
	mq-put -q -m a q
	run -0 timeout 10 mq-take -T 0.2 q -- sh -c 'sleep 60'
	assert_match 'ran longer than 200ms' "$(why q)"
	assert_equal "$(in_state q later)" 1
}

@test "pool: -T does not wait for one that ignores SIGTERM" {
	mq-put -q -m a q
	run -0 timeout 10 mq-take -T 0.1 q -- sh -c 'trap "" TERM; sleep 60; sleep 60'
	assert_equal "$(in_state q later)" 1
}

@test "pool: -W ends when nothing was ready for that long, -w does not" {
	run -0 timeout 10 mq-take -W 0.2 q -- true
	run -124 timeout 0.5 mq-take -w q -- sleep 60
}

@test "pool: -w works off what comes" {
	background mq-take -w q -- sh -c 'cat; echo' >out
	for i in 1 2 3; do
		mq-put -q -m "$i" q
		wait_for -t 15 has_line out "$i"
	done
	kill -TERM "$pid"
	wait "$pid"
}

@test "pool: --single is 75 if another runs" {
	mq-put -q -m a q
	background mq-take --single q -- sh -c 'touch on; until [ -e go ]; do sleep 0.02; done'
	wait_for test -e on
	run -75 mq-take --single q -- true
	touch go
	wait "$pid"
	run -0 mq-take --single q -- true
}

# --- batches -----------------------------------------------------------------------

@test "pool: -B gives bodies as lines, one COMMAND for all" {
	seq 10 | mq-put -q -l q
	for i in 11 12; do mq-put -q -m $i q; done
	run -0 mq-take -B 100 q -- sh -c 'echo $(cat)'
	assert_output '1 2 3 4 5 6 7 8 9 10 11 12'
	assert_equal "$(in_state q cur)$(in_state q new)" 00
}

@test "pool: -B halves what fails, only the bad one is tried again" {
	seq 16 | mq-put -q -l q
	run -0 mq-take -B 16 q -- sh -c 'cat >in; ! grep -qx 7 in && cat in >>good'
	assert_equal "$(sort -n good | tr '\n' ' ')" '1 2 3 4 5 6 8 9 10 11 12 13 14 15 16 '
	assert_equal "$(in_state q later)$(in_state q cur)$(in_state q new)" 100
}

@test "pool: -B runs a body with a newline alone, -0 does not have to" {
	for m in a b $'c\nd' e; do mq-put -q -m "$m" q; mq-put -q -m "$m" r; done
	run -0 mq-take -B 9 q -- sh -c 'echo "<$(cat)>"'
	assert_output $'<a\nb>\n<c\nd>\n<e>'
	run -0 mq-take -0 -B 9 r -- sh -c 'tr "\0" , | tr "\n" _'
	assert_output 'a,b,c_d,e,'
}

# --- output ---------------------------------------------------------------------------

@test "pool: -L keeps each delivery's output" {
	id=$(mq-put -m a q)
	run -0 mq-take -L logs q -- sh -c 'echo out; echo err >&2; exit 65'
	assert_output ''
	assert_equal "$(sort "logs/$id.1.log")" $'err\nout'
	assert_match 'exit 65: err' "$(why q)"
}

@test "pool: a background child that holds stderr blocks nothing" {
	printf '%s\n' a b | mq-put -q -l q
	run -0 timeout 5 mq-take q -- sh -c '(sleep 0.3; echo late >&2; touch survived; sleep 60) >/dev/null &
		echo $! >>pids; sleep 0.2'
	sleep 0.2
	while read -r p; do kill -KILL "$p" 2>/dev/null || :; done <pids
	[[ -e survived ]]
}

@test "pool: a stderr that blocks does not lose the lease" {
	mq-put -q -m a q
	run -0 bash -c 'mq-take -x 0.3 -v q -- sh -c "head -c 300000 /dev/zero >&2" 2>&1 |
		{ sleep 1.2; tr -d "\\0" | cut -f3,4; }'
	assert_output $'1\tacked'
}

# --- the brake ---------------------------------------------------------------------------

@test "pool: ten failures in a row put the brake on" {
	mq-conf --create q backoff=1h
	seq 40 | mq-put -q -l q
	background mq-take q -- false 2>err
	wait_for grep -q '10 failures in a row' err
	n=$(in_state q later)
	((n >= 10 && n <= 12))
}

@test "pool: --no-brake does not" {
	seq 40 | mq-put -q -l q
	run -0 mq-take --no-brake q -- false
	assert_equal "$(in_state q later)" 40
}

# --- leases and signals --------------------------------------------------------------------

@test "pool: the lease is extended as long as COMMAND runs, stopped or not" {
	mq-put -q -m a q
	background mq-take -x 0.3 q -- sh -c 'echo $$ >pid; kill -STOP $$; echo ended >out'
	wait_for test -s pid
	run -1 mq-take -W 1 q
	kill -CONT "$(cat pid)"
	wait "$pid"
	assert_equal "$(cat out)" ended
	assert_equal "$(in_state q cur)" 0
}

@test "pool: first SIGTERM, SIGINT, SIGHUP: what runs ends, nothing more is taken" {
	for sig in TERM INT HUP; do
		printf '%s\n' a b | mq-put -q -l "q$sig"
		background mq-take -w "q$sig" -- sh -c "touch on$sig; until [ -e go$sig ]; do sleep 0.02; done"
		wait_for test -e "on$sig"
		kill "-$sig" "$pid"
		sleep 0.1
		touch "go$sig"
		wait "$pid"
		assert_equal "$(in_state "q$sig" new)" 1
	done
}

@test "pool: second SIGTERM: what runs is killed and given back untried" {
	mq-put -q -m a q
	background mq-take -w q -- sh -c 'sleep 60 & echo $$ $! >pids; wait'
	wait_for test -s pids
	kill -TERM "$pid"
	sleep 0.2
	kill -TERM "$pid"
	wait "$pid"
	# shellcheck disable=SC2046 # a list
	wait_for all_gone $(cat pids)
	run -0 mq-take --ack -f '%n %b' q
	assert_output '1 a'
}

@test "pool: kill -9 of it kills its commands, and their groups within a second" {
	printf '%s\n' a b | mq-put -q -l q
	background mq-take -j2 q -- sh -c 'sleep 60 & echo $$ $! >>pids; wait'
	wait_for has_lines pids 2
	kill -KILL "$pid"
	# shellcheck disable=SC2046 # a list
	wait_for -t 1 all_gone $(cat pids)
}

@test "pool: kill -9 of it does not leave its stdout open" {
	mq-put -q -m a q
	run -0 timeout 10 bash -c '{ mq-take q -- sh -c "sleep 60 & echo \$\$ >pid; wait" & p=$!
		until [ -s pid ]; do sleep 0.02; done; kill -KILL $p; } | cat'
}

@test "pool: a guardian that dies has a successor, which does its work" {
	mq-put -q -m a q
	background mq-take q -- sh -c 'sleep 60 & echo $$ $! >pids; wait'
	wait_for test -s pids
	first=$(guardian_of "$pid")
	kill -KILL "$first"
	wait_for other_guardian "$pid" "$first"
	kill -KILL "$pid"
	# shellcheck disable=SC2046 # a list
	wait_for -t 1 all_gone $(cat pids)
}

@test "pool: QUEUE:ID runs COMMAND on that one" {
	mq-put -q -m a q
	id=$(mq-put -m b q)
	run -0 mq-take "q:$id" -- cat
	assert_output b
	run -1 mq-take "q:$id" -- cat
	assert_equal "$(in_state q new)" 1
}
