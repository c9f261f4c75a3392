"""Boxes of a table: put on it, taken off sealed, and brought to the count room.

The dealer or the floor takes a box off and names its seal; another person, of the count team, reads the seal again in
the count room. What the books have in a box is kept when it is taken, and shown to nobody before it
is counted.
"""

from dataclasses import replace
from typing import Any

from django.db import IntegrityError
from django.db.models import QuerySet

from casino.audit.events.custody import BoxBrought, BoxSwapped
from casino.bookkeeping import books, chart
from casino.bookkeeping.accounts import Account
from casino.chips import selectors as chips
from casino.core import denominations, locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.denominations import Chips
from casino.core.errors import Conflict, Forbidden, NotFound, Unprocessable
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import control_points, days
from casino.houses.models import ClockTimestamp, House
from casino.staff.models import Role
from casino.tables import services as tables
from casino.tables.models import Table, TableState
from casino.transfers import selectors, serials, tray_counts
from casino.transfers.choosing import Pieces
from casino.transfers.models import UNPOSTED, Box, BoxKind, BoxState, Purpose
from casino.transfers.services import require_another

#: Where the books have the contents of a box: cash, and chips.
ACCOUNTS: dict[BoxKind, tuple[Account | None, Account | None]] = {
    BoxKind.DROP: (Account.DROP_CASH, None),
    BoxKind.TAX: (None, Account.TAX_BOX),
    BoxKind.TIP: (None, Account.TRONC_BOX),
}
#: Kind of the postings of what was counted in a box, which may find more in it than there was.
RECEIVED = "box.received"
IN_COUNT_ROOM = OfHouse(office=True)


def swap(
    *, command: Command, code: str, kind: BoxKind, number: str, seal: str | None, tray: Pieces | None = None
) -> Answer:
    """Put the box of this number on a table; one of its kind that is there is taken off, sealed with `seal`.

    `tray`: pieces by denomination that the dealer has counted in the tray at this change of boxes; the count waits for
    its witness as any count of a tray. A house may want one wherever a box is taken off: it serves for the boxes after
    it too, as long as no chip of the tray moves. Not during a hand. Raises Forbidden forbidden for a count by somebody
    else than the dealer, Conflict box_in_use, tray_count_required or table_..., Unprocessable seal_missing,
    seal_without_box, or for wrong pieces.
    """

    def change(table: Table, work: Work) -> Outcome:
        tables.require_state(table, TableState.OPEN, TableState.CLOSED)
        if tray is not None and command.context.role != Role.DEALER:
            raise Forbidden("The dealer counts the tray.")
        taken, ended = _take(command, table, kind, seal)
        if taken is None and seal is not None:
            raise Unprocessable(f"Table {code} has no {kind} box that could be sealed.", code="seal_without_box")
        box = Box(
            house=table.house,
            serial=serials.next_of(table.house, "box", *ended),
            table=table,
            kind=kind,
            number=number,
            put_by=command.context.staff,
        )
        try:
            box.save(force_insert=True)
        except IntegrityError:
            raise Conflict(f"Box {number} is on a table or waits to be counted.", code="box_in_use") from None
        off = None if taken is None else selectors.describe_box(taken)
        event = BoxSwapped(box=selectors.describe_box(box), taken=off)
        if tray is not None:
            begun = tray_counts.begin(table, Purpose.BOX_CHANGE, tray, by=command.context.staff)
            event = replace(event, tray_count=begun.described, pieces=begun.pieces, replaced=begun.replaced)
        elif taken is not None:
            event = replace(event, counted=_counted(table))
        return Outcome(event, status=201)

    return write.write(command, tables.AtTable(code), change)


def bring(*, command: Command, serial: int, seal: str) -> Answer:
    """Take a box into the count room, with the number of its seal as it is read there. A seal that differs is recorded
    and shown. Raises NotFound, Conflict box_..., Forbidden four_eyes for who has taken the box off the table."""

    def change(house: House, work: Work) -> Outcome:
        box = lock(house, serial, BoxState.TAKEN)
        require_another(command, box.taken_by, "took this off the table")
        box.state, box.seal_read, box.brought_by = BoxState.BROUGHT, seal, command.context.staff
        Box.objects.filter(id=box.pk).update(
            state=box.state, seal_read=seal, brought_by=box.brought_by, brought_at=ClockTimestamp()
        )
        described = selectors.describe_box(box)
        return Outcome(BoxBrought(box=described), {"box": described}, version=box.serial)

    return write.write(command, IN_COUNT_ROOM, change)


