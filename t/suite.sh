#!/bin/sh
# suite.sh [FILE.bats ...] - runs the unit tests and t/*.bats, or these files
# alone. Its last line is `N passed, N failed`; 1 if anything failed.
# BUILD: where unit tests are; MQ_BIN: where the tools are; JOBS: files at once.
# RUNNER=bats: by bats, not by quick.bash, which does the same sooner. Signals that
# the caller ignores (nohup, a job in the background) are not: tests send them.
set -u
cd "$(dirname "$0")/.." || exit 1

BUILD=${BUILD:-build}
MQ_BIN=$(cd "${MQ_BIN:-$BUILD/bin}" && pwd) || exit 1
export MQ_BIN
case ${RUNNER:=quick} in
quick) RUNNER='bash t/quick.bash' ;;
bats) RUNNER='bats --formatter tap' ;;
esac
JOBS=${JOBS:-$(($(nproc) * 2))}
logs=$(mktemp -d)
log=$logs/unit
trap 'rm -rf "$logs"' EXIT
passed=0 failed=0

# counts `ok` and `not ok` in $log; skipped ones are neither
count() {
	ok=$(grep -c '^ok ' "$log")
	skipped=$(grep -ci '^ok .*# skip' "$log")
	bad=$(grep -c '^not ok ' "$log")
}
add() {
	passed=$((passed + ok - skipped))
	failed=$((failed + bad))
}

# A unit test prints TAP; one that prints none counts as one test. One that
# fails without saying which test did counts as a failure.
unit() {
	"$1" >"$log" 2>&1 </dev/null
	status=$?
	count
	[ $status = 0 ] || [ "$bad" != 0 ] || bad=1
	[ $((ok + bad)) != 0 ] || ok=1
	[ "$bad" = 0 ] || { echo "# $1: exit $status"; grep -v '^ok ' "$log"; }
	add
}

# one_file STATUS LOG: of a file that has ended. A test of its plan that said
# nothing is one that failed; what failed is shown with what it said.
one_file() {
	log=$2
	count
	plan=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$log" | head -n 1)
	missing=$((${plan:-0} - ok - bad))
	[ $missing -le 0 ] || bad=$((bad + missing))
	[ "$1" = 0 ] || [ "$bad" != 0 ] || bad=1
	awk '/^not ok /{p = 1} /^ok /{p = 0} p || /# skip/ || !/^(ok|1\.\.|#)/' "$log"
	[ $missing -le 0 ] || echo "# $missing tests did not run"
	[ "$skipped" = 0 ] || echo "# $skipped skipped"
	add
}

# those that say `# runs long` first, then by size: small ones shall end last
in_order() {
	grep -l '^# runs long' -- "$@"
	# shellcheck disable=SC2046,SC2012 # names without blanks
	ls -S -- $(grep -L '^# runs long' -- "$@") </dev/null
}
bats_files() {
	in_order "$@" | LOGS=$logs RUNNER=$RUNNER xargs -P "$JOBS" -I{} sh -c '
		log=$LOGS/$(basename "$1")
		env --default-signal $RUNNER "$1" >"$log" 2>&1 </dev/null
		echo $? >"$log.status"' sh {}
	for file; do
		log=$logs/$(basename "$file")
		one_file "$(cat "$log.status")" "$log"
	done
}

if [ $# = 0 ]; then
	for u in "$BUILD"/unit/test-*; do
		case $u in *.[do]) ;; *) [ ! -x "$u" ] || unit "$u" ;; esac
	done
	set -- t/*.bats
fi
[ ! -e "$1" ] || bats_files "$@"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
