#!/bin/sh
# whitespace.sh - white space at the end of a line, a file without its last
# newline, a space before a tab that indents, a line end of DOS: 1 and the place.
set -u
cd "$(dirname "$0")/.." || exit 1

bad=0
files=$(git ls-files -co --exclude-standard)
# shellcheck disable=SC2086 # no white space in our names
set -- $files
if grep -nIE '[[:blank:]]+$|'"$(printf '\r')"'$' "$@"; then
	echo 'whitespace: at the end of these lines' >&2
	bad=1
fi
for f; do
	[ -s "$f" ] || continue
	[ -z "$(tail -c 1 "$f")" ] || { echo "$f: no newline at its end"; bad=1; }
	case $f in
	*.[ch]) ! grep -nH "^ [ ]*$(printf '\t')" "$f" || bad=1 ;;
	esac
done
exit $bad
