# mq-stat: counts and ages.
# shellcheck disable=SC2154,SC2016 # bats sets them; for bash -c
load helper

@test "mq-stat: a line a queue: ready, leased, later, dead, oldest" {
	seq 5 | mq-put -q -l q
	mq-put -q -d 1h -m x q
	mq-take q
	mq-ack -K "$(mq-take q)"
	run -0 mq-stat
	assert_match $'^q\t3\t1\t1\t1\t[0-9]\t1\t0\t999999999\t-$'
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
	for fields in ins what '' 'ready,' ',ready'; do
		run -64 mq-stat -o "$fields" q
	done
	run -64 mq-stat -J -o ready q
	run -64 mq-stat --sort what
	assert_line 0 'mq-stat: --sort: what: no such field'
}

@test "mq-stat: rates over a minute, and what follows from them" {
	seq 100 | mq-put -q -l q
	mq-take -n 60 -B 60 q -- sleep 0.2
	run -0 jq -c '[.totals.put, .totals.taken, .totals.acked, .held.count, .waited.count,
		.rates.put["1m"] > 1, .rates.acked["15m"] > 1, .held.p50 >= 0.18,
		.held.mean >= 0.2, .workers >= 1]' <(mq-stat -J q)
	assert_output '[100,60,60,60,60,true,true,true,true,true]'
	run -0 mq-stat -o in,out,drain,workers q
	assert_match $'^[1-9][0-9]*\t[1-9][0-9]*\t[0-9]+\t[1-9][0-9]*$'
}

@test "mq-stat: every event is counted" {
	mq-conf --create q tries=2 limit=4 full=drop-oldest
	seq 5 | mq-put -q -l q
	mq-ack --retry -d 0 "$(mq-take q)"
	mq-ack -K "$(mq-take q)"
	mq-ack "$(mq-take q)"
	mq-rm "q:$(mq-ls -o id q | tail -n 1)"
	run -0 jq -c '.totals | [.put, .taken, .acked, .retried, .buried, .dropped, .removed]' \
		<(mq-stat -J q)
	assert_output '[5,3,1,1,1,1,1]'
}

@test "mq-stat: how long one was held is known to mq-ack too" {
	mq-put -q -m x q
	receipt=$(mq-take -x 1h q)
	mq-ack "$receipt"
	run -0 jq -c '.held | [.count, .mean < 20]' <(mq-stat -J q)
	assert_output '[1,true]'
}

@test "mq-stat: a subscription's messages count as put, taken or not" {
	mq-sub add t s
	for i in 1 2 3; do mq-put -q -m "$i" t; done
	mq-take --ack t/s >/dev/null
	run -0 jq -c '[.in > 0.01, .totals.put, .totals.acked]' <(mq-stat -J t/s)
	assert_output '[true,1,1]'
	run -0 mq-stat -o in,out t
	assert_match $'^[0-9]\t-$'
}

@test "mq-stat: --sort, the most first; queue by name" {
	seq 3 | mq-put -q -l b
	mq-put -q -m x a
	seq 2 | mq-put -q -l c
	run -0 mq-stat --sort ready -o ready
	assert_output $'b\t3\nc\t2\na\t1'
	run -0 mq-stat --sort queue -o ready c a b
	assert_output $'a\t1\nb\t3\nc\t2'
	run -0 jq -r .queue <(mq-stat --sort ready -J)
	assert_output $'b\nc\na'
}

@test "mq-stat: -v says how drain and workers were reckoned" {
	seq 3 | mq-put -q -l q
	run -0 --separate-stderr mq-stat -v -o ready q
	assert_output 3
	assert_match '^mq-stat: q: drain: 3 ready or leased, [0-9.]+/s in, 0.0/s out: never' "$stderr"
	assert_match 'workers: [0-9.]+/s in, how long one is held is not known yet$' "$stderr"
	mq-take --ack q >/dev/null
	run -0 --separate-stderr mq-stat -v -o ready q
	assert_match 'workers: [0-9.]+/s in x [0-9.]+ s held = [0-9.]+: [0-9]+$' "$stderr"
}

