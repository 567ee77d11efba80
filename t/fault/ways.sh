# ways.sh - sourced by the sweeps (sweep.sh, groups.sh): the ways in which a command is
# broken or met. $CHECK is what setups and checks have first; SHORT=1 is for CI.
# The first argument of the script is a pattern: the cases whose names match.
# shellcheck shell=sh

BUILD=${BUILD:-build}
PATH=$(cd "${MQ_BIN:-$BUILD/bin}" && pwd):$(cd "$BUILD/fault" && pwd):$PATH
SHORT=${SHORT:-}
export PATH CHECK
pattern=${1:-}
passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
use='. "$CHECK";'

# sweep NAME OPTION ...: one sweep, its counts added
sweep() {
	name=$1
	shift
	case $name in *"$pattern"*) ;; *) return ;; esac
	timeout -s KILL 900 crash-sweep -j "${JOBS:-$(nproc)}" "$@" >"$log" 2>&1
	status=$?
	counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log")
	[ -n "$counts" ] || counts='0 1'
	passed=$((passed + ${counts% *}))
	failed=$((failed + ${counts#* }))
	echo "$name: $(tail -n 1 "$log")"
	[ $status = 0 ] || grep -v '^#' "$log" | head -n 40
}

# In these RUN is one tool, exec'd, so that its calls alone are counted.
# killed NAME SETUP RUN CHECK
killed() {
	sweep "$1, killed" --setup "$use $2" --run "exec $3" --check "$use $4"
	[ -z "$SHORT" ] || return 0      # after a call is before the next, but for the last
	sweep "$1, killed after" --after --setup "$use $2" --run "exec $3" --check "$use $4"
	sweep "$1, torn" --torn --setup "$use $2" --run "exec $3" --check "$use $4"
}
# failing NAME SETUP RUN CHECK
failing() {
	[ -z "$SHORT" ] || {
		sweep "$1, failing" -e EIO -s openw,write,writev,link,linkat,rename,renameat2,unlinkat,mkdirat,symlinkat,fsync,flock \
			--setup "$use $2" --run "exec $3" --check "$use $4"
		return
	}
	sweep "$1, short reads and writes" --short --setup "$use $2" --run "exec $3" \
		--check "$use $4"
	sweep "$1, failing for good" -e ENOSPC,EIO --sticky --setup "$use $2" \
		--run "exec $3" --check "$use $4"
	sweep "$1, failing" -e ENOSPC,EIO,EMFILE,EINTR -s @err,faccessat2,openat2 --setup "$use $2" \
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
