#!/bin/sh
# groups.sh [PATTERN] - the crash sweep over ordering groups, limits and idempotency
# keys: each change is killed before and after each state-changing call, its calls
# failed, and another command of the same key runs in each gap. After one sweep
# `mq-sweep --verify` must be clean, no group stuck, nothing out of order, lost or
# twice, a repeat of a put with -i have put exactly one, and a limit be exact.
# SHORT=1: the form for CI. PATTERN: the cases whose names match.
# shellcheck disable=SC2016 # $ in quotes is for the inner shell
# shellcheck disable=SC2034,SC2154 # ways.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
CHECK=$PWD/t/fault/check-groups.sh
. t/fault/ways.sh

put='mq-put -s $D/spool'
setup='groups >put;'
held="$setup mq-take -x 1h q >taken;"
rest='b2 a3 b4 a5 a6 a7'

# what SHORT=1 only kills
some_ways() {
	if [ -n "$SHORT" ]; then killed "$@"; else all_ways "$@"; fi
}

# --- put -k: behind the others of its key, or the first of it --------------------------

all_ways 'put into a group' "$setup" "$put -k a -m a8 q" \
	'whole; honest a8; drained_whole "$all $(! ok || echo a8)" a8'
all_ways 'put of a new group' "$setup" "$put -k c -m c1 q" \
	'whole; honest c1; drained_whole "$all $(! ok || echo c1)" c1'
some_ways 'bulk put into a group' "$setup seq -f a%.0f 8 10 >in;" "$put -l -k a q <in" \
	'whole; honest a8; drained_whole "$all $(! ok || cat in)" "a8 a9 a10"'
all_ways 'bulk put of a new group' "$setup seq -f c%.0f 3 >in;" "$put -l -k c q <in" \
	'whole; honest c1; drained_whole "$all $(! ok || cat in)" "c1 c2 c3"'
some_ways 'put with a delay' "$setup" "$put -d 1ms -k a -m a8 q" \
	'sleep 0.01; whole; honest a8; drained_whole "$all $(! ok || echo a8)" a8'

# --- put -i: whatever became of the first, after a repeat there is one --------------------

repeat='mq-put -i once -m c1 q >again || bad "repeat: $?"
	! ok || cmp -s again "$OUT" || bad "another id: $(cat again "$OUT")"'
for how in '' '-k c' '--unique'; do
	[ -z "$SHORT" ] || [ "$how" != --unique ] || continue
	all_ways "put -i $how" "$setup" "$put -i once $how -m c1 q" \
		"$repeat; whole; drained_whole \"\$all c1\""
	[ -z "$SHORT" ] || continue
	killed "put -i $how, a sweep before the repeat" "$setup" "$put -i once $how -m c1 q" \
		"whole; $repeat; whole; drained_whole \"\$all c1\""
done
some_ways 'repeat of put -i' "$setup mq-put -i once -m c1 q >first;" "$put -i once -m c1 q" \
	'! ok || cmp -s first "$OUT" || bad "another id"; whole; drained_whole "$all c1"'

# --- limits: what is refused, dropped or counted -----------------------------------------

limited="$setup mq-conf q limit=9;"
full="$setup mq-conf q limit=7;"
drop="$setup mq-conf q limit=7 full=drop-oldest;"
all_ways 'put into a limited queue' "$limited" "$put -k a -m a8 q" \
	'whole; honest a8; held 9'
some_ways 'bulk put into a limited queue' "$limited seq -f c%.0f 4 >in;" "$put -l q <in" \
	'whole; ! ok || bad "0, but full"; held 9'
some_ways 'put into a full queue' "$full" "$put -m c1 q" \
	'whole; at c1 gone; ok && bad "0, but full"; held 7; drain q; in_order'
all_ways 'put that drops the oldest' "$drop" "$put -k c -m c1 q" \
	'whole; honest c1; refill 7; whole; drain q; in_order'
some_ways 'put that drops the oldest, alone' "$drop" "$put -k c -m c1 q" \
	'whole; drained_whole "'"$rest"' $(! ok || echo c1)" "a1 c1"'
for how in '' '--retry -d 1h' '-K -m no' '-u'; do
	[ -z "$SHORT" ] || [ "$how" = '' ] || continue
	some_ways "ack $how in a limited queue" "$held mq-conf q limit=9;" \
		"mq-ack $how - <taken" 'whole; held 9'
