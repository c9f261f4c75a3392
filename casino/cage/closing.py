"""Closing a drawer: its cashier counts it without knowing what it must hold; a count that differs is counted once more
by a supervisor, and signed off by a third person. Then the drawer is emptied into the vault, or handed over to another
cashier's (`taking_over.py`).

With the first count the drawer stands still. Both counts are kept; the last one is accepted, and what it finds over or
short is posted.
"""

from collections.abc import Callable, Mapping
from typing import Any

from casino.audit.events.cage import DrawerClosed, DrawerCounted, DrawerRecounted
from casino.bookkeeping import books, chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import Posting, posting
from casino.cage import announced, contents, selectors
from casino.cage.blind import CONTENTS
from casino.cage.contents import Contents, Withdrawn
from casino.cage.models import Drawer, DrawerState, Handover, HandoverState, Shift
from casino.cage.readings import readers
from casino.cage.services import enter, require_open, require_shift, write_at
from casino.cage.signing import is_manager, require_another, require_role
from casino.chips import selectors as chip_sets
from casino.chips.counts import chip_variance
from casino.core import sql
from casino.core.commands import Answer, Command
from casino.core.denominations import Chips
from casino.core.errors import Conflict, Forbidden
from casino.core.work import Outcome, Work
from casino.houses import control_points, days
from casino.houses.models import ClockTimestamp
from casino.staff.models import Role, Staff

#: What of a drawer is pending beside its handover: `kind`, `number` and `id` of each.
OpenWork = Callable[[Drawer], list[dict[str, Any]]]
#: Chips by denomination as somebody wrote them: {"500": 3}.
Pieces = Mapping[Any, int]


def count(
    *, command: Command, code: str, cash: int, pieces: Pieces, foreign: int, withdrawn: Withdrawn | None = None,
    open_work: OpenWork,
) -> Answer:  # fmt: skip
    """Commit the first count: cash and chips of other houses in minor units, chips by pieces, those of `withdrawn` sets
    by set. The drawer stands still from now on; the answer says whether the count agrees with the books, and no figure.

    Raises Conflict drawer_closed, drawer_counted, drawer_has_open_work, chip_set_not_withdrawn, chip_set_retired;
    Unprocessable for wrong pieces, unknown_chip_set.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        shift = require_open(drawer)
        require_no_open_work(drawer, open_work)
        counted = contents.named(drawer.house, cash, pieces, foreign, withdrawn)
        Shift.objects.filter(id=shift.id).update(
            first_count=counted.as_json(), counted_by=command.context.staff, counted_at=ClockTimestamp()
        )
        agrees = _agrees(drawer, counted)
        return Outcome(DrawerCounted(shift=shift.number, count=counted.as_json(), agrees=agrees))

    return write_at(command, code, change)


def recount(
    *, command: Command, code: str, cash: int, pieces: Pieces, foreign: int, withdrawn: Withdrawn | None = None
) -> Answer:
    """Count a drawer again whose first count differs from the books; once, without knowing either.

    Raises Forbidden four_eyes for the person who counted first or opened the drawer, and for one who has read what
    the drawer must hold in this shift; Conflict drawer_closed, drawer_open, drawer_recounted, count_agrees,
    chip_set_not_withdrawn, or chip_set_retired; Unprocessable for wrong pieces, unknown_chip_set.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        shift = require_counted(drawer)
        if shift.state == DrawerState.RECOUNTED:
            raise Conflict(f"Drawer {code} has been counted twice; sign the difference off.", code="drawer_recounted")
        if _agrees(drawer, contents.stored(drawer.house, shift.first_count)):
            raise Conflict(f"The count of drawer {code} agrees with the books; close it.", code="count_agrees")
        require_another(command, "counted this drawer or opened it", shift.counted_by, shift.opened_by)
        if command.context.staff.login in readers(drawer, shift):
            raise Forbidden("You have read what this drawer must hold; somebody else counts it.", code="four_eyes")
        counted = contents.named(drawer.house, cash, pieces, foreign, withdrawn)
        Shift.objects.filter(id=shift.id).update(
            recount=counted.as_json(), recounted_by=command.context.staff, recounted_at=ClockTimestamp()
        )
        agrees = _agrees(drawer, counted)
        return Outcome(DrawerRecounted(shift=shift.number, count=counted.as_json(), agrees=agrees))

    return write_at(command, code, change)


