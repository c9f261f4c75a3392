"""Where chips or money went astray: the account, so the place and the denomination, and the time between two entries
and two counts.

The proof has three sides. Custody says what every rack holds, the ledger's entries say how it came to that, and counts
say when people last found it so. An account whose entries do not lead to what it holds is named with the last entry
that is right and the first that is not, and with the counts of the place before and after; a transaction whose legs do
not come to nothing is named with its accounts.
"""

from typing import Any

from casino.bookkeeping.chart import face_value, kind_of
from casino.core import moments, sql
from casino.houses.models import House

#: How many places are named at most.
MOST = 20
#: One statement, so that everything is of one moment. Counts: drawers when they were closed, trays that were confirmed,
#: boxes that were received, the vault when it was counted last before that was accepted.
_BROKEN = """
WITH chained AS (
    SELECT account.id, account.code, account.commodity, entry.version, entry.balance_after, posted.posted_at,
        entry.amount * account.normal_side AS moved,
        lag(entry.version, 1, 0::bigint) OVER steps AS last_version,
        lag(entry.balance_after, 1, 0::bigint) OVER steps AS before,
        lag(posted.posted_at) OVER steps AS since
    FROM ledger_account account JOIN ledger_entry entry ON entry.account_id = account.id
    JOIN ledger_transaction posted ON posted.id = entry.transaction_id
    WHERE account.book = %s WINDOW steps AS (PARTITION BY account.id ORDER BY entry.version)
), newest AS (
    SELECT DISTINCT ON (id) id, version, balance_after, posted_at FROM chained ORDER BY id, version DESC
), broken AS (
    SELECT code, commodity, last_version, version, since, posted_at AS until, balance_after - before - moved AS differs
    FROM chained WHERE version <> last_version + 1 OR balance_after <> before + moved
    UNION ALL
    SELECT code, commodity, coalesce(newest.version, 0), NULL, newest.posted_at, NULL,
        balance - coalesce(newest.balance_after, 0)
    FROM ledger_account account LEFT JOIN newest USING (id)
    WHERE account.book = %s AND (account.balance, account.version)
        IS DISTINCT FROM (coalesce(newest.balance_after, 0), coalesce(newest.version, 0))
), counted AS (
    SELECT unnest(ARRAY[concat('9120/', drawer.code), concat('1020/', drawer.code)]) AS code, closed_at AS at
    FROM cage_shift JOIN cage_drawer drawer ON drawer.id = drawer_id
    WHERE drawer.house_id = %s AND closed_at IS NOT NULL
    UNION ALL
    SELECT concat('9130/', place.code), ended_at FROM transfers_traycount counts
    JOIN tables_table place ON place.id = table_id WHERE counts.house_id = %s AND counts.state = 'confirmed'
    UNION ALL
    SELECT concat(CASE kind WHEN 'tax' THEN '9150/' WHEN 'tip' THEN '9160/' ELSE '1050/' END, place.code), received_at
    FROM transfers_box box JOIN tables_table place ON place.id = table_id
    WHERE box.house_id = %s AND received_at IS NOT NULL
    UNION ALL
    SELECT unnest(ARRAY['1010', '9110', '1160/vault']), max(entry.counted_at)
    FROM cage_vaultcount counts JOIN cage_vaultcountentry entry ON entry.vault_count_id = counts.id
    WHERE counts.house_id = %s AND counts.state = 'accepted' GROUP BY counts.id
)
SELECT code, commodity, differs, last_version, version, since, until,
    (SELECT max(at) FROM counted WHERE counted.code = broken.code AND at <= since),
    (SELECT min(at) FROM counted WHERE counted.code = broken.code AND at >= coalesce(until, since))
FROM broken ORDER BY code, commodity, last_version LIMIT %s
"""
_UNBALANCED = """
SELECT posted.id, posted.posted_at, account.commodity, sum(entry.amount)::bigint,
    array_agg(account.code ORDER BY account.code)
FROM ledger_transaction posted JOIN ledger_entry entry ON entry.transaction_id = posted.id
JOIN ledger_account account ON account.id = entry.account_id
WHERE posted.book = %s GROUP BY posted.id, posted.posted_at, account.commodity
HAVING sum(entry.amount) <> 0 ORDER BY posted.id LIMIT %s
"""


def where(house: House) -> dict[str, Any]:
    """Accounts whose entries do not lead to what they hold, and transactions that do not come to nothing; at most MOST
    of each, empty where there are none. It reads every entry of the house."""
    places = [
        {
            **_unit(code, commodity, differs),
            "after_version": last,
            "version": version,
            "since": moments.utc_or_none(since),
            "until": moments.utc_or_none(until),
            "counted_before": moments.utc_or_none(before),
            "counted_after": moments.utc_or_none(after),
        }
        for code, commodity, differs, last, version, since, until, before, after in sql.rows(
            _BROKEN, [house.id] * 6 + [MOST]
        )
    ]
    unbalanced = [
        {"transaction": number, "posted_at": moments.utc(at), "commodity": commodity, "sum": total, "accounts": codes}
        for number, at, commodity, total, codes in sql.rows(_UNBALANCED, [house.id, MOST])
    ]
    return ({"places": places} if places else {}) | ({"transactions": unbalanced} if unbalanced else {})


def _unit(code: str, commodity: str, differs: int) -> dict[str, Any]:
    """The place, and the pieces of a denomination or the minor units that are there too many (below zero: missing)."""
    found = {"account": code, "place": code.partition("/")[2] or "vault"}
    if kind_of(code).custody:
        return found | {"denomination": face_value(commodity), "commodity": commodity, "pieces": differs}
    return found | {"amount": differs}