done

# --- a head that ends, returns or waits -------------------------------------------------------

rest='b2 a3 b4 a5 a6 a7'
all_ways 'ack of a head' "$held" 'mq-ack - <taken' \
	'whole; if ok; then at a1 gone; at a3 ready; else at a1 gone leased; fi
	drained_whole "'"$rest"'" a1'
for how in '--retry -d 1h' '--retry -d 0' '-u' '-x 2h'; do
	[ -z "$SHORT" ] || case $how in *1h | -u) ;; *) continue ;; esac
	all_ways "ack $how of a head" "$held" "mq-ack $how - <taken" \
		'whole; at a1 leased later ready; at a3 blocked; drained_whole "$all"'
done
all_ways 'bury of a head' "$held" 'mq-ack -K -m no - <taken' \
	'whole; if ok; then at a1 dead; at a3 ready; else at a1 dead leased; fi
	drained_whole "'"$rest"'" a1'
some_ways 'take --ack of a head' "$setup" 'mq-take -s $D/spool --ack q' \
	'whole; ! ok || at a1 gone; drain q; in_order; came "'"$rest"'" a1'
some_ways 'take --ack of all' "$setup" 'mq-take -s $D/spool --ack -n 99 q' 'printed'
some_ways 'take --ack into a full disk' "$setup" \
	'mq-take -s $D/spool --ack -n 99 q >/dev/full' 'printed'
some_ways 'take by id of a dead one' "$setup id_of 1 >ids; mq-take q | mq-ack -K -
	mq-take --ack -n 99 q >worked;" 'mq-take -s $D/spool $(cat ids)' \
	'whole; if ok; then at a1 leased; else at a1 leased dead; fi; drain q
	came "$(! ok || echo a1)" a1'
all_ways 'expiry of a head' "$setup mq-take -x 1ms q >taken; sleep 0.01;" \
	'mq-sweep -s $D/spool' 'whole; at a1 ready; at a3 blocked; drained_whole "$all"'
some_ways 'expiry of a head for the last time' \
	"$setup mq-conf q tries=1; mq-take -x 1ms q >taken; sleep 0.01;" \
	'mq-sweep -s $D/spool' 'whole; at a1 dead; at a3 ready; drained_whole "'"$rest"'"'
all_ways 'TTL of a head' \
	"printf '%s\n' '{\"key\":\"a\",\"body\":\"a0\",\"expires\":\"5ms\"}' | mq-put -J q >old
	$setup sleep 0.01;" 'mq-sweep -s $D/spool' \
	'whole; at a0 gone; at a1 ready; drained_whole "$all"'
some_ways 'TTL of a head, found by a take' \
	"printf '%s\n' '{\"key\":\"a\",\"body\":\"a0\",\"expires\":\"5ms\"}' | mq-put -J q >old
	$setup sleep 0.01;" 'mq-take -s $D/spool q' \
	'whole; at a0 gone; drained_whole "$all"'
for one in 1a1 3a3 6a6; do
	body=${one#?}
	some_ways "rm of $body" "$setup id_of ${one%??} >ids;" 'mq-rm -s $D/spool - <ids' \
		"whole; ! ok || at $body gone
		drained_whole \"\$(echo \$all | sed s/$body//)\" $body"
done
all_ways 'dead letter that joins again' "$setup id_of 1 >ids; mq-take q | mq-ack -K -;" \
	'mq-dlq -s $D/spool retry $(head -n 1 ids)' \
	'whole; at a3 ready; if ok; then at a1 blocked; else at a1 dead blocked; fi
	drain q; in_order a1; came "'"$rest"' $(! ok || echo a1)" a1'
dead='mq-put -k c -m c1 q >put; id_of 1 >ids; mq-take q | mq-ack -K -;'
some_ways 'dead letter of a group of its own' "$dead" \
	'mq-dlq -s $D/spool retry $(head -n 1 ids)' \
	'whole; drained_whole "$(! ok || echo c1)" c1'
for other in '' 'mq-put -q -k a -m a0 other;'; do
	some_ways "ack -t of a head, ${other:+a group there}" "$held $other" \
		'mq-ack -t other - <taken' \
		'whole; if ok; then at a1 gone; at a3 ready; else at a1 gone leased; fi
		drained_whole "'"$rest"'" a1; cp drained one
		[ ! -d spool/other ] || { drain other; in_order; cat drained >>one; }
		# it is put there, then acked here
		case $RC$(grep -cx a1 one) in 01 | [1-9]*[12]) ;; *) bad "a1: $(cat one)" ;; esac'
