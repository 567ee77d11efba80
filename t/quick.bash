#!/bin/bash
# quick.bash FILE.bats - runs the tests of one file as bats does and prints TAP, for a
# tenth of the cost: a test is a fork of this shell, where bats starts a shell and four
# tools for it (175 ms of CPU here, half of the suite's time). It knows what our tests
# use: @test on one line, load, run [-N | !] [--separate-stderr], skip, setup, teardown,
# setup_file, BATS_TEST_TMPDIR and BATS_FILE_TMPDIR; what else bats can is for bats:
# make test RUNNER=bats.
# shellcheck disable=SC2034 # the tests read status, lines, stderr
set -u
file=$1
here=$(cd "$(dirname "$file")" && pwd) || exit 1
BATS_FILE_TMPDIR=$(mktemp -d) || exit 1
export BATS_FILE_TMPDIR BATS_TEST_TMPDIR
trap 'rm -rf "$BATS_FILE_TMPDIR"' EXIT
exec 3>&1

load() {
	local name=$1
	[[ $name == /* ]] || name=$here/$1
	[[ -e $name ]] || name+=.bash
	# shellcheck disable=SC1090
	source "$name"
}
bats_require_minimum_version() { :; }
setup() { :; }
teardown() { :; }
setup_file() { :; }

# run [-N | !] [--separate-stderr] COMMAND ...: its status must be N, or not 0
run() {
	local wanted='' apart='' flags=$-
	while :; do
		case $1 in
		-[0-9]*) wanted=${1#-} ;;
		!) wanted=bad ;;
		--separate-stderr) apart=1 ;;
		*) break ;;
		esac
		shift
	done
	set +eET
	status=0 stderr=''
	if [[ -n $apart ]]; then
		output=$("$@" 2>"$BATS_TEST_TMPDIR.stderr") || status=$?
		stderr=$(<"$BATS_TEST_TMPDIR.stderr")
	else
		output=$("$@" 2>&1) || status=$?
	fi
	IFS=$'\n' read -r -d '' -a lines <<<"$output"
	[[ $flags != *e* ]] || set -eET
	[[ $wanted != bad || $status == 0 ]] || wanted=$status
	[[ -z $wanted || $status == "$wanted" ]] && return
	printf 'run %s: wanted status %s, got %s; its output:\n%s\n' "$*" "$wanted" \
		"$status" "$output"
	[[ -z $stderr ]] || printf 'its stderr:\n%s\n' "$stderr"
	return 1
}
skip() {
	skipped="# skip $*"
	exit 0
}

# name_tests: the file on standard output, each test a function test_N with its name
# in names[N]; line numbers stay.
name_tests() {
	awk '/^@test "/ {
		n++
		match($0, /^@test "([^"\\]|\\.)*"/)
		name = substr($0, 7, RLENGTH - 6)
		$0 = "names[" n "]=" name "; test_" n "()" substr($0, RLENGTH + 1)
	}
	{ print }' "$file"
}

# where in the file the test is: the first line of its frames that is no helper's
note_line() {
	local i
	for ((i = 1; i < ${#BASH_SOURCE[@]}; i++)); do
		[[ ${BASH_SOURCE[i]} != "$source" ]] || break
	done
	failed_at=${BASH_LINENO[i - 1]:-?} failed_command=$1
}

ended() {
	local code=$1
	trap - ERR
	if [[ -z $torn_down ]]; then
		torn_down=1
		teardown || code=1
	fi
	if [[ -n $skipped ]]; then
		echo "ok $number $name $skipped" >&3
	elif [[ -n $completed && $code == 0 ]]; then
		echo "ok $number $name" >&3
	else
		echo "not ok $number $name"
		echo "# ($file, line $failed_at: $failed_command)"
		sed 's/^/# /' "$BATS_TEST_TMPDIR.out"
	fi >&3
	exit 0
}

one_test() {
	number=$1 name=$2
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR/test/$number
	mkdir "$BATS_TEST_TMPDIR"
	completed='' torn_down='' skipped='' failed_at='?' failed_command=''
	(
		trap 'ended $?' EXIT
		trap 'note_line "$BASH_COMMAND"' ERR
		set -eET +u
		setup
		"test_$number"
		completed=1
		torn_down=1
		teardown
	) >"$BATS_TEST_TMPDIR.out" 2>&1
}

names=()
source=$BATS_FILE_TMPDIR/source
mkdir "$BATS_FILE_TMPDIR/test"
name_tests >"$source"
set +u
# shellcheck disable=SC1090
source "$source"
echo "1..${#names[@]}"
setup_file || exit 1
for number in "${!names[@]}"; do
	one_test "$number" "${names[number]}"
done
