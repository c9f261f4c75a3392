"""The package of a closed gaming day: found, kept once, and signed by two people.

The manager who closes the day signs with that; an auditor signs the SHA-256 of the package. What it contains,
`casino/reports/package.py` says.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import models

from casino.audit.events.house import DayPackaged, DayPackageSigned
from casino.audit.services import Actor
from casino.core import locks, outbox, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Gone
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.days.models import Package, PackageContent
from casino.houses import days
from casino.houses.models import ClockTimestamp, House
from casino.staff.independence import require_another
from casino.staff.models import Role, Staff

#: Who reads packages.
READERS = (Role.MANAGER, Role.AUDITOR)
#: The task that makes a package, asked for in the outbox by the day's closing.
TASK = "reports.package_day"


class PackageState(models.TextChoices):
    """coming (asked for by the day's closing) -> made -> signed (by an auditor)."""

    COMING = "coming"
    MADE = "made"
    SIGNED = "signed"


#: What an event and an answer say of a package that is not made yet.
COMING = str(PackageState.COMING)


@dataclass(frozen=True, slots=True)
class Made:
    """The content of a package, and what it was made from."""

    content: bytes
    checkpoint: Mapping[str, Any] | None
    closed_by: str


def of_day(house: House, name: str) -> Package | None:
    """The package of a day, None while it is not made; without its content."""
    return Package.objects.filter(house=house, day=name).select_related("closed_by", "signed_by").first()


def described(house: House, name: str) -> dict[str, Any]:
    """The package of a closed day, as answers have it."""
    found = of_day(house, name)
    return {"state": COMING} if found is None else describe(found)


def describe(found: Package) -> dict[str, Any]:
    """A package without its content."""
    return {
        "state": str(PackageState.MADE if found.signed_by is None else PackageState.SIGNED),
        "sha256": found.sha256,
        "size": found.size,
        "checkpoint": found.checkpoint,
        "closed_by": found.closed_by.login,
        "signed_by": None if found.signed_by is None else found.signed_by.login,
    }


def download(house: House, name: str) -> tuple[Package, bytes]:
    """The package of a day and its content. Raises NotFound for an unknown day, Conflict package_not_ready while there
    is none, Gone file_deleted."""
    days.get(house, name)
    found = Package.objects.filter(house=house, day=name).first()
    if found is None:
        raise _not_ready(name)
    return found, content_of(found)


def content_of(found: Package) -> bytes:
    """The content of a package. Raises Gone file_deleted."""
    stored = PackageContent.objects.filter(package=found).first()
    if stored is None:
        raise Gone(f"The package of {found.day} was deleted, as it need not be kept.", code="file_deleted")
    return bytes(stored.content)


def keep(message_id: int, house: House, name: str, made: Made) -> str:
    """Keep what was made of a day, unless it is kept already, with its event; returns the SHA-256 of what is kept."""

    def operation() -> str:
        locks.lock_days(house.id)
        kept = of_day(house, name)
        if kept is not None:
            outbox.done(message_id)
            return str(kept.sha256)
        work = Work(house, Actor.system(f"outbox:{message_id}"))
        work.also(outbox.DONE, [message_id])
        digest = hashlib.sha256(made.content).hexdigest()
        package = Package.objects.create(
            house=house, day=name, sha256=digest, size=len(made.content), checkpoint=made.checkpoint,
            closed_by=Staff.objects.get(house=house, login=made.closed_by),
        )  # fmt: skip
        PackageContent.objects.create(house=house, package=package, content=made.content)
        event = DayPackaged(day=name, sha256=digest, size=len(made.content), checkpoint=made.checkpoint)
        work.record(chain=house.chain, event=event)
        return digest

    return locks.in_transaction(operation)


def sign(*, command: Command, name: str, sha256: str) -> Answer:
    """Sign the package of a day by its SHA-256, as an auditor who has read it.

    Raises NotFound for an unknown day, Conflict package_not_ready, package_signed, or package_differs for another
    SHA-256, Forbidden four_eyes for the person who has closed the day.
    """

    def change(house: House, work: Work) -> Outcome:
        days.get(house, name)
        found = of_day(house, name)
        if found is None:
            raise _not_ready(name)
        if found.signed_by is not None:
            raise Conflict(f"The package of {name} is signed.", code="package_signed", day=name)
        if found.sha256 != sha256:
            raise Conflict(
                f"The package of {name} has another SHA-256 than the one that was signed. Read it again.",
                code="package_differs",
                day=name,
            )
        require_another(command.context.staff, "closed this day", (found.closed_by,))
        signed = Package.objects.filter(id=found.pk, signed_by=None)
        signed.update(signed_by=command.context.staff, signed_at=ClockTimestamp())
        body = describe(found) | {"state": str(PackageState.SIGNED), "signed_by": command.context.staff.login}
        return Outcome(DayPackageSigned(day=name, sha256=sha256), {"day": name, **body}, version=2)

    return write.write(command, OfHouse(lock=locks.lock_days, office=True), change)


def _not_ready(name: str) -> Conflict:
    return Conflict(
        f"There is no package of {name} yet: it is made when the day has been closed.",
        code="package_not_ready",
        day=name,
    )