done

# --- two at once ------------------------------------------------------------------------------

late="$setup mq-take -x 1ms q >taken; sleep 0.01;"
for other in "$put -q -k a -m a9 q" 'mq-take -s $D/spool -x 1h q' 'mq-ack - <taken' \
	'mq-sweep -s $D/spool' "$put -q -k a -l q <nines"; do
	case $other in
	*a9*) more=a9 ;; *nines*) more='a9 a9' ;; *) more= ;;
	esac
	[ -z "$SHORT" ] || case $other in *nines | *ack*) continue ;; esac
	check="whole; drain q; in_order; came \"$rest\" 'a1 a8 a9 c1'"
	n="$held printf 'a9\n' >nines;"
	meanwhile "put into a group, $other meanwhile" "$n" "$put -q -k a -m a8 q" \
		"$other >\$MOUT" "whole; drain q; in_order 'a[89]'; more='${more%% *}'
		[ -n \"\$SC\" ] || more=; came \"$rest a8 \$more\" a1"
	for how in '' '--retry -d 1h' '-K' '-u'; do
		[ -z "$SHORT" ] || [ "$how" != -u ] || continue
		meanwhile "ack $how of a head, $other meanwhile" "$n" "mq-ack $how - <taken" \
			"$other >\$MOUT" "$check; ! grep -q . \$MOUT || [ \$(wc -l <\$MOUT) = 1 ]"
	done
	meanwhile "take after a lease ran out, $other meanwhile" "$late printf 'a9\n' >nines;" \
		'mq-take -s $D/spool -x 1h q' "$other >\$MOUT" \
		"cat \$OUT \$MOUT | grep / | sed 's|.*/||; s|,n.*||' | sort | uniq -d | grep . &&
			bad 'held twice'; $check"
	meanwhile "sweep of a head, $other meanwhile" "$late printf 'a9\n' >nines;" \
		'mq-sweep -s $D/spool' "$other >\$MOUT" "$check"
	[ -z "$SHORT" ] || continue
	meanwhile "ack of the only one, $other meanwhile" \
		"mq-put -k a -m a1 q >put; mq-take -x 1h q >taken; printf 'a9\n' >nines;" \
		'mq-ack - <taken' "$other >\$MOUT" "whole; drain q; in_order; more='${more%% *}'
		[ -n \"\$SC\" ] || more=; came \"\$more\" a1"
	meanwhile "put of a new group, $other meanwhile" "$n" "$put -q -k c -m c1 q" \
		"$other >\$MOUT" "$check; grep -qx c1 drained || bad 'lost: c1'"
done
meanwhile 'put -i, the same meanwhile' "$setup" "$put -i once -m c1 q" \
	"$put -i once -m c1 q >\$MOUT" 'ok || bad "put: $RC"
	[ -z "$SC" ] || cmp -s "$OUT" "$MOUT" || bad "two ids: $(cat "$OUT" "$MOUT")"; whole
	drained_whole "$all c1"'
meanwhile 'put -i, a sweep meanwhile' "$setup" "$put -i once -m c1 q" \
	'mq-sweep -s $D/spool >$MOUT' 'ok || bad "put: $RC"; whole; drained_whole "$all c1"'
meanwhile 'put into the last place, the same meanwhile' "$setup mq-conf q limit=8;" \
	"$put -m c1 q" "$put -m c2 q >\$MOUT 2>&1" 'whole; held 8
	[ "$(grep -c " c[12]$" now)" = 1 ] || bad "$(cat now)"'
meanwhile 'put that drops the oldest, a take meanwhile' "$drop" "$put -m c1 q" \
	'mq-take -s $D/spool -x 1h q >$MOUT' 'whole; ok || bad "put: $RC"
	[ ! -s "$MOUT" ] || mq-ack -x 1m - <"$MOUT" || bad "dropped, though leased"
	drain q; in_order; [ "$(wc -l <drained)" = 7 ] || bad "$(cat drained)"'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
