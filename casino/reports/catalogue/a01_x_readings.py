"""A1: the X readings that were taken of open drawers: what each has seen, from the same events again."""

from collections.abc import Iterator
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.cage.readings import MONEY
from casino.reports import slips
from casino.reports.frame.blind import NOTE
from casino.reports.frame.columns import Column, Row, Type, count, money, pieces, ref, text, time
from casino.reports.frame.filters import DAYS, DRAWER
from casino.reports.frame.report import (
    FIGURES,
    Equality,
    Format,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.staff.models import Role
from casino.transfers.models import Transfer


def _readings(scope: Scope) -> Iterator[Row]:
    for one in slips.readings(scope):
        shown, held = one.read().as_json(), one.held()
        sent = Transfer.objects.filter(house=scope.house, drawer=one.drawer, sent_at__lt=one.at)
        in_transit = sent.exclude(ended_at__lt=one.at).count()
        figures: Row = (
            slips.cash_of(held, Account.DRAWER_CASH), slips.worth(slips.by_value(held[str(Account.CAGE_CHIPS)])),
            slips.cash_of(held, Account.FOREIGN_CHIPS),
        )  # fmt: skip
        blind = one.is_blind(scope)
        yield (
            *one.name, one.shift.number, one.day or None, one.at, one.by, one.shift.opened_at,
            one.shift.opened_by.login, one.shift.float_cash, one.shift.float_chips,
            *((None,) * len(figures) if blind else figures), in_transit, shown["refused_count"], one.seq,
            NOTE if blind else None,
        )  # fmt: skip


def _shown(scope: Scope) -> Iterator[slips.Reading]:
    """Readings whose figures the reader of the run may know."""
    return (one for one in slips.readings(scope) if not one.is_blind(scope))


def _pieces(scope: Scope) -> Iterator[Row]:
    for one in _shown(scope):
        expected = slips.by_value(one.held()[str(Account.CAGE_CHIPS)])
        floated = {int(value): number for value, number in one.shift.float_pieces.items()}
        for value in sorted(expected.keys() | floated.keys(), reverse=True):
            yield *one.name, value, floated.get(value, 0), expected.get(value, 0)


def _movements(scope: Scope) -> Iterator[Row]:
    for one in _shown(scope):
        yield from slips.movements(one.name, one.read())


def _checks(scope: Scope) -> Iterator[Row]:
    for one in _shown(scope):
        yield from slips.checks(one.name, _sums(one))


def _sums(one: slips.Reading) -> list[dict[str, Any]]:
    """Float and movements of the events against what the ledger had in the drawer."""
    total, held = one.read().total(), one.held()
    chips = slips.by_value(held[str(Account.CAGE_CHIPS)])
    aside = held[str(Account.SET_ASIDE)]
    pairs = [
        ("cash", total.cash, slips.cash_of(held, Account.DRAWER_CASH)),
        ("chips of other houses", total.foreign, slips.cash_of(held, Account.FOREIGN_CHIPS)),
        *(
            (f"pieces of {value}", total.pieces.get(value, 0), chips.get(value, 0))
            for value in sorted(total.pieces.keys() | chips.keys())
        ),
        (
            "chips of withdrawn sets",
            sum(value * number for (_, value), number in total.withdrawn.items()),
            slips.worth(slips.by_value(aside)),
        ),
    ]
    return [
        {"name": f"float and movements = balance in the ledger: {what}", "left": left, "right": right,
         "type": MONEY, "equal": left == right}
        for what, left, right in pairs
    ]  # fmt: skip


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    checked = results["checks"]
    yield Equality(
        "sums of the readings that hold = sums of the readings", checked.totals["holds"], checked.row_count, Type.COUNT
    )
    numbers: dict[str, list[int]] = {}
    for one in slips.readings(scope):
        numbers.setdefault(one.drawer.code, []).append(one.number)
    for drawer, found in sorted(numbers.items()):
        yield Equality(
            "readings of {drawer} = its last number - its first + 1",
            len(found),
            max(found) - min(found) + 1,
            Type.COUNT,
            named={"drawer": drawer},
        )


REPORT = Report(
    id="x-readings",
    number="A1",
    version=3,
    title="X readings",
    text="The X readings that were taken of open drawers, with what each has seen. `POST drawers/{drawer}/x-readings` "
    "takes one. A cage supervisor, who may still have to recount the drawer, sees figures of shifts that have ended.",
    roles=(Role.AUDITOR, Role.MANAGER, Role.CAGE_SUPERVISOR),
    blind_roles=(Role.CAGE_SUPERVISOR,),
    sections=(
        Section(
            "readings",
            "X readings",
            (
                *slips.OF_X, count("shift", "Shift", total=False), Column("day", "Gaming day", Type.DAY),
                time("at", "Taken"), ref("by", "By"), time("opened_at", "Open since"), ref("opened_by", "Opened by"),
                money("float_cash", "Float, cash", total=False), money("float_chips", "Float, chips", total=False),
                money("cash", "Cash expected", total=False), money("chips", "Chips expected", total=False),
                money("foreign", "Other houses' chips", total=False), count("in_transit", "In transit", total=False),
                count("refusals", "Refused", total=False), count("event", "Event", total=False),
                text("note", "Note"),
            ),
            _readings,
        ),
        Section(
            "pieces",
            "Chips by denomination",
            (
                *slips.OF_X, money("value", "Denomination", total=False), pieces("float", "Float", total=False),
                pieces("expected", "Expected", total=False),
            ),
            _pieces,
        ),
        Section("movements", "Movements", (*slips.OF_X, *slips.MOVEMENTS), _movements),
        Section("checks", "Sums that must be equal", (*slips.OF_X, *slips.CHECKS), _checks, on_slip=False),
    ),
    equalities=_equalities,
    filters=(*DAYS, DRAWER, slips.NUMBER_X, FIGURES),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.OPERATIONS,
    formats=(Format.JSON, Format.CSV, Format.PDF, Format.SLIP),
)  # fmt: skip
