#!/bin/sh
# sweep.sh [PATTERN] - the crash sweep: every change of state, of single messages
# and out of files of many, is killed before and after each state-changing call, its
# writes torn, its calls failed, what it left is met by a second fault, and another
# command runs in each gap. What was confirmed must be there, nothing be there or
# held twice, an error never look like success, and `mq-sweep --verify` be clean
# after one sweep.
# SHORT=1: the form for CI. PATTERN: the cases whose names match.
# shellcheck disable=SC2034,SC2154 # ways.sh
# shellcheck disable=SC2016 # $ in quotes is for the inner shell
set -u
cd "$(dirname "$0")/../.." || exit 1

CHECK=$PWD/t/fault/check.sh
. t/fault/ways.sh

# its own: which calls fail, in which form
# failing NAME SETUP RUN CHECK
failing() {
	if [ -n "$SHORT" ]; then
		case $1 in *singles*) return ;; esac
		set -- "$@" EIO
	else
		set -- "$@" ENOSPC,EIO,EMFILE,EINTR
		sweep "$1, short reads and writes" --short --setup "$use $2" --run "exec $3" \
			--check "$use $4"
		sweep "$1, failing for good" -e ENOSPC,EIO --sticky --setup "$use $2" \
			--run "exec $3" --check "$use $4"
	fi
	sweep "$1, failing" -e "$5" -s @err,faccessat2,openat2 --setup "$use $2" \
		--run "exec $3" --check "$use $4"
}
all_ways() {
	killed "$@"
	failing "$@"
}
# meanwhile NAME SETUP RUN OTHER CHECK
meanwhile() {
	sweep "$1" --setup "$use $2" --run "exec $3" --meanwhile "$4" --check "$use $5"
}

take='mq-take -s $D/spool'
singles='for i in 1 2 3; do mq-put -m $i q || exit; done >put;'
bulk='seq 5 | mq-put -l q >put;'

# --- put: what was printed is there, whole; what is there is a prefix of the input ----

stored='whole; confirmed "$OUT"; honest; prefix'
with_queue='mq-put -q -m x q && mq-take --ack q >/dev/null;'
for how in '-m hi' '-d 1h -m hi' '-p 0 -a x=y -x 1h -m hi'; do
	all_ways "put $how" "$with_queue echo hi >in" "mq-put -s \$D/spool $how q" "$stored"
done
all_ways 'put into a new spool' 'echo hi >in' 'mq-put -s $D/spool -m hi q' "$stored"
for how in '-l' '-b -l' '-S -l'; do
	all_ways "put $how" "$with_queue seq 20 >in" "mq-put -s \$D/spool $how q <in" "$stored"
done
[ -n "$SHORT" ] || all_ways 'put -l of several files' "$with_queue seq 2500 >in" \
	'mq-put -s $D/spool -l q <in' "$stored"
all_ways 'run (a put of a command)' "$with_queue" 'mq-run -s $D/spool q echo "two words"' \
	'whole; confirmed "$OUT"; honest; mq-take -s $D/spool q -- mq-run --worker >ran || bad "worker: $?"
	[ ! -s now ] || [ "$(cat ran)" = "two words" ] || bad "ran: $(cat ran)"'
for other in "$take q" 'mq-sweep -s $D/spool' 'mq-put -s $D/spool -m 2 q'; do
	meanwhile "put, $other meanwhile" ': >in' 'mq-put -s $D/spool -m 1 q' "$other >\$MOUT" \
		'whole; ok || bad "put: $RC"; confirmed "$OUT"; grep / "$MOUT" >other; held other'
done

# --- take: nothing is lost; what was printed is held, by one ---------------------------

for from in singles bulk; do
	[ $from = singles ] && setup=$singles || setup=$bulk
	for n in 1 3 5; do
		[ $from$n != singles5 ] || continue
		all_ways "take -n $n of $from" "$setup" "$take -n $n q" \
			"whole; are ready leased; told $n; ! ok || is $n leased"
	done
	all_ways "take --ack of $from" "$setup" "$take --ack -n 2 q" \
		'whole; for i in 1 2; do if ok; then is $i gone; else is $i ready leased gone; fi
		done; is 3 ready; ! ok || [ "$(cat "$OUT")" = "$(seq 2)" ] || bad "acked: $(cat "$OUT")"'
	old="$setup mq-take -n 2 -x 1ms q >taken; sleep 0.02;"
	all_ways "take of $from, leases ran out" "$old" "$take -n 3 q" \
		'whole; are ready leased; told 3'
	for other in "$take q" "$take -n 3 q" "$take --ack q" 'mq-sweep -s $D/spool' \
		'rm -f $D/spool/q/meter'; do
		for state in ready old; do
			[ $state = ready ] && s=$setup || s=$old
			[ -z "$SHORT" ] || [ $state = ready ] || continue
			meanwhile "take of $from ($state), $other meanwhile" "$s" "$take -n 2 q" \
				"$other >\$MOUT" 'whole; grep / "$MOUT" >other; held "$OUT" other
				case $(cat "$MOUT") in [0-9]) is $(cat "$MOUT") gone
					are_but $(cat "$MOUT") ready leased ;; *) are ready leased ;; esac
				[ -s "$OUT" ] || [ -s other ] || bad "nobody got one: $RC"'
		done
	done
