# Faults that need root: full and read-only file systems, other users, a clock that
# jumps, no inotify, FUSE.
# shellcheck disable=SC2154 # bats sets them
# shellcheck disable=SC2016 # an inner shell expands it
load root

in_state() { find "$MQ_SPOOL/$1/$2" -type f 2>/dev/null | wc -l; }
mount_tmpfs() {
	mkdir "$here/mnt"
	mount -t tmpfs -o "$1" mq-test "$here/mnt" || skip 'needs to mount a tmpfs'
	mounted=$here/mnt
	MQ_SPOOL=$mounted/spool
}
fill_disk() { dd if=/dev/zero of="$mounted/fill" bs=4k 2>/dev/null || :; }
fill_inodes() {
	local n=0
	while true >"$mounted/f$n"; do n=$((n + 1)); done 2>/dev/null
}

# --- full disk, no inodes -------------------------------------------------------------

# puts until one fails: what was confirmed is there, and no more
fills_up() {
	while id=$(mq-put q <body 2>err); do echo "$id" >>ids; done
	[[ -z $id ]] || echo "$id" >>ids
	run mq-put q <body
	assert_status 74
	assert_match '\(not stored\)'
	rm -f "$mounted"/f*
	run -0 mq-take --ack -n 99999 -f '%i' q
	assert_equal "$(sort <<<"$output")" "$(sort ids)"
	run -0 mq-sweep --verify
}

@test "full disk: 74, what was confirmed is there, nothing half-visible" {
	mount_tmpfs size=1m
	head -c 10000 /dev/urandom >body
	mq-put q <body >ids
	fills_up
}

@test "full disk: a stream has put exactly a prefix" {
	mount_tmpfs size=400k
	run -74 bash -c 'seq 1000000 | mq-put -l q >ids'
	rm -f "$mounted"/f*
	mq-take --ack -n 1000000 q >out
	cmp out <(seq "$(wc -l <out)")
	(($(wc -l <out) >= $(wc -l <ids)))
}

@test "full disk: -b puts nothing" {
	mount_tmpfs size=400k
	mq-conf --create q max_size=1M
	run -74 bash -c 'seq 100000 | mq-put -b -l q'
	assert_match 'not stored'
	assert_equal "$(in_state q new)$(in_state q tmp)" 00
}

@test "full disk: take, ack, retry, bury and sweep go on" {
	mount_tmpfs size=1m
	mq-put -q -m x q && mq-take --ack q
	for n in {1..8}; do mq-put -q -m "$n" q; done
	mapfile -t receipts < <(mq-take -n 4 q)
	fill_disk
	mq-ack "${receipts[0]}"
	run mq-ack -K -m why "${receipts[1]}"
	run mq-ack --retry -d 0 "${receipts[2]}"
	run mq-take --ack q
	run mq-sweep
	rm "$mounted/fill"
	mq-take --ack -n 99 q >out || :
	mq-sweep
	run -0 mq-sweep --verify
	run -1 mq-ack "${receipts[0]}"
}

@test "full disk: making a queue, a spool, a setting is 74 or 73, then works" {
	mount_tmpfs size=100k
	fill_disk
	for c in 'mq-put -q -m a q' 'mq-conf --create q tries=3' 'mq-conf --defaults tries=3'; do
		run ! $c
		((status == 74 || status == 73))
	done
	rm "$mounted/fill"
	run -0 mq-put -q -m a q
	run -0 mq-take --ack q
	assert_output a
}

@test "full disk: a meter that finds no room is an error, not a SIGBUS" {
	mount_tmpfs size=200k
	mq-put -q -m a q
	rm "$MQ_SPOOL/q/meter"
	fill_disk
	for c in 'mq-put -m b q' 'mq-take q' 'mq-sweep'; do
		run $c
		((status < 128))
	done
	rm "$mounted/fill"
	run -0 mq-take --ack q
}

@test "full disk: ext4 with no block left is drained by takes and acks" {
	mkdir mnt
	truncate -s 2M image
	mkfs.ext4 -q -m 0 -O ^has_journal -N 2000 image || skip 'needs mkfs.ext4'
	mount -o loop image mnt || skip 'needs a loop mount'
	mounted=$here/mnt MQ_SPOOL=$here/mnt/spool
	for n in {1..9}; do mq-put -q -S -m "$n" q; done
	dd if=/dev/zero of=mnt/fill bs=1k 2>/dev/null || :
	run -74 mq-put -S -m x q
	run -0 mq-ack "$(mq-take q)"
	run -0 timeout 60 mq-take -n 5 q -- true
	run -0 mq-put -q -S -m x q
	run -0 mq-sweep --verify
}

