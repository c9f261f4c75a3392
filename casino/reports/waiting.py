"""Since when money has been waiting at a table between its hands: a pot that nobody has won, the bank of the seats."""

from datetime import datetime

from casino.core import sql
from casino.houses.models import House

# A cukassza that a hand begins with goes through its pot: if that hand leaves one again, or is undone, it has waited
# on.
_SINCE = """
WITH line AS (
    SELECT account.code, entry.version, entry.balance_after AS balance, t.posted_at,
        t.kind = 'hand.carry_in' AND t.metadata->>'hand' = lead(t.metadata->>'hand')
            OVER (PARTITION BY entry.account_id ORDER BY entry.version) AS on_its_way
    FROM ledger_account account
    JOIN ledger_entry entry ON entry.account_id = account.id
    JOIN ledger_transaction t ON t.id = entry.transaction_id
    WHERE account.book = %s AND account.balance <> 0
        AND (starts_with(account.code, '2040/') OR starts_with(account.code, '2050/'))
), emptied AS (
    SELECT code, max(version) AS version FROM line WHERE balance = 0 AND on_its_way IS NOT TRUE GROUP BY code
)
SELECT line.code, min(line.posted_at) FROM line LEFT JOIN emptied USING (code)
WHERE line.version > coalesce(emptied.version, -1) GROUP BY line.code
"""


def since(house: House) -> dict[str, datetime]:
    """By account code, when money began to lie there that lies there still, or has been carried on since."""
    return dict(sql.rows(_SINCE, [house.id]))
