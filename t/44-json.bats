# mq-put -J, and that it takes what the lists print.
# shellcheck disable=SC2154 # bats sets them
load helper

files() { find "$MQ_SPOOL/$1/new" "$MQ_SPOOL/$1/later" -type f | wc -l; }
ready() { mq-stat -o ready q; }

@test "mq-put -J: bodies as text and as base64" {
	run -0 mq-put -q -J q <<-'END'
		{"body":"one"}
		{"body64":"dHdvAP8="}

		{"body":"nul\u0000 \ud83d\ude00"}
	END
	mq-take --ack -0 -n 3 q >out
	printf 'one\0two\0\xff\0nul\0 \xf0\x9f\x98\x80\0' | cmp - out
}

@test "mq-put -J: each has its own settings" {
	mq-put -J q >ids <<-'END'
		{"body":"a","priority":9,"attributes":{"x":"1","n":5}}
		{"body":"b","delay":"1h"}
		{"body":"c","at":"2099-01-01T00:00:00Z","expires":7200,"version":3}
	END
	run -0 mq-ls -o body,state,priority,@x,@n,version q
	assert_output $'a\tready\t9\t1\t5\t-\nb\tlater\t5\t-\t-\t-\nc\tlater\t5\t-\t-\t3'
	mq-ls -o id q | cmp - ids
}

@test "mq-put -J: options are the defaults, lines go before them" {
	printf '%s\n' '{"body":"a"}' '{"body":"b","priority":1,"attributes":{"y":"2"}}' |
		mq-put -q -J -p 7 -a x=1 -a y=1 q
	run -0 mq-ls -o body,priority,@x,@y q
	assert_output $'a\t7\t1\t1\nb\t1\t1\t2'
}

@test "mq-put -J: one file as long as the header is the same" {
	printf '{"body":"%s","delay":3600}\n' {1..500} >lines
	mq-put -q -J q lines
	assert_equal "$(files q)" 1
	printf '{"body":"a","priority":%s}\n' 1 1 2 2 2 1 >lines
	mq-put -q -J r lines
	assert_equal "$(files r)" 3
}

@test "mq-put -J -b: all or nothing, one header for all" {
	printf '{"body":"%s"}\n' {1..2000} | mq-put -q -J -b q
	assert_equal "$(files q)" 1
	run -65 mq-put -q -J -b q <<<$'{"body":"a"}\n{"body":"b","priority":1}'
	assert_match 'line 2: another header'
	run -65 mq-put -q -J -b q <<<$'{"body":"a"}\n{'
	assert_equal "$(ready)" 2000
}

@test "mq-put -J: a bad line is 65 and named; what came before it is put" {
	run -65 --separate-stderr mq-put -q -J q <<<$'{"body":"a"}\n\n{"body":1}\n{"body":"b"}'
	assert_stderr 'mq-put: line 3: body: not a string'
	assert_equal "$(ready)" 1
	echo '{"bdoy":"a"}' >f
	run -65 --separate-stderr mq-put -q -J q f
	assert_stderr 'mq-put: f: line 1: bdoy: unknown key'
	run -65 mq-put -q -J q <<<'not json'
}

@test "mq-put -J: a route is words between dots, else 65" {
	run -65 mq-put -q -J q <<<'{"body":"a","route":"r..s"}'
	run -0 mq-put -q -J q <<<'{"body":"a","route":"r.s"}'
	run -0 mq-put -q -J q <<<'{"body":"a","key":null,"route":null,"idempotency_key":null}'
}

@test "mq-put -J: over max_size is 65, exactly max_size is not" {
	mq-conf --create q max_size=4
	run -65 mq-put -q -J q <<<'{"body":"abcde"}'
	run -65 mq-put -q -J q <<<'{"body64":"YWJjZGU="}'
	run -0 mq-put -q -J q <<<'{"body":"\u0061\u0062\u0063\u0064"}'
	head -c 4000000 /dev/zero | tr '\0' ' ' >blank
	run -65 mq-put -q -J q blank
	assert_match 'line 1: the line is too long'
}

