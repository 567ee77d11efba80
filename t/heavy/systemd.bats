# What stands in share/systemd, read by what is to read it. Needs no PID 1, but the
# packages systemd and logrotate, and root.
# shellcheck disable=SC2154 # bats sets them
load ../helper

setup() {
	mq_setup
	make -sC "$ROOT" install PREFIX="$PWD/p" >/dev/null
	units=$PWD/p/lib/systemd/system
}

@test "systemd: its units are as systemd-analyze wants them" {
	mkdir etc && : >etc/jobs.conf
	run -0 env SYSTEMD_UNIT_PATH="$units:" systemd-analyze verify --man=no \
		"$units/mq-worker@jobs.service" "$units"/mq-*.timer "$units"/mq-s*.service
	assert_output ''
}

@test "systemd: a unit with a mistake would be found" {
	sed -i 's/^KillMode=.*/KillMode=none-such/' "$units/mq-worker@.service"
	run env SYSTEMD_UNIT_PATH="$units:" systemd-analyze verify --man=no "$units/mq-worker@jobs.service"
	assert_match 'none-such'
}

@test "systemd: the services are hardened: exposure under 5 of 10" {
	for unit in mq-worker@jobs mq-sweep mq-stat-textfile; do
		run -0 env SYSTEMD_UNIT_PATH="$units:" systemd-analyze security --offline=yes \
			--threshold=50 "$units/${unit/@jobs/@}.service"
	done
}

@test "systemd: what a stop does lets running commands end, then gives them back" {
	stop=$(sed -nE "s/^ExecStop=-.bin.sh -c '(.*)'\$/\1/p" "$units/mq-worker@.service")
	mq-put -q -m quick q && mq-put -q -m slow q
	background mq-take -w -j2 q -- sh -c 'read -r x || :; echo "$x" >>began
		[ "$x" = quick ] && sleep 1 || sleep 60'
	wait_for has_lines began 2
	MAINPID=$pid GRACE=2 run sh -c "$stop"
	assert_equal "$(mq-ls -o state,body q)" $'leased\tslow'
	kill -TERM "$pid" && wait "$pid" || :
	assert_equal "$(mq-ls -o state,tries,body q)" $'ready\t0\tslow'
}

@test "systemd: sysusers.d and tmpfiles.d make the user and the spool" {
	mkdir -p root/etc root/var/lib/prometheus/node-exporter
	systemd-sysusers --root="$PWD/root" "$PWD/p/lib/sysusers.d/mq.conf"
	run -0 grep '^mq:' root/etc/passwd
	assert_match ':/var/spool/mq:'
	run -0 systemd-tmpfiles --create --root="$PWD/root" "$PWD/p/lib/tmpfiles.d/mq.conf"
	run -0 stat -c %a root/var/spool/mq root/var/log/mq
	assert_output $'2770\n2750'
}

@test "logrotate: its snippet rotates what is there" {
	mkdir log && seq 1000 >log/jobs.deliveries && chmod 750 log
	sed "s|/var/log/mq|$PWD/log|; s/su mq mq/su root root/" p/share/mq/logrotate >conf
	run -0 logrotate -f -s "$PWD/state" conf
	run -0 find log -name 'jobs.deliveries.1'
	assert_output log/jobs.deliveries.1
	[[ ! -s log/jobs.deliveries ]]
}
