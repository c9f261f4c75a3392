"""What the ledger has posted under a hand's key, or to a table's pots, without a line of any hand to explain it."""

from collections.abc import Iterator

from casino.bookkeeping.accounts import Account
from casino.core import sql
from casino.hands import postings
from casino.houses.models import House
from casino.tables.models import Table

#: Who else may post to the accounts that hands post to, by a pattern of its ledger keys: accounts of no hand's
#: (`casino.core.commands.Command.ledger_key`) are the sharing out of cukassza and bank, later rulings, sitting down,
#: leaving, tips.
_OTHERS = {
    Account.SEAT_STACK: "^command:",
    Account.POT: None,
    Account.CUKASSZA: "^command:carry:",
    Account.BANK: "^command:carry:",
    Account.DISPUTED_POT: None,
    Account.HOUSE_TAX: "^command:(carry|ruling):",
    Account.BONUS: None,
    Account.GOODWILL: "^command:ruling:",
}

# A mirror is known by what it reverses, whatever its key.
# Materialized: PostgreSQL does not know how much a new house has, and would count the lines again for every posting.
_UNEXPLAINED = """
WITH keyed AS (
    SELECT t.id, t.idempotency_key AS key, split_part(t.idempotency_key, ':', 2) AS hand,
        substr(t.idempotency_key, length('hand:' || split_part(t.idempotency_key, ':', 2) || ':') + 1) AS part
    FROM ledger_transaction t WHERE t.book = %s AND starts_with(t.idempotency_key, 'hand:') AND t.reverses_id IS NULL
        AND t.id > %s
), counted AS MATERIALIZED (
    SELECT hand_id, count(*) AS lines FROM hands_handline WHERE house_id = %s AND @lines@ GROUP BY hand_id
), log AS MATERIALIZED (
    SELECT hand.name, hand.disputes_withdrawn AS withdrawn, coalesce(counted.lines, 0) AS lines FROM hands_hand hand
    LEFT JOIN counted ON counted.hand_id = hand.id WHERE hand.house_id = %s AND @hands@
)
SELECT keyed.key, keyed.id, log.lines FROM keyed LEFT JOIN log ON log.name = keyed.hand
WHERE (%s::text IS NULL OR starts_with(keyed.hand, %s || '-')) AND CASE
    WHEN log.name IS NULL THEN true
    WHEN keyed.part = ANY(%s) THEN false
    WHEN keyed.part ~ '^(0|[1-9][0-9]{0,8})$' THEN keyed.part::int > log.lines
    WHEN keyed.part ~ '^dispute-([2-9]|[1-9][0-9]{1,8})$' THEN substr(keyed.part, 9)::int > log.withdrawn + 1
    ELSE true END
ORDER BY keyed.id
"""

#: Which hands the keys are compared with: all, or those that the keys name.
_ALL = {"@lines@": "true", "@hands@": "true"}
_SOME = {
    "@lines@": "hand_id IN (SELECT h.id FROM hands_hand h JOIN keyed ON keyed.hand = h.name)",
    "@hands@": "hand.name IN (SELECT keyed.hand FROM keyed)",
}

_FOREIGN = """
SELECT DISTINCT t.id, t.idempotency_key, account.code
FROM ledger_account account
JOIN unnest(%s::text[], %s::text[]) AS rule (number, others) ON starts_with(account.code, rule.number || '/')
JOIN ledger_entry entry ON entry.account_id = account.id
JOIN ledger_transaction t ON t.id = entry.transaction_id
LEFT JOIN ledger_transaction undone ON undone.id = t.reverses_id
WHERE account.book = %s AND entry.transaction_id > %s AND (%s::text IS NULL OR split_part(account.code, '/', 2) = %s)
    AND NOT starts_with(coalesce(undone.idempotency_key, t.idempotency_key), 'hand:')
    AND (rule.others IS NULL OR t.idempotency_key !~ rule.others)
ORDER BY t.id, account.code
"""


def of(house: House, table: Table | None = None, after: int | None = None) -> Iterator[tuple[str, str]]:
    """Keys of such postings, each with what is wrong with it; `after` this id of a transaction, where it is given."""
    code = table.code if table else None
    first = after or 0
    unexplained = _UNEXPLAINED
    for name, which in (_ALL if after is None else _SOME).items():
        unexplained = unexplained.replace(name, which)
    for key, id_, lines in sql.rows(unexplained, [house.id, first, house.id, house.id, code, code, postings.endings()]):
        problem = "of which there is no hand" if lines is None else f"which its log of {lines} lines does not explain"
        yield key, f"the ledger posted {key} (transaction {id_}), {problem}"
    for id_, key, account in sql.rows(_FOREIGN, [list(_OTHERS), list(_OTHERS.values()), house.id, first, code, code]):
        yield key, f"{account} was posted to by transaction {id_} ({key}), which is no hand's"
