#!/bin/sh
# once.sh [PATTERN] - the crash sweep over mq-once: killed before and after every call,
# failing, and met by another one of the same key in each gap. What it said was done
# is not done again; nothing is forgotten that was known; nobody holds the key after
# it; and never do two run at once. SHORT=1: the form for CI.
# shellcheck disable=SC2034,SC2154 # ways.sh
# shellcheck disable=SC2016 # $ in quotes is for the inner shell
set -u
cd "$(dirname "$0")/../.." || exit 1

CHECK=$PWD/t/fault/check-once.sh
. t/fault/ways.sh

once='mq-once -s $D/spool'
effect='q key -- /bin/sh -c "echo effect >>effects"'
warm='mq-once q warm -- true; rm -f effects;'

all_ways 'once, a new queue' ':;' "$once $effect" 'again; whole'
all_ways 'once' "$warm" "$once $effect" 'again; whole'
all_ways 'once, it fails' "$warm" "$once q key -- false" \
	'RC=1; [ "$(handled | wc -l)" = 1 ] || bad "remembered"; rm -f effects; again; whole'
# what was known stays known, whatever happens to what replaces it
all_ways 'once -V, a newer one' "$warm mq-once -V 5 q key -- true;" \
	"$once -V 6 $effect" 'mq-once -V 5 q key -- sh -c "echo old >>effects"
	! grep -q old effects || bad "5 ran again"; ! ok || handled | grep -q "6 key" || bad "not 6"
	mq-once -W0 -V 6 q key -- sh -c "echo effect >>effects" || bad "again: $?"
	effects 1 2; ! ok || effects 1 1; whole'
all_ways 'once, after it was forgotten' "$warm mq-once -x 1ms q key -- true; sleep 0.01;" \
	"$once $effect" 'again; whole'
all_ways 'once --forget' "$warm mq-once q key -- true;" 'mq-once -s $D/spool --forget key q' \
	'! ok || handled | grep -q "key$" && ok && bad "known"; whole
	mq-once -W0 q key -- true || bad "again"'
all_ways 'sweep of keys' "$warm mq-once -x 1ms q key -- true; mq-once q other -- true
	mq-once q dead -- sh -c 'kill -9 \$PPID; sleep 1' 2>/dev/null; sleep 0.01;" \
	'mq-sweep -s $D/spool' 'handled | grep -q "other$" || bad "other is lost"
	handled | grep -q "warm$" || bad "warm is lost"; whole
	! handled | grep -q "key$" || bad "not swept"'

# the command says when it begins and when it ends
slow='q key -- /bin/sh -c "echo begin >>runs; sleep 0.02; echo end >>runs; echo effect >>effects"'
alone='! tr "\n" " " <runs | grep -q "begin begin" || bad "two at once"'
meanwhile 'once, the same meanwhile' "$warm" "$once $slow" "timeout 9 $once -W0 $slow" \
	"ok || bad \"once: \$RC\"; effects 1 1; $alone; whole"
meanwhile 'once, a sweep meanwhile' "$warm mq-once -x 1ms q key -- true; sleep 0.01;" \
	"$once $effect" 'mq-sweep -s $D/spool' 'ok || bad "once: $RC"; effects 1 1; again; whole'
meanwhile 'sweep, once meanwhile' "$warm mq-once -x 1ms q key -- true; sleep 0.01;" \
	'mq-sweep -s $D/spool' "$once $effect" \
	'ok || bad "sweep: $RC"; [ -z "$SC" ] || { effects 1 1; again; }; whole'
meanwhile 'forget, once meanwhile' "$warm mq-once q key -- true;" \
	'mq-once -s $D/spool --forget key q' "timeout 9 $once -W0 $effect" \
	'ok || bad "forget: $RC"; whole; mq-once -W0 q key -- true || bad again'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
