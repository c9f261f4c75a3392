"""What must hold when the load is over: every hand is settled once, verification finds nothing, the books balance."""

from __future__ import annotations

from tests.faults import invariants
from tests.load.room import Room


def violations(room: Room, hands: int) -> list[str]:
    """What does not hold in the house, in words; `hands` were seen to be settled."""
    from casino.houses.models import House

    house = House.objects.get(code=room.credentials.house)
    found = invariants.outbox(house) + invariants.hands(house, hands)
    return found + invariants.books(house, room.root, room.credentials.auditor)
