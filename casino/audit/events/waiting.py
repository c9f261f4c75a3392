"""The waiting list: players who wait for a seat."""

from typing import Annotated

from casino.audit.events.fields import Player, Reason
from casino.audit.events.registry import AuditEvent, event

Ticket = Annotated[int, "number on the waiting list"]


@event("waiting.added", chain="house")
class WaitingAdded(AuditEvent):
    """A player was put on the waiting list."""

    ticket: Annotated[Ticket, "number on the waiting list, from 1 and without gaps; players are called in its order"]
    player: Player
    game: Annotated[str, "game for which the player waits"]
    table: Annotated[str | None, "the only table that the player wants; absent for any of the game"] = None


@event("waiting.called", chain="house")
class WaitingCalled(AuditEvent):
    """A player on the list was offered a seat at a table."""

    ticket: Ticket
    table: Annotated[str, "code of the table"]
    reason: Annotated[Reason | None, "why a player who came earlier was passed over; absent where nobody was"] = None


@event("waiting.no_show", chain="house")
class WaitingNoShow(AuditEvent):
    """A player who was called did not come, and is no longer on the list."""

    ticket: Ticket


@event("waiting.removed", chain="house")
class WaitingRemoved(AuditEvent):
    """A player was taken off the list."""

    ticket: Ticket
    reason: Reason
