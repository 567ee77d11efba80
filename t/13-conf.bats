# mq-conf: settings good and bad, every exit status.
# shellcheck disable=SC2154 # bats sets them
load helper

@test "mq-conf: bad options, names and mixtures are 64" {
	mq-conf --create q
	for o in -z --nope '' '--spool q' '--defaults --create' '--create' 'q lease tries' \
		'q lease=5 tries' 'q nonsense' 'q nonsense=1' 'q =1' '../q' '--create ..' '--create a/b/c'; do
		# shellcheck disable=SC2086 # words
		run -64 mq-conf $o
	done
}

@test "mq-conf: bad values are 64, and of many none is set" {
	mq-conf --create q
	for v in lease=0 lease=x lease=-1 lease=2y tries=0 tries=x tries=1.5 backoff=x max_size=0 \
		max_size=65M max_size=1K1 sync=maybe paused=1 mode=0777 mode=0400 mode=06600 mode=x \
		full=x limit=-1 keep=x ttl=1e9 group=.. group='a b' $'group=a\nb' $'lease=5\ntries=1'; do
		run -64 mq-conf q tries=9 "$v"
		assert_match "${v%%=*}|newline"
	done
	run -0 mq-conf q tries
	assert_output 5
	[[ ! -s $MQ_SPOOL/q/conf ]]
}

@test "mq-conf: shows one, shows all, what it shows it takes" {
	run -0 mq-conf --create q lease=5m tries=3
	run -0 mq-conf q lease
	assert_output 5m
	mq-conf q >all
	assert_equal "$(grep -c = all)" "$(wc -l <all)"
	mapfile -t words <all
	run -0 mq-conf --create r "${words[@]}"
	mq-conf r | cmp - all
}

@test "mq-conf: NAME= goes back to the default, the queue before the spool's" {
	mq-conf --create q tries=3
	mq-conf --defaults tries=7
	assert_equal "$(mq-conf q tries)" 3
	mq-conf q tries=
	assert_equal "$(mq-conf q tries)" 7
	mq-conf --defaults tries=
	assert_equal "$(mq-conf q tries)" 5
	run -0 mq-conf --defaults tries
	assert_output 5
}

@test "mq-conf: 66 if there is no queue, and makes none" {
	run -66 mq-conf q
	run -66 mq-conf q tries=1
	run -66 mq-conf q tries
	[[ ! -e $MQ_SPOOL ]]
}

@test "mq-conf: a damaged conf is 78 and names the line, everywhere" {
	mq-put -q -m a q
	receipt=$(mq-take q)
	printf '# fine\nlease=30s\ntries = x\n' >"$MQ_SPOOL/q/conf"
	for c in 'mq-conf q' 'mq-put -m b q' 'mq-take q' 'mq-sweep q' 'mq-take q -- true' \
		"mq-ack --retry $receipt" 'mq-take -w q' 'mq-conf q lease=5'; do
		# shellcheck disable=SC2086 # words
		run -78 timeout 5 $c
		assert_match 'q/conf: line 3'
	done
}

@test "mq-conf: a damaged default is 78 too; NUL, long lines, no newline" {
	mq-put -q -m a q
	for bad in 'x\n' 'lease=5\0\n' 'tries=5' '\n\ntries=-5' '=' '\377\n'; do
		# shellcheck disable=SC2059 # escapes
		printf "$bad" >"$MQ_SPOOL/.conf"
		[[ $bad == tries=5 ]] || run -78 mq-take q
	done
	printf '%0300d\n' 0 >"$MQ_SPOOL/.conf"
	run -78 mq-put -m a q
	assert_match 'conf: line 1'
}

@test "mq-conf: comments and hand-made blanks are kept and understood" {
	mq-conf --create q
	printf '# why\n\n  tries=7\t\r\n#lease=1' >"$MQ_SPOOL/q/conf"
	assert_equal "$(mq-conf q tries)" 7
	mq-conf q lease=9s
	grep -q '^# why' "$MQ_SPOOL/q/conf"
	assert_equal "$(mq-conf q tries) $(mq-conf q lease)" '7 9s'
}