@test "no inodes: 74, what was confirmed is there, nothing half-visible" {
	mount_tmpfs size=8m,nr_inodes=100
	echo small >body
	mq-put q <body >ids
	fills_up # and is drained, though no directory can be made
}

@test "no inodes: a bulk file is taken one by one, and acked" {
	mount_tmpfs size=8m,nr_inodes=60
	seq 100 | mq-put -q -l q
	mq-take --ack q >out
	fill_inodes
	for n in {2..10}; do mq-take --ack q >>out || :; done
	mq-take q >/dev/null || :
	rm -f "$mounted"/f*
	mq-sweep
	mq-take -W 40 --ack -n 1000 q >>out
	assert_equal "$(sort -n out | uniq -d)" ''
	run -0 mq-sweep --verify
}

# --- read-only, permission ---------------------------------------------------------------

@test "read-only: 74 for what writes, reading goes on, then all goes on" {
	mount_tmpfs size=1m
	mq-put -q -m hello q
	receipt=$(mq-take q)
	id=$(mq-put -m two q)
	mount -o remount,ro "$mounted"
	for c in 'mq-put -m a q' 'mq-put -m a new' 'mq-take q' 'mq-take q -- true' "mq-ack $receipt" \
		"mq-rm q:$id" 'mq-rm --all q' 'mq-conf q tries=1' 'mq-rm --queue --force q' 'mq-sweep'; do
		run timeout 10 $c
		assert_equal "$c: $status" "$c: 74"
	done
	run -0 mq-cat "$receipt"
	assert_output hello
	mount -o remount,rw "$mounted"
	run -0 mq-ack "$receipt"
}

@test "permission: another user gets 77 for everything" {
	id=$(mq-put -m a q)
	receipt=$(mq-take q)
	for c in 'mq-put -m a q' 'mq-put -m a new' 'mq-take q' 'mq-take q -- true' "mq-ack $receipt" \
		"mq-rm q:$id" 'mq-rm --queue q' 'mq-conf q' 'mq-sweep' 'mq-wait q' "mq-cat q:$id"; do
		run as 1001 2001 timeout 10 $c
		assert_equal "$c: $status" "$c: 77"
	done
	run -77 as 1001 2001 mq-put -s /root/spool -m a q
}

@test "permission: another user gets 77 for a topic" {
	mq-sub add t one
	for c in 'mq-sub add t two' 'mq-sub rm t one' 'mq-sub ls t' 'mq-sub tail t' 'mq-put -m a t'; do
		# shellcheck disable=SC2086 # words
		run as 1001 2001 $c
		assert_equal "$c: $status" "$c: 77"
	done
}

@test "permission: a file of another user in a queue of one's own is 77" {
	install -d -o 1001 "$MQ_SPOOL"
	as 1001 2001 mq-put -q -m a q
	file=$(find "$MQ_SPOOL/q/new" -type f)
	chown root "$file"
	run -77 as 1001 2001 mq-take q
	run -77 as 1001 2001 mq-put q /etc/shadow
}

@test "permission: the system's spool that cannot be used is 77, never a second one" {
	[[ ! -e /var/spool/mq ]] || skip 'there is a /var/spool/mq'
	install -d -m 700 /var/spool/mq
	MQ_SPOOL='' HOME=$here run as 1001 2001 mq-put -m a q
	rmdir /var/spool/mq
	assert_status 77
	[[ ! -e $here/.local ]]
}

# --- two users of one group ---------------------------------------------------------------

# each of two users does all of it with what the other put
shared() {
	local protected
	protected=$(cat /proc/sys/fs/protected_hardlinks)
	[[ $protected == 1 ]] || skip 'fs.protected_hardlinks is not 1'
	install -d -m 2770 -g 2000 "$MQ_SPOOL"
	as 1001 2000 mq-conf --defaults mode="$1"
	as 1001 2000 mq-put -q -m one q
	seq 6 | as 1002 2000 mq-put -q -l q
	seq 7 12 | as 1001 2000 mq-put -q -l q
	as 1002 2000 mq-put -q -m two q
}

