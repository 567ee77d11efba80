# mq-cat: a message by its receipt or id.
# shellcheck disable=SC2154 # bats sets them
load helper

@test "mq-cat: the body byte for byte, by id and by receipt" {
	printf 'a\0b\r\n\xff' >body
	id=$(mq-put q body)
	mq-cat "q:$id" | cmp - body
	mq-cat "$(mq-take q)" | cmp - body
}

@test "mq-cat: one out of a file of many" {
	seq 2000 | mq-put -l q >ids
	run -0 mq-cat "q:$(sed -n 1500p ids)"
	assert_output 1500
	receipt=$(mq-take -n 3 q | tail -n 1)
	run -0 mq-cat "$receipt"
	assert_output 3
}

@test "mq-cat: large and empty bodies" {
	head -c 1048576 /dev/urandom >large
	mq-cat "q:$(mq-put q large)" | cmp - large
	run -0 mq-cat "q:$(mq-put -m '' q)"
	assert_output ''
}

@test "mq-cat: -H is the header, a line a field" {
	id=$(mq-put -m x -a b=2 -a a=1 -p 3 q)
	run -0 mq-cat -H "q:$id"
	assert_line 0 "id: $id"
	assert_line 'state: ready'
	assert_line 'priority: 3'
	assert_line -1 '@b: 2'
	receipt=$(mq-take q)
	run -0 mq-cat -H "$receipt"
	assert_line 'tries: 1'
	assert_line 'state: leased'
}

@test "mq-cat: -o is one attribute, 1 if there is none" {
	id=$(mq-put -m x -a 'who=a b' q)
	run -0 mq-cat -o who "q:$id"
	assert_output 'a b'
	run -1 mq-cat -o nobody "q:$id"
	run -64 mq-cat -o 'a b' "q:$id"
}

@test "mq-cat: dead, later and leased ones too" {
	id=$(mq-put -d 1h -m later q)
	run -0 mq-cat "q:$id"
	assert_output later
	id=$(mq-put -m dead q)
	receipt=$(mq-take q)
	run -0 mq-cat "q:$id"
	mq-ack -K "$receipt"
	run -0 mq-cat "q:$id"
	assert_output dead
}

@test "mq-cat: 1 for what is gone, 66 for no queue" {
	id=$(mq-put -m x q)
	receipt=$(mq-take q)
	mq-ack "$receipt"
	run -1 mq-cat "$receipt"
	run -1 mq-cat "q:$id"
	run -66 mq-cat "nope:$id"
}

@test "mq-cat: bad operands and options are 64" {
	id=$(mq-put -m x q)
	run -64 mq-cat
	run -64 mq-cat q
	run -64 mq-cat q:x
	run -64 mq-cat "../q:$id"
	run -64 mq-cat /etc/passwd
	run -64 mq-cat "q:$id" "q:$id"
	run -64 mq-cat -H -o a "q:$id"
}

@test "mq-cat: a torn message is 65, a full or closed stdout 74" {
	id=$(mq-put -m hello q)
	run -74 bash -c "mq-cat q:$id >/dev/full"
	run -74 bash -c "mq-cat q:$id >&-"
	truncate -s -2 "$MQ_SPOOL"/q/new/5/*/*
	run -65 mq-cat "q:$id"
}
