"""The life of a chip set after the first: put in use in place of another, which is withdrawn with notice, taken back at
the cage until it lapses, and retired when no chip of it is left. What comes back after it has lapsed is paid by grace
(`late_claims.py`).

One set is in use at a time: tables, drawers and boxes hold chips of no other. So the change is made while they hold
none. The public keeps chips of the withdrawn set, and the house owes their worth as before: at the cage they are taken
for chips of the set in use, and go through a separate rack of the drawer to those that are set aside. What is still out
when the notice is over lapses, but never while the house owes it to somebody known.
"""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from django.db.models import QuerySet

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.chips import ChipsLapsed, ChipsPutInUse, ChipsRedeemed, ChipsRetired
from casino.bookkeeping import books, chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import Posting, posting
from casino.cage import services as cage
from casino.cage.models import Drawer, Handover, HandoverState
from casino.chips import selectors as chips
from casino.chips.changing import Desk
from casino.chips.models import ChipSet, Denomination
from casino.core import denominations, locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.denominations import Chips
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.staff.models import Role
from casino.tables.models import Table
from casino.transfers.choosing import Pieces

APPROVED = Need(kind=ApprovalKind.CHIP_SET, roles=(Role.MANAGER,))
#: Racks that hold chips of no set but the one in use, and money that its chips stand for on tables.
_RACKS = (Account.CAGE_CHIPS, Account.TRAY, Account.TRANSIT, Account.TAX_BOX, Account.TRONC_BOX)
_ON_TABLES = (
    Account.SEAT_STACK, Account.POT, Account.CUKASSZA, Account.BANK, Account.TRONC, Account.DISPUTED_POT,
)  # fmt: skip


def put_in_use(*, command: Command, code: str, redeem_until: date, reason: str) -> Answer:
    """Put this chip set in use, and withdraw the one that is: the house takes it back until `redeem_until` at least.
    Tables, drawers and boxes must be empty of it.

    Raises NotFound, Conflict chip_set_in_use, chip_set_withdrawn, chip_set_retired, chip_set_too_coarse or
    place_not_empty, handover_open, approval_required; Unprocessable notice_in_the_past.
    """

    def change(house: House, work: Work) -> Outcome:
        _lock_places(house)
        sets, named, date_found, offered, held, owed = chips.lock_chip_set(
            house, _set(house, code), chips.naming(house, code), asking_today(house), *_holding_chips(house)
        )
        found = _there(house, code, sets)
        _require_unused(found)
        old, ladder = chips.in_use(house), chips.named(house, code, named)
        if old.smallest % ladder.smallest:
            raise Conflict(
                f"Amounts of the house are multiples of {old.smallest}; this set cannot make them.",
                code="chip_set_too_coarse",
                smallest=old.smallest,
            )
        if redeem_until <= today(date_found):
            raise Unprocessable("The last day of the notice is still to come.", code="notice_in_the_past")
        _require_empty(house, old.code, offered, held, owed)
        work.require_approval(APPROVED)
        work.soon(
            ChipSet.objects.filter(house=house, code=old.code),
            in_use=False, withdrawn_at=ClockTimestamp(), redeem_until=redeem_until,
        )  # fmt: skip
        work.soon(ChipSet.objects.filter(id=found.pk), in_use=True)
        racks, *seen = work.flush(chart.reading_racks(house), *_describing(house, code, old.code))
        chips.changed(house)
        chart.open_racks_of(house, ladder, racks, vault=False)
        event = ChipsPutInUse(chip_set=code, withdrawn=old.code, redeem_until=redeem_until.isoformat(), reason=reason)
        shown = _described(*seen)
        return Outcome(event, {"chip_set": shown[code], "withdrawn": shown[old.code]})

    return write.write(command, OfHouse(lock=locks.lock_places, office=True), change)


