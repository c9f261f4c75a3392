"""What a player has paid in and was paid, from the ledger's entries.

A transaction that moves an account of the player has brought the house money of its own as far as its cash, clearing
and bank accounts rose by more than what is kept for the player (deposit, held payouts) did. So buy-ins of every kind,
and chips drawn from a deposit, are paid in; cash-outs of every kind, and payouts that are held, are paid out; a deposit
that is taken or returned is neither. A mirror takes back what it undoes.
"""

from casino.bookkeeping.accounts import Account

_KEPT = (Account.PLAYER_DEPOSITS, Account.HELD_PAYOUTS)
_OWN = (Account.CHIPS_OUTSTANDING, *_KEPT)
#: Transactions of the player of the row `player`, in the house of the row `house`, since `span.since`: `paid_in` minor
#: units, less than 0 where the player was paid; `first`: whether it is no mirror. Of the player's accounts only the
#: entries since then are read, however many there are; OFFSET 0 keeps the planner from reading all of them.
STATEMENT = f"""
SELECT posted.reverses_id IS NULL AS first,
    sum(CASE WHEN account.code LIKE '1%%' THEN entry.amount ELSE 0 END
        + CASE WHEN account.code IN ({", ".join(f"'{number}/' || player.ref" for number in _KEPT)})
            THEN entry.amount ELSE 0 END)::bigint AS paid_in
FROM (
    SELECT DISTINCT own_entry.transaction_id
    FROM (
        SELECT own.id, ledger_version_at(own.id, span.since - interval '1 microsecond') AS version
        FROM (
            SELECT unnest(ARRAY[{", ".join(f"'{number}/'" for number in _OWN)}]) AS prefix
            UNION ALL
            SELECT '{Account.SEAT_STACK}/' || code || '/' FROM tables_table WHERE house_id = player.house_id
        ) place
        JOIN ledger_account own ON own.book = player.house_id AND own.commodity = house.currency
            AND own.code = place.prefix || player.ref OFFSET 0
    ) own CROSS JOIN LATERAL (
        SELECT transaction_id FROM ledger_entry WHERE account_id = own.id AND version > own.version OFFSET 0
    ) own_entry
) mine
JOIN ledger_transaction posted ON posted.id = mine.transaction_id AND posted.posted_at >= span.since
JOIN ledger_entry entry ON entry.transaction_id = posted.id
JOIN ledger_account account ON account.id = entry.account_id AND account.commodity = house.currency
GROUP BY posted.id, posted.reverses_id
"""  # noqa: S608 - constants
