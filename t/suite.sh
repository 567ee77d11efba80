#!/bin/sh
# suite.sh [FILE.bats ...] - runs the unit tests and t/*.bats, or these files
# alone. Its last line is `N passed, N failed`; 1 if anything failed.
# BUILD: where unit tests are; MQ_BIN: where the tools are; JOBS: at once.
set -u
cd "$(dirname "$0")/.." || exit 1

BUILD=${BUILD:-build}
MQ_BIN=$(cd "${MQ_BIN:-$BUILD/bin}" && pwd) || exit 1
export MQ_BIN
JOBS=${JOBS:-$(($(nproc) * 2))}
mkdir -p "$BUILD/parallel"
touch "$BUILD/parallel/will-cite"
PARALLEL_HOME=$(cd "$BUILD/parallel" && pwd)
export PARALLEL_HOME
log=$(mktemp)
trap 'rm -f "$log"' EXIT
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

# shellcheck disable=SC2086 # $jobs is words or nothing
bats_files() {
	jobs="--jobs $JOBS"
	command -v parallel >/dev/null || jobs=
	bats --formatter tap $jobs "$@" >"$log" 2>&1 </dev/null
	status=$?
	count
	plan=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$log" | head -n 1)
	missing=$((${plan:-0} - ok - bad))
	[ $missing -le 0 ] || bad=$((bad + missing))
	[ $status = 0 ] || [ "$bad" != 0 ] || bad=1
	# failures with what they say, and the skipped ones
	awk '/^not ok /{p = 1} /^ok /{p = 0} p || /# skip/ || !/^(ok|1\.\.|#)/' "$log"
	[ "$missing" -le 0 ] || echo "# $missing tests did not run"
	[ "$skipped" = 0 ] || echo "# $skipped skipped"
	add
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
