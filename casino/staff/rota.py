"""The rota: who works where, in which role, and when. It plans; it refuses nobody: a person who is signed in at a place
where the rota does not have them is shown among the staff on duty with `on_rota` false.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max

from casino.audit.events.staff import RotaEntered, RotaWithdrawn
from casino.core import locks, moments, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.staff.models import Role, RotaEntry, Staff, TerminalKind

#: The longest time that one entry may cover.
LONGEST = timedelta(hours=16)
#: Entries of a house wait for each other and for changes of its staff.
_ROTA = OfHouse(lock=locks.lock_roster)


def enter(
    *, command: Command, login: str, kind: TerminalKind, location: str, role: Role, starts: datetime, ends: datetime
) -> Answer:
    """Put a person on the rota. Raises NotFound, Unprocessable rota_times unless it ends after it starts and within
    LONGEST, Conflict role_not_held, and Conflict rota_overlap where the person is on the rota at that time."""

    def change(house: House, work: Work) -> Outcome:
        person = Staff.objects.filter(house=house, login=login, is_active=True).first()
        if person is None:
            raise NotFound(f"Nobody works here as {login}.")
        if not timedelta() < ends - starts <= LONGEST:
            raise Unprocessable("An entry ends after it starts, at most 16 hours later.", code="rota_times")
        if role not in person.roles:
            raise Conflict(f"{login} does not have the role {role}.", code="role_not_held")
        _require_free(person, starts, ends)
        last = RotaEntry.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
        entry = RotaEntry.objects.create(
            house=house, number=last + 1, staff=person, kind=kind, location=location, role=role, starts_at=starts,
            ends_at=ends, entered_by=command.context.staff,
        )  # fmt: skip
        event = RotaEntered(
            entry=entry.number, login=login, role=str(role), kind=str(kind), location=location,
            starts=moments.utc(starts), ends=moments.utc(ends),
        )  # fmt: skip
        return Outcome(event, describe(entry), 201, version=entry.version)

    return write.write(command, _ROTA, change)


def withdraw(*, command: Command, number: int, reason: str) -> Answer:
    """Withdraw an entry. Raises NotFound, VersionConflict, Conflict no_change."""

    def change(house: House, work: Work) -> Outcome:
        entry = locks.lock(RotaEntry, locks.Rank.STAFF, house=house, number=number)
        command.require_version(entry.version)
        if entry.withdrawn_at is not None:
            raise Conflict(f"Entry {number} of the rota has been withdrawn.", code="no_change")
        RotaEntry.objects.filter(id=entry.id).update(
            withdrawn_at=ClockTimestamp(), withdrawn_by=command.context.staff, reason=reason
        )
        entry = RotaEntry.objects.select_related("staff", "entered_by", "withdrawn_by").get(id=entry.id)
        return Outcome(RotaWithdrawn(entry=number, reason=reason), describe(entry), version=entry.version)

    return write.write(command, _ROTA, change)


def describe(entry: RotaEntry) -> dict[str, Any]:
    """An entry as answers carry it."""
    return {
        "rota_entry": entry.number,
        "login": entry.staff.login,
        "role": entry.role,
        "kind": entry.kind,
        "location": entry.location,
        "starts_at": moments.utc(entry.starts_at),
        "ends_at": moments.utc(entry.ends_at),
        "entered_by": entry.entered_by.login,
        "withdrawn_by": entry.withdrawn_by.login if entry.withdrawn_by else None,
        "version": entry.version,
    }


def _require_free(person: Staff, starts: datetime, ends: datetime) -> None:
    others = RotaEntry.objects.filter(staff=person, withdrawn_at=None, starts_at__lt=ends, ends_at__gt=starts)
    if (other := others.order_by("id").first()) is not None:
        raise Conflict(
            f"{person.login} is on the rota from {moments.utc(other.starts_at)} until {moments.utc(other.ends_at)}.",
            code="rota_overlap",
            rota_entry=other.number,
        )
