"""Persons who trade and have no player's file: described at the cage or a table, and later known, or not.

What such a person has paid in and was paid in the gaming day is added up from the lines of the log. A trade that names
the person is looked at with it before it is posted, under the lock of the log.
"""

from collections.abc import Mapping
from typing import Any

from django.db.models import Max

from casino.audit.events.watching import UnknownPersonIdentified, UnknownPersonOpened
from casino.bookkeeping.flows import GAMING_DAY, Direction
from casino.core import locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound
from casino.core.moments import utc, utc_or_none
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import days
from casino.houses.control_points import in_force
from casino.houses.models import ClockTimestamp, House
from casino.players import persons
from casino.safeguards import notes
from casino.watching.models import UnknownPerson

LOG = OfHouse(lock=locks.lock_transaction_log)
#: Where a description stands, for sealing.
_WHAT = "unknown person"
#: What was withdrawn, and what a correction has taken back in the ledger, counts no more.
_SUMS = """
SELECT line.direction, sum(line.amount)::bigint FROM watching_logline line
WHERE line.house_id = %s AND line.unknown_person_id = %s AND line.day = %s AND line.withdrawn_at IS NULL
AND NOT EXISTS (SELECT FROM ledger_transaction mirror WHERE mirror.reverses_id = line.transaction)
GROUP BY line.direction
"""


def begin(*, command: Command, description: str) -> Answer:
    """Describe a person without a player's file."""

    def change(house: House, work: Work) -> Outcome:
        number = 1 + (UnknownPerson.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0)
        sealed = notes.seal(house, description, _WHAT, number)
        row = UnknownPerson.objects.create(
            house=house, number=number, description=sealed, opened_by=command.context.staff
        )
        digest = notes.digest(sealed)
        if digest is None:
            raise AssertionError("a description has at least three letters")
        event = UnknownPersonOpened(unknown_person=number, description_sha256=digest)
        return Outcome(event, describe(row), 201, version=number)

    return write.write(command, LOG, change)


def identify(*, command: Command, number: int, player: str) -> Answer:
    """Note that an unknown person is a player. Raises NotFound, Conflict person_identified."""

    def change(house: House, work: Work) -> Outcome:
        row, found = require_unidentified(house, number), persons.get(house, player)
        rows = UnknownPerson.objects.filter(id=row.pk)
        rows.update(player=found, identified_by=command.context.staff, identified_at=ClockTimestamp())
        event = UnknownPersonIdentified(unknown_person=number, player=player)
        return Outcome(event, describe(get(house, number)), version=number)

    return write.write(command, LOG, change)


def get(house: House, number: int) -> UnknownPerson:
    """One of them. Raises NotFound."""
    rows = UnknownPerson.objects.filter(house=house, number=number)
    found = rows.select_related("player", "opened_by", "identified_by").first()
    if found is None:
        raise NotFound(f"This house has no unknown person {number}.")
    found.house = house
    return found


def require_unidentified(house: House, number: int) -> UnknownPerson:
    """One of whom it is not known who it is. Raises NotFound, Conflict person_identified."""
    row = get(house, number)
    if row.player is not None:
        raise Conflict(
            f"Unknown person {number} is {row.player.ref}: name the player.", code="person_identified",
            player=row.player.ref,
        )  # fmt: skip
    return row


def sums(row: UnknownPerson, day: str) -> dict[str, int]:
    """What a person has paid in and was paid in a gaming day, by direction in minor units, as far as the log knows it;
    nothing where there is no day."""
    found = dict(sql.rows(_SUMS, [row.house_id, row.pk, day])) if day else {}
    return {str(way): found.get(str(way), 0) for way in Direction}


def lock(house: House, number: int) -> tuple[UnknownPerson, str]:
    """A person, and the gaming day of now, under the lock of the log. Raises NotFound, Conflict person_identified."""
    locks.lock_transaction_log(house.id)
    return require_unidentified(house, number), days.newest(house)


def before(row: UnknownPerson, day: str, direction: Direction) -> Mapping[str, int]:
    """What a locked person has paid, or was paid, as thresholds count it: by window."""
    return {GAMING_DAY: sums(row, day)[direction]}


def shown(house: House, number: int) -> dict[str, Any]:
    """A person with the description, and what was paid in the gaming day of now: for who is about to trade. Raises
    NotFound, SealedUnreadable, SealKeyWrong."""
    row, day = get(house, number), days.newest(house)
    paid = sums(row, day)
    return describe(row) | {
        "description": description_of(row),
        "day": day or None,
        "paid_in": paid[Direction.IN],
        "paid_out": paid[Direction.OUT],
        "threshold": in_force(house).identity_from,
    }


def description_of(row: UnknownPerson) -> str:
    """What was said. Raises SealedUnreadable, SealKeyWrong."""
    return notes.unseal(row.house, row.description, _WHAT, row.number)


def describe(row: UnknownPerson) -> dict[str, Any]:
    """A person as answers have it, without the description."""
    return {
        "unknown_person": row.number,
        "opened_by": row.opened_by.login,
        "opened_at": utc(row.opened_at),
        "player": row.player.ref if row.player else None,
        "identified_by": row.identified_by.login if row.identified_by else None,
        "identified_at": utc_or_none(row.identified_at),
    }
