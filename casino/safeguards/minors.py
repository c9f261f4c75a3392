"""Players who are found to be minors: younger than the law under which the house works lets play.

Such a player is excluded at once, and nothing is paid any more but the stakes that are given back
(`casino/cage/minors.py`). Compliance records it, or a manager; that the player is of age after all, compliance finds
and a manager approves. Of the birthday nothing is kept in clear.
"""

import json
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.safeguards import MinorCleared, MinorRecorded
from casino.core import locks, moments, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.sql import database_time
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import identity
from casino.houses.models import House
from casino.players import persons
from casino.safeguards import exclusions, notes, standing
from casino.safeguards.models import AskedBy, ExclusionKind, Minor, MinorState, Scope
from casino.staff.models import Role, Staff

SUBJECT = OfHouse(lock=locks.lock_safeguards, office=True)
_NAMED = ("player", "exclusion", "recorded_by", "ended_by", "remittance")
#: The time of now, the newest number of a house, and that of a player who is a minor and not settled.
_KNOWN = """
SELECT clock_timestamp(), coalesce(max(minor.number), 0), max(minor.number) FILTER (
    WHERE minor.state = 'recorded' AND minor.player_id = (
        SELECT player.id FROM players_player player WHERE player.house_id = %s AND player.ref = %s
    ))
FROM safeguards_minor minor WHERE minor.house_id = %s
"""
#: The sums of a settlement, in minor units.
FIGURES = ("stakes", "deposit", "held", "refund", "kept", "borne")


def record(*, command: Command, ref: str, born: date, note: str) -> Answer:
    """Record that a player who was born on this day is a minor, and exclude the player without an end. Raises NotFound,
    Gone person_forgotten, Unprocessable of_age, Conflict minor_recorded, WrongTerminal."""

    def change(house: House, work: Work) -> Outcome:
        player, [[(now, last, open_)]] = standing.lock_beside(house, ref, (_KNOWN, [house.id, ref, house.id]))
        persons.require_not_forgotten(player)
        least = least_age(house)
        if _age(house, born, now) >= least:
            raise Unprocessable(f"The law lets people of {least} years and more play.", code="of_age", least_age=least)
        if open_ is not None:
            raise Conflict(f"That {ref} is a minor is recorded.", code="minor_recorded", minor=open_)
        bar, excluded = exclusions.add(
            house, player, by=command.context.staff, kind=ExclusionKind.HOUSE, scope=Scope.HOUSE,
            asked_by=AskedBy.HOUSE, in_person=False, until=None, note="",
        )  # fmt: skip
        work.record(chain=house.chain, event=excluded)
        said = json.dumps({"born": born.isoformat(), "note": note})
        sealed = notes.seal(house, said, "minor", last + 1)
        found = Minor.objects.create(
            house=house, number=last + 1, player=player, exclusion=bar, least_age=least, note=sealed,
            recorded_by=command.context.staff, recorded_at=now,
        )  # fmt: skip
        event = MinorRecorded(
            minor=found.number, player=ref, exclusion=bar.number, least_age=least,
            note_sha256=str(notes.digest(sealed)),
        )  # fmt: skip
        return Outcome(event, describe(found), 201, version=found.number)

    return write.write(command, SUBJECT, change)


def clear(*, command: Command, number: int) -> Answer:
    """Record that the player is no minor, so that what is owed is paid again. The exclusion is lifted by itself. Raises
    NotFound, Conflict minor_ended, approval_required (manager), WrongTerminal."""

    def change(house: House, work: Work) -> Outcome:
        found = locked(house, number)
        work.require_approval(Need(kind=ApprovalKind.MINOR, roles=(Role.MANAGER,)))
        end(found, work, command.context.staff, MinorState.CLEARED)
        event = MinorCleared(minor=number, player=found.player.ref)
        return Outcome(event, describe(found), version=number)

    return write.write(command, SUBJECT, change)


def end(
    found: Minor, work: Work, by: Staff, state: MinorState, *, remit_within: int | None = None, **values: int | None
) -> None:
    """Let a minor be over, with these sums where the stakes are given back; winnings that are kept are to be remitted
    within so many days."""
    now = database_time()
    found.state, found.ended_by, found.ended_at = state, by, now
    found.remit_by = None if remit_within is None else now + timedelta(days=remit_within)
    for name, value in values.items():
        setattr(found, name, value)
    rows = Minor.objects.filter(pk=found.pk)
    work.soon(rows, state=str(state), ended_by=by, ended_at=now, remit_by=found.remit_by, **values)


def locked(house: House, number: int) -> Minor:
    """A minor whose stakes are not given back, and whose person is locked; the caller holds the lock of safeguards,
    which every end of one takes. Raises NotFound, Conflict minor_ended."""
    found = get(house, number)
    locks.lock_person(found.player_id)
    require_open(found)
    return found


def require_open(found: Minor) -> None:
    """Raises Conflict minor_ended."""
    if found.state != MinorState.RECORDED:
        raise Conflict(f"Minor {found.number} is {found.state}.", code="minor_ended", state=found.state)


def get(house: House, number: int) -> Minor:
    """The minor of this number. Raises NotFound."""
    found = Minor.objects.filter(house=house, number=number).select_related(*_NAMED).first()
    if found is None:
        raise NotFound(f"This house has no minor {number}.")
    return found


def least_age(house: House) -> int:
    """From how many years on the law under which a house works lets people play."""
    return identity.LEAST_AGES.get(identity.parts(house)["legal_profile"], identity.LEAST_AGE)


def describe(found: Minor) -> dict[str, Any]:
    """A minor as answers have it, without the birthday and what was said."""
    return {
        "minor": found.number,
        "player": found.player.ref,
        "exclusion": found.exclusion.number,
        "least_age": found.least_age,
        "state": found.state,
        "recorded_by": found.recorded_by.login,
        "recorded_at": moments.utc(found.recorded_at),
        **{name: getattr(found, name) for name in FIGURES},
        "payout": found.payout,
        "remit_by": moments.utc_or_none(found.remit_by),
        "remittance": found.remittance.number if found.remittance else None,
        "ended_by": found.ended_by.login if found.ended_by else None,
        "ended_at": moments.utc_or_none(found.ended_at),
    }


def said_of(found: Minor) -> dict[str, str]:
    """The birthday, and what was said (`born`, `note`). Raises SealedUnreadable, SealKeyWrong."""
    said: dict[str, str] = json.loads(notes.unseal(found.house, found.note, "minor", found.number))
    return said


def _age(house: House, born: date, now: datetime) -> int:
    """Whole years of a person on the date of a moment in the house."""
    today = now.astimezone(ZoneInfo(house.time_zone)).date()
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))
