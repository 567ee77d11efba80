#!/bin/sh
# once-sqlite.sh - an effect in a database, exactly once: the key is noted in the same
# transaction as the effect, so there are both or neither, whatever is killed when.
# mq-once alone is weaker where it counts: killed between the end of its command
# and the remembering, it runs the command again.
#
#	once-sqlite.sh init
#	mq-put -m 'anna 100' payments
#	mq-take -j4 payments -- once-sqlite.sh    # a message is NAME AMOUNT
#	sqlite3 accounts.db 'SELECT * FROM account'
#
# The key is the id of the message; where a producer may put twice, what it calls the
# event (-k, MQ_KEY) is the better one. DB: the file. handled grows by a row a key: delete
# those that are older than any repeat can be.
set -eu

: "${DB:=accounts.db}"

if [ "${1:-}" = init ]; then
	exec sqlite3 "$DB" 'PRAGMA journal_mode = WAL;
		CREATE TABLE handled (key TEXT PRIMARY KEY,
			at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP) WITHOUT ROWID;
		CREATE TABLE account (name TEXT PRIMARY KEY, balance INTEGER NOT NULL)'
fi

read -r name amount || [ -n "$name" ] # the last line may have no newline
case $name$amount in *[!A-Za-z0-9]* | '') exit 65 ;; esac
case $amount in *[!0-9]* | '') exit 65 ;; esac

# The second statement does something only if the key is new. What is refused or locked
# ends with an error and no change: the pool tries again.
sqlite3 -bail -cmd '.timeout 10000' "$DB" <<END
BEGIN IMMEDIATE;
CREATE TEMP TABLE fresh AS SELECT '$MQ_ID' AS key
	WHERE NOT EXISTS (SELECT 1 FROM handled WHERE key = '$MQ_ID');
INSERT INTO handled (key) SELECT key FROM fresh;
INSERT INTO account (name, balance) SELECT '$name', $amount FROM fresh WHERE true
	ON CONFLICT (name) DO UPDATE SET balance = balance + excluded.balance;
COMMIT;
END
