# Topics where a link cannot be had: another file system, another user's file.
# shellcheck disable=SC2154 # bats sets them
# shellcheck disable=SC2016 # an inner shell expands it
load root

# The subscription b lies on a file system of its own, by a bind mount.
elsewhere() {
	mkdir mnt
	mount -t tmpfs mq-test mnt || skip 'needs to mount a tmpfs'
	mounted=$here/mnt
	mq-sub add t a && mq-sub add t b && mq-sub add t c || return
	cp -a "$MQ_SPOOL/t/sub/b/." mnt
	umount mnt
	mount -t tmpfs mq-test "$MQ_SPOOL/t/sub/b" || return
	mounted=$MQ_SPOOL/t/sub/b
	for d in tmp new cur later dlq why hold; do mkdir "$mounted/$d" || return; done
	: >"$mounted/match"
}
bodies() { mq-take --ack -n 1000 "$1" 2>/dev/null; }

@test "topic: a subscription on another file system gets a flushed copy" {
	elsewhere
	mq-put -q -m hi t
	seq 3 | mq-put -q -l t
	mq-put -q -k key -m k1 t
	seq 4 6 | mq-put -q -l -k key t
	mq-put -q -d 1h -m later t
	for s in a b c; do
		run -0 bodies t/$s
		assert_output $'hi\n1\n2\n3\nk1\n4\n5\n6'
		assert_equal "$(mq-ls --state later t/$s | wc -l)" 1
	done
	run -0 mq-sweep
	run -0 mq-sweep --verify
	assert_output ''
}

@test "topic: the copy is made once, whoever makes it" {
	elsewhere
	for i in {1..20}; do
		for p in 1 2 3 4; do mq-put -q -m "$i.$p" t & done
		wait
	done 3>&-
	for s in a b c; do
		bodies t/$s | sort >got.$s
		assert_equal "$(wc -l <got.$s)" 80
		assert_equal "$(uniq -d got.$s)" ''
	done
}

@test "topic: what the finisher may not link he copies" {
	[[ $(cat /proc/sys/fs/protected_hardlinks) == 1 ]] || skip 'fs.protected_hardlinks is not 1'
	mkdir "$MQ_SPOOL"
	chmod 777 "$MQ_SPOOL"
	mq-conf --defaults mode=0660
	mq-sub add t a
	mq-sub add t b
	chgrp -R 5000 "$MQ_SPOOL/t"
	mq-put -q -m one t
	chmod -R g+rwX "$MQ_SPOOL/t"
	# left in out/ by one that died, not to be written by the other user
	mv "$MQ_SPOOL"/t/sub/a/new/5/*/*,f f
	rm "$MQ_SPOOL"/t/sub/b/new/5/*/*,f
	cp f g
	chmod 644 g
	id=$(sed -n 's/^id: //p' g)
	mv g "$MQ_SPOOL/t/out/000000000001.$id,n0,u0,p5"
	run -0 as 5001 5000 mq-put -m two t
	for s in a b; do
		run -0 bodies t/$s
		assert_output $'one\ntwo'
	done
}
