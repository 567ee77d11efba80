#!/bin/sh
# run.sh [mN.py ...] - runs the models and compares each variant with `expected`:
# what must be clean is, and what leaves a rule out shows that violation still.
# Ends with `N passed, N failed`; 1 if anything differs.
set -u
cd "$(dirname "$0")" || exit 1

[ $# != 0 ] || { whole=1; set -- m*.py; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0

# shellcheck disable=SC2016 # the inner shell's
printf '%s\n' "$@" | OUT=$out xargs -P "$(nproc)" -I{} sh -c \
	'python3 {} >"$OUT/{}" 2>&1 || echo "{}: ended with $?" >>"$OUT/failed"'

# `== NAME states N complete|LIMIT violations [...] Ns`  ->  `VERDICT<tab>NAME`
sed -n 's/^== \(.*\) states \([0-9]*\) \([A-Za-z]*\) violations \[\(.*\)\] [0-9]*s$/\4	\1	\2 states, \3/p' \
	"$out"/m*.py | tr -d "'" | sed 's/^	/clean	/' >"$out/seen"

awk -F '\t' -v whole="${whole:-}" '
	/^#/ || /^$/ { next }
	NR == FNR { wanted[$2] = $1; next }
	{
		seen[$2] = 1
		ok = ($2 in wanted) && wanted[$2] == $1
		ok ? passed++ : failed++
		printf "%-6s %s: %s (%s)\n", ok ? "ok" : "not ok", $2, $1, $3
		if (!ok)
			print "       wanted: " (($2 in wanted) ? wanted[$2] : "no such variant")
	}
	END {
		for (v in wanted)
			if (whole && !(v in seen)) {
				failed++
				print "not ok " v ": did not run"
			}
		printf "%d passed, %d failed\n", passed, failed
		exit failed != 0
	}' expected "$out/seen"
status=$?
[ ! -e "$out/failed" ] || { cat "$out/failed" >&2; status=1; }
exit $status
