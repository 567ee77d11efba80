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

@test "mq-stat --prometheus: promtool takes a spool without queues" {
	run -0 bash -c 'mq-stat --prometheus | promtool check metrics'
	assert_output ''
}