done
all_ways 'take of what is due' 'seq 3 | mq-put -l -d 1ms q >put; sleep 0.02' "$take -n 2 q" \
	'whole; are ready leased; told 2'

# --- settling: what is said to be done is, the rest of the file is untouched ------------

for from in singles bulk; do
	[ $from = singles ] && setup=$singles || setup=$bulk
	setup="$setup mq-take -n 3 q >taken;"
	one="$setup sed -n 2p taken >two;"
	# the shell reads the receipts; what it does is not counted before the exec
	ack='mq-ack - <two'
	all='mq-ack - <taken'
	others='is 1 leased; is 3 leased;'
	for how in '' '--retry -d 1h' '--retry -d 0' '-u' '-x 1h' '-K -m no'; do
		case $how in
		'') to=gone ;; *1h) to=later ;; *0 | -u) to=ready ;; -K*) to=dead ;;
		esac
		case $how in -x*) to=leased more='; ! ok || far' ;; *) more= ;; esac
		all_ways "ack $how of one of $from" "$one" "${ack%% *} $how ${ack#* }" \
			"whole; $others if ok; then is 2 $to; else is 2 leased $to; fi $more"
		[ -z "$SHORT" ] || [ "$from" = bulk ] || continue
		all_ways "ack $how of many of $from" "$setup" "${all%% *} $how ${all#* }" \
			"whole; for i in 1 2 3; do if ok; then is \$i $to; else is \$i leased $to; fi $more; done
			! grep -q '^[^ ]* ready [1-9]' now || [ $to = ready ] || bad 'ready, but tried'"
	done
	all_ways "ack -t of one of $from" "$one" 'mq-ack -t other - <two' \
		"whole; $others"' c=$(cut -d " " -f 5 now now.other | grep -cx 2); [ $c = 1 ] ||
		bad "message 2 is there $c times"; ! ok || is 2 gone'
	all_ways "ack -t of many of $from" "$setup" 'mq-ack -t other - <taken' \
		'whole; n=$(cut -d " " -f 5 now now.other | sort | uniq -u | wc -l)
		[ $n = $(wc -l <put) ] || bad "not each once: $(cat now now.other)"
		! ok || [ "$(wc -l <now.other)" = 3 ] || bad "not moved"'
	meanwhile "ack of one of $from, the same meanwhile" "$one" "$ack" \
		'mq-ack - <two; echo $? >$MOUT' \
		"whole; $others is 2 gone"'; [ -z "$SC" ] ||
		case $RC$(cat $MOUT) in 01 | 10) ;; *) bad "acked: $RC $(cat $MOUT)" ;; esac'
	for other in "$take -n 2 q" 'mq-sweep -s $D/spool' 'sed -n 1p taken | mq-ack -u -' \
		'sed -n 3p taken | mq-ack -' 'mq-ack -x 1h - <taken' 'rm -f $D/spool/q/meter'; do
		case $other in *1p*) one_is='ready' ;; *) one_is=leased ;; esac
		case $other in *3p*) three_is='gone leased' ;; *) three_is=leased ;; esac
		for how in '' '--retry -d 1h' -u '-t other'; do
			case $how in '') to=gone ;; *1h) to=later ;; -u) to=ready ;; -t*) to=gone ;; esac
			case $how$other in -u*mq-take*) to='ready leased' ;; esac
			[ -z "$SHORT" ] || [ "$how$from" = bulk ] || continue
			meanwhile "ack $how of one of $from, $other meanwhile" "$one" \
				"mq-ack $how - <two" "$other >\$MOUT" \
				"whole; ok || bad \"ack: \$RC\"; is 2 $to; is 1 leased $one_is; is 3 $three_is
				grep / \$MOUT >other; held other"
		done
	done
done

# --- the sweep: leases that ran out come back, once; what is due is released -------------

for from in singles bulk; do
	[ $from = singles ] && setup=$singles || setup=$bulk
	setup="$setup mq-take -x 1ms -n 3 q >taken; sleep 0.02;"
	all_ways "sweep of $from" "$setup" 'mq-sweep -s $D/spool' 'whole; are ready'
	for other in "$take -n 3 q" 'mq-sweep -s $D/spool' 'mq-ack - <taken' \
		'mq-ack -x 1h - <taken'; do
		meanwhile "sweep of $from, $other meanwhile" "$setup" 'mq-sweep -s $D/spool' \
			"$other >\$MOUT; echo \$? >ended" 'whole; ok || bad "sweep: $RC"
			grep / "$MOUT" >other; held other
			case "'"$other"'" in mq-ack\ -\ *) are ready gone
				[ -z "$SC" ] || [ "$(cat ended)" != 0 ] || for i in 1 2 3; do is $i gone; done ;;
			*) are ready leased ;; esac'
	done
