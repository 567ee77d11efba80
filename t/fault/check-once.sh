# check-once.sh - what the checks of once.sh share.
# shellcheck shell=sh
# shellcheck disable=SC2034 # for the checks
. "${CHECK%/*}/case.sh"

handled() { readlink spool/q/once/??/* 2>/dev/null; }
# Nothing is left of a dead one, nothing is amiss.
whole() {
	mq-sweep || bad "sweep: $?"
	mq-sweep --verify || bad 'verify'
	! find spool/q/once/run -mindepth 1 2>/dev/null | grep . || bad 'left in run/'
	[ -z "$(find spool/q/once -name '*.new' 2>/dev/null)" ] || bad 'a .new is left'
}
# effects MIN MAX: so many lines
effects() {
	n=$(cat effects 2>/dev/null | wc -l)
	[ "$n" -ge "$1" ] && [ "$n" -le "$2" ] || bad "$n effects, not $1 to $2"
}
# The same again, at once: nobody holds the key. It has an effect unless the first one
# is known; after it there is one effect, or two where the first was not told of.
again() {
	known=$(mq-once --list q | cut -f1 | grep -x key)
	before=$(cat effects 2>/dev/null | wc -l)
	mq-once -W0 "$@" q key -- sh -c 'echo effect >>effects' || bad "again: $?"
	after=$(wc -l <effects)
	if ok || [ -n "$known" ]; then
		[ "$after" = 1 ] || bad "$after effects, and it was known"
	else
		[ "$after" = $((before + 1)) ] || bad "it did not run again"
	fi
	effects 1 2
	mq-once -W0 "$@" q key -- sh -c 'echo effect >>effects' || bad "third: $?"
	[ "$(wc -l <effects)" = "$after" ] || bad 'a third effect'
}