@test "shared: mode=0660: each takes, splits, acks and settles what the other put" {
	shared 0660
	run -0 as 1002 2000 mq-take --ack -n 3 q
	assert_output $'one\n1\n2'
	run -0 as 1001 2000 mq-take --ack -n 2 q
	assert_output $'3\n4'
	as 1001 2000 mq-take -n 5 q >r
	run -0 as 1002 2000 mq-ack "$(sed -n 1p r)"
	run -0 as 1002 2000 mq-ack -x 60 "$(sed -n 2p r)"
	run -0 as 1002 2000 mq-ack -K -m why "$(sed -n 3p r)"
	run -0 as 1002 2000 mq-ack -u "$(sed -n 4p r)"
	run -0 as 1002 2000 mq-ack -t other "$(sed -n 5p r)"
	run -0 as 1001 2000 timeout 20 mq-take other -- cat
	for u in 1001 1002; do run -0 as $u 2000 mq-sweep && run -0 as $u 2000 mq-sweep --verify; done
}

@test "shared: mode=0660: two pools of two users, each message once" {
	shared 0660
	seq 13 200 | as 1002 2000 mq-put -q -l q
	for u in 1001 1002; do
		background as $u 2000 timeout 60 mq-take -B 3 -j 2 q -- cat >"out$u"
	done
	wait "${background_pids[@]}"
	sort out1001 out1002 | cmp - <({ seq 200; echo one; echo two; } | sort)
}

@test "shared: mode=0660: one waits for what the other puts, and wakes" {
	shared 0660
	as 1001 2000 mq-take --ack -n 99 q >/dev/null
	: >out # both append: which of them is first in the line is open
	background as 1001 2000 mq-take -w --ack q >>out
	background as 1002 2000 mq-take -w --ack q >>out
	wait_for sh -c '[ $(ls "$MQ_SPOOL/q/wait" | wc -l) = 2 ]'
	as 1002 2000 mq-put -q -m a q
	wait_for -t 3 has_lines out 1
	as 1001 2000 mq-put -q -m b q
	wait_for -t 3 has_lines out 2
}

@test "shared: mode=0640: the group may read, is told 77 for the rest, nothing is lost" {
	shared 0660
	as 1001 2000 mq-conf q mode=0640 || assert_equal "$?" 77
	as 1001 2000 mq-conf --create mine mode=0640
	id=$(as 1001 2000 mq-put -m one mine)
	for c in 'mq-put -m two mine' 'mq-take mine' 'mq-take mine -- true' "mq-rm mine:$id" 'mq-rm --all mine'; do
		run as 1002 2000 timeout 10 $c
		assert_equal "$c: $status" "$c: 77"
	done
	run -0 as 1002 2000 mq-cat "mine:$id"
	assert_output one
	run -0 as 1001 2000 mq-take --ack mine
}

# 1002 may not link to what 1001 put: a part of a file is taken by a copy of it
@test "shared: files that may not be linked are copied, once and whole" {
	shared 0660
	find "$MQ_SPOOL/q/new" -type f -exec chmod 0640 {} +
	run -0 as 1002 2000 mq-take --ack -n 3 q
	assert_output $'one\n1\n2'
	as 1001 2000 mq-take -n 6 q >r
	for o in '' '-x 60' '-K' '-u' '-t other' '--retry -d 0'; do
		run -0 as 1002 2000 mq-ack $o "$(head -n 1 r)"
		sed -i 1d r
	done
	run -0 as 1001 2000 mq-sweep
	run -0 as 1001 2000 mq-sweep --verify
	assert_equal "$(as 1002 2000 mq-stat -o ready,leased,dead q | tr '\t' ' ')" '7 1 1'
}

# --- a clock that jumps -----------------------------------------------------------------

