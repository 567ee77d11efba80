# What holds for every tool, and for the repository.
# shellcheck disable=SC2154 # bats sets them
# runs long
load helper

tools() {
	find "$MQ_BIN" -maxdepth 1 -type f -perm -100 -printf '%f\n' | sort
}

# each COMMAND ...: runs it with each tool's name; says which ones fail
each() {
	local tool bad=0 n=0
	for tool in $(tools); do
		n=$((n + 1))
		"$@" "$tool" || { echo "^ $tool"; bad=1; }
	done
	((n > 0 && bad == 0))
}

helps() {
	run -0 --separate-stderr "$1" --help
	assert_stderr '' && [[ $output == *"$1"* ]]
}
@test "every tool: --help on stdout, 0" {
	each helps
}

versioned() {
	run -0 --separate-stderr "$1" --version
	assert_stderr '' && assert_lines 1 && assert_match "^$1 .*[0-9]+\.[0-9]"
}
@test "every tool: --version, one line" {
	each versioned
}

refuses() {
	run -64 --separate-stderr "$1" --no-such-option
	assert_output '' && assert_match "^$1: .*no-such-option" "$stderr"
}
@test "every tool: an unknown option is 64, said on stderr" {
	each refuses
}

has_page() {
	[[ -f $ROOT/share/man/$1.1 ]] && grep -q "^\.Nm $1\$" "$ROOT/share/man/$1.1"
}
@test "every tool: a man page" {
	each has_page
}

parses() { # SHELL ARG ... TOOL
	local tool=${*: -1} shell=$1
	"$tool" --completions="$shell" >completion
	[[ -s completion ]] && "${@:1:$#-1}" completion
}
@test "every tool: completions that bash can read" {
	each parses bash -n
}
@test "install and uninstall: DESTDIR and PREFIX, nothing left behind" {
	[[ $MQ_BIN == "$ROOT/build/bin" ]] || skip 'only for the usual build'
	make -sC "$ROOT" install DESTDIR="$PWD/d" PREFIX=/p >/dev/null
	[[ -x d/p/bin/mq-put && -f d/p/share/bash-completion/completions/mq-put ]]
	[[ -f d/p/share/zsh/site-functions/_mq-put ]]
	[[ -f d/p/share/fish/vendor_completions.d/mq-put.fish ]]
	grep -q '^ExecStart=/p/bin/mq-sweep$' d/p/lib/systemd/system/mq-sweep.service
	[[ -f d/p/lib/sysusers.d/mq.conf && -x d/p/share/mq/examples/cron-drain.sh ]]
	make -sC "$ROOT" uninstall DESTDIR="$PWD/d" PREFIX=/p >/dev/null
	run -0 find d -type f
	assert_output ''
}

@test "README: its first two commands are what CI begins with" {
	run -0 awk '/^```/ {inside = !inside; next} inside {print} /^## /{n++} n > 1 {exit}' "$ROOT/README.md"
	local first=${lines[0]} second=${lines[1]}
	run -0 grep -E '^stage ' "$ROOT/.ci/run"
	assert_line 0 "stage $first"
	assert_line 1 "stage $second"
}

@test "README: the tour runs as it stands" {
	sed -n 's/^\$ //p' "$ROOT/README.md" | grep -v -e ' -w ' >tour
	[[ $(wc -l <tour) -ge 12 ]]
	run -0 timeout 60 bash -eu tour </dev/null
	assert_match 'resize cat.jpg'
	# the five that failed, and the one put off, if that was quick; on a slow
	# machine their tries may be over
	run -0 mq-ls --state ready,later,dead jobs
	((${#lines[@]} == 5 || ${#lines[@]} == 6))
}
