# check.sh - sourced by the commands of sweep.sh, in a case's fresh directory $D:
# the spool is $D/spool, what the setup put $D/put (ids), what it took $D/taken
# (receipts). A check that fails says what and exits 1.
# shellcheck shell=sh

MQ_SPOOL=$D/spool
export MQ_SPOOL

bad() {
	echo "$*"
	exit 1
}

# all messages of the queue, whatever their state
# shellcheck disable=SC2120 # sweep.sh gives it one
ids() {
	mq-ls "${1:-q}" 2>/dev/null | cut -f 1 | sort
}

# One sweep makes the spool whole, whatever happened; no message is there twice.
whole() {
	mq-sweep >/dev/null || bad "sweep: $?"
	mq-sweep --verify || bad 'verify: found that'
	ids q >ids.now
	[ -z "$(uniq -d ids.now)" ] || bad "twice: $(uniq -d ids.now)"
}

# kept FILE: all ids in it are in the queue (after whole)
kept() {
	sort "$1" | comm -23 - ids.now >ids.lost
	[ ! -s ids.lost ] || bad "lost: $(cat ids.lost)"
}

# id of message N of the setup
id_of() { sed -n "${1}p" put; }
is_there() { grep -qx "$(id_of "$1")" ids.now; }

# Takes everything that is ready: the bodies, in order.
drain() { mq-take --ack -n 1000 "${1:-q}" 2>/dev/null || :; }

# Each receipt in the files is held, and no message is held twice.
held_once() {
	cat "$@" >receipts
	sed 's|.*/||; s|,n[0-9].*||' receipts | sort | uniq -d >double
	[ ! -s double ] || bad "held twice: $(cat double)"
	while read -r r; do
		mq-ack -x 1m "$r" || bad "printed, but not held: $r"
	done <receipts
}
