"""What players have paid in and were paid: the postings of cash, and of money that is not cash, for chips, deposits and
held payouts. The ledger is the only place that has it: a posting says in its metadata whose it is; what was mirrored
counts no more, and what was attributed to somebody else counts for that person.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from casino.core import sql
from casino.houses.models import House


class Direction(StrEnum):
    """Which way money goes, as the house sees it."""

    IN = "in"
    OUT = "out"


#: Kinds of postings by which cash comes in from players and goes out to them.
CASH = (
    "cage.buy_in", "cage.cash_out", "cage.bearer_buy_in", "cage.bearer_cash_out", "cage.deposit_taken",
    "cage.deposit_returned", "cage.payout_released", "cage.late_claim_paid", "cage.foreign_chips", "table.buy_in",
)  # fmt: skip
#: The same without cash: by card, by transfer, by the bank.
NON_CASH = ("cage.noncash_buy_in", "cage.noncash_paid", "payout.paid_by_bank")
#: What compliance has booked for another person; the posting says which direction it corrects, or none for IN.
MOVED = ("chips.attributed", "chips.unattributed")
KINDS = (*CASH, *NON_CASH, *MOVED)

#: Whose a posting is: a player's, by reference; null for somebody of whom nothing is known.
WHO = "t.metadata ->> 'player'"
#: Each as a row of id, posted_at, kind, metadata, gaming day (null where the house had none), who (null for nobody
#: known), direction, amount in minor units (below zero where something was taken back), for these books, currency and
#: kinds. What compliance attributes has a place; what a cash-out attributes by itself has a drawer, and is no flow.
#: LIMIT keeps the planner from reading every account of the house for each of them.
_FLOWS = f"""
SELECT t.id, t.posted_at, t.kind, t.metadata, coalesce(t.metadata ->> 'for_day', period.name) AS day, {WHO} AS who,
       CASE WHEN legs.cash IS NULL THEN coalesce(t.metadata ->> 'direction', 'in')
            WHEN legs.cash > 0 THEN 'in' ELSE 'out' END AS direction,
       CASE WHEN legs.cash IS NOT NULL THEN abs(legs.cash)
            WHEN t.metadata ->> 'direction' = 'out' THEN -legs.owed ELSE legs.owed END AS amount
FROM ledger_transaction t
LEFT JOIN ledger_period period ON period.id = t.period_id
CROSS JOIN LATERAL (
    SELECT sum(e.amount) FILTER (WHERE starts_with(a.code, '10')) AS cash,
           -sum(e.amount) FILTER (WHERE starts_with(a.code, '2010/')) AS owed
    FROM ledger_entry e CROSS JOIN LATERAL (
        SELECT code, commodity FROM ledger_account WHERE id = e.account_id LIMIT 1) a
    WHERE e.transaction_id = t.id AND a.commodity = %s
) legs
WHERE t.book = %s AND t.kind = ANY(%s::text[])
  AND (legs.cash IS NOT NULL OR t.metadata ? 'place')
  AND NOT EXISTS (SELECT FROM ledger_transaction mirror WHERE mirror.reverses_id = t.id{{mirrored}})
"""  # noqa: S608 - constants

FLOWS = _FLOWS.format(mirrored="")
#: The same up to one transaction, which is named twice after the kinds.
FLOWS_AS_OF = _FLOWS.format(mirrored=" AND mirror.id <= %s") + "  AND t.id <= %s"

_TRADE = f"""
SELECT flow.id, coalesce(flow.day, ''), coalesce(flow.who, ''), flow.direction, flow.amount::bigint, flow.kind,
    coalesce(flow.metadata ->> 'drawer', flow.metadata ->> 'table', flow.metadata ->> 'place', '')
FROM ({FLOWS} AND t.id IN (
    SELECT noted.transaction_id FROM audit_posting noted JOIN audit_event event ON event.id = noted.event_id
    JOIN audit_chainhead chain ON chain.id = event.chain_id
    WHERE event.house_id = %s AND chain.name = %s AND event.seq = %s
)) flow
"""  # noqa: S608 - constants

#: Windows over which flows are added up besides the gaming day: names of control points, and their units.
WINDOWS = {"linked_hours": "hours", "linked_days": "days", "linked_long_days": "days"}
GAMING_DAY = "gaming_day"

_SINCE = {name: f"today.at - make_interval({unit} => %s::integer)" for name, unit in WINDOWS.items()}
_SUMS = f"""
SELECT flow.direction,
       coalesce(sum(flow.amount) FILTER (WHERE flow.day = today.name), 0)::bigint,
       {
    ", ".join(
        f"coalesce(sum(flow.amount) FILTER (WHERE flow.posted_at > {since}), 0)::bigint" for since in _SINCE.values()
    )
}
FROM (SELECT clock_timestamp() AS at, (opened.day).name AS name, (opened.day).opened_at AS opened_at FROM (SELECT (
          SELECT p FROM ledger_period p WHERE p.book = %s AND p.closed_at IS NULL ORDER BY p.id DESC LIMIT 1
      ) AS day) opened) today
CROSS JOIN LATERAL ({FLOWS} AND {WHO} = %s
    AND t.posted_at >= least(today.opened_at, {", ".join(_SINCE.values())})) flow
GROUP BY flow.direction
"""  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class Sums:
    """What one person has paid in and was paid, in minor units: by direction, then by window (`gaming_day`, and the
    control points of `WINDOWS`)."""

    by_direction: Mapping[str, Mapping[str, int]]

    def of(self, direction: Direction) -> dict[str, int]:
        """By window."""
        return dict(self.by_direction.get(direction, dict.fromkeys((GAMING_DAY, *WINDOWS), 0)))


@dataclass(frozen=True, slots=True)
class Trade:
    """One transaction of the books, which was not taken back: amount in minor units; `day` and `who` are empty where
    the house had no gaming day, and for nobody of whom something is known."""

    transaction: int
    day: str
    who: str
    direction: str
    amount: int
    kind: str
    place: str


def trade(house: House, chain: str, seq: int) -> Trade | None:
    """The transaction that an event records, by the event's chain and its number there; None where it records none, or
    that was taken back."""
    moving = [*CASH, *NON_CASH]
    found = sql.rows(_TRADE, [house.currency, house.id, moving, house.id, chain, seq])
    return Trade(*found[0]) if len(found) == 1 else None


_NET = f"""
SELECT coalesce(sum(CASE flow.direction WHEN 'in' THEN flow.amount ELSE -flow.amount END), 0)::bigint
FROM ({FLOWS} AND {WHO} = %s) flow
"""  # noqa: S608 - constants


def net(house: House, who: str) -> sql.Statement:
    """What reads what one person has ever paid in, less what the person was paid, in minor units: one row. Deposits
    count when they are taken and returned, held payouts when they are paid."""
    return _NET, [house.currency, house.id, list(KINDS), who]


def reading(house: House, who: str, lengths: Mapping[str, int]) -> sql.Statement:
    """What reads the sums of one person over windows of these lengths (none is counted over 0); `sums` takes what it
    has found. Sent after the person's lock, which others of the same person wait for until they are committed."""
    windows = [lengths[name] for name in WINDOWS]
    return _SUMS, [*windows, house.id, house.currency, house.id, list(KINDS), who, *windows]


def sums(found: list[tuple[Any, ...]]) -> Sums:
    """By what `reading` has found."""
    return Sums({direction: dict(zip((GAMING_DAY, *WINDOWS), row, strict=True)) for direction, *row in found})