@test "mq-conf: a symbolic link, a directory, a fifo as conf is an error, no hang" {
	mq-put -q -m a q
	ln -s /etc/passwd "$MQ_SPOOL/q/conf"
	run ! timeout 5 mq-take q
	((status == 78 || status == 74))
	rm "$MQ_SPOOL/q/conf"
	mkdir "$MQ_SPOOL/q/conf"
	run ! timeout 5 mq-take q
	((status == 78 || status == 74))
	rmdir "$MQ_SPOOL/q/conf"
	mkfifo "$MQ_SPOOL/q/conf"
	run timeout 5 mq-take q
	((status != 124))
}

@test "mq-conf: --spool in its order: -s, MQ_SPOOL, the state directory" {
	run -0 mq-conf --spool
	assert_output "$MQ_SPOOL"
	run -0 mq-conf -s other --spool
	assert_output "$PWD/other"
	[[ ! -e /var/spool/mq ]] || skip 'there is a /var/spool/mq'
	MQ_SPOOL='' XDG_STATE_HOME=$PWD/state run -0 mq-conf --spool
	assert_output "$PWD/state/mq"
	MQ_SPOOL='' HOME=$PWD/home run -0 mq-conf --spool
	assert_output "$PWD/home/.local/state/mq"
	MQ_SPOOL='' HOME='' run -78 mq-conf --spool
}

@test "mq-conf: paused: nothing is taken, puts go on, then all goes on" {
	mq-put -q -m a q
	mq-conf q paused=yes
	run -0 mq-put -q -m b q
	run -1 mq-take q
	run -0 mq-take q -- cat
	assert_output ''
	background mq-take -w q -- sh -c 'cat; echo' >out
	sleep 0.3
	[[ ! -s out ]]
	mq-conf q paused=no
	wait_for -t 5 has_lines out 2
	assert_equal "$(cat out)" $'a\nb'
}

@test "mq-conf: lease, tries and ttl hold for what comes from then on" {
	mq-conf --create q lease=0.1 tries=1 ttl=1h
	mq-put -q -m a q
	mq-take q >receipt
	sleep 0.15
	run -1 mq-take q
	run -0 mq-dlq ls q
	assert_lines 1
}

@test "mq-conf: max_size is 65 from then on" {
	mq-conf --create q max_size=2
	run -65 mq-put -m abc q
	mq-conf q max_size=3
	run -0 mq-put -q -m abc q
}

@test "mq-conf: mode opens what is there already, and what comes" {
	mq-put -q -m a q
	mq-take q >receipt
	mq-conf q mode=0660
	mq-put -q -m b q
	assert_equal "$(find "$MQ_SPOOL/q" -type f ! -perm 0660 | wc -l)" 0
	assert_equal "$(find "$MQ_SPOOL/q" -mindepth 1 -type d ! -perm 2770 | wc -l)" 0
	mq-conf q mode=
	assert_equal "$(find "$MQ_SPOOL/q" -type f ! -perm 0600 | wc -l)" 0
}

@test "mq-conf: a full or closed standard output is 74" {
	mq-conf --create q
	run -74 bash -c 'mq-conf q >/dev/full'
	run -74 bash -c 'mq-conf q >&-'
	run -74 bash -c 'mq-conf --spool >/dev/full'
}

@test "mq-conf: two that set at once lose neither's setting" {
	mq-conf --create q
	(for n in {1..8}; do
		mq-conf q "tries=$n" & mq-conf q "lease=${n}s" & mq-conf q "max_size=$n" &
	done
	wait)
	for name in tries lease max_size; do
		grep -qE "^$name=[1-8]s?\$" "$MQ_SPOOL/q/conf"
	done
}
