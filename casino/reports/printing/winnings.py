"""The certificate of what a player has won and lost at tables: by gaming day, hand by hand added up.

It is of play alone, so what was bought, paid out or given as a tip is not in it; the statement has that. A hand that
was voided is not counted; what a ruling has given or taken belongs to its hand.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from casino.reports.catalogue import a16_player_statement as a16
from casino.reports.frame.columns import Column, Row, Type, count, money, ref
from casino.reports.frame.filters import DayRange
from casino.reports.frame.report import Equality, Report, Results, Scope, Section
from casino.reports.printing import statements


@dataclass(slots=True)
class _Hand:
    """What a hand came to for the player: gaming day and table of its last posting, net in minor units, whether
    something of it was taken back."""

    day: str = ""
    table: str = ""
    net: int = 0
    undone: bool = False

    @property
    def counts(self) -> bool:
        """Whether it was played: all of a voided hand was taken back."""
        return not self.undone or self.net != 0


def _hands(scope: Scope) -> list[_Hand]:
    days, found = DayRange.of(scope), dict[str, _Hand]()
    for _, _, undoes, day, _, table, hand, *nets in a16.postings(scope):
        if hand and days.takes(day):
            one = found.setdefault(hand, _Hand())
            one.day, one.table, one.net = day, table, one.net + sum(nets)
            one.undone = one.undone or undoes is not None
    return [one for one in found.values() if one.counts]


def sums_of(scope: Scope) -> dict[str, int]:
    """Hands, and what was won and lost in them, minor units."""
    nets = [one.net for one in _hands(scope)]
    won = sum(net for net in nets if net > 0)
    return {"hands": len(nets), "won": won, "lost": won - sum(nets)}


def _rows(scope: Scope) -> Iterator[Row]:
    by_day: dict[tuple[str, str], list[int]] = {}
    for one in _hands(scope):
        by_day.setdefault((one.day, one.table), []).append(one.net)
    for (day, table), nets in sorted(by_day.items()):
        won = sum(net for net in nets if net > 0)
        yield day or None, table, len(nets), won, won - sum(nets), sum(nets)


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    played = results["winnings"].totals
    yield Equality("won - lost = won less lost", played["won"] - played["lost"], played["net"], Type.MONEY)
    moved = statements.sums_of(scope)
    beside = sum(
        sum(nets) for _, _, _, day, _, _, hand, *nets in a16.postings(scope)
        if not hand and DayRange.of(scope).takes(day)
    )  # fmt: skip
    yield Equality(
        "won less lost + what moved beside play = after - before", played["net"] + beside,
        moved["closing"] - moved["opening"], Type.MONEY,
    )  # fmt: skip


REPORT = Report(
    id="winnings", number="A16", version=1, title="Certificate of winnings", roles=statements.REPORT.roles,
    text="What a player has won and lost in hands, by gaming day and table. It names nobody else.",
    sections=(
        Section(
            "winnings", "Won and lost",
            (
                Column("day", "Gaming day", Type.DAY), ref("table", "Table"), count("hands", "Hands"),
                money("won", "Won"), money("lost", "Lost"), money("net", "Won less lost"),
            ),
            _rows,
        ),
    ),
    equalities=_equalities, filters=statements.REPORT.filters, sensitivity=statements.REPORT.sensitivity,
    retention=statements.REPORT.retention, formats=statements.REPORT.formats,
)  # fmt: skip
