# mq-stat: counts and ages.
# shellcheck disable=SC2154,SC2016 # bats sets them; for bash -c
load helper

@test "mq-stat: a line a queue: ready, leased, later, dead, oldest" {
	seq 5 | mq-put -q -l q
	mq-put -q -d 1h -m x q
	mq-take q
	mq-ack -K "$(mq-take q)"
	run -0 mq-stat
	assert_match $'^q\t3\t1\t1\t1\t[0-9]$'
}

@test "mq-stat: all queues, or those named" {
	mq-put -q -m x a
	mq-put -q -m x b
	mq-put -q -m x c
	run -0 bash -c 'mq-stat | cut -f1'
	assert_output $'a\nb\nc'
	run -0 bash -c 'mq-stat c a | cut -f1'
	assert_output $'c\na'
}

@test "mq-stat: -o FIELD QUEUE is one number" {
	seq 7 | mq-put -q -l q
	for field in ready:7 leased:0 later:0 blocked:0 dead:0; do
		run -0 mq-stat -o "${field%:*}" q
		assert_output "${field#*:}"
	done
	mq-take --ack -n 7 q >/dev/null
	for field in oldest oldest_ready oldest_total; do
		run -0 mq-stat -o "$field" q
		assert_output 0
	done
}

@test "mq-stat: -o with several queues leads with their names" {
	mq-put -q -m x a
	mq-put -q -m x b
	run -0 mq-stat -o ready,dead
	assert_output $'a\t1\t0\nb\t1\t0'
	run -0 mq-stat -o dead,ready b
	assert_output $'0\t1'
}

@test "mq-stat: -J tells everything, per priority too" {
	mq-put -q -m x q
	mq-put -q -p 1 -m x q
	mq-put -q -p 1 -m x q
	run -0 jq -c '[.queue, .ready, .later, .retrying, .done, .paused]' <(mq-stat -J q)
	assert_output '["q",3,0,0,0,false]'
	run -0 jq -c '[.priorities[] | [.priority, .ready, .oldest < 60]]' <(mq-stat -J q)
	assert_output '[[1,2,true],[5,1,true]]'
}

@test "mq-stat: oldest covers a retry that waits, not what is scheduled" {
	mq-put -q -d 1h -m x q
	mq-put -q -m y q
	mq-ack --retry -d 1h "$(mq-take q)"
	run -0 jq -c '[.later, .retrying, .ready]' <(mq-stat -J q)
	assert_output '[2,1,0]'
}

@test "mq-stat: age in whole seconds" {
	mq-put -q -m x q
	wait_for -t 5 bash -c '(($(mq-stat -o oldest q) >= 1))'
	run -0 mq-stat -o oldest,oldest_ready,oldest_total q
	assert_match $'^[1-9][0-9]?\t[1-9][0-9]?\t[1-9][0-9]?$'
}

@test "mq-stat: paused is shown" {
	mq-put -q -m x q
	mq-conf q paused=yes
	run -0 jq .paused <(mq-stat -J)
	assert_output true
	run -0 script -qec mq-stat /dev/null
	assert_match 'q \(paused\) +1 '
}

@test "mq-stat: no queue is 66, after the others" {
	mq-put -q -m x q
	run -66 --separate-stderr mq-stat -o ready,dead nope q
	assert_output 'q	1	0'
	assert_stderr 'mq-stat: nope: no such queue'
	run -0 mq-stat
}

@test "mq-stat: no spool, nothing to tell" {
	run -0 mq-stat
	assert_output ''
}

@test "mq-stat: bad names, fields and options are 64" {
	mq-put -q -m x q
	run -64 mq-stat ../q
	for fields in in out drain workers what '' 'ready,' ',ready'; do
		run -64 mq-stat -o "$fields" q
	done
	run -64 mq-stat -J -o ready q
}

@test "mq-stat: a full or closed stdout is 74, a bad conf 78" {
	mq-put -q -m x q
	run -74 bash -c 'mq-stat >/dev/full'
	run -74 bash -c 'mq-stat -J >/dev/full'
	run -74 bash -c 'mq-stat >&-'
	echo lease=what >"$MQ_SPOOL/q/conf"
	run -78 mq-stat
}
