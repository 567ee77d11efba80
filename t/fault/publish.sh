#!/bin/sh
# publish.sh [PATTERN] - the crash sweep over publishing to three subscriptions: killed
# before and after every call, torn, failing, and met by another command in each gap.
# What was confirmed is in each of those that want it, once; what was not is in all
# or none, also where a consumer was quicker than the one who finished it.
# SHORT=1: the form for CI. PATTERN: the cases whose names match.
# shellcheck disable=SC2034,SC2154 # ways.sh
# shellcheck disable=SC2016 # $ in quotes is for the inner shell
set -u
cd "$(dirname "$0")/../.." || exit 1

CHECK=$PWD/t/fault/check-topics.sh
. t/fault/ways.sh

put='mq-put -s $D/spool -r r.s'
after='whole; kept a b c; honest; once hi a b c'

for how in '' '-k key' '-d 1h' '-i key' '-p 0 -x 1h'; do
	all_ways "publish $how" topic "$put $how -m hi t" "$after"
	# a consumer before the sweep: nothing twice
	case $how in -d*) continue ;; esac
	killed "publish $how, consumers first" topic "$put $how -m hi t" \
		"taken a; taken b; $after"
done
killed 'publish -i, then again' topic "$put -i key -m hi t" \
	'mq-put -q -r r.s -i key -m hi t || bad "again: $?"; RC=0 OUT=$CHECK; '"$after"
all_ways 'publish to a full one' 'topic limit=1' "$put -m hi t" 'refused=1; whole; kept a b c; honest
	for s in a b c; do count hi $s; [ $n = 0 ] || bad "in $s, but refused"; done; ! ok ||
	bad "not refused"'
all_ways 'publish to one that drops' 'topic limit=1 full=drop-oldest' "$put -m hi t" \
	'whole; kept a b; honest; once hi a b; count hi c; m=$n; count old c
	[ $((n + m)) -le 1 ] || bad "c: hi $m, old $n"
	[ $((n + m)) = 1 ] || ! ok || bad "c has nothing"
	! ok || [ $m = 1 ] || bad "c has not got it"'
all_ways 'publish to one with room' 'topic limit=9' "$put -m hi t" "$after"
all_ways 'publish -l' 'topic; seq 3 >in' "$put -l t <in" \
	'whole; kept a b c; for i in 1 2 3; do once $i a b c; done'
all_ways 'publish -l -k' 'topic; seq 3 >in' "$put -k key -l t <in" \
	'whole; kept a b c; taken a; taken b; taken c; rm -f now.*
	for i in 1 2 3; do once $i a b c; done'
all_ways 'publish to nobody' 'mq-sub add -r x t a && mq-sub add -r x t b && mq-sub add -r x t c' \
	"$put -m hi t" 'whole; for s in a b c; do count hi $s; [ $n = 0 ] || bad "in $s"; done'

