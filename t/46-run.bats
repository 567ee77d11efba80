# mq-run: commands as messages.
# shellcheck disable=SC2154 # bats sets them
load helper

# work [OPTION ...]: works off what is in q
work() { mq-take "$@" q -- mq-run --worker; }
# reason: why the only dead letter of q is one
reason() { mq-ls --state dead -o why q; }

@test "mq-run: queues a command, prints its id; a worker runs it" {
	run -0 mq-run q echo hello
	assert_match '^[0-9a-f-]{36}$'
	run -0 mq-ls -o id q
	assert_equal "$output" "$(mq-ls -o id q)"
	run -0 work
	assert_output hello
	run -0 mq-run -q q -- echo 'as mq-take has it'
	assert_output ''
	run -0 work
	assert_output 'as mq-take has it'
}

@test "mq-run: arguments come byte for byte" {
	local words=('' ' ' $'two\nlines\n' $'\xff\xfe\x01' '{}' '--' '-n' '*' "'\"\\\$HOME" '')
	printf '%s\0' "${words[@]}" >want
	mq-run -q q printf '%s\0' "${words[@]}"
	work >got
	cmp got want
}

@test "mq-run: the directory is that of the put, whatever its name" {
	local dir=$'a dir\n\xff'
	mkdir "$dir" && (cd "$dir" && mq-run -q q sh -c 'pwd -P; echo "$PWD"; ls')
	touch "$dir/here"
	printf '%s\n%s\nhere\n' "$PWD/$dir" "$PWD/$dir" >want
	(cd / && work >"$BATS_TEST_TMPDIR/got")
	cmp got want
}

@test "mq-run: a symbolic link in the directory's name stays" {
	mkdir real && ln -s real link
	(cd link && mq-run -q q sh -c 'echo "$PWD"; pwd -P')
	(cd real && PWD=/nonsense mq-run -q q sh -c 'echo "$PWD"')
	run -0 work
	assert_output "$PWD/link"$'\n'"$PWD/real"$'\n'"$PWD/real"
}

@test "mq-run: the umask is that of the put" {
	(umask 027 && mq-run -q q touch new)
	work
	run -0 stat -c %a new
	assert_output 640
}

@test "mq-run: PATH goes along, and nothing else unasked" {
	mkdir bin && printf '#!/bin/sh\necho "own: $A ${B-unset}"\n' >bin/own && chmod +x bin/own
	A=put B=put PATH=$PWD/bin:$PATH mq-run -q q own
	A=worker run -0 work
	assert_output 'own: worker unset'
}

@test "mq-run: --env NAME takes a variable along, byte for byte, or that it is unset" {
	local value=$'a\n \xff=b'
	A=$value mq-run -q --env A --env B --env C=set --env D= q \
		sh -c 'printf "%s;%s;%s;%s" "$A" "${B-unset}" "$C" "${D-unset}"'
	printf '%s' "$value;unset;set;" >want
	A=x B=x C=x D=x work >got
	cmp got want
}

@test "mq-run: of two --env the last one counts, over PATH too" {
	mq-run -q --env A=1 --env A=2 --env PATH=/usr/bin:/bin q sh -c 'echo $A $PATH'
	run -0 work
	assert_output '2 /usr/bin:/bin'
}

@test "mq-run: standard input is empty, MQ_ variables are the delivery's" {
	id=$(mq-run -a user=anna q sh -c 'cat; echo "$MQ_ID $MQ_TRIES $MQ_ATTR_user"')
	run -0 work
	assert_output "$id 1 anna"
}

@test "mq-run: priority, delay and key order jobs as they do messages" {
	mq-run -q q echo second && mq-run -q -p0 q echo first && mq-run -q -d 1h q echo later
	mq-run -q -k a q sh -c 'sleep 0.1; echo third' && mq-run -q -k a q echo fourth
	run -0 work -j4
	assert_equal "$(tail -n 1 <<<"$output")" fourth
	run -0 mq-stat -o later q
	assert_output 1
}

@test "mq-run: -x drops a job that nobody began in time" {
	mq-run -q -x 10ms q touch never
	sleep 0.05
	work && [[ ! -e never ]]
}

@test "mq-run: -i queues it once, --unique as long as it is there" {
	id=$(mq-run -i a q true)
	run -0 mq-run -i a q false
	assert_output "$id"
	run -1 mq-run -i a --fresh q true
	run -0 mq-run -q -i b --unique q true
	run -1 mq-run -q -i b --unique --fresh q true
	assert_equal "$(mq-stat -o ready q)" 2
}