def redeem(*, command: Command, code: str, chip_set: str, given: Pieces, wanted: Pieces | None = None) -> Answer:
    """Take chips of a withdrawn set at a drawer for chips of the set in use worth the same: those wanted, or the
    largest there are.

    Raises Conflict drawer_closed, drawer_counted, drawer_short, chip_set_not_withdrawn or chip_set_lapsed,
    chips_not_in_circulation, no_exact_change; NotFound, Unprocessable chips_do_not_add_up, nothing_to_move, or for
    wrong pieces.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        cage.require_own(drawer, work)
        house, desk = drawer.house, Desk(drawer.house, drawer.account(Account.CAGE_CHIPS), code)
        _require_withdrawn(_get(house, chip_set))
        ladder = chips.of(house, chip_set)
        taken = denominations.parse(ladder, given)
        if not taken:
            raise Unprocessable("Name at least one chip.", code="nothing_to_move")
        chips.lock_chip_set(house)
        _require_out(house, taken)
        if wanted is None:
            books.require(house, desk.rack_code, desk.rack.value, taken.value)
            paid = denominations.make(taken.value, desk.rack)
        else:
            paid = desk.named(wanted, taken.value)
        chart.open_accounts(house, [drawer.account(Account.SET_ASIDE), drawer.account(Account.PUBLIC)], ladder)
        swapped = posting("withdrawn_redeemed", {"drawer": code}, given=taken, change=paid)
        cage.enter(work, command.ledger_key(), drawer, "cage.chips_redeemed", [swapped], chip_set=chip_set)
        shown = {"amount": taken.value, "given": taken.as_json(), "change": paid.as_json()}
        return Outcome(ChipsRedeemed(redeemed={"chip_set": chip_set} | shown), status=201)

    return cage.write_at(command, code, change)


def lapse(*, command: Command, code: str, reason: str) -> Answer:
    """End a withdrawn set whose notice is over: what the public still has of it is worth nothing any more, and the
    house owes as much as unclaimed property.

    Raises NotFound, Conflict chip_set_not_withdrawn or chip_set_lapsed, notice_runs, chips_attributed where the house
    owes some of it to known players or on tables, approval_required.
    """

    def change(house: House, work: Work) -> Outcome:
        sets, date_found, held, owing = chips.lock_chip_set(
            house, _set(house, code), asking_today(house), chart.lying_in_places(house, [Account.PUBLIC]),
            chart.owing_in_places(house, Account.CHIPS_UNATTRIBUTED),
        )  # fmt: skip
        found = _there(house, code, sets)
        _require_withdrawn(found)
        if today(date_found) <= (until := found.redeem_until or date.max):
            raise Conflict(f"The notice of {code} runs until {until}.", code="notice_runs", until=until.isoformat())
        out, owed = chart.of_set(house, code, held), dict(owing)
        pieces = denominations.total(code, out.values())
        if pieces.value > sum(owed.values()):
            raise Conflict(
                "The house owes chips of this set to known players; let them cease to be theirs first.",
                code="chips_attributed",
                amount=pieces.value - sum(owed.values()),
            )
        work.require_approval(APPROVED)
        postings = [*_worth(pieces.value, owed), *_gone(out)]
        if postings:
            work.post(key=f"chip_set:{code}:lapsed", kind="chips.lapsed", postings=postings, metadata={"set": code})
        lapsed = {"lapsed_at": ClockTimestamp(), "lapsed_pieces": pieces.as_json()}
        work.soon(ChipSet.objects.filter(id=found.pk), **lapsed)
        shown = _described(*work.flush(*_describing(house, code)))
        event = ChipsLapsed(chip_set=code, amount=pieces.value, pieces=pieces.as_json(), reason=reason)
        return Outcome(event, {"chip_set": shown[code], "amount": pieces.value})

    return write.write(command, OfHouse(lock=locks.lock_places, office=True), change)


def retire(*, command: Command, code: str, reason: str) -> Answer:
    """End a set for ever that is not in use and of which no chip is left. Raises NotFound, Conflict chip_set_in_use,
    chip_set_retired, or place_not_empty."""

    def change(house: House, work: Work) -> Outcome:
        # Chips that lapsed come back late under the same lock; none does any more once the set is retired.
        chips.lock_chip_set(house)
        found = _get(house, code)
        if found.in_use:
            raise Conflict(f"Chip set {code} is in use.", code="chip_set_in_use")
        _require_not_retired(found)
        left = chart.in_places(house, [Account.COMMISSIONED], code)
        if left:
            held = {account: mix.value for account, mix in left.items()}
            raise Conflict(f"Chips of {code} are left in {', '.join(sorted(held))}.", code="place_not_empty")
        ChipSet.objects.filter(id=found.pk).update(retired_at=ClockTimestamp())
        return Outcome(ChipsRetired(chip_set=code, reason=reason), {"chip_set": describe(_get(house, code))})

    return write.write(command, OfHouse(lock=locks.lock_places, office=True), change)


def describe(found: ChipSet) -> dict[str, Any]:
    """A chip set with its denominations, and how far it has come."""
    return _one(found, found.denominations.order_by("value").values_list("value", "colour"))


def _describing(house: House, *codes: str) -> tuple[QuerySet[Any, Any], QuerySet[Any, Any]]:
    """What `describe` reads of these sets, for who reads it with something else; `_described` takes what it has
    found."""
    rows = Denomination.objects.filter(chip_set__house=house, chip_set__code__in=codes).order_by("value")
    return (
        ChipSet.objects.filter(house=house, code__in=codes),
        rows.values_list("chip_set_id", "value", "colour"),
    )


def _described(sets: list[ChipSet], rows: list[tuple[int, int, str]]) -> dict[str, dict[str, Any]]:
    """These sets by their codes, as `describe` has each."""
    return {one.code: _one(one, [(value, colour) for of, value, colour in rows if of == one.pk]) for one in sets}


def _one(found: ChipSet, colours: Iterable[tuple[int, str]]) -> dict[str, Any]:
    return {
        "chip_set": found.code,
        "denominations": {str(value): colour for value, colour in colours},
        "in_use": found.in_use,
        "redeem_until": None if found.redeem_until is None else found.redeem_until.isoformat(),
        "lapsed": found.lapsed_at is not None,
        "retired": found.retired_at is not None,
    }


def asking_today(house: House) -> sql.Statement:
    """What reads the date in the house's time zone, by the database's clock; `today` takes what it has found."""
    return "SELECT (clock_timestamp() AT TIME ZONE %s)::date", [house.time_zone]


def today(found: list[tuple[date]]) -> date:
    """The date in the house's time zone, by what `asking_today` has found."""
    [(now,)] = found
    return now


