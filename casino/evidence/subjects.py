"""A numbered row of evidence, opened for a write: complaints and legal holds are changed under one lock."""

from typing import TypeVar

from casino.core import commands, locks
from casino.core.commands import Command
from casino.core.errors import NotFound
from casino.evidence.models import Complaint, LegalHold

Numbered = TypeVar("Numbered", Complaint, LegalHold)


def opened(command: Command, model: type[Numbered], number: int, *named: str) -> Numbered:
    """The row of this number with the rows that these columns name, locked with all evidence of the house. Raises
    NotFound, VersionConflict."""
    house = command.context.house
    with locks.gathered() as locking:
        locks.lock_evidence(house.id)
    rows = model._default_manager.filter(house=house, number=number).select_related(*named)
    [found] = commands.require_unanswered(command, *locking, beside=[rows])
    for one in found:
        row: Numbered = one
        row.house = house
        command.require_version(row.version)
        return row
    raise NotFound(f"This house has no {model._meta.verbose_name} {number}.")
