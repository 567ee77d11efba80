# mq-ls: queues and messages.
# shellcheck disable=SC2154 # bats sets them
load helper

# on a terminal of 80 columns
on_terminal() { script -qec "stty cols 80; $*" /dev/null | tr -d '\r'; }

@test "mq-ls: without QUEUE the queues, one a line" {
	run -0 mq-ls
	assert_output ''
	mq-put -q -m x b
	mq-put -q -m x a
	run -0 mq-ls
	assert_output $'a\nb'
	run -0 mq-ls -J
	assert_output $'{"queue":"a"}\n{"queue":"b"}'
}

@test "mq-ls: a message a line, tabs, no header" {
	id=$(mq-put -m hello -p 3 q)
	run -0 mq-ls q
	assert_match "^$id	ready	3	0	[0-9]	-	-	5	-	hello\$"
}

@test "mq-ls: the oldest first, across states and files" {
	seq 3 | mq-put -l q >ids
	mq-put -d 1h -m 4 q >>ids
	seq 5 6 | mq-put -l q >>ids
	mq-ack -K "$(mq-take q)"
	mq-take q
	mq-ls q | cut -f1 | cmp - ids
	run -0 mq-ls -o state q
	assert_output $'dead\nleased\nready\nlater\nready\nready'
}

@test "mq-ls: --state" {
	mq-put -q -d 1h -m later q
	mq-put -q -m ready q
	run -0 mq-ls --state later,dead -o body q
	assert_output later
	run -64 mq-ls --state late q
	run -64 mq-ls --state ready, q
	run -64 mq-ls --state '' q
}

@test "mq-ls: done ones only when asked for" {
	mq-put -q -m x q
	mq-conf q keep=1h
	mq-ack "$(mq-take q)"
	run -0 mq-ls q
	assert_output ''
	run -0 mq-ls --state=done -o state,body q
	assert_output 'done	x'
}

@test "mq-ls: the time left of a lease and of a delay, and the holder" {
	mq-put -q -m x q
	mq-put -q -d 1h -m y q
	mq-take -x 100 q
	run -0 mq-ls -o due,holder q
	assert_match $'^(9[0-9]|10[0-9])\t[0-9]+\\.[0-9]+\n35[0-9][0-9]\t-$'
}

@test "mq-ls: odd bytes as \\xNN, also in attributes" {
	mq-put -q -m $'t\tn\nb\\e\xc3\xa9' -a $'a=\x1b' q
	mq-put -q -m - q
	run -0 mq-ls -o body,@a q
	assert_output 't\x09n\x0ab\x5ce\xc3\xa9	\x1b
\x2d	-'
}

@test "mq-ls: no more than the first bytes of a body" {
	head -c 1000 /dev/zero | tr '\0' x | mq-put -q q
	run -0 mq-ls -o size,body q
	assert_equal "${#output}" 69
}

@test "mq-ls: -o chooses fields, 64 for what is none" {
	mq-put -q -m x -a k=v q
	run -0 mq-ls -o @k,queue,size,version q
	assert_output 'v	q	1	-'
	run -64 mq-ls -o id,what q
	run -64 mq-ls -o id,, q
	run -64 mq-ls -o '' q
}

@test "mq-ls: -J, a JSON object a line" {
	mq-put -q -m hello -a k=v -d 1h q
	run -0 jq -c 'keys_unsorted' <(mq-ls -J q)
	assert_output '["id","queue","state","priority","tries","put_time","at","due","attributes","body"]'
	run -0 jq -r '.attributes.k + .body + .state' <(mq-ls -J q)
	assert_output vhellolater
}

@test "mq-ls: a queue that does not exist is 66, after the others" {
	mq-put -q -m x q
	run -66 --separate-stderr mq-ls -o body nope q
	assert_output x
	assert_stderr 'mq-ls: nope: no such queue'
}

@test "mq-ls: bad names and options are 64" {
	run -64 mq-ls ../q
	run -64 mq-ls -J -o id q
	run -64 mq-ls -o id
	run -64 mq-ls -F a=b
	run -64 mq-ls --state ready
}

