#!/bin/sh
# once-psql.sh - an effect in PostgreSQL, exactly once: the key is noted in the same
# transaction as the effect, so there are both or neither, whatever is killed when.
#
#	once-psql.sh init
#	mq-put -m 'anna 100' payments
#	mq-take -j4 payments -- once-psql.sh      # a message is NAME AMOUNT
#	psql -c 'SELECT * FROM account'
#
# The key is the id of the message; where a producer may put twice, what it calls the
# event (-k, MQ_KEY) is the better one. The database is that of PGHOST, PGDATABASE and so
# on. handled grows by a row a key: delete those that are older than any repeat can be.
set -eu

if [ "${1:-}" = init ]; then
	exec psql -qX -v ON_ERROR_STOP=1 -c 'CREATE TABLE handled (key text PRIMARY KEY,
			at timestamptz NOT NULL DEFAULT now());
		CREATE TABLE account (name text PRIMARY KEY, balance bigint NOT NULL)'
fi

read -r name amount || [ -n "$name" ] # the last line may have no newline
case $amount in *[!0-9]* | '') exit 65 ;; esac

# Of two at the same moment the second waits at the key until the first has committed,
# and then has nothing to do. psql quotes what :'name' stands for.
psql -qX -v ON_ERROR_STOP=1 -v key="$MQ_ID" -v name="$name" -v amount="$amount" <<'END'
WITH fresh AS (
	INSERT INTO handled (key) VALUES (:'key') ON CONFLICT DO NOTHING RETURNING key
)
INSERT INTO account (name, balance) SELECT :'name', :'amount'::bigint FROM fresh
	ON CONFLICT (name) DO UPDATE SET balance = account.balance + excluded.balance;
END
