# the parts of the benchmark that count: they hold on a busy machine too
load helper

setup() {
	mq_setup
	[[ -z ${ASAN_OPTIONS:-} ]] || skip 'counts of a sanitized build'
}

# `| what | figure | ... |` of a row that `run` printed
figure_of() { awk -F ' *\\| *' -v what="$1" '$2 == what { print $3 }' <<<"$output"; }

@test "bench: put flushes once, take and ack never, and a put is few calls" {
	cd "$ROOT"
	BENCH_DIR=$BATS_TEST_TMPDIR SHORT=1 run -0 t/bench/run.sh count
	assert_equal "$(figure_of '`mq-put -m x q`, synced: flushes')" 1
	assert_equal "$(figure_of '`mq-put -S -m x q`: flushes')" 0
	assert_equal "$(figure_of '`mq-take q`: flushes')" 0
	assert_equal "$(figure_of '`mq-ack RECEIPT`: flushes')" 0
	(($(figure_of '`mq-put -m x q`, synced: calls') < 40))
	assert_line -1 '8 measured, 0 missed'
}
