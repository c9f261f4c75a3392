"""Keys of seats: with a key, a player's device adds a seed to the deal and checks the cards that the player may see.

The key is returned once, to be shown to the player at the seat; the database keeps its digest. It is good for as long
as the player sits there, until a new one takes its place or the floor revokes it, and shows the hands that are dealt
after it was issued: a dealer who issues a key cannot use it to look into a hand that is being played, or was.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import models

from casino.audit.events.deals import SeatKeyIssued, SeatKeyRevoked
from casino.audit.services import Actor
from casino.core import locks, sql, write
from casino.core.canonical import fingerprint
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp
from casino.safeguards import standing
from casino.tables.models import Seating, SeatKey, Table
from casino.tables.services import AtTable, at_seat

_BYTES = 32


@dataclass(frozen=True, slots=True)
class Holder:
    """The caller with a seat's key: the player of that seat. No member of staff, and none of their rights."""

    seating: Seating
    #: When the key was issued.
    since: datetime
    #: Whether the key is still valid: not replaced, and its player still on the seat.
    good: bool = True

    #: What Django asks of a user.
    is_authenticated = True
    is_active = True

    @property
    def table(self) -> Table:
        """The player's table, with its house."""
        return self.seating.session.table

    def actor(self, request_id: str) -> Actor:
        """The same, as the audit trail names it."""
        seat = f"{self.table.code}/{self.seating.seat}"
        return Actor(staff=self.seating.player.ref, role="player", terminal=seat, request=request_id)


def issue(*, command: Command, code: str, seat: int) -> Answer:
    """Give the player on a seat a key; an earlier key is not valid any more. Raises NotFound for an empty seat.

    The key is in this answer only. The same request again is answered without it, since it was not kept; a client that
    missed it asks for a new one.
    """
    key = secrets.token_urlsafe(_BYTES)

    def change(table: Table, work: Work) -> Outcome:
        seating = at_seat(table, seat)
        standing.require_play(table.house, seating.player)
        replaced = SeatKey.objects.filter(seating=seating, replaced_at=None).update(replaced_at=ClockTimestamp())
        kept = SeatKey.objects.create(house_id=seating.house_id, seating=seating, digest=digest(key))
        event = SeatKeyIssued(
            seat=seat, player=seating.player.ref, replaced=bool(replaced), key_sha256=fingerprint(kept.digest)
        )
        return Outcome(event, status=201, once={"key": key})

    return write.write(command, AtTable(code), change)


def revoke(*, command: Command, code: str, seat: int, reason: str) -> Answer:
    """Revoke a seat's key because the device is lost or broken: while there is a key, only the device can give the
    seat's seed. Raises NotFound for an empty seat, Conflict no_device."""

    def change(table: Table, work: Work) -> Outcome:
        seating = at_seat(table, seat)
        if not SeatKey.objects.filter(seating=seating, replaced_at=None).update(replaced_at=ClockTimestamp()):
            raise Conflict(f"Seat {seat} has no device.", code="no_device", seat=seat)
        return Outcome(SeatKeyRevoked(seat=seat, player=seating.player.ref, reason=reason))

    return write.write(command, AtTable(code), change)


def holder(key: str) -> Holder | None:
    """Whose key this is, or was (then it is not `good`); None for one that no house has issued."""
    found = (
        SeatKey.objects.filter(digest=digest(key))
        .select_related("seating__player", "seating__session__table__house")
        .first()
    )
    if found is None:
        return None
    return Holder(found.seating, found.issued_at, good=found.replaced_at is None and found.seating.left_at is None)


def lock_seat(holder: Holder, *beside: sql.Statement | models.QuerySet[Any, Any]) -> tuple[Table, list[list[Any]]]:
    """Lock the table of a key, and then run `beside` in the same round trip; returns the table, and what each of those
    has found. Raises NotFound for a seat that was left."""
    sitting = Seating.objects.filter(id=holder.seating.id, left_at=None)
    table, [still, *found] = locks.lock_beside(Table, locks.Rank.DESK, sitting, *beside, id=holder.table.id)
    table.house = holder.table.house
    if not still:
        raise NotFound("This seat's key has expired.")
    return table, found


def digest(key: str) -> str:
    """The digest of a key, which the database keeps. It is found by its digest, so the time this takes reveals nothing
    about the key."""
    return hashlib.sha256(key.encode()).hexdigest()
