"""A8: where the chips are, by denomination and place, and what the house owes for those that are out."""

from collections import deque
from collections.abc import Iterator
from datetime import datetime

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import CHIP_LIABILITIES, CHIPS_OUT, COMMISSIONED, face_value, kind_of
from casino.reports.ages import band
from casino.reports.frame.columns import Column, Row, Type, coded, count, day, flag, money, pieces, ref, share, text
from casino.reports.frame.movements import moved
from casino.reports.frame.reading import Held, balances
from casino.reports.frame.report import Equality, Report, Results, Retention, Scope, Section, Sensitivity
from casino.staff.models import Role


def _chips(scope: Scope) -> list[Held]:
    return [held for held in balances(scope) if kind_of(held.code).custody]


def _places(scope: Scope) -> Iterator[Row]:
    for held in _chips(scope):
        if held.number != COMMISSIONED and held.balance:
            value = face_value(held.commodity)
            yield held.commodity, held.number, held.kind, held.place, held.balance, value * held.balance


def _by_denomination(scope: Scope) -> dict[str, dict[str, int]]:
    """Pieces that were commissioned, that lie in some place, and those of them that the public has."""
    found: dict[str, dict[str, int]] = {}
    for held in _chips(scope):
        row = found.setdefault(held.commodity, {"commissioned": 0, "placed": 0, "public": 0})
        row["commissioned" if held.number == COMMISSIONED else "placed"] += held.balance
        if held.number == Account.PUBLIC:
            row["public"] += held.balance
    return dict(sorted(found.items(), key=lambda one: (face_value(one[0]), one[0])))


def _denominations(scope: Scope) -> Iterator[Row]:
    """The public cannot have fewer than no chips, nor more than there are."""
    for commodity, row in _by_denomination(scope).items():
        value, commissioned, public = face_value(commodity), row["commissioned"], row["public"]
        yield (
            commodity, value, commissioned, value * commissioned, row["placed"], public,
            share(public, commissioned), not 0 <= public <= commissioned,
        )  # fmt: skip


def _unattributed(scope: Scope) -> Iterator[Row]:
    """What is owed to nobody known, by the gaming day in which it came: what goes is taken from the oldest. What has
    gone beyond what came stands below zero, in the day in which it went."""
    waiting: deque[tuple[str, datetime, int]] = deque()
    for one in moved(scope, (Account.CHIPS_UNATTRIBUTED,)):
        left = one.amount
        while left and waiting and (waiting[0][2] > 0) != (left > 0):
            of_day, at, amount = waiting.popleft()
            taken = min(abs(amount), abs(left))
            left += taken if left < 0 else -taken
            if abs(amount) > taken:
                waiting.appendleft((of_day, at, amount - taken if amount > 0 else amount + taken))
        if left:
            waiting.append((one.day, one.at, left))
    found: dict[str, tuple[datetime, int]] = {}
    for of_day, at, amount in waiting:
        first, owed = found.get(of_day, (at, 0))
        found[of_day] = first, owed + amount
    for of_day, (first, owed) in sorted(found.items()):
        days = (scope.as_of.at - first).days
        yield of_day or None, days, band(days), owed


def _liability(scope: Scope) -> Iterator[Row]:
    sums: dict[str, int] = {}
    for held in balances(scope):
        if held.number in CHIP_LIABILITIES:
            sums[held.number] = sums.get(held.number, 0) + held.balance
    for number, owed in sorted(sums.items()):
        yield number, kind_of(number).name, owed


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    for commodity, row in _by_denomination(scope).items():
        yield Equality(
            "pieces of {commodity} in all places = commissioned",
            row["placed"],
            row["commissioned"],
            Type.PIECES,
            named={"commodity": commodity},
        )
    out = sum(face_value(held.commodity) * held.balance for held in _chips(scope) if held.number in CHIPS_OUT)
    yield Equality(
        "worth of the chips that are out = what the house owes for chips",
        out,
        results["liability"].totals["owed"],
        Type.MONEY,
    )
    unattributed = sum(held.balance for held in balances(scope) if held.number == Account.CHIPS_UNATTRIBUTED)
    yield Equality(
        "owed to nobody known by age = balance of 2015",
        results["unattributed"].totals["owed"],
        unattributed,
        Type.MONEY,
    )
    yield Equality(
        "pieces by place = pieces by denomination",
        results["places"].totals["pieces"],
        results["denominations"].totals["placed"],
        Type.PIECES,
    )


REPORT = Report(
    id="chips",
    number="A8",
    version=2,
    title="Chip inventory and liability",
    text="Where every chip is, whether any is missing, what the house owes for the chips that are out, and since "
    "when it is owed to nobody known.",
    roles=(Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "denominations",
            "By denomination",
            (
                ref("commodity", "Denomination"),
                money("value", "Face value", total=False),
                pieces("commissioned", "Commissioned"),
                money("worth", "Worth"),
                pieces("placed", "In some place"),
                pieces("public", "Out of the house"),
                Column("public_share", "Share that is out", Type.SHARE),
                flag("impossible", "Fewer or more out than there are"),
            ),
            _denominations,
        ),
        Section(
            "places",
            "By place",
            (
                ref("commodity", "Denomination"),
                Column("number", "Account", Type.REF),
                coded("kind", "Kind of place"),
                ref("place", "Place"),
                pieces("pieces", "Pieces"),
                money("worth", "Worth"),
            ),
            _places,
            groups=("kind", "place", "commodity"),
        ),
        Section(
            "liability",
            "Owed for chips",
            (ref("number", "Account"), coded("kind", "Owed as"), money("owed", "Owed")),
            _liability,
        ),
        Section(
            "unattributed",
            "Owed to nobody known, by age",
            (
                day("day", "Gaming day"),
                count("days", "Days", total=False),
                text("band", "Age in days"),
                money("owed", "Owed"),
            ),
            _unattributed,
            groups=("band",),
        ),
    ),
    equalities=_equalities,
    sensitivity=Sensitivity.NO_PERSON,
    retention=Retention.BOOKS,
)
