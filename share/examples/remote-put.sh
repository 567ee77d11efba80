#!/bin/sh
# remote-put.sh - put from another machine: ssh is the port, its keys the rights.
#
#	remote-put.sh HOST QUEUE <file; prints the id
#
# The put says yes only when the message is on HOST's disk. If the network fails
# between the two, nobody here knows whether it was; so the same key is used again
# (-i), and a repeat puts nothing and prints the first id. On HOST a key in
# ~/.ssh/authorized_keys may be for this alone:
#
#	command="mq-put -i \"${SSH_ORIGINAL_COMMAND##* }\" jobs",restrict ssh-ed25519 ...
set -eu

host=${1:?usage: remote-put.sh HOST QUEUE} queue=${2:?usage: remote-put.sh HOST QUEUE}
body=$(mktemp)
trap 'rm -f "$body"' EXIT
cat >"$body"
key=$(hostname)-$(date +%s)-$$

for pause in 1 2 4 8 0; do
	status=0
	ssh -o BatchMode=yes -o ConnectTimeout=10 "$host" mq-put -i "$key" "$queue" <"$body" ||
		status=$?
	case $status in
	255 | 74 | 75) sleep "${PAUSE:-$pause}" ;; # the network; the disk; later
	*) break ;;
	esac
done
exit "$status"
