# What goes wrong around the tools: damaged files, strange commands, signals, many
# at once. What needs root is in heavy/, crashes at each system call in fault/.
# shellcheck disable=SC2154 # bats sets them
# shellcheck disable=SC2016 # an inner shell expands it
# runs long
load helper

in_state() { find "$MQ_SPOOL/$1/$2" -type f 2>/dev/null | wc -l; }
first_file() { find "$MQ_SPOOL/$1/new" -type f | sort | head -n 1; }

# --- message files that are none --------------------------------------------------

# damage COMMAND ...: on the first of three messages; it must go to the dead
# letters as torn, the others flow on
damage() {
	for want in a b c; do mq-put -q -m "body $want" q; done
	"$@" "$(first_file q)"
	run -0 --separate-stderr timeout 10 mq-take q -- sh -c 'cat; echo'
	assert_output $'body b\nbody c'
	run -0 mq-dlq ls q
	assert_lines 1
	assert_match torn
}

@test "torn: a truncated file" { damage truncate -s -1; }
@test "torn: an empty file" { damage truncate -s 0; }
@test "torn: half a header" { damage truncate -s 20; }
@test "torn: a file that is too long" { damage sh -c 'echo >>"$0"'; }
@test "torn: a foreign file" { damage cp /etc/passwd; }
@test "torn: another message's file" {
	other() { cp "$(find "$MQ_SPOOL/q/new" -type f | sort | tail -n 1)" "$1"; }
	damage other
}
@test "torn: a fifo" { damage sh -c 'rm "$0"; mkfifo "$0"'; }
@test "torn: a directory" { damage sh -c 'rm "$0"; mkdir "$0"'; }
@test "torn: a symbolic link" { damage sh -c 'cp "$0" copy; ln -sf "$PWD/copy" "$0"'; }

@test "torn: bytes changed since before this boot are found by the checksum" {
	changed() { sed -i 's/body a/body X/' "$1" && rm "$MQ_SPOOL/q/meter"; }
	damage changed
}

@test "torn: the table of a bulk file" {
	seq 100 | mq-put -q -l q
	mq-put -q -m after q
	file=$(first_file q)
	sed -i 's/^0000000[0-9a-f]$/fffffff0/' "$file"
	run -0 timeout 10 mq-take --ack -n 200 q
	assert_line after
	run -1 mq-take q
}

@test "torn: while it was leased, it is found when the lease ends" {
	seq 5 | mq-put -q -l q
	run -0 mq-take -x 1s -n 3 q
	find "$MQ_SPOOL/q/cur" -type f -exec truncate -s 20 {} +
	run -1 timeout 10 mq-take -W 3s q
	run -0 mq-dlq ls q
	assert_match torn
	run -0 mq-sweep --verify
}

@test "torn: a file that cannot be opened stops the take with its reason" {
	mq-put -q -m a q
	mq-put -q -m b q
	chmod 0 "$(first_file q)"
	run -77 plain mq-take q
}

@test "torn: a message with a name from the future, with numbers too large" {
	mq-put -q -m a q
	file=$(first_file q)
	dir=${file%/*} rest=${file##*/}
	cp "$file" "$dir/fffffffff000.${rest#*.}"
	cp "$file" "$dir/${rest/,n0/,n99999999999}"
	cp "$file" "$dir/${rest/,p5/,p7}"
	run -0 timeout 10 mq-take --ack -n 9 -f '%b' q
	assert_line 0 a
	run -0 mq-put -m b q
	run -0 timeout 10 mq-take --ack q
	assert_output b
}

# --- commands ----------------------------------------------------------------------

@test "command: ignores its standard input, however large" {
	head -c 1000000 /dev/zero | mq-put -q q
	run -0 timeout 10 mq-take q -- true
	assert_equal "$(in_state q cur)$(in_state q later)" 00
}

@test "command: writes to what it got, the message stays as it was" {
	mq-put -q -m hello q
	run -0 timeout 10 mq-take q -- sh -c 'echo xxxxx 1<>/dev/stdin; exit 1'
	sleep 1.6
	run -0 timeout 10 mq-take -W 5 -n 1 q -- cat
	assert_output hello
}

@test "command: a child that holds standard output does not hold the pool" {
	printf '%s\n' a b | mq-put -q -l q
	timeout 10 mq-take q -- sh -c 'sleep 60 & echo $! >>pids' >out
	mapfile -t background_pids <pids
	assert_equal "$(in_state q new)$(in_state q cur) ${#background_pids[@]}" '00 2'
}

