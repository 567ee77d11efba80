# mq-put: every exit status, bad input, hard bodies, streams.
# shellcheck disable=SC2154 # bats sets them
# shellcheck disable=SC2016 # an inner shell expands it
load helper

ready() { find "$MQ_SPOOL/$1/new" -type f 2>/dev/null | wc -l; }
# descriptor 9 holds its writing end: opening `in` waits for nobody
open_fifo() { mkfifo in && exec 9<>in; }
bodies() { mq-take --ack -n 100000 "$1"; }

# --- usage: 64, and nothing is put --------------------------------------------

@test "mq-put: unknown, misspelt and foreign options are 64" {
	for o in -z --nope --spoo --help=1 -p -k -R5 -t; do
		run -64 mq-put "$o" q </dev/null
		assert_match '^mq-put: '
	done
	run -64 mq-put
	[[ ! -e $MQ_SPOOL ]]
}

@test "mq-put: bad durations and times are 64" {
	for d in '' -1 1y 1e3 nan 0x10 1.2.3 '1 s' 99999999999d; do
		run -64 mq-put -d "$d" -m a q
		run -64 mq-put -x "$d" -m a q
	done
	run -64 mq-put -x 0 -m a q
	for t in '' 25:00 2026-13-01T00:00:00Z 2026-02-30T00:00:00Z tomorrow; do
		run -64 mq-put -D "$t" -m a q
	done
	assert_equal "$(ready q)" 0
}

@test "mq-put: bad priorities are 64" {
	for p in '' 10 -1 +5 5x 1.0 ' 1' 99999999999999999999; do
		run -64 mq-put -p "$p" -m a q
	done
	assert_equal "$(ready q)" 0
}

@test "mq-put: bad attributes are 64" {
	for a in '' x = =v 1a=v -a=v 'a b=v' 'é=v' $'a=x\ny' "$(printf '%065d=v' 0 | tr 0 a)"; do
		run -64 mq-put -a "$a" -m b q
	done
	assert_equal "$(ready q)" 0
	run -0 mq-put -a "$(printf '%064d=v' 0 | tr 0 a)" -a A_.-9= -m b q
}

@test "mq-put: bad queue names are 64" {
	for n in '' . .. -x /q q/ a/b/c ../q 'a b' a:b $'q\nr' é \
		"$(printf '%0101d' 0)" "$(printf '%0300d' 0)"; do
		run -64 mq-put -m a -- "$n"
		assert_match "not a queue's name"
	done
}

@test "mq-put: a name of 100 characters is one" {
	name=$(printf '_%099d' 0)
	run -0 mq-put -q -m long "$name"
	run -0 mq-take "$name" -- sh -c 'cat && mq-ack "$MQ_RECEIPT"'
	assert_output long
}

@test "mq-put: what does not go together is 64" {
	for o in -l -0 -J -b; do run -64 mq-put "$o" -m a q; done
	run -64 mq-put -m a q file
	run -64 mq-put -J -l q
	run -64 mq-put -d 1 -D 02:00 -m a q
	assert_equal "$(ready q)" 0
}

@test "mq-put: options end at the first operand, operands may be hostile" {
	echo hostile >-m
	run -65 mq-put q -x
	run -0 mq-put -q q -m
	run -0 bodies q
	assert_output hostile
}

# --- bodies ---------------------------------------------------------------------

@test "mq-put: NUL, CR, no newline, empty: byte for byte" {
	for b in 'a\0b' 'a\r\n' 'no newline' '' '\0' '\n' '\377\376' 'mq1 1 1 0\n'; do
		printf "$b" >want
		mq-put -q q <want
		run -0 mq-take q -- sh -c 'cat >got'
		cmp want got
		mq-put -q q want
		mq-cat "$(mq-take q)" | cmp - want
	done
}

@test "mq-put: exactly max_size is put, one more is 65 with a hint at -A" {
	mq-conf --create q max_size=1000
	head -c 1000 /dev/zero >fits
	head -c 1001 /dev/zero >over
	run -0 mq-put -q q fits
	run -65 mq-put q over
	assert_match '-A'
	run -65 mq-put q <over
	run -65 mq-put -m "$(tr '\0' x <over)" q
	assert_equal "$(ready q)" 1
}

@test "mq-put, mq-run, mq-conf: a bad name is 64, and makes no spool" {
	for bad in 'mq-put -m x .q' 'mq-run .q true' 'mq-conf --create .q'; do
		run -64 $bad
		assert_match "mq-.*: .q: not a queue's name"
	done
	[[ ! -e $MQ_SPOOL ]]
}

