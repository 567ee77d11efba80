# The examples in the manual pages run. See man.awk for what counts as one.
# shellcheck disable=SC2154 # bats sets them
# runs long
load helper

# tools_there SCRIPT: all tools that it runs have been built
tools_there() {
	local tool
	while read -r tool; do
		[[ ! -e $ROOT/share/man/$tool.1 || -x $MQ_BIN/$tool ]] || return
	done < <(grep -owE 'mq-[a-z]+' "$1" | sort -u)
}

# What an example finds in its directory, and in PATH.
prelude() {
	local stub
	seq -f 'job %g' 10 >jobs.txt
	printf 'to: %s\n' anna ben carla >mail.txt
	: >cat.jpg
	: >dog.jpg
	for stub in work send resize; do
		printf '#!/bin/sh\necho "%s $*"\n[ $# -gt 0 ] || cat\n' "$stub" >"$stub"
		chmod +x "$stub"
	done
}

# example SCRIPT: in a directory and a spool of its own
example() {
	local status=0 dir=$BATS_TEST_TMPDIR/run
	rm -rf "$dir" && mkdir "$dir" && cd "$dir" && prelude || return
	background env MQ_SPOOL="$dir/spool" HOME="$dir" timeout 30 sh -eu "$1" \
		</dev/null >../printed 2>&1
	wait "$pid" || status=$?
	kill -KILL -- "-$pid" 2>/dev/null || :   # what it left behind
	[[ $status != 0 ]] || return 0
	printf '%s: exit %s\n' "$(basename "$1" .sh)" "$status"
	cat "$1" <(echo 'printed:') ../printed
	return 1
}

# examples PAGE ...
examples() {
	local script bad=0
	mkdir scripts
	awk -v dir="$PWD/scripts" -f "$ROOT/t/man.awk" "$@"
	for script in "$PWD"/scripts/*.sh; do
		tools_there "$script" || continue
		example "$script" || bad=1
	done
	((bad == 0))
}

@test "man pages: the examples of the tools run" {
	examples "$ROOT"/share/man/*.1
}

@test "man pages: the tutorial runs" {
	examples "$ROOT/share/man/mq.7"
}

@test "man pages: each tool has an example, and the tutorial has eight" {
	local page
	mkdir d
	awk -v dir=d -f "$ROOT/t/man.awk" "$ROOT"/share/man/*.[17]
	for page in "$ROOT"/share/man/*.1; do
		[[ -e d/${page##*/}.01.sh ]] || fail "no example in $page"
	done
	[[ -e d/mq.7.08.sh ]]
}

@test "man pages: mandoc finds nothing wrong" {
	run -0 mandoc -Tlint -Wwarning "$ROOT"/share/man/*
	assert_output ''
}