@test "command: kill -9 of it is a retry, the pool goes on" {
	printf '%s\n' a b | mq-put -q -l q
	run -0 timeout 10 mq-take q -- sh -c 'b=$(cat); [ $b = b ] || kill -9 $$; echo $b'
	assert_output b
	assert_equal "$(in_state q later)" 1
}

@test "command: stopped past its lease by the end of its pool: others get it" {
	mq-put -q -m a q
	background mq-take -x 0.5 q -- sh -c 'echo "$MQ_RECEIPT" >r; exec sleep 60'
	wait_for test -s r
	kill -STOP "$pid"
	run -0 timeout 10 mq-take -w -x 60 -f '%n %r' q
	assert_match '^2 '
	kill -CONT "$pid"
	run -1 mq-ack "$(cat r)"
	kill -TERM "$pid"
	kill -TERM "$pid" || :
	wait "$pid" || :
	run -0 mq-ack "${output#* }" || :
	run -0 mq-sweep --verify
}

@test "command: closes everything, changes directory, umask, group: still acked" {
	mq-put -q -m a q
	run -0 timeout 10 mq-take q -- sh -c 'cd /; umask 777; exec <&- >&- 2>&-; exec true'
	mq-put -q -m a q
	run -0 timeout 10 mq-take q -- setsid true
	assert_equal "$(in_state q new)$(in_state q cur)$(in_state q later)" 000
}

@test "command: settles for itself in each way, its exit status then counts nothing" {
	for o in '' -K -u '--retry -d 9' '-t r'; do
		mq-put -q -m a q
		run -0 timeout 10 mq-take -n 1 q -- sh -c "mq-ack $o \"\$MQ_RECEIPT\"; exit 65"
	done
	assert_equal "$(in_state q dlq) $(in_state q later) $(in_state q new) $(in_state r new)" '1 1 0 1' ||
		assert_equal "$(in_state q dlq) $(in_state q later) $(in_state q new) $(in_state r new)" '1 1 1 1'
}

@test "command: removes the whole queue under the pool" {
	mq-put -q -m a q
	mq-put -q -m b q
	run timeout 10 mq-take q -- mq-rm --queue --force q
	((status != 124 && status < 128))
	[[ ! -e $MQ_SPOOL/q/cur ]]
}

@test "pool: standard error closed or full, standard output closed" {
	for to in '2>&-' '2>/dev/full' '>&-' '<&-' '<&- >&- 2>&-'; do
		mq-put -q -m a q
		run -0 timeout 10 bash -c "mq-take -v q -- sh -c 'echo x >&2; true' $to"
		assert_equal "$(in_state q new)$(in_state q cur)$(in_state q later)" 000
	done
}

# --- signals ------------------------------------------------------------------------

@test "signals: take, put, ack, ended at any time, lose and double nothing" {
	seq 400 | mq-put -q -l q
	for n in {1..12}; do
		timeout -s "$(shuf -n 1 -e TERM INT HUP KILL PIPE)" "0.0$((n % 4))5" \
			mq-take --ack -n 7 q >>out 2>/dev/null || :
		mq-take -x 60 -n 3 q >receipts
		timeout -s KILL "0.00$((n % 9))" mq-ack -u - <receipts || :
		mq-ack -u - <receipts 2>/dev/null || :
	done
	mq-sweep
	run -0 mq-sweep --verify
	run -0 mq-take --ack -n 999 q
	assert_equal "$(sort -n out <(echo "$output") | uniq -d)" ''
}

@test "signals: a take that was told to end while it waits leaves nothing leased" {
	mq-put -q -m x q && mq-take --ack q >/dev/null
	for sig in TERM INT HUP; do
		background env --default-signal mq-take -w q
		wait_for sh -c 'ls "$MQ_SPOOL"/q/wait/* >/dev/null 2>&1'
		kill "-$sig" "$pid"
		wait "$pid" || code=$?
		((code > 128))
	done
	mq-put -q -m a q
	assert_equal "$(in_state q new)$(in_state q wait)" 10
}

