"""A4: cash and chips of the cage by place, what came and went, and what covers the chips that are out."""

from collections.abc import Iterator

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import CHIP_LIABILITIES, face_value, kind_of
from casino.reports.frame.blind import NOTE, is_blind
from casino.reports.frame.columns import Column, Row, Type, coded, money, ref, share, text
from casino.reports.frame.filters import DAYS, PLACE, DayRange
from casino.reports.frame.late import Later
from casino.reports.frame.movements import held_before, recorded, turned, with_opening
from casino.reports.frame.places import place_of
from casino.reports.frame.reading import Held, balances
from casino.reports.frame.report import FIGURES, Equality, Report, Results, Retention, Scope, Section, Sensitivity
from casino.staff.models import Role

_CASH = (
    Account.VAULT_CASH, Account.CASH_IN_TRANSIT, Account.DRAWER_CASH, Account.CLEARING, Account.DROP_CASH,
    Account.BANK_ACCOUNT, Account.FOREIGN_CHIPS,
)  # fmt: skip
_CHIPS = (Account.VAULT_CHIPS, Account.SET_ASIDE, Account.CAGE_CHIPS, Account.TRANSIT)
_NUMBERS = _CASH + _CHIPS
#: What pays for chips at once, and to whom else the house owes money that lies among it.
_COVER = (Account.VAULT_CASH, Account.DRAWER_CASH, Account.BANK_ACCOUNT)
_OWED = (*CHIP_LIABILITIES, Account.CARRY_HELD, Account.HELD_PAYOUTS, Account.PLAYER_DEPOSITS)


def _worth(commodity: str, units: int) -> int:
    return units * face_value(commodity)


def _takes(scope: Scope, code: str) -> bool:
    """Whether the figures of an account are in the report."""
    return _is_asked(scope, code) and not is_blind(scope, code)


def _is_asked(scope: Scope, code: str) -> bool:
    return scope.filters.get("place") in (None, place_of(code))


def _places(scope: Scope) -> Iterator[Row]:
    days = DayRange.of(scope)
    found: dict[str, list[int]] = {}
    for one in with_opening(scope, _NUMBERS, days):
        row = found.setdefault(one.code, [0, 0, 0])
        if days.is_before(one.day):
            row[0] += _worth(one.commodity, one.net)
        elif days.takes(one.day):
            row[1] += _worth(one.commodity, one.into)
            row[2] += _worth(one.commodity, one.out)
    for code, (opening, came, went) in sorted(found.items()):
        if _is_asked(scope, code) and (opening or came or went):
            number, place = code.partition("/")[0], place_of(code)
            what = "chips" if kind_of(code).custody else "cash"
            if is_blind(scope, code):
                yield number, kind_of(code).name, place, what, None, None, None, None, NOTE
            else:
                yield number, kind_of(code).name, place, what, opening, came, went, opening + came - went, ""


def _kinds(scope: Scope) -> Iterator[Row]:
    days = DayRange.of(scope)
    found: dict[tuple[str, str], list[int]] = {}
    for one in turned(scope, _NUMBERS, days):
        if days.takes(one.day) and _takes(scope, one.code):
            row = found.setdefault(("chips" if kind_of(one.code).custody else "cash", one.kind), [0, 0])
            row[0] += _worth(one.commodity, one.into)
            row[1] += _worth(one.commodity, one.out)
    for (what, kind), (came, went) in sorted(found.items()):
        yield what, kind, came, went, came - went


def _covering(scope: Scope) -> dict[str, int]:
    """What each number of the chart covers or owes, minor units. As of the moment of the report, whatever days are
    shown. What is owed for chips says what is in the cage, so that who counts does not see it."""
    sums: dict[str, int] = {}
    for held in () if scope.blind else balances(scope):
        if held.number in _COVER or held.number in _OWED:
            sums[held.number] = sums.get(held.number, 0) + _in_money(held)
    return sums


def _cover(scope: Scope) -> Iterator[Row]:
    for number, amount in sorted(_covering(scope).items()):
        covers = number in _COVER
        yield number, kind_of(number).name, amount if covers else 0, 0 if covers else amount


def _ratio(scope: Scope) -> Iterator[Row]:
    """How much of what is owed the cash covers; nothing where nothing is owed."""
    sums = _covering(scope)
    cash = sum(amount for number, amount in sums.items() if number in _COVER)
    owed = sum(amount for number, amount in sums.items() if number in _OWED)
    if sums:
        yield cash, owed, cash - owed, share(cash, owed)


def _in_money(held: Held) -> int:
    return _worth(held.commodity, held.balance)


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    yield from _LATER.equalities(scope)
    days = DayRange.of(scope)
    totals, within = results["places"].totals, recorded(scope, _NUMBERS, days)
    change = sum(_worth(commodity, net) for (code, commodity), net in within.items() if _takes(scope, code))
    if days.first is None:
        yield Equality("closing = what the events record up to then", totals["closing"], change, Type.MONEY)
    else:
        before = held_before(scope, _NUMBERS, days.first).items()
        begun = sum(_worth(commodity, balance) for (code, commodity), balance in before if _takes(scope, code))
        yield Equality(
            "closing = what the snapshot of an earlier closing gives, which A32 proves, and the events record since",
            totals["closing"], begun + change, Type.MONEY,
        )  # fmt: skip
    yield Equality(
        "change by kind = what the events record of these days", results["kinds"].totals["change"], change, Type.MONEY
    )
    yield Equality("in by place = in by kind", totals["came"], results["kinds"].totals["came"], Type.MONEY)
    if days.last is None:
        held = sum(_in_money(one) for one in balances(scope) if one.number in _NUMBERS and _takes(scope, one.code))
        yield Equality("closing = balances of the ledger", totals["closing"], held, Type.MONEY)


_LATER = Later(_NUMBERS, _is_asked)

REPORT = Report(
    id="cage-summary",
    number="A4",
    version=5,
    title="Cage summary",
    text="Cash and chips of vault, drawers, boxes, transit and bank: opening, what came and went, closing; the same by "
    "kind of posting; and the cash that covers what the house owes for chips. Chips by their worth.",
    roles=(Role.AUDITOR, Role.MANAGER, Role.CAGE_SUPERVISOR),
    blind_roles=(Role.CAGE_SUPERVISOR,),
    sections=(
        Section(
            "places",
            "By place",
            (
                ref("number", "Account"), coded("kind", "Kind of place"), ref("place", "Place"), text("what", "What"),
                money("opening", "Opening"), money("came", "In"), money("went", "Out"), money("closing", "Closing"),
                text("note", "Note"),
            ),
            _places,
            groups=("kind", "place", "what"),
        ),
        Section(
            "kinds",
            "By kind",
            (
                text("what", "What"), text("posting", "Kind"), money("came", "In"), money("went", "Out"),
                money("change", "Change"),
            ),
            _kinds,
            groups=("what", "posting"),
        ),
        Section(
            "cover",
            "Cash against what is owed",
            (ref("number", "Account"), coded("kind", "Kind"), money("cover", "Cash"), money("owed", "Owed")),
            _cover,
        ),
        Section(
            "ratio",
            "Cover",
            (
                money("cover", "Cash"), money("owed", "Owed"), money("free", "More than is owed"),
                Column("share", "Cash of what is owed", Type.SHARE),
            ),
            _ratio,
        ),
        _LATER.section(),
    ),
    equalities=_equalities,
    filters=(*DAYS, PLACE, FIGURES),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
