# mq-dlq: dead letters.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets them, a subshell a test
load helper

# bury BODY WHY: a dead letter in q, its id in $id
bury() {
	id=$(mq-put -m "$1" "${@:3}" q)
	mq-ack -K -m "$2" "$(mq-take q)"
}

@test "mq-dlq: ls: id, when, tries, why, key, body" {
	bury hello 'it is broken'
	run -0 mq-dlq ls q
	assert_match "^$id	20[0-9T:.-]+Z	1	it is broken	-	hello\$"
	run -0 mq-dlq ls -J q
	assert_match '"reason":"it is broken"'
}

@test "mq-dlq: ls: the reason that a COMMAND gives" {
	mq-put -q -m x q
	run -0 mq-take q -- sh -c 'echo first >&2; echo last >&2; exit 65'
	run -0 bash -c 'mq-dlq ls q | cut -f4'
	assert_output 'exit 65: last'
}

@test "mq-dlq: ls -F, also on why and body" {
	bury a 'net timeout'
	bury b 'disk full'
	run -0 bash -c "mq-dlq ls -F 'why*=timeout' q | cut -f6"
	assert_output a
	run -0 bash -c "mq-dlq ls -F 'age>1h' -F 'body=b' q | cut -f6"
	assert_output b
	run -0 mq-dlq ls -F 'age>1h' q
	assert_output ''
}

@test "mq-dlq: ls --by why counts the reasons" {
	bury 1 often
	bury 2 once
	bury 3 often
	run -0 mq-dlq ls --by why q
	assert_output $'2\toften\n1\tonce'
	run -64 mq-dlq ls --by tries q
	run -64 mq-dlq ls -J --by why q
}

@test "mq-dlq: show: header, what went wrong, body" {
	mq-put -q -m 'the body' -a k=v q
	run -0 mq-take q -- sh -c 'echo oops >&2; exit 65'
	run -0 mq-dlq show "q:$(mq-dlq ls q | cut -f1)"
	assert_line '@k: v'
	assert_line 'reason: exit 65: oops'
	assert_line '	oops'
	assert_line -1 'the body'
}

@test "mq-dlq: retry: ready again, tries from 0, id and place kept" {
	bury one why -p 2
	mq-put -q -m two -p 2 q
	run -0 mq-dlq retry "q:$id"
	run -0 mq-take --ack -f '%i %n %p %b' q
	assert_output "$id 1 2 one"
	run -1 mq-dlq retry "q:$id"
}

@test "mq-dlq: retry --all, narrowed and whole" {
	seq 10 | mq-put -q -l q
	mq-take -n 10 q | mq-ack -K -
	run -0 mq-dlq retry --all -F 'body>8' q
	run -0 mq-take --ack -n 10 q
	assert_output $'9\n10'
	run -0 mq-dlq retry --all q
	run -0 mq-stat -o ready,dead q
	assert_output '8	0'
}

@test "mq-dlq: retry --all of a file of many" {
	seq 3000 | mq-put -q -l q
	mq-take -n 3000 q | mq-ack -K -
	run -0 mq-dlq retry --all q
	mq-take --ack -n 3000 q >out
	seq 3000 | cmp - out
	run -0 mq-sweep --verify
}

@test "mq-dlq: retry -R spreads them over due times" {
	seq 3 | mq-put -q -l q
	mq-take -n 3 q | mq-ack -K -
	run -0 mq-dlq retry -R 1/m --all q
	run -0 mq-ls -o state,due,tries q
	assert_match $'^ready\t-\t0\nlater\t[56][0-9]\t0\nlater\t1[12][0-9]\t0$'
	run -64 mq-dlq retry -R 0 --all q
}

@test "mq-dlq: edit: the changed body is put, the dead one goes" {
	bury 'bad one' why -a k=v -p 1
	new=$(EDITOR='sed -i s/bad/good/' mq-dlq edit "q:$id")
	run -0 mq-dlq ls q
	assert_output ''
	run -0 mq-take --ack -f '%i %p %a{k} %b' q
	assert_output "$new 1 v good one"
	[[ $new != "$id" ]]
}

@test "mq-dlq: edit: \$VISUAL goes first, and has arguments" {
	bury 'a b' why
	VISUAL='sed -i -e s/a/x/' EDITOR=false run -0 mq-dlq edit "q:$id"
	run -0 mq-take --ack q
	assert_output 'x b'
}

