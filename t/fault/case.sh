# case.sh - what all checks begin with: each $CHECK sources it, in a case's fresh
# directory $D, with the exit status of the command in $RC.
# shellcheck shell=sh

MQ_SPOOL=$D/spool
export MQ_SPOOL

bad() {
	echo "$*"
	exit 1
}
ok() { [ "$RC" = 0 ]; }