# --- Parts ----------------------------------------------------------------------------------------------------------


def _get(house: House, code: str) -> ChipSet:
    return _there(house, code, list(_set(house, code)))


def _set(house: House, code: str) -> QuerySet[ChipSet]:
    return ChipSet.objects.filter(house=house, code=code)


def _there(house: House, code: str, found: list[ChipSet]) -> ChipSet:
    """The set that `_set` has found. Raises NotFound."""
    for one in found:
        return one
    raise NotFound(f"House {house.code} has no chip set {code}.")


def _require_not_retired(found: ChipSet) -> None:
    if found.retired_at is not None:
        raise Conflict(f"Chip set {found.code} is retired.", code="chip_set_retired")


def _require_unused(found: ChipSet) -> None:
    """Refuse a set that is or was in use, or never will be."""
    _require_not_retired(found)
    if found.in_use:
        raise Conflict(f"Chip set {found.code} is in use.", code="chip_set_in_use")
    if found.withdrawn_at is not None:
        raise Conflict(f"Chip set {found.code} is withdrawn.", code="chip_set_withdrawn")


def _require_withdrawn(found: ChipSet) -> None:
    if found.lapsed_at is not None:
        raise Conflict(f"Chip set {found.code} has lapsed.", code="chip_set_lapsed")
    if found.withdrawn_at is None:
        raise Conflict(f"Chip set {found.code} was not withdrawn.", code="chip_set_not_withdrawn")


def _require_out(house: House, taken: Chips) -> None:
    """Refuse more chips of a withdrawn set than the public can have. Raises Conflict chips_not_in_circulation."""
    if missing := (chart.public(house, taken.chip_set).surplus - taken).shortage:
        raise Conflict(
            f"There are not so many chips of {', '.join(missing.as_json())} in circulation.",
            code="chips_not_in_circulation",
            missing=missing.as_json(),
        )


def _lock_places(house: House) -> None:
    """Keep everybody from sitting down, playing or trading until the transaction ends: what is done at a table or a
    drawer goes by the chip set that was in use when it was locked."""
    locks.lock_every(Table, Drawer, rank=locks.Rank.DESK, house=house)


def _holding_chips(house: House) -> tuple[QuerySet[Any, Any], ...]:
    """What `_require_empty` goes by: handovers that are offered, and what lies in racks and on tables."""
    return (
        Handover.objects.filter(house=house, state=HandoverState.OFFERED).values_list("pk", flat=True)[:1],
        chart.lying_in_places(house, _RACKS),
        chart.owing_in_places(house, *_ON_TABLES),
    )


def _require_empty(
    house: House, code: str, offered: list[int], held: list[tuple[str, str, int]], owed: list[tuple[str, int]]
) -> None:
    """Refuse while places of the house hold chips of the set in use, or tables money that they stand for, or chips of
    it are counted out for a drawer."""
    if offered:
        raise Conflict("Chips are counted out for a drawer; they are taken or withdrawn first.", code="handover_open")
    left = {account: mix.value for account, mix in chart.of_set(house, code, held).items()}
    left |= dict(owed)
    if left:
        named = ", ".join(sorted(left))
        raise Conflict(f"Bring the chips to the vault first: {named}.", code="place_not_empty")


def _worth(amount: int, owed: Mapping[str, int]) -> list[Posting]:
    """So much of what is owed to nobody known, from the places that owe it."""
    found = []
    for account, balance in owed.items():
        part = min(amount, max(balance, 0))
        amount -= part
        if part:
            found.append(posting("chips_lapsed", {"owed": account[4:], "public": ""}, amount=part))
    return found


def _gone(out: Mapping[str, Chips]) -> list[Posting]:
    """The chips that are out, by place; a place may have taken back more of one than it has given out."""
    return [
        posting("chips_lapsed", {"owed": "", "public": account[4:]}, chips=mix.surplus, returned=mix.shortage)
        for account, mix in out.items()
    ]
