# mq-take --syslog, with a /dev of its own to listen in. Root.
# shellcheck disable=SC2154 # bats sets them
load ../helper

@test "pool: --syslog says a line a delivery, with its level" {
	id=$(mq-put -k 'order 812' -m good q) bad=$(mq-put -m bad q)
	mq-conf q tries=1 >/dev/null
	mkdir dev && : >dev/null
	# shellcheck disable=SC2016 # for the inner shells
	unshare -m sh -euc '
		mount --bind /dev/null dev/null
		mount --rbind dev /dev
		perl -MIO::Socket::UNIX -e '\''
			my $s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => "/dev/log") or die;
			$| = 1;
			for (1, 2) { $s->recv(my $line, 4096); print "$line\n"; }'\'' >said &
		until [ -S /dev/log ]; do sleep 0.02; done
		timeout 20 mq-take --syslog q -- sh -c "read -r x || :; [ \"\$x\" = good ]"
		wait' 3>&-
	assert_match "^<30>.*mq-take\[[0-9]+\]: q:$id try=1 outcome=acked seconds=[0-9.]+ worker=[0-9]+\.0 key=order 812 reason=-" "$(sed -n 1p said)"
	assert_match "^<28>.*: q:$bad try=1 outcome=buried .* key=- reason=exit 1" "$(sed -n 2p said)"
}