def close(*, command: Command, code: str, open_work: OpenWork) -> Answer:
    """Close a drawer whose first count agrees with the books. Raises Conflict drawer_closed, drawer_open,
    drawer_has_open_work, or count_differs: it is counted again and signed off."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        shift = require_counted(drawer)
        require_no_open_work(drawer, open_work)
        counted = _agreed(drawer, shift)
        return Outcome(end(command.ledger_key(), work, drawer, shift, counted, by=command.context.staff))

    return write_at(command, code, change)


def sign_off(*, command: Command, code: str, reason: str, open_work: OpenWork) -> Answer:
    """Accept the recount with its difference, and close the drawer.

    Raises Forbidden four_eyes for those who counted or opened it, manager_needed above the house's limit; Conflict
    drawer_closed, drawer_open, drawer_has_open_work, drawer_counted where it was not counted twice.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        shift = require_counted(drawer)
        require_no_open_work(drawer, open_work)
        if shift.state != DrawerState.RECOUNTED:
            raise Conflict(f"Drawer {code} was counted once; it is counted again first.", code="drawer_counted")
        counted = _signed_off(command, drawer, shift)
        closed = end(command.ledger_key(), work, drawer, shift, counted, by=command.context.staff, reason=reason)
        return Outcome(closed)

    return write_at(command, code, change)


# --- Parts ----------------------------------------------------------------------------------------------------------


def accepted(command: Command, drawer: Drawer, shift: Shift) -> Contents:
    """The count of a drawer that this person may accept: the first one where it agrees with the books, else the second
    one, as the one who signs a difference off.

    Raises Conflict count_differs where it must be counted again; Forbidden for a cashier, four_eyes and manager_needed
    as :func:`sign_off`.
    """
    if shift.state != DrawerState.RECOUNTED:
        return _agreed(drawer, shift)
    require_role(command, Role.CAGE_SUPERVISOR, Role.MANAGER)
    return _signed_off(command, drawer, shift)


def _agreed(drawer: Drawer, shift: Shift) -> Contents:
    """The first count, if it agrees with the books. Raises Conflict count_differs."""
    counted = contents.stored(drawer.house, shift.first_count)
    if shift.state == DrawerState.RECOUNTED or not _agrees(drawer, counted):
        raise Conflict(
            f"The count of drawer {drawer.code} differs from the books: a supervisor counts it again, and another "
            "person signs it off.",
            code="count_differs",
        )
    return counted


def _signed_off(command: Command, drawer: Drawer, shift: Shift) -> Contents:
    """The second count, if this person may sign its difference off. Raises Forbidden four_eyes, manager_needed."""
    require_another(command, "counted this drawer or opened it", shift.counted_by, shift.recounted_by, shift.opened_by)
    counted = contents.stored(drawer.house, shift.recount)
    limit = control_points.in_force(drawer.house).difference_by_manager_above
    if counted.difference(contents.by_the_books(drawer)) > limit and not is_manager(command):
        raise Forbidden("This difference is so large that a manager signs it off.", code="manager_needed")
    return counted


def _agrees(drawer: Drawer, counted: Contents) -> bool:
    """Whether a count is as near to the books as the house accepts without a second one."""
    return (
        counted.difference(contents.by_the_books(drawer)) <= control_points.in_force(drawer.house).difference_accepted
    )


def require_counted(drawer: Drawer) -> Shift:
    """The shift, if it has been counted. Raises Conflict drawer_closed, drawer_open."""
    shift = require_shift(drawer)
    if shift.state == DrawerState.OPEN:
        raise Conflict(f"Drawer {drawer.code} is open and not counted yet.", code="drawer_open")
    return shift


def require_no_open_work(drawer: Drawer, open_work: OpenWork) -> None:
    """Refuse to close a drawer while something of it is pending that only an open drawer can end. Raises Conflict
    drawer_has_open_work, which lists it."""
    found = open_work(drawer)
    numbers, offers = sql.together(
        announced.open_at(drawer).values_list("number", flat=True),
        drawer.handovers.filter(state=HandoverState.OFFERED).values_list("number", flat=True),
    )
    found = [*found, *({"kind": "cash_out", "number": number} for number in numbers)]
    found = [*found, *({"kind": "handover", "number": number} for number in offers)]
    if found:
        listed = ", ".join(f"{one['kind'].replace('_', ' ')} {one['number']}" for one in found)
        raise Conflict(
            f"Drawer {drawer.code} has open work: {listed}. End it first.", code="drawer_has_open_work", open=found
        )


