# The pages say what the tools take, and what they may exit with.
# shellcheck disable=SC2154 # bats sets them
load helper

# built PAGES: prints the tools that have been built and have a page
built() {
	local page tool
	for page in "$ROOT"/share/man/*.1; do
		tool=$(basename "$page" .1)
		[[ ! -x $MQ_BIN/$tool ]] || echo "$tool"
	done
}

# The verbs of a tool, from its --help. Those of mq are tools.
verbs() {
	[[ $1 == mq ]] || "$1" --help |
		awk '/^  [a-z]+  / && seen {print $1} /--version/ {seen = 1}'
}

# each tool's --help, and those of its verbs, once
setup_file() {
	local tool verb
	for tool in $(built); do
		{
			"$tool" --help
			for verb in $(verbs "$tool"); do
				"$tool" "$verb" --help
			done
		} >"$BATS_FILE_TMPDIR/$tool"
	done
}
helps() { cat "$BATS_FILE_TMPDIR/$1"; }

# -x and --long of all lines that describe an option
in_help() {
	helps "$1" | sed -nE 's/^ +(-.), (--[a-z-]+).*/\1\n\2/p; s/^ +(--[a-z-]+).*/\1/p' |
		sort -u
}
in_page() {
	awk '$1 == ".It" && $2 == "Fl" {
		for (i = 2; i < NF; i++)
			if ($i == "Fl")
				print "-" $(i + 1)
	}' "$ROOT/share/man/$1.1" | sort -u
}

section() { # PAGE NAME
	awk -v name="$2" '/^\.Sh / {on = substr($0, 5) == name} on' "$1"
}

@test "man pages: they document the options of --help, and no other" {
	local tool bad=0
	for tool in $(built); do
		diff --label "--help of $tool" --label "$tool.1" \
			<(in_help "$tool") <(in_page "$tool") || bad=1
	done
	((bad == 0))
}

@test "man pages: a verb has its own heading" {
	local tool verb
	for tool in $(built); do
		for verb in $(verbs "$tool"); do
			grep -qE "^\.(Ss|It) .*$verb" "$ROOT/share/man/$tool.1" ||
				fail "$tool.1: no $verb"
		done
	done
}

@test "man pages: an option with an argument has one in the page" {
	local tool bad=0
	for tool in $(built); do
		diff <(helps "$tool" | sed -nE 's/^ +(-., )?(--[a-z-]+) [A-Z0-9].*/\2/p' | sort -u) \
			<(sed -nE 's/^\.It .*Fl (-[a-z-]+) Ar .*/-\1/p' "$ROOT/share/man/$tool.1" |
				sort -u) || bad=1
	done
	((bad == 0))
}

statuses() { section "$1" 'EXIT STATUS' | sed -nE 's/^\.It ([0-9]+)$/\1/p'; }
@test "man pages: exit statuses are the common ones, in order, 0 and 64 among them" {
	local page all common
	common=$(statuses "$ROOT/share/man/mq.7")
	for page in "$ROOT"/share/man/*.1; do
		all=$(statuses "$page")
		assert_equal "$all" "$(sort -nu <<<"$all")" "$page"
		assert_equal "$(grep -vxF "$common" <<<"$all" || :)" '' "$page"
		grep -qx 0 <<<"$all" && grep -qx 64 <<<"$all"
	done
}

@test "man pages: the same sections in the same order" {
	local page
	for page in "$ROOT"/share/man/mq-*.1; do
		run -0 sed -n 's/^\.Sh //p' "$page"
		assert_equal "$(grep -vx FILES <<<"$output")" 'NAME
SYNOPSIS
DESCRIPTION
ENVIRONMENT
EXIT STATUS
EXAMPLES
SEE ALSO' "$page"
	done
}

@test "man pages: mq(7) and each tool's page know of each other" {
	local page
	for page in "$ROOT"/share/man/mq-*.1; do
		grep -q "^\.It Xr $(basename "$page" .1) 1" "$ROOT/share/man/mq.7"
		grep -q '^\.Xr mq 7' "$page"
	done
}
