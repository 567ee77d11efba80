# Listings of very many messages: they stream, in as much memory as a few take, and end
# where nobody reads on.
# shellcheck disable=SC2154,SC2016 # bats sets them; for bash -c
load ../helper

PATH=${BENCH:-$ROOT/build/bench}:$PATH

# peak COMMAND ...: its memory, in KB
peak() { paired -n 1 "$@" | cut -d ' ' -f 3; }
# ends_by_head COMMAND: it is ended by SIGPIPE, without a word, and soon
ends_by_head() {
	run -0 timeout 5 bash -c "$1"' | head -n 1 >/dev/null; echo "${PIPESTATUS[@]}"'
	assert_output '141 0'
}

@test "mq-ls: a million messages in the memory of a thousand; head ends it" {
	seq 1000 | mq-put -S -q -l small
	seq 1000000 | mq-put -S -q -l q
	for json in '' -J; do
		few=$(peak mq-ls $json small) many=$(peak mq-ls $json q)
		((many < few + 1024)) || fail "$few KB for 1000, $many KB for 1000000"
		ends_by_head "mq-ls $json q"
	done
	run -0 bash -c 'mq-ls -o id q | sort -u | wc -l'
	assert_output 1000000
	mq-take -x 1h -n 1000000 q >receipts
	many=$(peak mq-ls --state leased q)
	((many < few + 1024)) || fail "$few KB for 1000, $many KB for 1000000 leased"
	ends_by_head 'mq-ls --state leased q'
}

@test "mq-dlq ls: a hundred thousand dead letters in the memory of a few; head ends it" {
	seq 100000 | mq-put -S -q -l q
	mq-take -x 1h -n 100 q | mq-ack -K -
	few=$(peak mq-dlq ls q)
	mq-take -x 1h -n 100000 q | mq-ack -K -
	for list in 'mq-dlq ls q' 'mq-dlq ls -J q' 'mq-dlq ls --by why q'; do
		many=$(peak $list)
		((many < few + 1024)) || fail "$list: $few KB for 100, $many KB for 100000"
	done
	ends_by_head 'mq-dlq ls q'
	ends_by_head 'mq-dlq ls -J q'
}
