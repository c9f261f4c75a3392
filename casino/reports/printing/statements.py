"""The statement of a player on paper: period, what the player had, what came and went, what is left.

It is the statement of the catalogue (A16) in fewer columns, for the player and not for an auditor.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

from casino.core import languages
from casino.core.languages import Kind, said
from casino.reports.catalogue import a16_player_statement as a16
from casino.reports.frame.columns import Row, Type, coded, count, money, ref, text
from casino.reports.frame.filters import DayRange
from casino.reports.frame.movements import recorded
from casino.reports.frame.report import Equality, Report, Results, Scope, Section
from casino.reports.printing.documents import DOCUMENTS, OF_PLAYERS
from casino.reports.printing.receipts import FORMS

#: Words for postings that are no event with a paper of its own.
WORDS = {
    "table.sat_down": "Sat down", "table.chips_added": "Chips added", "table.moved": "To another table",
    "chips.attributed": "Booked for the player", "chips.unattributed": "Booked for nobody",
    "hand.stakes": "Stakes", "hand.disputed": "Dispute", "hand.ruled": "Ruling", "hand.ruled_later": "Later ruling",
    "payout.paid_by_bank": "Held payout, by the bank", "minor.settled": "Stakes given back, winnings kept",
}  # fmt: skip


def sums_of(scope: Scope) -> dict[str, int]:
    """What a player had before the period, what came, what went, and what is left, minor units."""
    _, *sums = zip(*a16.of_accounts(scope), strict=True)
    opening, came, went = map(sum, sums)
    return {"opening": opening, "came": came, "went": went, "closing": opening + came - went}


def state_of(scope: Scope) -> str:
    """What two statements of one player and period have in common where they say the same: the posting that has moved
    the accounts last, and of what protects the player, if anything does, eight hexadecimal digits."""
    protected = "\n".join(a16.protections(scope))
    newest = a16.newest_posting(scope)
    return f"{newest}-{hashlib.sha256(protected.encode()).hexdigest()[:8]}" if protected else str(newest)


def _accounts(scope: Scope) -> Iterator[Row]:
    for number, opening, came, went in a16.of_accounts(scope):
        if opening or came or went:
            yield said(Kind.REPORT, NAMES[number]), opening, came, went, opening + came - went


#: What a player calls the accounts.
NAMES = {
    str(number): name
    for number, name in zip(a16.OWN, ("Chips away from tables", "Chips at tables", "Held payouts", "Deposit"),
                            strict=True)
}  # fmt: skip


def _rows(scope: Scope) -> Iterator[Row]:
    """Each posting in one line, and each hand in one: what moves between the player's own accounts is nothing there."""
    days, zone = DayRange.of(scope), ZoneInfo(scope.house.time_zone)
    running = sum(opening for _, opening, _, _ in a16.of_accounts(scope))
    taken = (row for row in a16.postings(scope) if days.takes(row[3]))
    for (_, hand), group in groupby(taken, lambda row: (row[0] if not row[6] else 0, row[6])):
        rows = list(group)
        _, kind, undoes, _, when, place, _, *_ = rows[-1]
        net = sum(sum(row[7:]) for row in rows)
        running += net
        what = _what(kind) if undoes is None else gettext("Taken back: %(what)s") % {"what": _what(kind)}
        if hand:
            what = gettext("Hand %(hand)s") % {"hand": hand}
        at = languages.minute(when.astimezone(zone))
        yield at, what, place, max(net, 0), max(-net, 0), running


def _protected(scope: Scope) -> Iterator[Row]:
    """What protects the player at the moment of the statement, and since when or from when on."""
    for what, kind, span, amount, minutes, begins, _, _ in a16.protected(scope):
        assert isinstance(begins, datetime)  # noqa: S101 - of every row
        yield what, kind, span, amount, minutes, languages.local(begins, scope.house.time_zone)


def _what(kind: str) -> str:
    if kind in WORDS or kind in DOCUMENTS:
        return said(Kind.REPORT, WORDS[kind] if kind in WORDS else DOCUMENTS[kind].title)
    return kind.rpartition(".")[2].replace("_", " ").capitalize()


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    accounts, lines = results["accounts"].totals, results["lines"].totals
    yield Equality(
        "before + in - out = after",
        accounts["opening"] + accounts["came"] - accounts["went"],
        accounts["closing"],
        Type.MONEY,
    )
    yield Equality(
        "in - out of the lines = after - before", lines["came"] - lines["went"],
        accounts["closing"] - accounts["opening"], Type.MONEY,
    )  # fmt: skip
    player = scope.filters["player"]
    said = recorded(scope, a16.OWN, DayRange.of(scope))
    of_player = -sum(net for (code, _), net in said.items() if code.rpartition("/")[2] == player)
    yield Equality(
        "in - out of the lines = what the audit log records", lines["came"] - lines["went"], of_player, Type.MONEY
    )


def texts() -> Iterator[str]:
    """What a statement says that is declared here."""
    yield from WORDS.values()
    yield from NAMES.values()


REPORT = Report(
    id="statement",
    number="A16",
    version=2,
    title="Statement",
    text="What a player has with the house, and everything that has moved it; which limits and exclusions are in "
    "force. It names nobody else.",
    roles=OF_PLAYERS,
    sections=(
        Section(
            "accounts", "Balances",
            (
                text("kind", "Kind"), money("opening", "Before"), money("came", "In"), money("went", "Out"),
                money("closing", "After"),
            ),
            _accounts,
        ),
        Section(
            "lines", "Movements",
            (
                text("at", "At"), text("what", "What"), ref("place", "Place"), money("came", "In"),
                money("went", "Out"), money("running", "Balance", total=False),
            ),
            _rows,
        ),
        Section(
            a16.PROTECTION, "Limits and exclusions",
            (
                coded("what", "What"), coded("kind", "Kind"), coded("span", "Span"),
                money("amount", "Amount", total=False), count("minutes", "Minutes", total=False), text("from", "From"),
            ),
            _protected,
        ),
    ),
    equalities=_equalities,
    filters=a16.REPORT.filters,
    sensitivity=a16.REPORT.sensitivity,
    retention=a16.REPORT.retention,
    formats=FORMS,
)  # fmt: skip
