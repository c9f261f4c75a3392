"""What a write changes: kinds of subjects, and the house itself for what has no version."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from uuid import UUID

from django.db.models import QuerySet

from casino.audit.events import AuditEvent
from casino.core import locks, sql
from casino.core.commands import Command, require_unanswered
from casino.core.work import Outcome, Unmoved, Work
from casino.houses import stages
from casino.houses.models import House

T = TypeVar("T")


class Subject(Protocol[T]):
    """What a write changes."""

    def open(self, command: Command) -> T:
        """Lock it and read it fresh, after `require_unanswered`; check terminal and version. Raises what refuses."""

    def chain(self, found: T) -> str:
        """The audit chain of its events."""

    def advance(self, found: T, work: Work, outcome: Outcome) -> tuple[int, AuditEvent]:
        """Write its next version; returns that, and the outcome's event with it."""

    def answer(self, found: T, outcome: Outcome) -> Mapping[str, Any]:
        """The answer's body, without its receipt."""


class Remembered(Subject[T], Protocol[T]):
    """A subject of which this process may know everything that a write needs, by its version."""

    def remembered(self, command: Command) -> tuple[T, Unmoved] | None:
        """The subject at the version that the command names, and how the database is asked whether it still is; None
        where this process does not know it."""


class Known(Protocol):
    """What a transaction reads once of a house, and keeps: its stage, its control points, its chip set in use."""

    def reading(self, house: House) -> sql.Statement | QuerySet[Any, Any]:
        """What reads it."""

    def read(self, house: House, found: list[Any]) -> None:
        """Keep what that has found."""


@dataclass(frozen=True, slots=True)
class OfHouse:
    """The house as the subject of writes to things without a version: persons, days, staff, duty, new places. `lock`
    keeps others from the same kind of write; `office`: only from an office terminal; `place`: the audit chain of the
    event, where it is not the house's own; `knowing`: what is read with the lock, and kept."""

    lock: Callable[[UUID], None] | None = None
    office: bool = False
    place: str = ""
    knowing: tuple[Known, ...] = ()

    def open(self, command: Command) -> House:
        """Lock what the write needs. Raises WrongTerminal."""
        house = command.context.at_the_office() if self.office else command.context.house
        with locks.gathered() as locking:
            if self.lock is not None:
                self.lock(house.id)
        knowing = self.knowing
        if self.lock in (locks.lock_places, locks.lock_days):
            # The stage may be read with the locks that its change waits for.
            knowing = (stages, *knowing)
        found = require_unanswered(command, *locking, beside=[known.reading(house) for known in knowing])
        for known, rows in zip(knowing, found, strict=True):
            known.read(house, rows)
        return house

    def chain(self, house: House) -> str:
        """The place's, or the house's own."""
        return self.place or house.chain

    def advance(self, house: House, work: Work, outcome: Outcome) -> tuple[int, AuditEvent]:
        """The outcome's version."""
        return outcome.version, outcome.event

    def answer(self, house: House, outcome: Outcome) -> Mapping[str, Any]:
        """The members that the change has returned."""
        return outcome.body
