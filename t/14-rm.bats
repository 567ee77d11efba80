# mq-rm: messages, states, queues; every exit status.
# shellcheck disable=SC2154 # bats sets them
load helper

in_state() { find "$MQ_SPOOL/$1/$2" -type f 2>/dev/null | wc -l; }

# a message in each state: dead, leased, later, ready
setup() {
	mq_setup
	dead=$(mq-put -m dead q)
	mq-ack -K "$(mq-take q)"
	leased=$(mq-put -m leased q)
	receipt=$(mq-take q)
	later=$(mq-put -d 1h -m later q)
	ready=$(mq-put -m ready q)
}

@test "mq-rm: bad options, operands and mixtures are 64, nothing touched" {
	for o in '' -z --nope q 'q:x' ":$ready" "../q:$ready" "q:${ready}0" '--queue --ready q' \
		'--ready ../q' '--queue ..' "--ready q:$ready" "--queue q:$ready"; do
		# shellcheck disable=SC2086 # words
		run -64 mq-rm $o
	done
	assert_equal "$(in_state q new)$(in_state q later)$(in_state q dlq)$(in_state q cur)" 1111
}

@test "mq-rm: by id, in whichever state, 1 if it is not there" {
	for id in "$ready" "$later" "$dead"; do
		run -0 mq-rm "q:$id"
		run -1 mq-rm "q:$id"
		assert_match 'no such message'
	done
	assert_equal "$(in_state q new)$(in_state q later)$(in_state q dlq)" 000
}

@test "mq-rm: a leased one only with --force, then the lease is lost" {
	run -75 mq-rm "q:$leased"
	run -75 mq-rm "q:$leased" "q:$ready"
	assert_equal "$(in_state q cur)$(in_state q new)" 10
	run -0 mq-rm --force "q:$leased"
	run -1 mq-ack "$receipt"
}

@test "mq-rm: by state" {
	run -0 mq-rm -v --later q
	assert_output '1 removed'
	run -0 mq-rm --ready --dead q
	assert_equal "$(in_state q new)$(in_state q later)$(in_state q dlq)$(in_state q cur)" 0001
	run -0 mq-rm -v --all q
	assert_output '0 removed'
	run -0 mq-rm -v --all --force q
	assert_output '1 removed'
	run -1 mq-ack "$receipt"
}

@test "mq-rm: - reads them; 1 if there were none" {
	run -0 mq-rm - < <(printf 'q:%s\n\nq:%s' "$ready" "$dead")
	run -1 mq-rm - </dev/null
	run -64 mq-rm - <<<nonsense
	run -64 mq-rm - < <(printf 'q:%s\0\n' "$later")
	run -64 mq-rm - < <(printf 'q:%0300d\n' 0)
	run -74 bash -c 'mq-rm - <&-'
	assert_equal "$(in_state q later)" 1
}

@test "mq-rm: one out of the middle of a bulk put" {
	seq 9 | mq-put -l b >ids
	run -0 mq-rm "b:$(sed -n 5p ids)"
	run -0 mq-take --ack -n 9 b
	assert_output "$(seq 4; seq 6 9)"
	run -0 mq-sweep --verify
}

@test "mq-rm: --queue asks for --force, then the name is free" {
	run -75 mq-rm --queue q
	run -0 mq-rm --queue --force q
	[[ ! -e $MQ_SPOOL/q ]]
	run -66 mq-rm --queue q
	run -0 mq-put -q -m anew q
	run -0 mq-take --ack q
	assert_output anew
	run -0 mq-rm --queue q
	assert_equal "$(ls -A "$MQ_SPOOL")" ''
}

@test "mq-rm: 66 if there is no queue, the others are done" {
	run -66 mq-rm --ready nope q
	assert_equal "$(in_state q new)" 0
	run -66 mq-rm "nope:$ready"
	run -66 mq-rm -s /nonexistent --all q
}

@test "mq-rm: -v to a full or closed standard output is 74" {
	run -74 bash -c 'mq-rm -v --ready q >/dev/full'
	run -74 bash -c 'mq-rm -v --later q >&-'
}

@test "mq-rm: never follows a symbolic link out of the queue" {
	mkdir elsewhere
	touch elsewhere/file
	ln -s "$PWD/elsewhere" "$MQ_SPOOL/q/link"
	ln -s "$PWD/elsewhere" "$MQ_SPOOL/evil"
	run -0 mq-rm --queue --force q
	run ! mq-rm --queue --force evil
	[[ -e elsewhere/file ]]
}

@test "mq-rm: beside takers: each message goes to a taker or is removed" {
	seq 500 | mq-put -l b | sed 's/^/b:/' >ids
	(mq-rm -v - <ids >removed 2>errors &
	for _ in 1 2; do mq-take --no-brake b -- cat >/dev/null & done
	seq 501 520 | mq-put -q -l b &
	wait) || :
	mq-take b -- true
	assert_equal "$(in_state b new)$(in_state b cur)$(in_state b dlq)$(in_state b later)" 0000
	run -0 mq-sweep --verify
}

@test "mq-rm: --queue beside puts: what was confirmed is there or was removed by force" {
	mq-put -q -m a b
	mq-take --ack b
	(for n in {1..30}; do mq-put -m "$n" b >>ids & done
	for _ in {1..10}; do mq-rm --queue b 2>/dev/null & done
	wait)
	assert_equal "$(mq-take --ack -n 99 -f '%i' b | sort)" "$(sort ids)"
}