@test "mq-ls: a full or closed stdout is 74" {
	mq-put -q -m x q
	run -74 bash -c 'mq-ls q >/dev/full'
	run -74 bash -c 'mq-ls -J q >/dev/full'
	run -74 bash -c 'mq-ls >&-'
}

@test "mq-ls: a torn message has no key, no size, no body" {
	mq-put -q -m x q
	mq-put -q -m y q
	truncate -s 10 "$(find "$MQ_SPOOL/q/new" -type f | sort | head -n 1)"
	run -0 mq-ls -o state,size,body q
	assert_output $'ready\t-\t-\nready\t1\ty'
	run -0 jq -c '.body' <(mq-ls -J q)
	assert_output $'null\n"y"'
}

@test "mq-ls: on a terminal headed, aligned, ages for people" {
	mq-put -q -d 2h -m $'caf\xc3\xa9\e[31m' q
	run -0 on_terminal mq-ls -o state,due,body q
	assert_output $'STATE  DUE  BODY\nlater   1h  caf\xc3\xa9\\x1b[31m'
}

@test "mq-ls: on a terminal cut to its width" {
	seq -s, 100 | mq-put -q q
	run -0 on_terminal mq-ls q
	assert_equal "${#lines[1]}" 80
}

@test "mq-ls: many messages, and no more memory for them" {
	seq 100000 | mq-put -q -l q
	run -0 bash -c 'mq-ls q | head -n 1 | cut -f10'
	assert_output 1
	[[ $MQ_BIN != *asan* ]] || skip 'no limit under asan'
	run -0 bash -c 'ulimit -v 30000; mq-ls -o id,body q | tail -n 1'
	assert_match $'\t100000$'
}

@test "mq-ls: --state leased tells who has it: a pool's command line" {
	mq-put -q -m x q
	background mq-take q -- sleep 60
	wait_for eval '[[ $(mq-stat -o leased q) = 1 ]]'
	run -0 mq-ls --state leased -o holder,user,command q
	assert_output "$pid.$EUID"$'\t'"$(id -un)"$'\t'"mq-take q -- sleep 60"
	run -0 mq-ls --state leased q
	assert_match "^[0-9a-f-]+	1	20..-.*Z	[23][0-9]	$pid\.$EUID	$(id -un)	mq-take q -- sleep 60	-	x\$"
	run -0 bash -c "mq-ls -J q | jq -r '.held_by | .user, .host, .pid, .command'"
	assert_output "$(printf '%s\n' "$(id -un)" "$(hostname)" "$pid" 'mq-take q -- sleep 60')"
}

@test "mq-ls: since when it is held, also after its lease was extended" {
	mq-put -q -m x q
	before=$(date +%s%3N)
	r=$(mq-take -x 5m q)
	after=$(date +%s%3N)
	mq-ack -x 1h "$r"
	since=$(date -d "$(mq-ls -o since q)" +%s%3N)
	((before <= since && since <= after)) || fail "$before $since $after"
}

@test "mq-ls: a receipt's taker has ended: its process id and user alone" {
	mq-put -q -m x q
	mq-take q
	run -0 mq-ls --state leased -o user,command q
	assert_output "$(id -un)"$'\t-'
	run -0 bash -c "mq-ls -J q | jq -c '.held_by | keys'"
	assert_output '["host","pid","since","user"]'
	mq-ls -J q | mq-put -q -J copy
}

@test "mq-ls: a process id that is used again is not the holder" {
	mq-put -q -m x q
	mq-take q
	name=$(find "$MQ_SPOOL/q/cur" -type f)
	background sleep 60
	wait_for test -e "/proc/$pid"
	mv "$name" "$(sed -E "s/,h[0-9]+\.([0-9]+)\.[0-9]+/,h$pid.\1.60000/" <<<"$name")"
	run -0 mq-ls --state leased -o holder,command q
	assert_output "$pid.$EUID"$'\t-'
}

@test "mq-ls: more delayed ones than it holds at once, in order, among the ready" {
	seq 70000 | awk '{print "{\"body\":\"" $1 "\",\"delay\":" 9e4+$1 "}"}' | mq-put -qS -J q
	mq-put -q -m ready q
	seq 3 | mq-put -qS -l -d 1h q
	mq-ls -o body q | cmp - <(seq 70000; echo ready; seq 3)
}