@test "mq-stat -c: ok, warning, critical: 0, 1, 2, one line, perfdata" {
	seq 5 | mq-put -q -l q
	run -0 mq-stat -c 'oldest<1h:2h,ready<1000,dead=0' q
	assert_match '^MQ OK - 1 queue \| q\.oldest=[0-9]+s;3600;7200;0 q\.ready=5;1000;1000;0 q\.dead=0;;0:0;0$'
	run -1 mq-stat -c 'ready<5:6' q
	assert_output 'MQ WARNING - q: ready is 5, not <5:6 | q.ready=5;5;6;0'
	run -2 mq-stat -c 'ready<4:5,ready>5:2,dead=1' q
	assert_output 'MQ CRITICAL - q: ready is 5, not <4:5, q: ready is 5, not >5:2, q: dead is 0, not =1 | q.ready=5;4;5;0 q.ready=5;5:;2:;0 q.dead=0;;1:1;0'
	run -2 mq-stat -c 'drain<5m' q
	assert_line 'MQ CRITICAL - q: drain is never, not <5m | q.drain=999999999s;300;300;0'
}

@test "mq-stat -c: over all queues, subscriptions too; the worst counts" {
	mq-put -q -m x a
	seq 3 | mq-put -q -l b
	mq-sub add t s
	run -0 mq-stat -c 'ready<10'
	assert_match '^MQ OK - 4 queues \|.* t/s\.ready=0;'
	run -1 mq-stat -c 'ready<3:4'
	assert_match '^MQ WARNING - b: ready is 3, not <3:4 \|'
	run -0 mq-stat -c 'ready<3:4' a t
	run -0 mq-stat -c 'out<100' t
	assert_match '^MQ OK - 2 queues \| t/s\.out=0;'
}

@test "mq-stat -c: no queue, no spool, a bad check: 3, said on stdout" {
	run -3 --separate-stderr mq-stat -c 'ready<10'
	assert_output 'MQ UNKNOWN - no queue'
	mq-put -q -m x q
	run -3 mq-stat -c 'ready<10' q nope
	assert_output 'MQ UNKNOWN - nope: no such queue | q.ready=1;10;10;0'
	run -2 mq-stat -c 'ready<1' q nope
	run -3 mq-stat -c 'workers<10' q
	assert_output 'MQ UNKNOWN - q: workers is not known'
	for bad in '' ready 'ready<' 'what<1' 'ready<1,' 'ready<x' 'ready<1:x' 'ready<2:1' \
		'ready>1:2' 'dead=0:1' 'ready<-1' 'ready<5m' 'ready<1:2:3' 'ready!=1' '<5'; do
		run -3 --separate-stderr mq-stat -c "$bad" q
		assert_match '^MQ UNKNOWN - ' && assert_lines 1 && assert_stderr ''
	done
}

@test "mq-stat -c: a damaged conf, a full stdout: 3; with -J, -o, --sort: 64" {
	mq-put -q -m x q
	run -3 bash -c "mq-stat -c 'ready<10' >/dev/full"
	for other in -J '-o ready' '--sort ready'; do
		run -64 mq-stat -c 'ready<10' $other q
	done
	echo lease=what >"$MQ_SPOOL/q/conf"
	run -3 --separate-stderr mq-stat -c 'ready<10'
	assert_match '^MQ UNKNOWN - .*lease' && assert_stderr ''
}

@test "mq-stat --prometheus: gauges, counters, histograms" {
	seq 3 | mq-put -q -l q
	mq-take -n 1 q -- true
	mq-conf q limit=10
	mq-sub add t s
	mq-put -q -m x t
	run -0 mq-stat --prometheus
	assert_line 'mq_messages{queue="q",state="ready"} 2'
	assert_line 'mq_messages{queue="t/s",state="ready"} 1'
	assert_line 'mq_messages_acked_total{queue="q"} 1'
	assert_line 'mq_message_held_seconds_count{queue="q"} 1'
	assert_line 'mq_message_held_seconds_bucket{queue="q",le="+Inf"} 1'
	assert_line 'mq_messages_unrouted_total{queue="t"} 0'
	assert_line 'mq_drain_seconds{queue="t/s"} +Inf'
	assert_equal "$(grep -c '^mq_limit_messages' <<<"$output")" 1
	assert_line 'mq_limit_messages{queue="q"} 10'
	run -1 grep -vE '^(# (HELP|TYPE) mq_|mq_[a-z_]+[{]queue="[^"]*"(,(state|le)="[^"]*")?[}] [+0-9])' <<<"$output"
}

@test "mq-stat --prometheus -O: whole or not at all; 64, 73" {
	mq-put -q -m x q
	mq-stat --prometheus -O q.prom
	assert_equal "$(cat q.prom | grep -v _age_)" "$(mq-stat --prometheus | grep -v _age_)"
	assert_equal "$(stat -c %a q.prom)" 644
	run -73 mq-stat --prometheus -O nope/q.prom
	ln -s /dev/null link
	for no in . link; do
		run -73 mq-stat --prometheus -O "$no"
		assert_match "$no: not a regular file"
	done
	run -64 mq-stat -O q.prom
	for other in -J '-o ready' '--sort ready' '-c ready<1'; do
		run -64 mq-stat --prometheus $other
	done
	run -74 bash -c 'mq-stat --prometheus >/dev/full'
	run -0 find . -maxdepth 1 -name '*.tmp'
	assert_output ''
}

