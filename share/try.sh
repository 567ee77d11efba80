#!/bin/sh
# try.sh - installs what mq needs, builds it, and has it do real work: the
# checksums of 300 files of this machine, by four workers, one of which is
# killed with -9 on the way. Ends with what came out, and 1 if a job was lost.
set -eu
cd "$(dirname "$0")/.."

sh share/packages.sh make
make -s deps
make -s -j"$(nproc)"
PATH=$PWD/build/bin:$PATH

jobs=300
work=$(mktemp -d "${TMPDIR:-/tmp}/mq-try.XXXXXX")
export MQ_SPOOL="$work/spool"
workers=
# shellcheck disable=SC2086 # a list of process ids
cleanup() {
	[ -z "$workers" ] || kill -9 $workers 2>/dev/null || :
	wait
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# lines that all workers have written so far
handled() {
	cat "$work"/done.* 2>/dev/null | wc -l
}

# wait_for SECONDS CONDITION ...: polls it; false if it did not come true
wait_for() {
	polls=$(($1 * 20))
	shift
	until "$@"; do
		polls=$((polls - 1))
		[ $polls -gt 0 ] || return 1
		sleep 0.05
	done
}
some_handled() { [ "$(handled)" -ge $((count / 4)) ]; }
all_handled() { [ "$(sort -u "$work"/done.* | wc -l)" -ge "$count" ]; }
all_settled() {
	for field in ready leased later; do
		[ "$(mq-stat -o $field jobs)" = 0 ] || return 1
	done
}

find /usr/share /usr/lib -xdev -type f -size -512k -readable \
	! -name '*[![:print:]]*' 2>/dev/null | LC_ALL=C sort |
	head -n $jobs >"$work/files"
count=$(wc -l <"$work/files")

mq-conf --create jobs lease=2s >/dev/null
mq-put -l jobs <"$work/files" >"$work/ids"
echo "queued     $(wc -l <"$work/ids") jobs: the sha256sum of a file each"

for n in 1 2 3 4; do
	: >"$work/done.$n"
	# shellcheck disable=SC2016 # $1 and $2 are the inner shell's
	mq-take -w -j1 jobs -- sh -c 'sha256sum -- "$1" >>"$2"' sh {} \
		"$work/done.$n" 2>"$work/err.$n" &
	workers="$workers $!"
	[ $n != 1 ] || victim=$!
done
wait_for 30 some_handled || :
kill -9 "$victim"
echo "killed     one of four workers (kill -9) after $(handled) jobs"

wait_for 60 all_handled || :
wait_for 10 all_settled || :
# shellcheck disable=SC2086 # a list of process ids
kill $workers 2>/dev/null || :
for w in $workers; do
	wait "$w" 2>/dev/null || :
done
workers=

# the same, by hand, one after the other
tr '\n' '\0' <"$work/files" | xargs -0 sha256sum -- | sort >"$work/expected"
sort -u "$work"/done.* >"$work/got"
lost=$(comm -23 "$work/expected" "$work/got" | wc -l)
wrong=$(comm -13 "$work/expected" "$work/got" | wc -l)
twice=$(sort "$work"/done.* | uniq -d | wc -l)

echo "handled    $(wc -l <"$work/got") of $count, as a plain sha256sum says"
for n in 1 2 3 4; do
	killed=
	[ $n != 1 ] || killed=' (killed)'
	echo "  worker $n  $(wc -l <"$work/done.$n")$killed"
done
echo "twice      $twice (killed between its work and its ack)"
echo "wrong      $wrong"
echo "lost       $lost"
echo 'mq-stat:'
mq-stat

if [ "$lost" != 0 ] || [ "$wrong" != 0 ] || ! all_settled; then
	cat "$work"/err.* >&2
	echo 'try.sh: jobs were lost' >&2
	exit 1
fi
