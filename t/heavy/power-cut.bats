# The power goes at recorded points of a run on a recorded disk; see t/fault.
load ../helper

setup() {
	mq_setup
	[[ $EUID == 0 ]] || skip 'needs root, to mount'
	[[ -w /dev/fuse ]] || skip 'needs /dev/fuse'
	[[ -w /dev/loop-control ]] || skip 'needs /dev/loop-control'
	[[ -x $ROOT/build/fault/cutdisk ]] || skip 'needs make fault-tools'
	rec=$(mktemp -d /dev/shm/mq-cut.XXXXXX)
}
teardown() {
	[[ -z ${rec:-} ]] || rm -rf "$rec"
	mq_teardown
}

cut_power() { # FILE SYSTEM, CUTS [SCRIPT]
	local power=$ROOT/t/heavy/${3:-power.sh}
	"$ROOT/t/fault/cutrecord" -d "$rec" -f "$1" -m 64 "exec sh $power work \$M"
	run "$ROOT/build/fault/cutreplay" -i "$rec/base.img" -l "$rec/log" -f "$1" \
		-n "$2" -- "sh $power check \$M \$LOG"
	assert_status 0
}

@test "power cut on ext4: what was confirmed is there, nothing torn is delivered" {
	cut_power ext4 40
}
@test "power cut on xfs: what was confirmed is there, nothing torn is delivered" {
	cut_power xfs 15
}
@test "power cut on btrfs: what was confirmed is there, nothing torn is delivered" {
	cut_power btrfs 20
}
@test "power cut on ext4: what was published is in each subscription, once" {
	cut_power ext4 40 power-topics.sh
}
@test "power cut on btrfs: what was published is in each subscription, once" {
	cut_power btrfs 20 power-topics.sh
}
