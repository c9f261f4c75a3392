"""Excluding a player, and the end of that.

An exclusion counts from the moment on at which it is recorded. One that the player has asked for lasts six months or
longer, and then until it is lifted; others end by themselves at the end that was said. None is changed: a longer one is
another one, and a wrong one is lifted. Lifting takes compliance and a manager (segregation of duties, as for all that
protects a player), 24 hours after it was asked for (LCCP 3.5.3 of the UK's Gambling Commission has both times).
"""

from calendar import monthrange
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.safeguards import ExclusionLiftAsked, ExclusionLifted, ExclusionSet
from casino.core import locks, moments, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.sql import database_time
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import House
from casino.players.models import Player
from casino.safeguards import notes, standing
from casino.safeguards.models import AskedBy, Exclusion, ExclusionKind, LiftCause, Minor, MinorState, Scope
from casino.staff.models import Role, Staff

#: The least term of an exclusion that the player asks for, in months.
LEAST_MONTHS = 6
#: How long after it was asked for an exclusion may be lifted.
COOLING_OFF = timedelta(hours=24)
_LIFTED = Need(kind=ApprovalKind.EXCLUSION, roles=(Role.MANAGER,))
_SUBJECT = OfHouse(lock=locks.lock_safeguards)


def exclude(
    *, command: Command, ref: str, kind: ExclusionKind, scope: Scope, asked_by: AskedBy, in_person: bool,
    until: datetime | None, note: str,
) -> Answer:  # fmt: skip
    """Exclude a player from now on, also one who is excluded already. `until` None: without an end. Raises NotFound,
    Unprocessable exclusion_in_the_past, and exclusion_too_short for less than six months at the player's own wish."""

    def change(house: House, work: Work) -> Outcome:
        player = standing.lock(house, ref)
        found, event = add(
            house, player, by=command.context.staff, kind=kind, scope=scope, asked_by=asked_by, in_person=in_person,
            until=until, note=note,
        )  # fmt: skip
        return Outcome(event, describe(found), 201, version=found.number)

    return write.write(command, _SUBJECT, change)


def add(
    house: House, player: Player | None, *, by: Staff, kind: ExclusionKind, scope: Scope, asked_by: AskedBy,
    in_person: bool, until: datetime | None, note: str,
) -> tuple[Exclusion, ExclusionSet]:  # fmt: skip
    """Add the next exclusion, of a player or of nobody with a reference, and its event. The caller holds the lock of
    safeguards, and that of the player. Raises Unprocessable as `exclude`."""
    now = database_time()
    _require_term(kind, until, now)
    last = Exclusion.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
    sealed = notes.seal(house, note, "exclusion", last + 1)
    found = Exclusion.objects.create(
        house=house, number=last + 1, player=player, kind=kind, scope=scope, asked_by=asked_by, in_person=in_person,
        until=until, note=sealed, set_by=by, set_at=now,
    )  # fmt: skip
    event = ExclusionSet(
        exclusion=found.number, player=_ref(found), exclusion_kind=str(kind), scope=str(scope), asked_by=str(asked_by),
        in_person=in_person, until=moments.utc_or_none(until), note_sha256=notes.digest(sealed),
    )  # fmt: skip
    return found, event


def ask_to_lift(*, command: Command, number: int) -> Answer:
    """Note that the end of an exclusion was asked for. Raises NotFound, Conflict exclusion_lifted,
    lift_asked_already."""

    def change(house: House, work: Work) -> Outcome:
        found = _locked(house, number)
        if found.lift_asked_at is not None:
            raise Conflict(f"The end of exclusion {number} was asked for already.", code="lift_asked_already")
        found.lift_asked_at, found.lift_asked_by = database_time(), command.context.staff
        work.soon(
            Exclusion.objects.filter(pk=found.pk), lift_asked_at=found.lift_asked_at, lift_asked_by=found.lift_asked_by
        )
        event = ExclusionLiftAsked(exclusion=number, player=_ref(found))
        return Outcome(event, describe(found), version=number)

    return write.write(command, _SUBJECT, change)


