"""Found chips: nobody knows whose they are. The house keeps them in its register and owes their worth as unclaimed
property until somebody proves to be their owner, or until it has waited long enough.

Then their worth is remitted where the law wants it, or is the house's own.
"""

from datetime import UTC, timedelta
from typing import Any

from django.conf import settings
from django.db.models import DurationField, ExpressionWrapper, F, IntegerField, Max, QuerySet
from django.db.models.functions import Cast, Coalesce, Extract

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.cage import ChipsClaimed, ChipsFound, UnclaimedKept, UnclaimedRemitted
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import posting
from casino.cage.models import Drawer, FoundChips, FoundState
from casino.cage.services import Pieces, customer, enter, require_open, write_at
from casino.chips.changing import Desk
from casino.core import locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.players import persons
from casino.safeguards import standing
from casino.staff.models import Role, Staff

_IN_THE_OFFICE = OfHouse(office=True, lock=locks.lock_found)


def take(*, command: Command, code: str, finder: str, found_where: str, amount: int, pieces: Pieces) -> Answer:
    """Take chips worth `amount` minor units that a member of staff, `finder`, has found, into the register. Raises
    NotFound for an unknown finder, Conflict drawer_closed, drawer_counted, chips_not_in_circulation, Unprocessable for
    wrong pieces."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        require_open(drawer)
        who = Staff.objects.filter(house=drawer.house, login=finder, is_active=True).first()
        if who is None:
            raise NotFound(f"This house has no {finder} on its staff.")
        locks.lock_found(drawer.house.id)
        desk = Desk(drawer.house, drawer.account(Account.CAGE_CHIPS), drawer.code)
        taken = desk.require_public(desk.named(pieces, amount))
        last = FoundChips.objects.filter(house=drawer.house).aggregate(last=Max("number"))["last"] or 0
        kept = posting("found_chips", {"drawer": code}, amount=amount, chips=taken)
        enter(work, command.ledger_key(), drawer, "cage.chips_found", [kept], found=last + 1)
        work.flush()
        row = FoundChips.objects.create(
            house=drawer.house, number=last + 1, drawer=drawer, finder=who, found_where=found_where, amount=amount,
            pieces=taken.as_json(), noted_by=command.context.staff,
        )  # fmt: skip
        return Outcome(ChipsFound(found=describe(row), amount=amount, exchanged=taken.as_json()), status=201)

    return write_at(command, code, change)


def claim(*, command: Command, code: str, number: int, player_ref: str) -> Answer:
    """Give the found chips of this number, or others worth the same, to the player who has proved to be their owner.

    Raises NotFound (no_person where nobody has recorded who the player is), Gone, Conflict found_ended,
    approval_required (a supervisor), drawer_closed, drawer_counted, drawer_short, no_exact_change.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        player, desk = customer(drawer, work, player_ref)
        persons.require_known(player)
        standing.require_no_minor(drawer.house, player)
        with locks.gathered() as locking:
            locks.lock_found(drawer.house.id)
        row = _get(drawer.house, number, *locking)
        given = desk.give(row.amount)
        work.require_approval(_approved(row.amount, Role.CAGE_SUPERVISOR, Role.MANAGER))
        back = posting("found_claimed", {"drawer": code}, amount=row.amount, chips=given)
        enter(work, command.ledger_key(), drawer, "cage.chips_claimed", [back], found=number, player=player_ref)
        _end(row, command, FoundState.CLAIMED, work, player=player)
        event = ChipsClaimed(player=player_ref, found=describe(row), amount=row.amount, exchanged=given.as_json())
        return Outcome(event)

    return write_at(command, code, change)


def remit(*, command: Command, number: int, note: str) -> Answer:
    """Enter that the bank has remitted the worth of found chips that nobody has claimed. Raises NotFound, Conflict
    found_ended, claims_run while their owner may still come, approval_required (an auditor), InsufficientFunds where
    the house has less in the bank."""

    def change(house: House, work: Work) -> Outcome:
        row = _get(house, number)
        _require_waited(row)
        work.require_approval(_approved(row.amount, Role.AUDITOR))
        _post(command, work, row, "unclaimed_remitted")
        _end(row, command, FoundState.REMITTED, work, note=note)
        days = settings.CASINO_UNCLAIMED_DAYS
        event = UnclaimedRemitted(found=describe(row), amount=row.amount, waited_days=days)
        return Outcome(event, {"found": describe(row)}, version=number)

    return write.write(command, _IN_THE_OFFICE, change)


