#!/bin/sh
# packages.sh PACKAGE ... - installs the Debian packages that are not there.
# Says and does nothing if all are. Needs root, or sudo.
set -eu

missing=
for p; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null |
		grep -q '^install ok installed$' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

echo "installing:$missing"
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
export DEBIAN_FRONTEND=noninteractive
apt="$sudo apt-get -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300"
$apt update >/dev/null || : # what is known already may do
# shellcheck disable=SC2086 # lists of words
$apt install -y --no-install-recommends $missing </dev/null >/dev/null