done
all_ways 'sweep of what is due' 'seq 3 | mq-put -l -d 1ms q >put; sleep 0.02' \
	'mq-sweep -s $D/spool' 'whole; are ready'

# --- removal, and a round through the dead letters ---------------------------------------

in_spool="sh -c 'MQ_SPOOL=\$D/spool; export MQ_SPOOL; read -r x <two && exec"
for from in singles bulk; do
	[ $from = singles ] && setup=$singles || setup=$bulk
	setup="$setup sed -n '2s/^/q:/p' put >two;"
	dead="$setup mq-take -n 3 q | mq-ack -K -m no -;"
	all_ways "rm of one of $from" "$setup" "$in_spool mq-rm \$x'" \
		'whole; are_but 2 ready; if ok; then is 2 gone; else is 2 ready gone; fi'
	all_ways "rm --ready of $from" "$setup" 'mq-rm -s $D/spool --ready q' \
		'whole; are ready gone; ! ok || are gone'
	all_ways "dlq retry of one of $from" "$dead" "$in_spool mq-dlq retry \$x'" \
		'whole; is 1 dead; is 3 dead; if ok; then is 2 ready; else is 2 ready dead; fi'
	all_ways "dlq retry --all of $from" "$dead" "$in_spool mq-dlq retry --all q'" \
		'whole; are ready dead; ! ok || are ready'
	all_ways "dlq rm of one of $from" "$dead" "$in_spool mq-dlq rm \$x'" \
		'whole; is 1 dead; is 3 dead; if ok; then is 2 gone; else is 2 dead gone; fi'
	all_ways "take by id of $from" "$setup" "$in_spool mq-take \$x'" \
		'whole; are_but 2 ready; is 2 ready leased; told 1'
	for other in "$take -n 3 q" 'mq-sweep -s $D/spool' "$in_spool mq-dlq retry \$x'"; do
		meanwhile "dlq retry of one of $from, $other meanwhile" "$dead" \
			"$in_spool mq-dlq retry \$x'" "$other >\$MOUT" \
			'whole; is 1 dead; is 3 dead; is 2 ready leased; grep / "$MOUT" >other; held other'
		meanwhile "rm of one of $from, $other meanwhile" "$setup" "$in_spool mq-rm \$x'" \
			"$other >\$MOUT" 'whole; are_but 2 ready leased
			if ok; then is 2 gone; else is 2 leased; fi; grep / "$MOUT" >other; held other'
	done
done

# --- the second fault: what a crash left half-way, met by another ---------------------

# half N COMMAND: a setup in which COMMAND died after its Nth link or rename
half() {
	cat <<-EOF
		export OUTER=\$D
		crash-sweep -s linkat,renameat2 --after --from $1 --to $1 --dir "\$D" \
			--setup '$use $bulk mq-take -n 4 q >taken; sed -n 2p taken >two;
				sed -n 3p taken >three' \
			--run 'exec $2' --check 'mv spool put taken two three "\$OUTER"' >half.log &&
		[ -d spool ] || { cat half.log; exit 1; }
		for f in taken two three; do
			sed "s|.*/spool/|\$D/spool/|" \$f >new; mv new \$f
		done
	EOF
}
retry='mq-ack --retry -d 1h - <two'
kept='whole; are ready leased later'
for died in 1 2 4 5; do
	[ -z "$SHORT" ] || [ $died -lt 4 ] || continue
	setup=$(half $died "$retry")
	all_ways "retry that died at $died, take" "$setup" "$take -n 5 q" "$kept; held \"\$OUT\""
	all_ways "retry that died at $died, sweep" "$setup" 'mq-sweep -s $D/spool' "$kept"
	all_ways "retry that died at $died, ack of its neighbour" "$setup" 'mq-ack - <three' \
		'whole; are_but 3 ready leased later; if ok; then is 3 gone; else is 3 leased gone; fi'
	all_ways "retry that died at $died, the same again" "$setup" "$retry" \
		"$kept; ! ok || is 2 later"
	for other in "$take q" 'mq-sweep -s $D/spool' 'mq-ack -x 1h - <three'; do
		meanwhile "retry that died at $died, take, $other meanwhile" "$setup" \
			"$take -n 5 q" "$other >\$MOUT" "$kept; grep / \$MOUT >other; held \"\$OUT\" other"
	done
done

echo "$passed passed, $failed failed"
[ $failed = 0 ]