@test "signals: ignored SIGHUP stays ignored, as under nohup" {
	background sh -c 'trap "" HUP; exec mq-take -w --ack q' >out
	wait_for grep -q '^SigIgn:.*[13579bdf]$' "/proc/$pid/status"
	sleep 0.2
	kill -HUP "$pid"
	mq-put -q -m a q
	wait "$pid"
	assert_equal "$(cat out)" a
}

@test "signals: a pool takes SIGTERM at any time" {
	seq 30 | mq-put -q -l q
	for n in 1 3 5 8 12; do
		run timeout "0.0$n" mq-take -j 3 -w q -- sh -c 'cat; echo'
		((status == 124 || status == 0))
	done
	assert_equal "$(in_state q cur)$(in_state q dlq)$(in_state q later)" 000
	run -0 mq-sweep --verify
}

# --- many at once ----------------------------------------------------------------------

@test "many: two hundred takers on one message: one gets it" {
	mq-put -q -m hello q
	seq 200 | xargs -P 20 -I{} mq-take q >out 2>/dev/null || :
	assert_equal "$(wc -l <out)" 1
	mq-ack - <out
}

@test "many: putters and takers at once: each message once, each putter's in order" {
	for n in {1..4}; do
		background bash -c "for m in {1..15}; do mq-put -q -m \"$n \$m\" q; done"
		background mq-put -q -l q < <(seq -f "b$n %g" 100)
	done
	background mq-take -w -B 20 q -- cat >out
	wait_for -t 30 has_lines out 460
	kill -TERM "$pid"
	wait "${background_pids[@]}"
	assert_equal "$(wc -l <out)" 460
	for n in {1..4}; do sed -n "s/^$n //p" out | sort -nc; sed -n "s/^b$n //p" out | sort -nc; done
}

@test "many: pools that compete over a bulk file: each message once" {
	seq 600 | mq-put -q -l q
	for n in 1 2 3; do background mq-take -j 2 -B $((n * 3)) q -- cat >"out$n"; done
	wait "${background_pids[@]}"
	sort -n out? | cmp - <(seq 600)
	assert_equal "$(in_state q new)$(in_state q cur)" 00
	run -0 mq-sweep --verify
}

@test "many: two that move the same messages by -t" {
	seq 40 | mq-put -q -l q
	mq-take -n 40 q >r
	(mq-ack -t a - <r & mq-ack -t b - <r & wait) 2>/dev/null
	assert_equal "$(mq-take --ack -n 99 a b | sort -n)" "$(seq 40)"
}

@test "many: two that make the same queue, the same spool" {
	for n in {1..20}; do background mq-put -q -s "new/s$((n % 4))" -m "$n" q; done
	wait "${background_pids[@]}"
	for n in 0 1 2 3; do mq-take -s "new/s$n" --ack -n 9 q; done >out
	sort -n out | cmp - <(seq 20)
}

# --- the spool ------------------------------------------------------------------------

@test "spool: removed and made anew under a waiter, and under a pool that waits" {
	mq-put -q -m x q && mq-take --ack q >/dev/null
	background mq-take -w --ack q >out
	background mq-take -w q2 -- sh -c 'cat; echo' >out2
	sleep 0.3
	rm -rf "$MQ_SPOOL"
	mq-put -q -m a q
	mq-put -q -m b q2
	wait_for -t 15 has_line out a
	wait_for -t 15 has_line out2 b
}

@test "spool: removed while messages are leased: they are lost, nothing is made" {
	mq-put -q -m a q
	receipt=$(mq-take q)
	rm -rf "$MQ_SPOOL"
	run -64 mq-ack "$receipt"
	run -64 mq-ack -x 10 "$receipt"
	run -64 mq-ack --retry "$receipt"
	[[ ! -e $MQ_SPOOL ]]
}

@test "spool: no more descriptors is 75 or 74, and nothing is lost" {
	seq 5 | mq-put -q -l q
	for n in 3 4 5 6 7 8; do
		run bash -c "ulimit -n $n; mq-take --ack -n 5 q >>out; mq-put -q -m x r"
	done
	mq-sweep
	mq-take --ack -n 5 q >>out || :
	sort -n out | cmp - <(seq 5)
}

@test "spool: a file size limit is 74, the message that did not fit is not there" {
	head -c 100000 /dev/zero >body
	run bash -c 'ulimit -f 40; trap "" XFSZ; mq-put q body'
	assert_status 74
	assert_match 'not stored'
	run -1 mq-take q
	assert_equal "$(in_state q tmp)" 0
}
