# What mq-stat says to Prometheus, as its own tool reads it.
# shellcheck disable=SC2154 # bats sets them
load ../helper

@test "mq-stat --prometheus: promtool finds nothing wrong" {
	seq 100 | mq-put -q -l jobs
	mq-take -n 50 -B 10 jobs -- true
	mq-ack -K "$(mq-take jobs)"
	mq-sub add orders mail
	mq-put -q -m x orders
	mq-stat --prometheus -O mq.prom
	run -0 promtool check metrics <mq.prom
	assert_output ''
}

@test "examples: promtool finds the alert rules clean, and each fires when it should" {
	cd "$ROOT/share/examples"
	run -0 promtool check rules prometheus-rules.yml
	assert_match 'SUCCESS: 7 rules found'
	run -0 promtool test rules prometheus-rules.test.yml
	assert_match 'SUCCESS'
	# each rule has a test, and is of metrics that there are
	run -0 bash -c "comm -3 <(sed -n 's/.*- alert: //p' *rules.yml | sort) \
		<(sed -n 's/.*alertname: //p' *.test.yml | sort -u)"
	assert_output ''
	mq-put -q -m x jobs
	mq-conf jobs limit=10
	run -0 bash -c "comm -23 <(grep -oh '\bmq_[a-z_]*' *rules.yml | sort -u) \
		<(mq-stat --prometheus | grep -o '^mq_[a-z_]*' | sort -u)"
	assert_output ''
}

@test "mq-stat --prometheus: promtool takes a spool without queues" {
	run -0 bash -c 'mq-stat --prometheus | promtool check metrics'
	assert_output ''
}
