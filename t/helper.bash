# helper.bash - what every t/*.bats loads: a spool of its own, the tools under
# test first in PATH, and a few asserts that say what was wanted and what came.
#
#	load helper
#	@test "mq-take: takes what was put" {
#		mq-put -q -m hello q
#		run -0 mq-take --ack q
#		assert_output hello
#	}
#
# `! cmd` in the middle of a test asserts nothing: write `run -1 cmd`.
# shellcheck shell=bash
# shellcheck disable=SC2154 # bats sets output, lines, status and stderr

bats_require_minimum_version 1.5.0

if [[ -z ${MQ_HELPED:-} ]]; then # each test loads this: once is enough
	MQ_HELPED=1
	ROOT=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
	MQ_BIN=$(cd "${MQ_BIN:-$ROOT/build/bin}" && pwd)
	PATH=$MQ_BIN:$PATH
fi
export MQ_HELPED
export ROOT MQ_BIN PATH

# A file with a setup() or teardown() of its own calls these in them.
mq_setup() {
	export MQ_SPOOL=$BATS_TEST_TMPDIR/spool
	export TZ=UTC LC_ALL=C.UTF-8
	unset XDG_STATE_HOME
	cd "$BATS_TEST_TMPDIR" || return
	background_pids=()
}
mq_teardown() {
	local pid IFS=,
	# timeout(1) would leave its command behind
	((!${#background_pids[@]})) || pkill -KILL -P "${background_pids[*]}" || :
	for pid in "${background_pids[@]}"; do
		kill -KILL "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
}
setup() { mq_setup; }
teardown() { mq_teardown; }

# background COMMAND ...: starts it, its process id in $pid; what is still
# there when the test ends is killed. Redirect after it: background cat >f
background() {
	"$@" <&0 3>&- & # a redirection alone: else it reads /dev/null
	pid=$!
	background_pids+=("$pid")
}

# wait_for [-t SECONDS] COMMAND ...: until it succeeds, 10 seconds at most
wait_for() {
	local limit=10 end
	if [[ $1 == -t ]]; then
		limit=$2
		shift 2
	fi
	end=$((SECONDS + limit + 1))
	until "$@" >/dev/null 2>&1; do
		if ((SECONDS >= end)); then
			fail "waited ${limit}s in vain for: $*"
			return
		fi
		sleep 0.02
	done
}
# for wait_for: the file has (at least N) lines
has_line() { grep -qxF -e "$2" "$1"; }
has_lines() { (($(wc -l <"$1") >= $2)); }
is_gone() { ! kill -0 "$1" 2>/dev/null; }

# plain COMMAND ...: without root's power to open what its mode forbids
plain() {
	if [[ $EUID == 0 ]]; then
		setpriv --bounding-set=-dac_override,-dac_read_search "$@"
	else
		"$@"
	fi
}

fail() {
	printf '%s\n' "$*" >&2
	return 1
}

# assert_equal GOT WANTED [WHAT]
assert_equal() {
	[[ $1 == "$2" ]] && return
	printf '%s differs (- wanted, + got):\n' "${3:-value}" >&2
	diff -u --label wanted --label got <(printf '%s\n' "$2") \
		<(printf '%s\n' "$1") | tail -n +3 | cat -v >&2
	return 1
}

# All these look at the last `run`.
assert_status() {
	[[ $status == "$1" ]] && return
	printf 'exit status: wanted %s, got %s; its output:\n%s\n' "$1" \
		"$status" "$output" >&2
	[[ -z ${stderr:-} ]] || printf 'stderr:\n%s\n' "$stderr" >&2
	return 1
}
# the whole output; with `-` what is wanted comes on standard input
assert_output() {
	if [[ $1 == - ]]; then
		assert_equal "$output" "$(cat)" output
	else
		assert_equal "$output" "$1" output
	fi
}
# after run --separate-stderr
assert_stderr() { assert_equal "$stderr" "$1" stderr; }
# one of the lines; with a number first, that one (0 is the first, -1 the last)
assert_line() {
	local line
	if (($# == 2)); then
		assert_equal "${lines[$1]}" "$2" "line $1"
		return
	fi
	for line in "${lines[@]}"; do
		[[ $line != "$1" ]] || return 0
	done
	fail "no such line: $1"$'\n'"in:"$'\n'"$output"
}
# assert_match REGEX [TEXT]: in the output, or TEXT
assert_match() {
	[[ ${2-$output} =~ $1 ]] || fail "does not match $1:"$'\n'"${2-$output}"
}
assert_lines() { assert_equal "${#lines[@]}" "$1" 'number of lines'; }