#: What and whom a box names.
_NAMED = ("table", "put_by", "taken_by", "brought_by", "decided_by", "observer", "received_by")


def lock(house: House, serial: int, *states: BoxState) -> Box:
    """A box in one of these states. Raises NotFound, Conflict box_at_table, box_taken, box_brought, box_counted or
    box_received."""
    box = locks.lock(Box, locks.Rank.CUSTODY, related=_NAMED, house=house, serial=serial)
    if box.state not in states:
        raise Conflict(f"Box {serial} is {box.state}.", code=f"box_{box.state}", state=box.state)
    box.house = house
    return box


def _counted(table: Table) -> int | None:
    """The count of the tray with which a box is taken off that takes none with it; None where the house wants none.
    Raises Conflict tray_count_required."""
    if not control_points.in_force(table.house).box_change_count_required:
        return None
    if (found := tray_counts.at_box_change(table)) is None:
        raise Conflict(f"Count the tray of table {table.code} with the change of boxes.", code="tray_count_required")
    return found


def _take(
    command: Command, table: Table, kind: BoxKind, seal: str | None
) -> tuple[Box | None, list[sql.Statement]]:  # fmt: skip
    """Take the box of this kind off its table, if there is one; returns it, and what updates its row."""
    house = table.house
    there = {"house": house, "table": table, "kind": kind.value, "state": BoxState.AT_TABLE.value}
    reads = (
        Box.objects.filter(**there).select_related(*_NAMED),
        *_holding(table, kind),
        days.newest_open(house),
        books.day_of_last_debit(house, _account(table, kind), but=RECEIVED),
    )
    try:
        # The table is locked: nobody else puts a box on it or takes one off.
        _, ([found], held, off, newest_day, last_debit) = locks.lock_beside(
            Box, locks.Rank.CUSTODY, *reads, **there
        )  # fmt: skip
    except NotFound:
        return None, []
    if seal is None:
        raise Unprocessable("Name the seal of the box that is taken off.", code="seal_missing")
    box: Box = found
    box.house, box.table = house, table
    box.state, box.seal, box.taken_by = BoxState.TAKEN, seal, command.context.staff
    cash, pieces = _inside(table, kind, held, off)
    box.for_day = _day(newest_day, last_debit, is_empty=not (cash or pieces))
    ended = sql.updating(
        Box.objects.filter(id=box.pk),
        state=box.state,
        seal=seal,
        taken_by=box.taken_by,
        taken_at=ClockTimestamp(),
        for_day=box.for_day,
        expected_cash=cash,
        expected_pieces=pieces.as_json(),
    )
    return box, [ended]


def _day(newest: list[str], last_debit: list[tuple[str]], *, is_empty: bool) -> str:
    """The gaming day of a box that is taken off: that of what fell into it last, so that a swap shortly after the turn
    of the day does not change it; of an empty box the newest open one. Empty without days."""
    named = newest if is_empty else [name for (name,) in last_debit]
    return next(iter(named), "")


def _account(table: Table, kind: BoxKind) -> str:
    """Where the books have the contents of the boxes of this kind."""
    [code] = [table.account(number) for number in ACCOUNTS[kind] if number is not None]
    return code


def inside(table: Table, kind: BoxKind) -> tuple[int, Chips]:
    """What the books have in the box on the table: in its account, less what is in those that were taken off."""
    return _inside(table, kind, *sql.together(*_holding(table, kind)))


def _holding(table: Table, kind: BoxKind) -> tuple[sql.Statement, QuerySet[Any, Any]]:
    """What `inside` reads: contents of the account, and what was in the boxes that were taken off."""
    off = Box.objects.filter(house=table.house, table=table, kind=kind, state__in=UNPOSTED)
    contents = chart.lying_in(table.house, [_account(table, kind)])
    return contents, off.values_list("expected_cash", "expected_pieces")


def _inside(
    table: Table, kind: BoxKind, held: list[tuple[str, str, int]], off: list[tuple[int | None, Any]]
) -> tuple[int, Chips]:  # fmt: skip
    """As `inside`, by what `_holding` has found."""
    cash_account, rack = ACCOUNTS[kind]
    house, chip_set = table.house, chips.in_use(table.house)
    there = chart.by_code(held).get(_account(table, kind), {})
    cash = there[house.currency] if cash_account is not None else 0
    pieces = chart.held_in(house, chip_set.code, list(there.items())) if rack is not None else Chips(chip_set.code)
    for expected_cash, expected_pieces in off:
        cash -= expected_cash or 0
        pieces -= denominations.parse(chip_set, expected_pieces or {})
    return cash, pieces