# libfaketime wants tools that are linked dynamically: make test-heavy builds them
setup_clock() {
	lib=$(ls /usr/lib/*/faketime/libfaketime.so.1 2>/dev/null) || skip 'needs faketime'
	[[ -x ${MQ_DYNAMIC_BIN:-$ROOT/build/dynamic/bin}/mq-put ]] || skip 'needs make test-heavy'
	PATH=${MQ_DYNAMIC_BIN:-$ROOT/build/dynamic/bin}:$PATH
	hours 0
	export FAKETIME_DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1 FAKETIME_NO_CACHE=1 \
		FAKETIME_TIMESTAMP_FILE=$here/clock
}
# the clock of all who run `clocked`, from now on
hours() { echo "${1/#0/+0}h" >clock.new && mv clock.new clock; }
clocked() { LD_PRELOAD=$lib "$@"; }

@test "clock: puts keep their order, whatever it does" {
	setup_clock
	for h in 0 +1 -1 +5 -5 0; do
		hours $h
		clocked mq-put -q -m "$h" q
		seq -f "$h.%g" 2 | clocked mq-put -q -l q
	done
	run -0 clocked mq-take --ack -n 99 q
	assert_output "$(for h in 0 +1 -1 +5 -5 0; do printf '%s\n' $h $h.1 $h.2; done)"
}

@test "clock: forward: leases run out early and come back, the old holder is told" {
	setup_clock
	mq-put -q -m a q
	receipt=$(clocked mq-take -x 60 q)
	hours +1
	run -0 clocked mq-take -f '%n %r' q
	assert_match '^2 '
	run -1 clocked mq-ack "$receipt"
	run -0 clocked mq-ack "${output#* }" || :
	run -0 clocked mq-sweep --verify
}

@test "clock: back: the holder may ack, nobody else gets it, due ones are not lost" {
	setup_clock
	mq-put -q -m a q
	mq-put -q -d 1 -m b q
	receipt=$(clocked mq-take -x 60 q)
	hours -1
	run -1 clocked mq-take q
	run -0 clocked mq-ack "$receipt"
	hours 0
	run -0 clocked mq-take -W 5 --ack q
	assert_output b
}

@test "clock: who waits wakes for puts after a jump, and in time" {
	setup_clock
	mq-put -q -m x q && mq-take --ack q >/dev/null
	for h in -1 +1; do
		background clocked mq-take -w --ack q >"out$h"
		sleep 0.3
		hours $h
		clocked mq-put -q -m "$h" q
		wait_for -t 5 has_line "out$h" "$h"
	done
	mq-put -q -m x q
	for c in 'mq-take -W 1 nope' 'mq-wait -W 1 q'; do
		hours 0
		background clocked $c
		sleep 0.2
		hours -1
		wait_for -t 4 is_gone "$pid"
	done
}

@test "clock: a pool keeps its lease, and works on, both ways" {
	setup_clock
	for h in +1 -1; do
		hours 0
		mq-put -q -m "$h" q
		background clocked mq-take -x 1 q -- sh -c 'touch on; until [ -e go ]; do sleep 0.05; done'
		wait_for test -e on
		hours $h
		sleep 1.5
		touch go
		wait "$pid"
		assert_equal "$h $(in_state q new)$(in_state q cur)$(in_state q later)" "$h 000"
		rm on go
	done
}

@test "clock: time to live, backoff and delay survive a jump back: nothing stays for good" {
	setup_clock
	hours +1
	clocked mq-put -q -x 1 -m a q
	clocked mq-put -q -d 1 -m b q
	hours 0
	run -0 clocked mq-take --ack q
	assert_output a
	run -1 clocked mq-take q
	hours +2
	run -0 clocked mq-take --ack q
	assert_output b
}

# --- no inotify, FUSE ----------------------------------------------------------------------

@test "no inotify: who waits looks each second, for puts and for what is due" {
	unshare -U -r sh -c 'echo 0 >/proc/sys/user/max_inotify_instances' ||
		skip 'needs user namespaces'
	mq-put -q -m x q && mq-take --ack q >/dev/null
	background unshare -U -r sh -c 'echo 0 >/proc/sys/user/max_inotify_instances
		exec mq-take -w -n 1 --ack q' >out
	sleep 0.5
	mq-put -q -m a q
	wait_for -t 3 has_line out a
	background unshare -U -r sh -c 'echo 0 >/proc/sys/user/max_inotify_instances
		exec mq-take -w q -- sh -c "cat; echo"' >out2
	mq-put -q -d 0.5 -m b q
	wait_for -t 4 has_line out2 b
	mq-put -q -m c q
	wait_for -t 4 has_line out2 c
}

@test "no inotify: mq-wait, and a queue that comes later" {
	mq-put -q -m x q
	background unshare -U -r sh -c 'echo 0 >/proc/sys/user/max_inotify_instances; exec mq-wait q'
	background unshare -U -r sh -c 'echo 0 >/proc/sys/user/max_inotify_instances
		exec mq-take -w --ack later' >out
	sleep 0.3
	mq-take --ack q >/dev/null
	mq-put -q -m a later
	wait_for -t 4 has_line out a
	wait_for -t 4 is_gone "${background_pids[0]}"
	wait "${background_pids[0]}"
}

@test "FUSE: refused with 78, and why" {
	[[ -w /dev/fuse ]] || skip 'needs /dev/fuse'
	[[ -x $ROOT/build/fault/cutdisk ]] || skip 'needs make fault-tools'
	mkdir fuse
	truncate -s 1M image
	background "$ROOT/build/fault/cutdisk" image log fuse
	mounted=$here/fuse
	wait_for mountpoint -q fuse
	for c in 'mq-put -s fuse -m a q' 'mq-take -s fuse q' 'mq-sweep -s fuse' 'mq-conf -s fuse --spool'; do
		run -78 timeout 10 $c
		assert_match 'FUSE'
	done
}