def end(
    key: str, work: Work, drawer: Drawer, shift: Shift, counted: Contents, *, by: Staff, reason: str = "",
    taken: Handover | None = None,
) -> DrawerClosed:  # fmt: skip
    """Post under this key what is over or short, and return everything to the vault, or hand it over to another drawer
    where that has `taken` it. `by` has closed the drawer, or signed its difference off for this reason.

    Cash short is an expense against the drawer's cash. Chips short are in the public's hands without anybody having
    paid: the house owes them and custody moves to the public; over is the mirror of each. Chips are compared by
    denomination; where others are there than expected, worth the same, they were exchanged with the public and no money
    moves. Chips of withdrawn sets likewise, set by set; they go to those set aside in the vault. It is posted for the
    gaming day in which the shift began.
    """
    opened_in = days.opened_before(drawer.house, shift.opened_at)
    expected, [begun] = contents.by_the_books_beside(drawer, opened_in)
    about = {"shift": shift.number} | days.for_day(begun)
    if reason:
        about["reason"] = reason
    to = taken.to_drawer if taken is not None else None
    if to is not None:
        about["handed_to"] = to.code
    _open_racks(drawer, counted, to)
    enter(work, key, drawer, "drawer.closed", _postings(drawer, expected, counted, to), **about)
    ended = sql.updating(
        Shift.objects.filter(id=shift.id),
        closed_by=by,
        closed_at=ClockTimestamp(),
        handed_to=to,
        reason=reason,
        expected_cash=expected.cash,
        counted_cash=counted.cash,
        expected_chips=expected.chips.value,
        counted_chips=counted.chips.value,
        expected_pieces=expected.chips.as_json(),
        counted_pieces=counted.chips.as_json(),
        expected_foreign=expected.foreign,
        counted_foreign=counted.foreign,
        expected_withdrawn=expected.withdrawn_as_json(),
        counted_withdrawn=counted.withdrawn_as_json(),
    )
    closed = Shift.objects.select_related("drawer", "handed_to", "counted_by", "recounted_by").filter(id=shift.id)
    *_, [shift] = work.flush(_attesting(drawer, shift, expected, counted), ended, closed)
    return DrawerClosed(
        reconciliation=selectors.reconciliation(shift),
        handover=taken.number if taken is not None else None,
        reason=reason or None,
        approver=by.login if reason else None,
    )


def _open_racks(drawer: Drawer, counted: Contents, to: Drawer | None) -> None:
    """Open what a drawer needs for chips of a withdrawn set that it has taken none of before, and so the one that takes
    it over."""
    for code in counted.withdrawn:
        ladder = chip_sets.of(drawer.house, code)
        for place in (drawer, to) if to is not None else (drawer,):
            chart.open_accounts(drawer.house, map(place.account, (Account.SET_ASIDE, Account.PUBLIC)), ladder)


def _postings(drawer: Drawer, expected: Contents, counted: Contents, to: Drawer | None) -> list[Posting]:
    at = {"drawer": drawer.code}
    cash, foreign = counted.cash - expected.cash, counted.foreign - expected.foreign
    return [
        posting("cash_over" if cash > 0 else "cash_short", at, amount=abs(cash)),
        *chip_variance(drawer.account(Account.CAGE_CHIPS), drawer.code, counted.chips - expected.chips),
        posting("foreign_over" if foreign > 0 else "foreign_short", at, amount=abs(foreign)),
        *(
            row
            for variance in counted.withdrawn_less(expected).values()
            for row in chip_variance(drawer.account(Account.SET_ASIDE), drawer.code, variance)
        ),
        *_emptied(drawer, counted, to),
    ]


def _emptied(drawer: Drawer, counted: Contents, to: Drawer | None) -> list[Posting]:
    """Where everything goes: to the vault, or to the drawer that takes over."""
    if to is not None:
        places = {"drawer": drawer.code, "to": to.code}
        passed = posting("drawer_handed_over", places, cash=counted.cash, foreign=counted.foreign, chips=counted.chips)
        sets = (posting("withdrawn_handed_over", places, chips=chips) for chips in counted.withdrawn.values())
        return [passed, *sets]
    at = {"drawer": drawer.code}
    return [
        posting("float_returned", at, cash=counted.cash, chips=counted.chips),
        posting("foreign_to_vault", at, amount=counted.foreign),
        *(posting("withdrawn_set_aside", at, chips=chips) for chips in counted.withdrawn.values()),
    ]


def _attesting(drawer: Drawer, shift: Shift, expected: Contents, counted: Contents) -> sql.Statement:
    """What has the ledger keep the count, found true once the variance was booked: cash, every denomination, and
    chips of other houses; of withdrawn sets those that were expected or counted."""
    house, metadata = drawer.house, {"drawer": drawer.code, "shift": shift.number}
    chips = chip_sets.in_use(house)
    cash, rack, foreign, set_aside = map(drawer.account, CONTENTS)
    found = [(cash, house.currency, counted.cash), (foreign, house.currency, counted.foreign)]
    found += [(rack, chart.commodity(house, chips.code, value), counted.chips[value]) for value in chips.values]
    for code in sorted(expected.withdrawn.keys() | counted.withdrawn.keys()):
        old, there = chip_sets.of(house, code), counted.withdrawn.get(code, Chips(code))
        found += [(set_aside, chart.commodity(house, code, value), there[value]) for value in old.values]
    return books.attesting(house, found, metadata)