@test "mq-dlq: edit: not changed is 1, a failing editor 69, and it stays" {
	bury a why
	EDITOR=true run -1 mq-dlq edit "q:$id"
	EDITOR=false run -69 mq-dlq edit "q:$id"
	EDITOR=/none run -69 mq-dlq edit "q:$id"
	run -0 mq-stat -o ready,dead q
	assert_output '0	1'
}

@test "mq-dlq: edit: what cannot be put stays in the file" {
	bury abc why
	mq-conf q max_size=3
	TMPDIR=$PWD EDITOR='sed -i s/abc/abcd/' run -65 mq-dlq edit "q:$id"
	assert_match "$PWD/mq-edit"
	assert_equal "$(cat mq-edit.*)" abcd
	run -0 mq-stat -o dead q
	assert_output 1
}

@test "mq-dlq: edit: 1 if it was retried meanwhile, and nothing is put" {
	bury abc why
	export TMPDIR=$PWD EDITOR="mq-dlq retry q:$id; sed -i s/abc/x/"
	run -1 mq-dlq edit "q:$id"
	run -0 mq-take --ack -n 9 q
	assert_output abc
}

@test "mq-dlq: rm by id, by filter, all; nothing is left of why" {
	bury 1 a
	run -0 mq-dlq rm "q:$id"
	run -1 mq-dlq rm "q:$id"
	bury 2 b
	bury 3 c
	run -0 mq-dlq rm --all -F why=b q
	run -0 mq-dlq rm --all q
	run -0 find "$MQ_SPOOL"/q/{dlq,why} -type f
	assert_output ''
}

@test "mq-dlq: a ready one is no dead letter" {
	id=$(mq-put -m x q)
	for verb in show retry edit rm; do
		run -1 mq-dlq "$verb" "q:$id"
	done
	run -0 mq-stat -o ready q
	assert_output 1
}

@test "mq-dlq: no queue is 66, after the others" {
	bury x why
	run -66 mq-dlq retry "nope:$id" "q:$id"
	run -0 mq-stat -o ready q
	assert_output 1
	run -66 mq-dlq ls nope
	run -66 mq-dlq rm --all nope
	run -66 mq-dlq show "nope:$id"
}

@test "mq-dlq: bad words are 64" {
	run -64 mq-dlq
	run -64 mq-dlq what q
	run -64 mq-dlq ls
	run -64 mq-dlq ls q q
	run -64 mq-dlq show q
	run -64 mq-dlq retry q
	run -64 mq-dlq retry --all
	run -64 mq-dlq rm -F a=b q:x
	run -64 mq-dlq retry --all -F word q
	run -64 mq-dlq ls -R 1/s q
}

@test "mq-dlq: a full stdout is 74" {
	bury x why
	run -74 bash -c 'mq-dlq ls q >/dev/full'
	run -74 bash -c 'mq-dlq ls -J q >/dev/full'
	run -74 bash -c 'mq-dlq ls --by why q >/dev/full'
	run -74 bash -c "mq-dlq show q:$id >/dev/full"
}

@test "mq-dlq retry: -t into another queue, one or all" {
	mq-conf --create q tries=1
	seq 3 | mq-put -lq q
	mq-take q -- false
	run -64 mq-dlq retry -t q --all q
	run -64 mq-dlq retry -t other -R 1/s --all q
	run -0 mq-dlq retry -t other "q:$(mq-dlq ls q | sed -n '2s/	.*//p')"
	run -0 mq-dlq retry --all -t other q
	assert_equal "$(mq-stat -o dead q) $(mq-stat -o ready other)" "0 3"
	run -0 mq-sweep --verify
}

@test "mq-dlq ls: many dead letters, no more memory for them, and head ends it" {
	seq 20000 | mq-put -q -S -l q
	mq-take -n 20000 q | mq-ack -K -m bad -
	run -0 bash -c 'mq-dlq ls q | head -n 1 | cut -f4,6; echo "${PIPESTATUS[*]}"'
	assert_match $'^bad\t1\n(141|0) 0 0$'
	[[ $MQ_BIN != *asan* ]] || skip 'no limit under asan'
	run -0 bash -c 'ulimit -v 6000; mq-dlq ls q | tail -n 1 | cut -f4,6'
	assert_output $'bad\t20000'
	run -0 bash -c 'ulimit -v 6000; mq-dlq ls -J q | tail -n 1 | jq -r .body'
	assert_output 20000
	run -0 bash -c 'ulimit -v 6000; mq-dlq ls --by why q'
	assert_match '20000'
}
