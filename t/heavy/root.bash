# root.bash - for tests with other users and mounts: a directory and tools that all can
# reach in $here; what a test notes in $mounted is unmounted after it.
# shellcheck shell=bash
# shellcheck disable=SC2154 # bats sets them
load ../helper

setup() {
	mq_setup
	[[ $EUID == 0 ]] || skip 'needs root'
	here=$(mktemp -d /tmp/mq-heavy.XXXXXX)
	chmod 755 "$here"
	cp -r "$MQ_BIN" "$here/bin" # where other users can reach it
	PATH=$here/bin:$PATH
	export MQ_SPOOL=$here/spool
	cd "$here" || return
}
teardown() {
	mq_teardown
	cd /
	[[ -z ${mounted:-} ]] || umount -l "$mounted"
	[[ -z ${here:-} ]] || rm -rf "$here"
}

# as USER GROUP COMMAND ...: numbers, nobody's groups else
as() { setpriv --reuid="$1" --regid="$2" --clear-groups "${@:3}"; }
