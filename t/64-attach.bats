# Attachments: large files beside a message.
load helper

objects() { find "$MQ_SPOOL" -path '*/obj/*' -type f | wc -l; }

@test "mq-put -A: a worker finds the file under its own name, as it was" {
	echo before >file.dat
	id=$(mq-put -A file.dat q)
	echo after >>file.dat
	run -0 mq-take q -- sh -c 'basename "$MQ_ATTACHMENT"; cat "$MQ_ATTACHMENT"; wc -c'
	assert_output $'file.dat\nbefore\n0'
	assert_equal "$(objects)" 0
	[ -n "$id" ]
}

@test "mq-put -A: several, and a body beside them" {
	echo 1 >one
	echo 2 >two
	mq-put -q -A one -A two -m body q
	run -0 mq-take q -- sh -c 'cat; echo "$MQ_ATTACHMENT" | while read -r f; do cat "$f"; done'
	assert_output $'body1\n2'
}

@test "mq-put -A: it outlives a retry and the dead letters" {
	echo x >file
	mq-conf --create q tries=2 backoff=1ms
	id=$(mq-put -A file q)
	mq-take -w -W 200ms q -- false
	assert_equal "$(mq-stat -o dead q) $(objects)" "1 1"
	run -0 cat "$(mq-cat --attachment "q:$id")"
	assert_output x
	mq-dlq retry "q:$id"
	mq-take q | mq-ack -
	assert_equal "$(objects)" 0
}

@test "mq-put -A: it goes with the message that moved on, or was removed" {
	echo x >file
	mq-put -q -A file q
	mq-take q | mq-ack -t r -
	assert_equal "$(objects)" 1
	mq-take r | mq-ack -
	assert_equal "$(objects)" 0
	mq-put -q -A file q
	mq-rm --all q
	assert_equal "$(objects)" 0
}

@test "mq-put -A --link: one file, two names" {
	echo x >"$BATS_TEST_TMPDIR/file"
	mq-put -q --link -A file q
	assert_equal "$(stat -c %h file)" 2
	mq-take q | mq-ack -
	assert_equal "$(stat -c %h file)" 1
}

@test "mq-put -A: a refused or repeated put leaves nothing" {
	echo x >file
	mq-conf --create q limit=1
	mq-put -q -i key -A file q
	mq-put -q -i key -A file q
	assert_equal "$(objects)" 1
	run -75 mq-put -A file q
	assert_equal "$(objects)" 1
}

@test "mq-sweep: removes what a dead putter left, not what is being put" {
	echo x >file
	mq-put -q -A file q
	mkdir -p "$MQ_SPOOL/q/obj/00/01a22d02-6eb4-7462-886f-a284aa949300/0"
	touch "$MQ_SPOOL/q/obj/00/01a22d02-6eb4-7462-886f-a284aa949300/0/orphan"
	mkdir -p "$MQ_SPOOL/q/obj/01/01a22d02-6eb4-7462-886f-a284aa949301/0"
	run -0 flock "$MQ_SPOOL/q/obj/01/01a22d02-6eb4-7462-886f-a284aa949301" mq-sweep
	assert_equal "$(objects)" 1
	[ -d "$MQ_SPOOL/q/obj/01/01a22d02-6eb4-7462-886f-a284aa949301" ]
}

@test "mq-put -A: what cannot be attached is refused before anything is put" {
	run -65 mq-put -A nowhere q
	run -64 mq-put -l -A /etc/passwd q </dev/null
	run -64 mq-put --link -m x q
	assert_equal "$(mq-stat -o ready q) $(objects)" "0 0"
	mq-put -q -m x q
	id=$(mq-ls -o id q)
	run -1 mq-cat --attachment "q:$id"
}