@test "mq-run: mq-wait has the outcome, -L the output" {
	mq-conf --create q keep=1h tries=1 >/dev/null
	good=$(mq-run q echo out) bad=$(mq-run q sh -c 'echo err >&2; exit 3')
	run -1 work --strict -L log
	assert_output ''
	run -0 mq-wait "q:$good"
	run -1 mq-wait "q:$bad"
	assert_match 'buried'
	run -0 cat "log/$good.1.log" "log/$bad.1.log"
	assert_output $'out\nerr'
	run -0 reason
	assert_output 'exit 3: err'
}

@test "mq-run: to a topic, each subscription has the job" {
	mq-sub add -r 'job.*' t s
	mq-run -q -r job.x t echo hi
	run -0 mq-take t/s -- mq-run --worker
	assert_output hi
	run -0 --separate-stderr mq-run -r other t true
	assert_stderr 'mq-run: t: no subscription wants it: stored nowhere'
}

@test "mq-run: 65 before anything is written, if it is over max_size" {
	mq-conf --create q max_size=1K >/dev/null
	run -65 mq-run q echo "$(head -c 1024 /dev/zero | tr '\0' x)"
	assert_match 'mq-run: .*1025|mq-run: .*max_size'
	run -0 mq-ls q
	assert_output ''
	run -65 mq-run --env "A=$(head -c 1024 /dev/zero | tr '\0' x)" q true
}

@test "mq-run: 64 for wrong usage" {
	run -64 mq-run
	assert_match 'no QUEUE'
	for words in q 'q --' '--env =x q true' '--env= q true' '../q true' '-p 10 q true' \
		'-d x q true' '-k q true' '--unique q true' '-n5 q true' '-W x q true'; do
		# shellcheck disable=SC2086 # into words
		run -64 mq-run $words
	done
	run -64 mq-run q ''
	assert_match 'no COMMAND'
	[[ ! -e $MQ_SPOOL/q ]]
}

@test "mq-run: --worker takes nothing else: 64" {
	run -64 mq-run --worker q
	run -64 mq-run --worker -p1
	run -64 mq-run -q --worker true
}

@test "mq-run: 66 without the queue where create=no" {
	mq-conf --defaults create=no >/dev/null
	run -66 mq-run q true
	assert_match 'mq-run: q: '
}

@test "mq-run: 73 where the spool cannot be made" {
	ln -s nowhere link
	run -73 mq-run -s "$PWD/link/spool" q true
}

@test "mq-run: 74 if the id cannot be printed, and it is queued" {
	run -74 --separate-stderr sh -c 'mq-run q true >/dev/full'
	assert_match 'standard output' "$stderr"
	run -0 mq-stat -o ready q
	assert_output 1
}

@test "mq-run: 74 in a directory that is gone" {
	mkdir gone
	run -74 sh -c 'cd gone && rmdir ../gone && mq-run q true'
	assert_match 'mq-run: the current directory: No such file'
}

@test "mq-run: 75 if the queue is full, or the wait is over" {
	mq-conf --create q limit=1 >/dev/null
	mq-run -q q true
	run -75 mq-run q true
	run -75 mq-run -W 20ms q true
	background mq-run -q -w q echo waited
	work -n1
	wait "$pid"
	run -0 work
	assert_output waited
}

@test "mq-run: 77 without permission for the spool" {
	((EUID != 0)) || command -v setpriv >/dev/null || fail 'no setpriv'
	mkdir -m 700 s && mq-run -qs "$PWD/s" q true && chmod 755 .
	run -77 setpriv --reuid=65534 --regid=65534 --clear-groups "$MQ_BIN/mq-run" -s "$PWD/s" q true
}

@test "mq-run: 78 if the settings are damaged" {
	mq-run -q q true && echo nonsense >"$MQ_SPOOL/q/conf"
	run -78 mq-run q true
}

@test "mq-run --worker: 0, and any other end, is the command's" {
	mq-run -q q sh -c 'exit 3'
	mq-take --ack -f %b q | head -c -1 >job
	run -3 mq-run --worker <job
	mq-run -q q sh -c 'kill -9 $$' && mq-take --ack -f %b q | head -c -1 >job
	run -137 bash -c 'mq-run --worker <job; exit $?'
}