@test "mq-put -J: with -m, -l, -0 it is 64" {
	run -64 mq-put -J -m x q
	run -64 mq-put -J -l q
	run -64 mq-put -J -0 q
}

@test "mq-put -J: takes what mq-ls -J prints, whatever the body" {
	for i in {1..40}; do head -c $((RANDOM % 2000)) /dev/urandom >"f$i"; done
	printf 'caf\xc3\xa9\0"\\\n\r\x7f' >f41
	mq-put -q -a 'a=x y' -a b= -p 2 -x 1h q f*
	mq-ls -J q | mq-put -q -J copy
	diff <(mq-ls -J q | jq -c '[.body, .body64, .attributes, .priority, .expires_at]') \
		<(mq-ls -J copy | jq -c '[.body, .body64, .attributes, .priority, .expires_at]')
	run -0 mq-take --ack -0 -n 50 copy
}

@test "mq-put -J: and what mq-dlq ls -J prints" {
	mq-put -q -m x q
	mq-ack -K -m why "$(mq-take q)"
	mq-dlq ls -J q | mq-put -q -J copy
	run -0 mq-ls -o state,tries,body copy
	assert_output $'ready\t0\tx'
}

@test "mq-put -J: a slow producer's line does not wait for the next" {
	mkfifo in && exec 9<>in
	background mq-put -J q <in >ids 9>&-
	echo '{"body":"first"}' >&9
	wait_for has_lines ids 1
	exec 9>&-
	wait "$pid"
}

@test "mq-take -J: an object each, with its receipt" {
	mq-put -q -m one -a k=v q
	mq-put -q -m two q
	mq-take -J -n 5 q >out
	run -0 jq -c '[.body, .state, .tries, .attributes.k]' out
	assert_output $'["one","leased",1,"v"]\n["two","leased",1,null]'
	jq -r .receipt out | mq-ack -
	run -0 mq-stat -o ready,leased q
	assert_output $'0\t0'
	run -1 mq-take -J q
}

@test "mq-take -J --ack: no receipt, and mq-put -J takes it" {
	seq 3000 | mq-put -q -l -x 1h q
	run -0 bash -c 'mq-take -J --ack -n 5000 q | mq-put -q -J copy'
	run -0 jq -c 'has("expires_at")' <(mq-take -J --ack copy)
	assert_output true
	mq-take --ack -n 5000 copy >out
	seq 2 3000 | cmp - out
	run -0 mq-stat -o ready,leased q
	assert_output $'0\t0'
}

@test "mq-take -J: a full stdout is 74, and nothing stays held" {
	seq 10 | mq-put -q -l q
	run -74 bash -c 'mq-take -J -n 10 q >/dev/full'
	run -74 bash -c 'mq-take -J --ack -n 10 q >&-'
	run -0 mq-stat -o ready,leased q
	assert_output $'10\t0'
}

@test "mq-take -J: with -f, -0 or a COMMAND it is 64" {
	mq-put -q -m x q
	run -64 mq-take -J -f %r q
	run -64 mq-take -J -0 q
	run -64 mq-take -J q -- true
	run -0 mq-stat -o ready q
	assert_output 1
}

@test "mq-put -J: each line its own key and idempotency key" {
	printf '%s\n' '{"body":"1","key":"k"}' '{"body":"2","key":"k"}' \
		'{"body":"3","idempotency_key":"i"}' '{"body":"3","idempotency_key":"i"}' |
		mq-put -q -J q
	run -0 mq-take -n 9 -f '%b%k %r' q
	assert_equal "$(cut -d' ' -f1 <<<"$output" | tr '\n' ' ')" "1k 3 "
	assert_equal "$(mq-stat -o blocked q)" 1
}