def keep(*, command: Command, number: int, reason: str) -> Answer:
    """Book the worth of found chips that nobody has claimed as the house's other income. Raises as `remit`."""

    def change(house: House, work: Work) -> Outcome:
        row = _get(house, number)
        _require_waited(row)
        work.require_approval(_approved(row.amount, Role.AUDITOR))
        _post(command, work, row, "unclaimed_kept")
        _end(row, command, FoundState.KEPT, work)
        days = settings.CASINO_UNCLAIMED_DAYS
        event = UnclaimedKept(found=describe(row), amount=row.amount, waited_days=days, reason=reason)
        return Outcome(event, {"found": describe(row)}, version=number)

    return write.write(command, _IN_THE_OFFICE, change)


def describe(row: FoundChips) -> dict[str, Any]:
    """Found chips, as events and answers have them."""
    return {
        "found": row.number,
        "drawer": row.drawer.code,
        "finder": row.finder.login,
        "found_where": row.found_where,
        "amount": row.amount,
        "pieces": row.pieces,
        "state": row.state,
        "noted_by": row.noted_by.login,
        "player": row.player.ref if row.player else None,
        "note": row.note,
        "ended_by": row.ended_by.login if row.ended_by else None,
    }


def with_age(rows: QuerySet[FoundChips]) -> QuerySet[FoundChips]:
    """These chips, each with `age_days`: for how many whole days they are in the register, or were."""
    age = ExpressionWrapper(Coalesce("ended_at", ClockTimestamp()) - F("noted_at"), output_field=DurationField())
    return rows.annotate(age_days=Cast(Extract(age, "epoch"), IntegerField()) / 86_400)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _approved(amount: int, *roles: Role) -> Need:
    return Need(kind=ApprovalKind.UNCLAIMED, roles=roles, amount=amount)


def _get(house: House, number: int, *locking: sql.Statement) -> FoundChips:
    """Found chips that are in the register. It is locked, by `locking` or before, and so nobody else ends them. Raises
    NotFound, Conflict found_ended."""
    named = ("drawer", "finder", "noted_by", "player", "ended_by")
    rows = FoundChips.objects.filter(house=house, number=number).select_related(*named)
    row: FoundChips | None = next(iter(sql.together(*locking, rows)[-1]), None)
    if row is None:
        raise NotFound(f"This house has no found chips {number}.")
    if row.state != FoundState.REGISTERED:
        raise Conflict(f"Found chips {number} are {row.state}.", code="found_ended", state=row.state)
    return row


def _require_waited(row: FoundChips) -> None:
    """Raises Conflict claims_run while the house must wait for an owner, by the database's clock."""
    until = row.noted_at + timedelta(days=settings.CASINO_UNCLAIMED_DAYS)
    if sql.database_time() < until:
        raise Conflict(
            f"Found chips {row.number} can be claimed until {until.astimezone(UTC).date()}.",
            code="claims_run",
            until=until.astimezone(UTC).isoformat(),
        )


def _post(command: Command, work: Work, row: FoundChips, name: str) -> None:
    kind = name.replace("_", ".")
    moved = posting(name, {}, amount=row.amount)
    work.post(key=command.ledger_key(), kind=kind, postings=[moved], metadata={"found": row.number})
    work.flush()


def _end(row: FoundChips, command: Command, state: FoundState, work: Work, **how: Any) -> None:
    row.state, row.ended_by = state, command.context.staff
    for name, value in how.items():
        setattr(row, name, value)
    rows = FoundChips.objects.filter(id=row.pk)
    work.soon(rows, state=state, ended_by=row.ended_by, ended_at=ClockTimestamp(), **how)