# Where a file has all the links it can have (EMLINK), a copy is made instead.
for how in '' '-k key' '-i key'; do
	for more in '' --sticky; do
		sweep "publish $how, EMLINK $more" -e EMLINK $more -s linkat --setup "$use topic" \
			--run "exec $put $how -m hi t" --check "$use $after; ok || bad \"put: \$RC\"
			[ -z \"\$SC\" ] || find \"\$D/spool/t/sub\" -path '*/new/*' -type f -links 1 |
				grep -q . || bad 'no copy was made'"
	done
done

# --- another in every gap -----------------------------------------------------------------

for how in '' '-k key' '-i key'; do
	[ -z "$SHORT" ] || [ "$how" = '' ] || continue
	meanwhile "publish $how, another meanwhile" topic "$put $how -m hi t" \
		'mq-put -q -s $D/spool -r r.s -m other t' \
		"$after; ok || bad \"put: \$RC\"; [ -z \"\$SC\" ] || { RC=0; once other a b c; }"
	meanwhile "publish $how, sweep meanwhile" topic "$put $how -m hi t" \
		'mq-sweep -s $D/spool' "$after; ok || bad \"put: \$RC\""
	meanwhile "publish $how, add meanwhile" topic "$put $how -m hi t" \
		'mq-sub add -s $D/spool t d' \
		"$after; ok || bad \"put: \$RC\"; count old d; [ \$n = 0 ] || bad 'd has the old one'
		count hi d; [ \$n -le 1 ] || bad 'twice in d'"
	meanwhile "publish $how, rm meanwhile" topic "$put $how -m hi t" \
		'mq-sub rm --force -s $D/spool t b' \
		'whole; kept a c; ok || bad "put: $RC"; once hi a c'
	meanwhile "publish $how, consumer meanwhile" topic "$put $how -m hi t" \
		'mq-take -s $D/spool --ack -n 9 t/a >$D/taken.a' \
		"$after; ok || bad \"put: \$RC\""
	meanwhile "publish $how, meter gone meanwhile" topic "$put $how -m hi t" \
		'rm -f $D/spool/t/meter $D/spool/t/sub/a/meter $D/spool/t/index' \
		"taken a; $after; ok || bad \"put: \$RC\""
done
meanwhile 'publish -i, the same meanwhile' topic "$put -i key -m hi t" \
	'mq-put -q -s $D/spool -r r.s -i key -m hi t' "$after; ok || bad \"put: \$RC\""
meanwhile 'publish, removal of the topic meanwhile' topic "$put -m hi t" \
	'mq-rm --force --queue -s $D/spool t' \
	'case $RC in 0 | 66 | 74 | 137) ;; *) bad "put: $RC $(cat $ERR)" ;; esac'

# --- a publisher that died, met by others ----------------------------------------------------

# half N [OPTION]: a setup in which a publish died after its Nth link or rename
half() {
	cat <<-EOF
		export OUTER=\$D
		crash-sweep -s linkat,renameat2,unlinkat --after --from $1 --to $1 --dir "\$D" \
			--setup '$use topic' --run 'exec $put ${2:-} -m hi t' \
			--check 'mv spool "\$OUTER"' >half.log && [ -d spool ] || { cat half.log; exit 1; }
	EOF
}
for how in '' '-k key'; do
	for died in 1 2 3 4 5; do
		[ -z "$SHORT" ] || [ $died = 3 ] || continue
		setup=$(half $died "$how")
		RC=1
		killed "publish $how that died at $died, sweep" "$setup" 'mq-sweep -s $D/spool' \
			'whole() { mq-sweep; mq-sweep --verify || bad verify; for s in a b c; do
			look "$D/spool/t/sub/$s" >now.$s || bad "$(cat now.$s)"; done; }
			whole; kept a b c; RC=1; once hi a b c'
		killed "publish $how that died at $died, take" "$setup" \
			'mq-take -s $D/spool --ack -n 9 t/a' 'cat $OUT >taken.a
			lost=$RC; RC=1; N=1; taken a; cat $OUT >>taken.a; whole; kept b c; once hi b c
			count hi b; m=$n; count hi a; [ $n -le $m ] || bad "a: $n, b: $m"
			[ $n = $m ] || [ $lost != 0 ] || bad "lost in a: $n $m"'
		killed "publish $how that died at $died, put" "$setup" "$put -m next t" \
			'whole; kept a b c; once next a b c; RC=1; once hi a b c'
	done
done

# --- subscriptions made and removed -----------------------------------------------------------

all_ways 'sub add' topic 'mq-sub add -s $D/spool -r x t d limit=5' \
	'whole; kept a b c; mq-put -q -r r.s -m hi t; mq-put -q -r x -m x t; RC=0 N=1
	rm -f now.*; whole; once hi a b c; [ ! -d $D/spool/t/sub/d ] || once x d'
all_ways 'sub add, a new topic' ':' 'mq-sub add -s $D/spool t a' \
	'mq-sub ls t >/dev/null 2>&1; mq-sweep; mq-sweep --verify || bad verify
	! ok || { mq-put -q -m x t; [ "$(mq-take --ack t/a)" = x ] || bad lost; }'
all_ways 'sub rm' topic 'mq-sub rm -s $D/spool --force t c' \
	'whole; kept a b; ! ok || [ ! -e $D/spool/t/sub/c ] || bad "still there"
	mq-put -q -r r.s -m hi t; RC=0 N=1; rm -f now.*; whole; once hi a b'
for tool in mq-sweep 'mq-sweep --verify' mq-stat 'mq-sub ls'; do
	meanwhile "$tool, removal meanwhile" topic "$tool -s \$D/spool" \
		'mq-sub rm -s $D/spool --force t b' 'whole; kept a c; ok || bad "$RC: $(cat $ERR)"'
	meanwhile "$tool, removal of the topic meanwhile" topic "$tool -s \$D/spool" \
		'mq-rm --force --queue -s $D/spool t' 'ok || bad "$RC: $(cat $ERR)"'
done
all_ways 'conf of a subscription' topic 'mq-conf -s $D/spool t/c limit=1' \
	'whole; kept a b c; mq-put -q -r r.s -m hi t; r=$?
	if ok; then [ $r = 75 ] || bad "not heard of: $r"; fi; mq-sweep --verify || bad verify'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
