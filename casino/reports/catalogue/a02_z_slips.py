"""A2: the Z slips of drawers: what each shift moved, had to hold and was counted, signed, proven and chained."""

from collections.abc import Iterator
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.cage.models import Shift, worth
from casino.reports import slips
from casino.reports.counts import over_short_later
from casino.reports.frame.columns import Column, Row, Type, coded, count, money, pieces, ref, text, time
from casino.reports.frame.filters import DAYS, DRAWER
from casino.reports.frame.movements import events, moved_by
from casino.reports.frame.places import drawers
from casino.reports.frame.report import (
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

_NONE: dict[str, Any] = {}


def _slips(scope: Scope) -> Iterator[Row]:
    for slip in slips.slips(scope):
        shift = slip.shift
        yield (
            *slip.name, slip.day or None, shift.opened_at, shift.opened_by.login, shift.closed_at,
            _login(shift.closed_by), _login(shift.counted_by), _login(shift.recounted_by),
            shift.handed_to.code if shift.handed_to else None, shift.reopens, shift.reason,
        )  # fmt: skip


def _login(person: Any) -> str | None:
    return None if person is None else str(person.login)


def _counts(scope: Scope) -> Iterator[Row]:
    for slip in slips.slips(scope):
        for what, floated, expected, first, second, accepted in _sides(slip.shift):
            yield *slip.name, what, floated, expected, first, second, accepted, accepted - expected


def _sides(shift: Shift) -> Iterator[tuple[str, int | None, int, int | None, int | None, int]]:
    """Cash, chips by worth, chips of other houses, chips of withdrawn sets by worth: float, expected, both counts, the
    count that was accepted."""
    first, second = shift.first_count or _NONE, shift.recount

    def counted(name: str) -> tuple[int | None, int | None]:
        found = [None if one is None else _amount(name, one) for one in (first, second)]
        return found[0], found[1]

    yield "cash", shift.float_cash, shift.expected_cash or 0, *counted("cash"), shift.counted_cash or 0
    yield "chips", shift.float_chips, shift.expected_chips or 0, *counted("pieces"), shift.counted_chips or 0
    yield "other houses", None, shift.expected_foreign or 0, *counted("foreign"), shift.counted_foreign or 0
    withdrawn = worth(shift.expected_withdrawn or {}), worth(shift.counted_withdrawn or {})
    if any(withdrawn):
        yield "withdrawn sets", None, withdrawn[0], *counted("withdrawn"), withdrawn[1]


def _amount(name: str, counted: dict[str, Any]) -> int:
    if name == "pieces":
        return slips.worth(counted.get("pieces"))
    if name == "withdrawn":
        return worth(counted.get("withdrawn", _NONE))
    return int(counted.get(name, 0))


def _pieces(scope: Scope) -> Iterator[Row]:
    for slip in slips.slips(scope):
        shift = slip.shift
        sides = [
            shift.float_pieces, shift.expected_pieces or _NONE, (shift.first_count or _NONE).get("pieces", _NONE),
            (shift.recount or _NONE).get("pieces", _NONE), shift.counted_pieces or _NONE,
        ]  # fmt: skip
        for value in sorted({int(value) for side in sides for value in side}, reverse=True):
            floated, expected, first, second, accepted = (side.get(str(value), 0) for side in sides)
            recounted = None if shift.recount is None else second
            yield *slip.name, value, floated, expected, first, recounted, accepted, accepted - expected


def _movements(scope: Scope) -> Iterator[Row]:
    for slip in slips.slips(scope):
        yield from slips.movements(slip.name, slip.read())


def _proofs(scope: Scope) -> Iterator[Row]:
    for slip in slips.slips(scope):
        read = slip.read()
        shown, previous = read.as_json(), read.previous()
        mended = read.kinds.get("cage.corrected")
        yield (
            *slip.name, slip.drawer.chain, shown["first_event"]["seq"], shown["first_event"]["hash"],
            shown["last_event"]["seq"], shown["last_event"]["hash"],
            *((None, None) if previous is None else (previous["seq"], previous["hash"])),
            shown["refused_count"], mended.count if mended else 0,
            mended.into.cash + mended.out.cash if mended else 0,
        )  # fmt: skip


def _assertions(scope: Scope) -> Iterator[Row]:
    for slip in slips.slips(scope):
        for one in slip.read().assertions():
            yield *slip.name, one["account"], one["commodity"], one["balance"]


def _checks(scope: Scope) -> Iterator[Row]:
    for slip in slips.slips(scope):
        yield from slips.checks(slip.name, slip.read().equalities())


def _explained(scope: Scope) -> Iterator[Row]:
    """What was found of these slips after they were signed: they stay as they are."""
    wanted = slips.closings(scope)
    for _, chain, seq, doc in events(scope, ("variance.offset", "vault.count_signed_off")):
        data = doc["data"]
        about = data if doc["kind"] == "variance.offset" else data["vault_count"].get("corrects") or _NONE
        if (about.get("drawer"), about.get("count")) in wanted:
            yield (
                about["drawer"],
                about["count"],
                doc["kind"],
                data.get("amount"),
                doc.get("reason", ""),
                doc["actor"],
                (f"{chain}#{seq}"),
            )


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    yield from _LATER.equalities(scope)
    checked = results["checks"]
    yield Equality(
        "sums of the slips that hold = sums of the slips", checked.totals["holds"], checked.row_count, Type.COUNT
    )
    closed = slips.closings(scope)
    yield Equality("slips = closings in the trail", results["slips"].row_count, len(closed), Type.COUNT)
    by_drawer: dict[str, list[int]] = {}
    for drawer, number in closed:
        by_drawer.setdefault(drawer, []).append(number)
    for drawer, numbers in sorted(by_drawer.items()):
        yield Equality(
            "slips of {drawer} = its last number - its first + 1",
            len(numbers),
            max(numbers) - min(numbers) + 1,
            Type.COUNT,
            named={"drawer": drawer},
        )
    chained = sum(1 for row in _proofs(scope) if row[1] == 1 or row[7] is not None)
    yield Equality("slips that name the one before, or are a drawer's first = slips", chained, len(closed), Type.COUNT)
    ids = {event for event, _, _ in closed.values()}
    posted = {str(Account.CASH_OVER_SHORT): 0, str(Account.CHIP_OVER_SHORT): 0}
    for entry in moved_by(scope, posted, ids):
        posted[entry.number] += entry.amount
    found = {"cash": 0, "chips": 0}
    for row in _counts(scope):
        found["cash" if row[2] in ("cash", "other houses") else "chips"] += int(row[-1] or 0)  # type: ignore[arg-type]
    yield Equality("variances of cash = 5200", found["cash"], -posted[str(Account.CASH_OVER_SHORT)], Type.MONEY)
    yield Equality("variances of chips = 5210", found["chips"], -posted[str(Account.CHIP_OVER_SHORT)], Type.MONEY)


_LATER = over_short_later(lambda scope: drawers(scope.house))

REPORT = Report(
    id="z-slips",
    number="A2",
    version=3,
    title="Z slips",
    text="Shifts of drawers that have ended: movements, counts and variances, who signed, the sums of every slip, and "
    "the slip before. A shift belongs to the gaming day in which it began.",
    roles=(Role.AUDITOR, Role.MANAGER, Role.CAGE_SUPERVISOR),
    sections=(
        Section(
            "slips",
            "Z slips",
            (
                *slips.OF_Z, Column("day", "Gaming day", Type.DAY), time("opened_at", "Opened"),
                ref("opened_by", "Opened by"), time("closed_at", "Closed"), ref("closed_by", "Closed by"),
                ref("counted_by", "Counted by"), ref("recounted_by", "Recounted by"),
                ref("handed_to", "Handed over to"), count("reopens", "Goes on from Z", total=False),
                text("reason", "Reason"),
            ),
            _slips,
        ),
        Section(
            "counts",
            "Counted",
            (
                *slips.OF_Z, text("what", "What"), money("float", "Float"), money("expected", "Expected"),
                money("first_count", "First count"), money("recount", "Recount"), money("accepted", "Accepted"),
                money("variance", "Over or short"),
            ),
            _counts,
            groups=("drawer", "what"),
        ),
        Section(
            "pieces",
            "Chips by denomination",
            (
                *slips.OF_Z, money("value", "Denomination", total=False), pieces("float", "Float"),
                pieces("expected", "Expected"), pieces("first_count", "First count"), pieces("recount", "Recount"),
                pieces("accepted", "Accepted"), pieces("variance", "Over or short"),
            ),
            _pieces,
            groups=("drawer",),
        ),
        Section("movements", "Movements", (*slips.OF_Z, *slips.MOVEMENTS), _movements, groups=("drawer", "kind")),
        Section(
            "explained",
            "Found out later",
            (
                *slips.OF_Z, coded("kind", "Kind"), money("amount", "Amount"), text("reason", "Reason"),
                ref("by", "By"), ref("event", "Event"),
            ),
            _explained,
        ),
        Section(
            "checks",
            "Sums that must be equal",
            (*slips.OF_Z, *slips.CHECKS),
            _checks,
            on_slip=False,
        ),
        Section(
            "assertions",
            "Accepted counts in the ledger",
            (
                *slips.OF_Z, ref("account", "Account"),
                ref("commodity", "Commodity"), count("balance", "Balance", total=False),
            ),
            _assertions,
            on_slip=False,
        ),
        Section(
            "proofs",
            "Events",
            (
                *slips.OF_Z, ref("chain", "Chain"), count("first_event", "First event", total=False),
                ref("first_hash", "Its hash"), count("last_event", "Closed by event", total=False),
                ref("last_hash", "Its hash"), count("previous_event", "Slip before", total=False),
                ref("previous_hash", "Its hash"), count("refusals", "Refused"), count("corrections", "Corrections"),
                money("corrected", "Cash corrected"),
            ),
            _proofs,
            proof=("chain", "last_event", "last_hash"),
        ),
        _LATER.section(),
    ),
    equalities=_equalities,
    filters=(*DAYS, DRAWER, slips.NUMBER_Z),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
    formats=(Format.JSON, Format.CSV, Format.XLSX, Format.PDF, Format.SLIP),
)  # fmt: skip