@test "mq-stat --ages: ready and leased, by age" {
	seq 5 | mq-put -q -l q
	mq-put -q -d 1h -m later q
	mq-take q
	run -0 bash -c 'mq-stat --ages q | cut -f1,2'
	assert_output $'ALL\t5\nready\t4\nleased\t1'
	run -0 awk -F'\t' '{n = 0; for (i = 3; i <= NF; i++) n += $i; print NF, n == $2}' \
		<(mq-stat --ages q)
	assert_output $'12 1\n12 1\n12 1'
	run -0 script -qec 'mq-stat --ages q' /dev/null
	assert_match ' ALL +<1s +<10s +<1m .* 7d\+'
}

@test "mq-stat --ages --by: an attribute or a field; of a topic its subscriptions" {
	for c in mail sms mail; do mq-put -q -a channel=$c -m x q; done
	mq-put -q -k anna -m x q
	run -0 bash -c 'mq-stat --ages --by channel q | cut -f1,2'
	assert_output $'ALL\t4\nmail\t2\n-\t1\nsms\t1'
	run -0 bash -c 'mq-stat --ages --by key q | cut -f1,2'
	assert_output $'ALL\t4\n-\t3\nanna\t1'
	mq-sub add t one
	mq-sub add -r a t two
	mq-put -q -a channel=sms -m x t
	mq-put -q -r a -m x t
	run -0 bash -c 'mq-stat --ages t | cut -f1,2'
	assert_output $'ALL\t3\none\t2\ntwo\t1'
	run -0 bash -c 'mq-stat --ages --by @channel t | cut -f1,2'
	assert_output $'ALL\t3\n-\t2\nsms\t1'
}

@test "mq-stat --ages -J: an object for all, and for each state, subscription or value" {
	for c in mail sms mail; do mq-put -q -a channel=$c -m x q; done
	mq-take q
	run -0 bash -c "mq-stat --ages -J q | jq -c '[.queue, .state, .messages]'"
	assert_output $'["q",null,3]\n["q","ready",2]\n["q","leased",1]'
	run -0 bash -c "mq-stat --ages -J --by channel q | jq -c '[.by, .value, .messages]'"
	assert_output $'[null,null,3]\n["channel","mail",2]\n["channel","sms",1]'
	run -0 bash -c "mq-stat --ages -J q | jq -c '[.ages[].below], ([.ages[].messages] | add)' | head -n 2"
	assert_output $'[1,10,60,300,1800,7200,43200,86400,604800,null]\n3'
	mq-sub add t s
	mq-put -q -m x t
	run -0 bash -c "mq-stat --ages -J t | jq -c '[.queue, .subscription, .messages]'"
	assert_output $'["t",null,1]\n["t","s",1]'
}

@test "mq-stat -J: who holds how many, since when" {
	seq 5 | mq-put -q -l q
	mq-take -n 3 q >/dev/null
	background mq-take -w q -- sleep 100
	wait_for eval 'test "$(mq-stat -o leased q)" = 4'
	run -0 jq -c '[.holders[] | [.messages, .user, .host, .command, .pid > 1, .since[:2]]]' \
		<(mq-stat -J q)
	assert_output "[[3,\"$(id -un)\",\"$(hostname)\",null,true,\"20\"],[1,\"$(id -un)\",\"$(hostname)\",\"mq-take -w q -- sleep 100\",true,\"20\"]]"
	mq-conf q lease=1h
	run -0 jq '[.estimated, .holders]' -c <(mq-stat --estimate -J q)
	assert_output '[true,null]'
}

@test "mq-stat -J: 32 holders by name, then a count" {
	seq 35 | mq-put -q -l q
	for _ in {1..35}; do mq-take -n 1 q; done >/dev/null
	run -0 jq -c '[.leased, (.holders | length), .held_by_others]' <(mq-stat -J q)
	assert_output '[35,32,3]'
}

@test "mq-stat --ages: 64, 66, 74" {
	mq-put -q -m x q
	for bad in '--ages' '--ages q q' '--ages -J -o ready q' '--ages -o ready q' '--ages --sort in q' \
		'--ages -c dead=0 q' '--ages --prometheus q' '--by x q' '--ages --by . q' \
		'--ages ../q'; do
		run -64 mq-stat $bad
	done
	run -66 mq-stat --ages nope
	run -74 bash -c 'mq-stat --ages q >/dev/full'
	run -74 bash -c 'mq-stat --ages -J q >/dev/full'
}

