# mq-ack: receipts good and bad, each way to settle, every exit status.
# shellcheck disable=SC2154 # bats sets them
# shellcheck disable=SC2016 # an inner shell expands it
load helper

in_state() { find "$MQ_SPOOL/$1/$2" -type f 2>/dev/null | wc -l; }
# all names in the spool but those of caches
snapshot() { find "$MQ_SPOOL" -type f ! -name meter ! -name lock | sort; }

# --- usage -----------------------------------------------------------------------

@test "mq-ack: bad options and what does not go together is 64, nothing touched" {
	mq-put -q -m a q
	receipt=$(mq-take q)
	for o in --nope -z '-x 0' '-x x' '-d 1' '--retry -d x' '-m why' '--retry -K' '-u -K' \
		'-t ../x' '-t q -u' '-x 1 -u' -J; do
		# shellcheck disable=SC2086 # words
		run -64 mq-ack $o "$receipt"
	done
	run -64 mq-ack
	run -0 mq-ack "$receipt"
}

# --- receipts that are none ----------------------------------------------------------

@test "mq-ack: made-up receipts are 64, nothing touched" {
	mq-put -q -m a q
	receipt=$(mq-take q)
	name=${receipt##*/}
	before=$(snapshot)
	for r in '' x / // /etc/passwd "$name" "$MQ_SPOOL" "$MQ_SPOOL/q/cur" "${receipt}x" "$receipt/" \
		"${receipt%,t*}" "${receipt/,n1/,n01}" "${receipt/cur/new}" \
		"${receipt/cur/dlq}" "$MQ_SPOOL/q/../q/cur/${receipt#*cur/}" "/../..$receipt" \
		"${receipt/p5/p5,x}" "$MQ_SPOOL/q/cur/1/$name" "$MQ_SPOOL/.q/cur/${receipt#*cur/}" \
		"$(printf '/%05000d' 0)" "${receipt#/}" "${receipt/,n1/,o0,c2,n1}" "$receipt"$'\n'; do
		run -64 mq-ack "$r"
	done
	assert_equal "$(snapshot)" "$before"
}

@test "mq-ack: a receipt of no spool, or outside of one, is 64 or 1" {
	mq-put -q -m a q
	receipt=$(mq-take q)
	run -64 mq-ack "/nonexistent/q/cur/${receipt#*cur/}"
	run -64 mq-ack "/etc/passwd/q/cur/${receipt#*cur/}" || assert_status 74
	run -1 mq-ack "/tmp/q/cur/${receipt#*cur/}"
	run -1 mq-ack "$MQ_SPOOL/other/cur/${receipt#*cur/}"
	run -0 mq-ack "$receipt"
}

@test "mq-ack: of another queue, another delivery or acked already is 1" {
	mq-put -q -m a q
	mq-put -q -m b r
	receipt=$(mq-take q)
	for r in "${receipt/\/q\/cur//r/cur}" "${receipt/,n1/,n2}"; do
		run -1 mq-ack "$r"
		assert_match 'lease lost'
	done
	run -0 mq-ack "$receipt"
	run -1 mq-ack "$receipt"
	assert_equal "$(in_state r new)" 1
}

@test "mq-ack: what ran out cannot be acked, extended, retried, buried, moved" {
	mq-put -q -m a q
	receipt=$(mq-take -x 0.1 q)
	sleep 0.15
	holder=$(mq-take -x 60 q)
	for o in '' --retry -u '-x 60' -K '-t r'; do
		# shellcheck disable=SC2086 # words
		run -1 mq-ack $o "$receipt"
		assert_match 'lease lost'
	done
	run -0 mq-ack "$holder"
}

@test "mq-ack: late, but not returned yet, is in time" {
	mq-put -q -m a q
	receipt=$(mq-take -x 0.1 q)
	sleep 0.15
	run -0 mq-ack "$receipt"
}

@test "mq-ack: not through a symbolic link that stands for a queue" {
	mq-put -q -m a q
	receipt=$(mq-take q)
	mkdir elsewhere
	ln -s ../spool/q elsewhere/evil
	run ! mq-ack "$PWD/elsewhere/evil/cur/${receipt#*cur/}"
	run -0 mq-ack "$receipt"
}

@test "mq-ack: carries its own spool, -s is ignored" {
	mq-put -q -m a q
	receipt=$(mq-take q)
	MQ_SPOOL=/nonexistent run -0 mq-ack -s /nowhere "$receipt"
}

# --- several -------------------------------------------------------------------------

@test "mq-ack: all are tried, the worst is told" {
	for want in a b c; do mq-put -q -m $want q; done
	mapfile -t r < <(mq-take -n 3 q)
	mq-ack "${r[1]}"
	run -1 mq-ack "${r[@]}"
	assert_equal "$(in_state q cur)" 0
	run -64 mq-ack "${r[0]}" nonsense
}

@test "mq-ack: - reads them, 1 if there were none" {
	seq 3000 | mq-put -q -l q
	mq-take -n 3000 q >receipts
	run -0 mq-ack - <receipts
	run -1 mq-ack - </dev/null
	run -1 mq-ack - <receipts
	assert_equal "$(in_state q cur)$(in_state q new)" 00
}

@test "mq-ack: - with -0, empty lines, no last newline, NUL in a line" {
	seq 4 | mq-put -q -l q
	mq-take -0 -n 2 q >two
	mq-take -n 1 q >three
	mq-take -n 1 q | tr -d '\n' >four
	run -0 mq-ack -0 - <two
	run -0 mq-ack - < <(echo; cat three; echo; cat four)
	run -64 mq-ack - < <(printf 'a\0b\n')
	run -74 bash -c 'mq-ack - <&-'
}

@test "mq-ack: each of a bulk put alone, in any order, twice" {
	seq 9 | mq-put -q -l q
	mq-take -n 9 q | shuf --random-source=<(yes) >receipts
	while read -r r; do
		run -0 mq-ack "$r"
		run -1 mq-ack "$r"
	done <receipts
	assert_equal "$(in_state q cur)" 0
	run -0 mq-sweep --verify
}

# --- each way ---------------------------------------------------------------------------

@test "mq-ack: --retry goes back to its own place, one try on" {
	for want in a b; do mq-put -q -m $want q; done
	run -0 mq-ack --retry -d 0 "$(mq-take q)"
	run -0 mq-take --ack -n 2 -f '%b %n' q
	assert_output $'a 2\nb 1'
}

@test "mq-ack: --retry -d not before, --retry of the last try buries" {
	mq-conf --create q tries=2
	mq-put -q -m a q
	mq-ack --retry -d 0.3 "$(mq-take q)"
	run -1 mq-take q
	run -0 mq-take -W 5 q
	run -0 mq-ack --retry -m 'no more' "$output"
	run -0 mq-dlq ls q
	assert_match 'no more'
}

@test "mq-ack: -u gives back untried, the receipt is dead for good" {
	mq-put -q -m a q
	receipt=$(mq-take q)
	run -0 mq-ack -u "$receipt"
	run -1 mq-ack "$receipt"
	run -0 mq-take -f '%n %r' q
	assert_match '^1 '
	run -1 mq-ack "$receipt"
	assert_equal "$(in_state q cur)" 1
}

@test "mq-ack: -x extends, the receipt stays valid, also to less" {
	mq-put -q -m a q
	receipt=$(mq-take -x 0.5 q)
	run -0 mq-ack -x 60 "$receipt"
	sleep 0.6
	run -1 mq-take q
	run -0 mq-ack -x 0.1 "$receipt"
	run -0 mq-take -W 5 q
	run -1 mq-ack "$receipt"
}

@test "mq-ack: -t moves on, with the same id and body, tries anew" {
	id=$(mq-put -a x=y -m a q)
	run -0 mq-ack -t r "$(mq-take q)"
	run -0 mq-take --ack -f '%i %b %n %a{x}' r
	assert_output "$id a 1 y"
	mq-put -q -m a q
	run -64 mq-ack -t q "$(mq-take q)"
}

@test "mq-ack: -t is 66 with create=no, and keeps the lease" {
	mq-conf --defaults create=no
	mq-conf --create q
	mq-put -q -m a q
	receipt=$(mq-take q)
	run -66 mq-ack -t r "$receipt"
	run -0 mq-ack "$receipt"
}

@test "mq-ack: -K -m keeps the reason, as it is" {
	mq-put -q -m a q
	run -0 mq-ack -K -m $'why\nnot\t\x01' "$(mq-take q)"
	assert_equal "$(in_state q dlq)" 1
	run -0 mq-dlq ls q
	assert_lines 1
	assert_match 'why'
}

@test "mq-ack: any number at once on one receipt: one gets it" {
	mq-put -q -m a q
	mq-take q >receipt
	run -0 bash -c 'for _ in {1..20}; do mq-ack $(cat receipt) 2>/dev/null && echo ok & done; wait'
	assert_output ok
}

@test "mq-ack: two ways at once on parts of one file: each message goes one way" {
	seq 60 | mq-put -q -l q
	mq-take -n 60 q >all
	split -n r/3 all part.
	(mq-ack - <part.aa & mq-ack -K - <part.ab & xargs -n 4 mq-ack -u <part.ac & wait)
	assert_equal "$(mq-stat -o ready,leased,dead q | tr -s '\t ' ' ')" '20 0 20'
	run -0 mq-sweep --verify
}

@test "mq-ack: a queue that was removed is 1" {
	mq-put -q -m a q
	receipt=$(mq-take q)
	mq-rm --queue --force q
	run -1 mq-ack "$receipt"
	run -1 mq-ack -x 10 "$receipt"
	[[ ! -e $MQ_SPOOL/q ]]
}