@test "mq-run --worker: 127 no such command, 126 one that cannot be run; buried" {
	: >plain
	mq-run -q q no-such-command && mq-run -q q ./plain && mq-run -q q ./plain/x
	mq-run -q q echo next
	run -0 work
	assert_line next
	run -0 reason
	assert_line 0 'exit 127: mq-run: no-such-command: No such file or directory'
	assert_line 1 'exit 126: mq-run: ./plain: Permission denied'
	assert_line 2 'exit 127: mq-run: ./plain/x: Not a directory'
}

@test "mq-run --worker: -e says otherwise of 127; without a worker the pool stops" {
	mq-run -q q no-such-command
	run -69 work -e 127=stop
	run -69 mq-take q -- sh -c 'mq-run --worker'
	run -69 mq-take q -- ./mq-run --worker
	run -0 mq-ls -o state,tries q
	assert_output $'ready\t0'
}

@test "mq-run --worker: a directory that is gone is 75: tried again" {
	mkdir gone && (cd gone && mq-run -q q true) && rmdir gone
	mq-conf q tries=1 >/dev/null
	work
	run -0 reason
	assert_output "exit 75: mq-run: the job's directory $PWD/gone: No such file or directory"
}

@test "mq-run --worker: what is no job is 65, and buried" {
	mq-put -q -m 'rm -rf /' q
	work
	run -0 reason
	assert_output 'exit 65: mq-run: not a job of mq-run'
	run -65 mq-run --worker </dev/null
	printf 'mq-run 2 1\0x\0/\0000\0' >job
	run -65 mq-run --worker <job
	assert_output 'mq-run: a job of another version of mq-run: mq-run 2 1'
}

@test "mq-run --worker: 126 where the arguments are too many for the system" {
	mq-conf --create q max_size=10M >/dev/null
	{ printf 'mq-run 1 40001\0true\0'; yes "$(printf '%0100d' 0)" | head -n 40000 | tr '\n' '\0'
		printf '/\0000\0'; } >job
	run -126 mq-run --worker <job
	assert_match 'true: Argument list too long'
}

@test "mq-run: a script without #! runs in sh, as execvp has it" {
	echo 'echo "script $1"' >script && chmod +x script
	mq-run -q q ./script x
	run -0 work
	assert_output 'script x'
}

# The table of habits in mq-run(1), line by line.
worker() { background mq-take "$@" -L log jobs -- mq-run --worker; }
@test "mq-run: as nq does it: -w, -w JOB, -t, fq" {
	mq-conf --create jobs keep=1h tries=1
	mkfifo go
	a=$(mq-run jobs sh -c 'read x <go; echo "$x"') b=$(mq-run jobs echo two)
	worker -w
	run -75 mq-wait -W0 jobs
	assert_match "^$b" "$(mq-ls --state ready jobs)"
	echo one >go
	mq-wait "jobs:$b" && mq-wait jobs && mq-wait -W0 jobs
	run -0 cat log/"$a".*.log log/"$b".*.log
	assert_output $'one\ntwo'
}

@test "mq-run: as tsp does it: -k, -r, -C, -d, -u" {
	mq-conf --create jobs keep=1h tries=1
	k=$(mq-run jobs sh -c 'echo $$ >pid; exec sleep 100')
	worker -w && wait_for test -s pid
	mq-rm --force "jobs:$k" && kill "$(cat pid)"
	run -1 mq-wait "jobs:$k"
	assert_match ': dropped$'
	mq-rm "jobs:$(mq-run -d 1h jobs true)"
	mq-run -q jobs false && mq-wait jobs
	mq-rm --dead jobs
	run -0 mq-stat -o ready,leased,later,dead jobs
	assert_output $'0\t0\t0\t0'
}

@test "mq-run: as tsp -u, batch: -p0 before, -p9 after what is there" {
	mq-run -q jobs echo normal
	mq-run -q -p9 jobs echo batch
	mq-run -q -p0 jobs echo urgent
	run -0 mq-take jobs -- mq-run --worker
	assert_output $'urgent\nnormal\nbatch'
}

@test "mq-run: as at does it: at, atq, at -c, atrm" {
	a=$(mq-run -D 02:00 jobs echo night) b=$(mq-run -d 1h jobs echo 'in an hour')
	run -0 mq-ls --state later -o id jobs
	assert_equal "$(sort <<<"$output")" "$(printf '%s\n' "$a" "$b" | sort)"
	run -0 bash -c "mq-cat jobs:$b | tr '\0' '\n'"
	assert_line 2 'in an hour'
	mq-rm "jobs:$a" "jobs:$b"
	run -0 mq-stat -o later jobs
	assert_output 0
}