@test "mq-stat --estimate: what was counted, without a look" {
	mq-conf --create q backoff=1h
	seq 20 | mq-put -q -l q
	seq 20 | mq-put -q -l -k anna q
	mq-put -q -d 1h -m x q
	mq-take -n 3 q >/dev/null
	mq-take -n 5 -B 5 q -- true
	mq-ack -K "$(mq-take q)"
	mq-ack --retry -d 1h "$(mq-take q)"
	mq-put -q -k bob -m x q
	mq-take -n 25 q -- sh -c 'exit $(($(cat) % 3))'
	run -0 mq-stat -o ready,leased,later,blocked,dead q
	local exact=$output
	run -0 mq-stat --estimate -o ready,leased,later,blocked,dead q
	assert_output "$exact"
	run -0 jq -c '[.estimated, has("oldest"), has("priorities"), has("ready")]' <(mq-stat --estimate -J q)
	assert_output '[true,false,false,true]'
	run -0 mq-stat --estimate -o oldest q
	assert_equal "$output" -
}

@test "mq-stat --estimate: a meter made anew; mq-sweep counts; subscriptions are counted" {
	seq 7 | mq-put -q -l q
	rm "$MQ_SPOOL/q/meter"
	mq-take --ack q >/dev/null
	run -0 jq -c '[.estimated, .ready]' <(mq-stat --estimate -J q)
	assert_output '[null,6]'
	mq-sweep q
	run -0 jq -c '[.estimated, .ready]' <(mq-stat --estimate -J q)
	assert_output '[true,6]'
	mq-sub add t s
	mq-put -q -m x t
	run -0 mq-stat --estimate -o ready t/s
	assert_output 1
}

@test "mq-stat -w: a full screen on a terminal, that q ends; as it was after it" {
	seq 3 | mq-put -q -l q
	mkfifo keys
	exec 5<>keys
	background script -qfec 'stty rows 24 cols 100; mq-stat -w nope q; echo "status $?"; stty -a' shown <keys >/dev/null 5>&-
	wait_for grep -q 'LAST MINUTE' shown
	printf r >&5
	wait_for eval '(($(grep -c "LAST MINUTE" shown) >= 2))'
	printf q >&5
	wait_for grep -q ' icanon.* echo' shown
	exec 5>&-
	run -0 cat shown
	assert_match $'\e\\[\\?1049h.*nope: no such queue.*\e\\[\\?1049l.*status 0.* icanon.* echo '
	assert_match 'q +3 +0 .*█'
}

@test "mq-stat -w: elsewhere again and again, until nobody reads" {
	mq-put -q -m x q
	run -124 timeout 3 mq-stat -w -o ready,dead
	assert_line 0 $'q\t1\t0'
	(("${#lines[@]}" >= 2))
	background mq-stat -w -J >out
	wait_for has_lines out 2
	run -0 jq -c .ready out
	assert_line 1 1
	run -74 timeout 5 bash -c 'mq-stat -w >/dev/full'
	run -64 mq-stat -w -c 'ready<1'
	run -64 mq-stat -w -v
	run -64 mq-stat -w --prometheus
	run -64 mq-stat -w --ages q
}

@test "mq-stat: a meter of another size, or garbage, is made anew" {
	seq 3 | mq-put -q -l q
	truncate -s 4096 "$MQ_SPOOL/q/meter"
	run -0 mq-stat -o ready,in,dropped q
	assert_output $'3\t0\t0'
	mq-put -q -m x q
	head -c 20480 /dev/urandom >"$MQ_SPOOL/q/meter"
	run -0 mq-stat -o ready,in,dropped q
	assert_output $'4\t0\t0'
	mq-put -q -m x q
	run -0 jq -c '[.ready, .totals.put]' <(mq-stat -J q)
	assert_output '[5,1]'
}

@test "mq-stat: on a terminal rates, never, and large numbers for people" {
	seq 3 | mq-put -q -l q
	run -0 script -qec mq-stat /dev/null
	assert_match 'IN/s +OUT/s +DRAIN +WORKERS'
	assert_match 'q +3 +0 +0 +0 +[0-9]s +0\.[0-9]+ +0 +never +-'
}

@test "mq-stat: a full or closed stdout is 74, a bad conf 78" {
	mq-put -q -m x q
	run -74 bash -c 'mq-stat >/dev/full'
	run -74 bash -c 'mq-stat -J >/dev/full'
	run -74 bash -c 'mq-stat >&-'
	echo lease=what >"$MQ_SPOOL/q/conf"
	run -78 mq-stat
}