@test "mq-put: a record over max_size is 65, what came before is put" {
	mq-conf --create q max_size=3
	run -65 --separate-stderr mq-put -l q < <(printf '%s\n' a bbb cccc d)
	assert_lines 2
	run -0 bodies q
	assert_output $'a\nbbb'
}

@test "mq-put: -b over max_size or with a bad line puts nothing" {
	mq-conf --create q max_size=3
	run -65 mq-put -b -l q < <(printf '%s\n' a bbb cccc d)
	run -65 mq-put -b -J q < <(printf '%s\n' '{"body":"a"}' nonsense)
	run -65 mq-put -b -J q < <(printf '%s\n' '{"body":"a"}' '{"body":"b","priority":1}')
	run -65 mq-put -b q /dev/null nope
	assert_equal "$(ready q)$(find "$MQ_SPOOL/q/tmp" -type f)" 0
}

@test "mq-put: -b takes 64 MiB and not a byte more" {
	mq-conf --create q max_size=64M sync=no
	head -c 32M /dev/zero >half
	echo -n x >more
	run -65 mq-put -b q half half more
	assert_equal "$(ready q)" 0
	run -0 mq-put -q -b q half half
	assert_equal "$(mq-take --ack -f '%i' -n 3 q | wc -l)" 2
}

@test "mq-put: bad JSON is 65 and names the line" {
	for j in nonsense '[]' '{}' '{"body":1}' '{"body":"a","body64":"YQ=="}' '{"body64":"*"}' \
		'{"body":"a","priority":10}' '{"body":"a","delay":"x"}' '{"body":"a"' \
		'{"body":"a"} x' '{"body":"a","attributes":{"1":"x"}}' \
		'{"body":"a","attributes":["x"]}' '{"body":"a\ud800"}'; do
		run -65 mq-put -q -J q < <(printf '%s\n' '{"body":"ok"}' "$j" '{"body":"no"}')
		assert_match 'line 2: '
		assert_equal "$(bodies q)" ok
	done
}

@test "mq-put: a file that cannot be read is 65, those before it are put" {
	echo a >a
	run -65 --separate-stderr mq-put q a nope a
	assert_lines 1
	assert_match 'nope: No such file'  "$stderr"
	run -74 mq-put q a /
	assert_equal "$(ready q)" 2
}

@test "mq-put: attributes over 256 KiB are 65" {
	big=$(head -c 100000 /dev/zero | tr '\0' x)
	run -65 mq-put -a a="$big" -a b="$big" -a c="$big" -m x q
	assert_match '\(not stored\)$|over'
	assert_equal "$(ready q)" 0
}

# --- streams -----------------------------------------------------------------------

@test "mq-put: -l keeps empty records, the last without a newline counts" {
	printf 'a\n\nb' | mq-put -q -l q
	run -0 mq-take -0 --ack -n 9 q
	printf 'a\n\nb' | mq-put -q -l q
	mq-take -0 --ack -n 9 q | cmp - <(printf 'a\0\0b\0')
	run -0 mq-put -l q </dev/null
	assert_output ''
}

@test "mq-put: a slow producer's record does not wait for the next" {
	open_fifo
	background mq-put -q -l q <in 9>&-
	for want in 1 2; do
		echo "$want" >&9
		run -0 mq-take -W 5 --ack q
		assert_output "$want"
	done
	exec 9>&-
	wait "$pid"
}

@test "mq-put: -l whose producer dies has put a prefix, ids are of those" {
	open_fifo
	background sh -c 'seq 3; printf 4; exec sleep 60' >in 9>&-
	producer=$pid
	background mq-put -l q <in >ids 9>&-
	exec 9>&-
	wait_for has_lines ids 3
	kill -KILL "$producer"
	wait "$pid"
	run -0 mq-take --ack -f '%i %b' -n 9 q
	assert_equal "$output" "$(paste -d' ' ids <(seq 4))"
}