def lift(*, command: Command, number: int, cause: LiftCause) -> Answer:
    """Lift an exclusion: because that was asked for, or because it was entered wrongly, which is so from the beginning
    and waits for nothing. Raises NotFound, Conflict exclusion_lifted, lift_not_asked, lift_too_early (`until`),
    minor_not_settled while it is of a minor whose stakes are not given back, approval_required (manager)."""

    def change(house: House, work: Work) -> Outcome:
        found = _locked(house, number)
        _require_no_minor(found)
        now = database_time()
        if cause == LiftCause.REVOKED:
            _require_over(found, now)
        work.require_approval(_LIFTED)
        found.lifted_at, found.lifted_by, found.lift_cause = now, command.context.staff, cause
        work.soon(
            Exclusion.objects.filter(pk=found.pk), lifted_at=now, lifted_by=found.lifted_by, lift_cause=str(cause)
        )
        event = ExclusionLifted(exclusion=number, player=_ref(found), cause=str(cause))
        return Outcome(event, describe(found), version=number)

    return write.write(command, _SUBJECT, change)


def describe(found: Exclusion) -> dict[str, Any]:
    """An exclusion as answers carry it, without what was said about it."""
    return {
        "exclusion": found.number,
        "player": _ref(found),
        "kind": found.kind,
        "scope": found.scope,
        "asked_by": found.asked_by,
        "in_person": found.in_person,
        "set_at": moments.utc(found.set_at),
        "set_by": found.set_by.login,
        "until": moments.utc_or_none(found.until),
        "lift_asked_at": moments.utc_or_none(found.lift_asked_at),
        "lift_asked_by": found.lift_asked_by.login if found.lift_asked_by else None,
        "lifted_at": moments.utc_or_none(found.lifted_at),
        "lifted_by": found.lifted_by.login if found.lifted_by else None,
        "lift_cause": found.lift_cause,
    }


def note_of(found: Exclusion) -> str:
    """What was said about an exclusion. Raises SealedUnreadable, SealKeyWrong."""
    return notes.unseal(found.house, found.note, "exclusion", found.number)


def binds_until(found: Exclusion) -> datetime | None:
    """Until when an exclusion that counts keeps the file of its player: its end, or that of the term of one at the
    player's own wish; None for one without an end. It may have passed."""
    if found.until is None and found.kind == ExclusionKind.SELF:
        return _months_later(found.set_at, LEAST_MONTHS)
    return found.until


# --- Parts ----------------------------------------------------------------------------------------------------------


def _require_term(kind: ExclusionKind, until: datetime | None, now: datetime) -> None:
    if until is not None and until <= now:
        raise Unprocessable("An exclusion ends at a moment to come.", code="exclusion_in_the_past")
    least = _months_later(now, LEAST_MONTHS)
    if kind == ExclusionKind.SELF and until is not None and until < least:
        raise Unprocessable(
            f"An exclusion that the player asks for lasts {LEAST_MONTHS} months or longer.",
            code="exclusion_too_short",
            until=moments.utc(least),
        )


def _require_over(found: Exclusion, now: datetime) -> None:
    """Refuse to lift what nobody has asked the end of, or too early."""
    if found.lift_asked_at is None:
        raise Conflict(f"Nobody has asked for the end of exclusion {found.number}.", code="lift_not_asked")
    earliest = found.lift_asked_at + COOLING_OFF
    if found.kind == ExclusionKind.SELF:
        earliest = max(earliest, binds_until(found) or earliest)
    if now < earliest:
        raise Conflict(
            f"Exclusion {found.number} is lifted at {moments.utc(earliest)} or later.",
            code="lift_too_early",
            until=moments.utc(earliest),
        )


def _require_no_minor(found: Exclusion) -> None:
    """Refuse to lift the exclusion of a minor before the stakes are given back, or it was found that it is none."""
    of = Minor.objects.filter(house=found.house, exclusion=found, state=MinorState.RECORDED).first()
    if of is not None:
        raise Conflict(
            f"Exclusion {found.number} is that of a minor: settle or clear it first (minors/{of.number}).",
            code="minor_not_settled",
            minor=of.number,
        )


def _locked(house: House, number: int) -> Exclusion:
    """An exclusion that has not ended, and whose player is locked. Raises NotFound, Conflict exclusion_lifted."""
    named = Exclusion.objects.select_related("player", "set_by", "lift_asked_by")
    found = named.filter(house=house, number=number).first()
    if found is None:
        raise NotFound(f"This house has no exclusion {number}.")
    if found.player_id is not None:
        locks.lock_person(found.player_id)
    if found.lifted_at is not None:
        raise Conflict(f"Exclusion {number} was lifted.", code="exclusion_lifted")
    return found


def _ref(found: Exclusion) -> str | None:
    return None if found.player is None else found.player.ref


def _months_later(at: datetime, months: int) -> datetime:
    """The same day and time some months later; the last day of a month that is too short for it."""
    years, month = divmod(at.month - 1 + months, 12)
    year = at.year + years
    return at.replace(year=year, month=month + 1, day=min(at.day, monthrange(year, month + 1)[1]))
