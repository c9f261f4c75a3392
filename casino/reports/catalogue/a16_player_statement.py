"""A16: the statement of one player: every posting on the player's own accounts, and of nobody else's."""

from collections.abc import Iterator
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import kind_of
from casino.reports.frame.columns import Column, Row, Type, coded, count, money, ref, time
from casino.reports.frame.filters import DAYS, DayRange
from casino.reports.frame.movements import held_before, of_days, recorded
from casino.reports.frame.reading import balances, fetched, stream
from casino.reports.frame.report import (
    Equality,
    Filter,
    FilterKind,
    Format,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.frame.trail import at
from casino.reports.player_protection import LimitState, exclusions, limits
from casino.staff.models import Role

PLAYER = Filter("player", FilterKind.CODE, "Whose statement it is.", required=True)
#: The section of limits and exclusions.
PROTECTION = "protection"
#: Away from the tables, at them, held payouts, the deposit.
OWN = (Account.CHIPS_OUTSTANDING, Account.SEAT_STACK, Account.HELD_PAYOUTS, Account.PLAYER_DEPOSITS)
#: What each posting moved, by number of the chart. The place is the table or drawer where it was booked.
_POSTED = """
SELECT posted.id, coalesce(undone.kind, posted.kind), posted.reverses_id, coalesce(period.name, ''), posted.posted_at,
    coalesce(posted.metadata ->> 'table', posted.metadata ->> 'drawer', posted.metadata ->> 'place',
        undone.metadata ->> 'table', undone.metadata ->> 'drawer',
        max(split_part(account.code, '/', 2)) FILTER (WHERE split_part(account.code, '/', 1) = %(stack)s), ''),
    coalesce(posted.metadata ->> 'hand', undone.metadata ->> 'hand', ''),
    {sums}
FROM {entries}
LEFT JOIN ledger_transaction undone ON undone.id = posted.reverses_id
LEFT JOIN ledger_period period ON period.id = posted.period_id
WHERE {posted} AND account.book = %(house)s AND split_part(account.code, '/', 1) = ANY(%(numbers)s)
AND reverse(split_part(reverse(account.code), '/', 1)) = %(player)s
GROUP BY posted.id, undone.id, period.id ORDER BY posted.id
"""
_SUM = """coalesce(sum(entry.amount * account.normal_side)
    FILTER (WHERE split_part(account.code, '/', 1) = '{number}'), 0)::bigint"""
_STATEMENT = _POSTED.replace("{sums}", ", ".join(_SUM.replace("{number}", number) for number in OWN))
#: The newest transaction before a day that has moved one of the player's accounts.
_BEFORE = """
SELECT coalesce(max(newest.id), 0) FROM ledger_account account CROSS JOIN LATERAL (
    SELECT posted.id FROM ledger_entry entry JOIN ledger_transaction posted ON posted.id = entry.transaction_id
    LEFT JOIN ledger_period period ON period.id = posted.period_id
    WHERE entry.account_id = account.id AND posted.id <= %s AND coalesce(period.name, '') < %s
    ORDER BY entry.version DESC LIMIT 1
) newest
WHERE account.book = %s AND split_part(account.code, '/', 1) = ANY(%s)
AND reverse(split_part(reverse(account.code), '/', 1)) = %s
"""


#: Of each kind and span the newest that has begun, of those of which the events know; a last one is no limit.
_IN_FORCE = """
SELECT count(*) FROM (
    SELECT DISTINCT ON (own.kind, own.span) own.most FROM safeguards_playerlimit own
    JOIN players_player player ON player.id = own.player_id
    WHERE own.house_id = %s AND player.ref = %s AND own.number <= %s AND own.starts_at <= %s
    ORDER BY own.kind, own.span, own.number DESC
) newest WHERE most IS NOT NULL
"""


def postings(scope: Scope) -> Iterator[tuple[Any, ...]]:
    """Every posting with its net on each of the four accounts, in the order of the ledger; of days with a first one no
    others."""
    statement, asked = of_days(scope, _STATEMENT, OWN, DayRange.of(scope))
    return stream(statement, asked | {"stack": str(Account.SEAT_STACK), "player": scope.filters["player"]})


def newest_posting(scope: Scope) -> int:
    """The ledger transaction that has moved the player's accounts last in the days asked for or before; 0: none has."""
    days, before = DayRange.of(scope), 0
    if days.first is not None:
        player = scope.filters["player"]
        asked = [scope.as_of.transaction, days.first, scope.house.id, list(map(str, OWN)), player]
        [(before,)] = fetched(_BEFORE, asked)
    moved = (row[0] for row in postings(scope) if days.takes(row[3]))
    return max(before, max(moved, default=0))


def _opened(scope: Scope) -> dict[Account, int]:
    """What the player had before the days asked for, by number of the chart."""
    found = dict.fromkeys(OWN, 0)
    for (code, _), balance in held_before(scope, OWN, DayRange.of(scope).first).items():
        number, _, place = code.partition("/")
        if place.rpartition("/")[2] == scope.filters["player"]:
            found[Account(number)] += balance
    return found


def _rows(scope: Scope) -> Iterator[Row]:
    days, running = DayRange.of(scope), sum(_opened(scope).values())
    for transaction, kind, undoes, day, when, place, hand, *nets in postings(scope):
        running += sum(nets)
        if days.takes(day):
            yield day or None, when, place, kind, undoes, hand, *nets, running, transaction


def of_accounts(scope: Scope) -> list[tuple[str, int, int, int]]:
    """By number of the chart: before the days asked for, what came, what went."""
    days = DayRange.of(scope)
    found = {number: [balance, 0, 0] for number, balance in _opened(scope).items()}
    for _, _, _, day, _, _, _, *nets in postings(scope):
        for number, net in zip(OWN, nets, strict=True):
            if days.takes(day):
                found[number][1 if net > 0 else 2] += abs(net)
    return [(str(number), opening, came, went) for number, (opening, came, went) in found.items()]


def _accounts(scope: Scope) -> Iterator[Row]:
    for number, opening, came, went in of_accounts(scope):
        yield number, kind_of(number).name, opening, came, went, opening + came - went


def _protected(scope: Scope) -> Iterator[tuple[str, Row]]:
    """What protects the player, each with its name in the house and its state."""
    player = scope.filters["player"]
    for one in limits(scope):
        if one.player == player and one.state in (LimitState.IN_FORCE, LimitState.TO_COME):
            row: Row = ("limit", one.kind, one.span, one.amount, one.minutes, one.starts_at, None, str(one.state))
            yield f"limit {one.number} {one.state}", row
    for number, exclusion in exclusions(scope).items():
        if player in exclusion.players - exclusion.cleared and exclusion.is_in_force(scope.as_of.at):
            kind = exclusion.doc["data"]["exclusion_kind"]
            row = "exclusion", kind, None, None, None, at(exclusion.doc), exclusion.until, "in_force"
            yield f"exclusion {number}", row


def protected(scope: Scope) -> Iterator[Row]:
    """The limits that count at the moment of the report, or will, and exclusions that are in force then. A limit that
    is to come and says nothing ends the one before it."""
    return (row for _, row in _protected(scope))


def protections(scope: Scope) -> list[str]:
    """The same by their names in the house, with their states: they differ where the rows do."""
    return [name for name, _ in _protected(scope)]


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    player = scope.filters["player"]
    ours = [one for one in limits(scope) if one.player == player]
    in_force = sum(one.state == LimitState.IN_FORCE for one in ours)
    newest = max((one.number for one in ours), default=0)
    [(by_rows,)] = fetched(_IN_FORCE, [scope.house.id, player, newest, scope.as_of.at])
    yield Equality("limits in force by the events = by the rows", in_force, by_rows, Type.COUNT)
    accounts, entries = results["accounts"].totals, results["statement"].totals
    moved = sum(entries[name] for name in ("away", "seated", "held", "deposit"))
    yield Equality(
        "lines of the statement = closing less opening", moved, accounts["closing"] - accounts["opening"], Type.MONEY
    )
    said = sum(
        -net for (code, _), net in recorded(scope, OWN, DayRange.of(scope)).items() if code.rpartition("/")[2] == player
    )
    yield Equality("lines of the statement = what the events record", moved, said, Type.MONEY)
    if "until" not in scope.filters:
        held = sum(
            one.balance for one in balances(scope) if one.number in OWN and one.code.rpartition("/")[2] == player
        )
        yield Equality("closing = balances of 2010, 2020, 2085 and 2090", accounts["closing"], held, Type.MONEY)


REPORT = Report(
    id="player-statement",
    number="A16",
    version=2,
    title="Player statement",
    text="What one player has with the house, and everything that has moved it, hand by hand; the limits and "
    "exclusions that are in force. It names nobody else.",
    roles=(Role.COMPLIANCE, Role.AUDITOR),
    sections=(
        Section(
            "accounts",
            "Balances",
            (
                ref("number", "Account"), coded("kind", "Kind"), money("opening", "Before"), money("came", "In"),
                money("went", "Out"), money("closing", "After"),
            ),
            _accounts,
        ),
        Section(
            "statement",
            "Statement",
            (
                Column("day", "Gaming day", Type.DAY), time("at", "At"), ref("place", "Place"), coded("kind", "What"),
                count("undoes", "Takes back", total=False), ref("hand", "Hand"),
                money("away", "Chips away from tables"),
                money("seated", "Chips at tables"), money("held", "Held payouts"), money("deposit", "Deposit"),
                money("running", "Running", total=False), count("transaction", "Posting", total=False),
            ),
            _rows,
            groups=("day", "place", "kind"),
        ),
        Section(
            PROTECTION,
            "Limits and exclusions",
            (
                coded("what", "What"), coded("kind", "Kind"), coded("span", "Span"),
                money("amount", "Amount", total=False), count("minutes", "Minutes", total=False),
                time("from", "From"), time("until", "Until"),
                coded("state", "State"),
            ),
            protected,
        ),
    ),
    equalities=_equalities,
    filters=(PLAYER, *DAYS),
    sensitivity=Sensitivity.PLAYERS,
    retention=Retention.LAUNDERING,
    formats=(Format.JSON, Format.CSV, Format.PDF, Format.SLIP),
)  # fmt: skip