@test "mq-put: killed in a stream it has put a prefix, at least the printed ids" {
	open_fifo
	background sh -c 'seq 5000; exec sleep 60' >in 9>&-
	background mq-put -l q <in >ids 9>&-
	exec 9>&-
	wait_for has_lines ids 1000
	kill -KILL "$pid"
	mq-sweep
	run -0 mq-take --ack -f '%b' -n 9999 q
	assert_equal "$output" "$(seq "${#lines[@]}")"
	((${#lines[@]} >= $(wc -l <ids)))
}

# --- standard output and signals --------------------------------------------------------

@test "mq-put: standard output full or closed is 74, the message is in the queue" {
	run -74 bash -c 'mq-put -m a q >/dev/full'
	assert_match 'standard output'
	run -74 bash -c 'mq-put -m b q >&-'
	run -0 bash -c 'mq-put -q -m c q >&-'
	assert_equal "$(bodies q)" $'a\nb\nc'
}

@test "mq-put: a reader that goes away is 74, no death by SIGPIPE" {
	run -74 bash -c '{ sleep 0.1; seq 20000; } | mq-put -l q | :; exit ${PIPESTATUS[1]}'
	(($(bodies q | wc -l) > 0))
}

@test "mq-put: standard input closed is an error, not a message" {
	run -74 bash -c 'mq-put q <&-'
	run -74 bash -c 'mq-put -l q <&-'
	assert_equal "$(ready q)" 0
}

@test "mq-put: a signal while it reads leaves nothing half-visible" {
	open_fifo
	for sig in TERM INT HUP; do
		background env --default-signal mq-put q <in 9>&-
		head -c 100000 /dev/zero >&9
		kill "-$sig" "$pid"
		wait "$pid" || code=$?
		((code > 128))
	done
	assert_equal "$(find "$MQ_SPOOL" -type f ! -name lock ! -name meter)" ''
}

# --- where it is put ----------------------------------------------------------------------

@test "mq-put: 66 where the spool says create=no" {
	mq-conf --defaults create=no
	run -66 mq-put -m a q
	mq-conf --create q
	run -0 mq-put -m a q
}

@test "mq-put: 73 where no spool can be made, 74 or 73 where a file is in the way" {
	touch file
	run ! mq-put -s file/spool -m a q
	assert_match 'file'
	((status == 73 || status == 74))
	run ! mq-put -s file -m a q
	((status == 73 || status == 74))
	mkdir -p "$MQ_SPOOL"
	touch "$MQ_SPOOL/q"
	run ! mq-put -m a q
	((status == 73 || status == 74))
}

@test "mq-put: a spool that is no directory's name is 78" {
	run -78 mq-put -s nats://host -m a q
	run -78 mq-put -s $'new\nline' -m a q
	mkdir $'a\nb'
	cd $'a\nb'
	run -78 mq-put -s spool -m a q
	run -78 mq-put -s "/$(printf '%05000d' 0)" -m a q
}

@test "mq-put: any umask, any spool path" {
	for MQ_SPOOL in 'sp ace' ./dot/./s/ ../up "$PWD/abs//x/" "$PWD/%s" '-dash' 'tab	x'; do
		(umask 777 && mq-put -q -m "$MQ_SPOOL" q)
		receipt=$(mq-take q)
		assert_equal "$(mq-cat "$receipt")" "$MQ_SPOOL"
		run -0 mq-ack "$receipt"
		mq-put -q -m inner q
		run -0 mq-take q -- sh -c 'cd / && mq-ack "$MQ_RECEIPT"'
	done
}

@test "mq-put: through a symbolic link to a spool, never through one in it" {
	mkdir real elsewhere
	ln -s real link
	run -0 mq-put -s link -m a q
	run -0 mq-take -s real --ack q
	ln -s ../elsewhere "real/evil"
	run ! mq-put -s real -m a evil
	((status == 74 || status == 78 || status == 73))
	rmdir elsewhere
}

# --- order, priority, time -------------------------------------------------------------------

@test "mq-put: -p urgent first, oldest first within one" {
	for p in 5 9 0 5 0; do mq-put -q -p $p -m "$p$((++n))" q; done
	run -0 bodies q
	assert_output $'03\n05\n51\n54\n92'
}

@test "mq-put: -d and -D hold it back, not longer" {
	mq-put -q -d 2 -m late q
	mq-put -q -D "$(date -u -d '+1 hour' +%FT%TZ)" -m later q
	mq-put -q -D 2001-01-01T00:00:00Z -m past q
	run -0 bodies q
	assert_output past
	run -0 mq-take -W 5 --ack q
	assert_output late
	run -1 mq-take q
}

@test "mq-put: -x drops what was not taken in time, never what is leased" {
	mq-put -q -x 1 -m a q
	mq-put -q -x 1 -m b q
	receipt=$(mq-take -x 60 q)
	sleep 1.1
	run -1 mq-take q
	assert_equal "$(mq-cat "$receipt")" a
	run -0 mq-ack "$receipt"
}
