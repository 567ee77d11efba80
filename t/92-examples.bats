# What stands in share/examples, run.
load helper

EX=$ROOT/share/examples

@test "examples: cron-drain works off what is there, and says when something died" {
	seq 3 >in.csv
	mq-put -q -m "$PWD/in.csv" imports
	run -0 "$EX/cron-drain.sh"
	run -0 cat imported.log
	assert_output 3
	mq-put -q -m /nonexistent imports
	mq-conf imports tries=1
	run -1 --separate-stderr "$EX/cron-drain.sh"
	# shellcheck disable=SC2154 # bats sets stderr
	assert_match "dead letters" "$stderr"
}

@test "examples: cron-drain leaves a running pool alone" {
	mq-put -q -m x imports
	background mq-take --single -w imports -- true
	wait_for eval '[[ $(mq-stat -o ready imports) = 0 ]]'
	run -0 "$EX/cron-drain.sh"
}

@test "examples: xargs-pipeline acks what worked and retries what failed" {
	echo data >good
	printf '%s\n' good missing | mq-put -lq files
	run -0 "$EX/xargs-pipeline.sh" files
	[[ $output == *"5 good"* ]]
	run -0 mq-stat -o ready,leased,later files
	assert_output $'0\t0\t1'
}

@test "examples: put-and-wait tells what became of the job" {
	mq-conf --create q keep=1h tries=1 >/dev/null
	background mq-take -w q -- sh -c 'read -r x; [ "$x" = good ]'
	run -0 "$EX/put-and-wait.sh" q good
	[[ $output == *": done" ]]
	run -1 "$EX/put-and-wait.sh" q bad
	[[ $output == *": failed"* ]]
}

@test "examples: put-and-wait gives up in time" {
	PATIENCE=50ms run -75 "$EX/put-and-wait.sh" q x
}

@test "examples: pipeline takes each message through all stages once" {
	printf '%s\n' a b c | mq-put -lq fetch
	run -0 "$EX/pipeline.sh"
	assert_equal "$(sort <<<"$output" | tr -d '\n')" ABC
	run -0 mq-stat -o ready,leased,later,dead publish
	assert_output $'0\t0\t0\t0'
}

@test "examples: from-nq runs commands in order, with their words and directory" {
	mkdir "a dir"
	(cd "a dir" && "$EX/from-nq.sh" touch "two words")
	"$EX/from-nq.sh" sh -c 'echo out; ls "a dir"'
	"$EX/from-nq.sh"
	run -0 cat log/*.log
	assert_output $'out\ntwo words'
}

@test "examples: from-tsp adds, works and lists" {
	id=$("$EX/from-tsp.sh" add echo "hello  there" "")
	"$EX/from-tsp.sh" work
	run -0 cat "log/$id.1.log"
	assert_output "hello  there "
	run -64 "$EX/from-tsp.sh"
}

@test "examples: delayed shows what is due when" {
	run -0 "$EX/delayed.sh" r
	assert_lines 4
	assert_equal "$(mq-stat -o ready,later r)" $'1\t3'
}

@test "examples: fan-out gives each subscription its own" {
	run -0 "$EX/fan-out.sh"
	assert_output $'mail: 3\nsearch: 3\nmanager: 2'
	run -0 "$EX/fan-out.sh" again
	assert_line 'manager: 2'
	run -0 mq-stat -o published again
	assert_output 3
}

@test "examples: remote-put puts by ssh, and once though the network fails" {
	mkdir bin && cat >bin/ssh <<-'END'
		#!/bin/sh
		while [ "$1" = -o ]; do shift 2; done
		[ "$1" = mail.example ] && shift || exit 1
		sh -c "$*" || exit
		[ -e second ] || { : >second; exit 255; }
	END
	chmod +x bin/ssh
	PATH=$PWD/bin:$PATH PAUSE=0 run -0 "$EX/remote-put.sh" mail.example jobs <<<'two words'
	assert_equal "${lines[0]}" "${lines[1]}"
	assert_equal "$(mq-ls -o body jobs)" 'two words\x0a'
	PATH=$PWD/bin:$PATH PAUSE=0 run -64 "$EX/remote-put.sh" mail.example ../x </dev/null
}

# line COMMAND: the line of the crontab that runs it, as cron has it
line() { grep -P "\t.*$1" "$EX/crontab" | cut -f2- | sed "s|/var/log/mq|$PWD|; s|\\\\%|%|g"; }
@test "examples: the crontab drains, sweeps, and tells when somebody should look" {
	mq-run -q jobs echo out
	run -0 sh -c "$(line mq-take)"
	assert_output out
	assert_match $'\tacked\t' "$(cat jobs.deliveries)"
	run -0 sh -c "$(line mq-sweep)"
	run -0 sh -c "$(line mq-stat)"
	assert_output ''
	mq-run -q jobs no-such-command
	run -0 sh -c "$(line mq-take)"
	run -0 sh -c "$(line mq-stat)"
	assert_match '^MQ CRITICAL - jobs: dead is 1, not =0 .*; see mq-stat'
	mq-rm --queue --force jobs
	run -0 sh -c "$(line mq-stat)"
	assert_match '^MQ UNKNOWN - jobs: no such queue'
}

@test "examples: once-sqlite has each effect exactly once, its workers killed at random" {
	export DB=$PWD/a.db
	"$EX/once-sqlite.sh" init >wal
	seq -f 'n%.0f 1' 40 | mq-put -lq q
	mq-conf q lease=100ms backoff=0 tries=1000
	for _ in {1..12}; do
		background mq-take -j4 q -- sh -c '"$0"; s=$?; sleep 0.02; exit $s' "$EX/once-sqlite.sh"
		sleep "0.0$((RANDOM % 9 + 1))"
		# shellcheck disable=SC2154 # background sets it
		kill -9 "$pid"
	done
	wait_for eval 'mq-take -j4 q -- "$EX/once-sqlite.sh"; [[ $(mq-stat -o ready,leased,later q) == "0	0	0" ]]'
	assert_equal "$(sqlite3 "$DB" 'SELECT count(*), sum(balance), max(balance) FROM account')" '40|40|1'
	assert_equal "$(mq-stat -o dead q)" 0
}

@test "examples: once-sqlite skips a repeat, and what is no payment is dead" {
	export DB=$PWD/a.db MQ_ID=1
	"$EX/once-sqlite.sh" init >wal
	for _ in 1 2; do "$EX/once-sqlite.sh" <<<'anna 100'; done
	MQ_ID=2 "$EX/once-sqlite.sh" <<<'anna 7'
	assert_equal "$(sqlite3 "$DB" 'SELECT * FROM account')" 'anna|107'
	run -65 "$EX/once-sqlite.sh" <<<"x'); 1"
}
