"""Marks of players' own devices: by them it is seen that two players have used one device.

A device makes a random mark once and keeps it. The house keeps only a hash of it with the house's own number, so that
no other house's is like it; what the device is, and where, it does not ask. A device can be without a mark, or make a
new one: that two players have none in common says nothing."""

import hashlib
from uuid import UUID

from casino.audit import selectors as receipts
from casino.audit.events.deals import SeatDeviceNamed
from casino.audit.services import Receipt
from casino.core import locks
from casino.core.work import Work
from casino.tables.keys import Holder, lock_seat
from casino.tables.models import SeatDevice


def hash_of(house: UUID, mark: str) -> str:
    """What the house keeps of a mark: SHA-256 in hexadecimal."""
    return hashlib.sha256(f"{house}/{mark}".encode()).hexdigest()


def name(*, holder: Holder, request_id: str, device: str) -> tuple[dict[str, object], Receipt]:
    """Record which device uses the key of a seat. The same again changes nothing, and has the same receipt. Raises
    NotFound for a seat that was left."""
    seating, house = holder.seating, holder.table.house
    kept = hash_of(house.id, device)

    def operation() -> tuple[dict[str, object], Receipt]:
        table, [known] = lock_seat(holder, SeatDevice.objects.filter(house=house, seating=seating, mark=kept))
        said: dict[str, object] = {"seat": seating.seat, "device": kept}
        if known:
            return said, receipts.of_event(house, table.chain, SeatDeviceNamed.KIND, **said)
        SeatDevice.objects.create(house_id=house.id, seating=seating, mark=kept)
        event = SeatDeviceNamed(seat=seating.seat, player=seating.player.ref, device=kept)
        return said, Work(house, holder.actor(request_id)).record(chain=table.chain, event=event)

    return locks.in_transaction(operation)
