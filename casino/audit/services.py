"""Writing events. If the event cannot be written, the change it tells of does not happen either."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection

from casino import canonical
from casino.audit import guard
from casino.house.models import House

#: The one kind of event that a house may write whose log was rolled back: it is how writing begins again.
OPENS_EPOCH = "log.epoch_opened"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who acted: login (or the name of a system process), role, terminal, request id."""

    staff: str
    role: str
    terminal: str
    request: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """An event's place: chain name, gapless sequence number in it, leaf hash (64 hex digits)."""

    chain: str
    seq: int
    hash: str

    def as_json(self) -> dict[str, Any]:
        """As answers carry it."""
        return {"chain": self.chain, "seq": self.seq, "hash": self.hash}


def record(*, chain: str, house: House, kind: str, actor: Actor, data: Mapping[str, Any]) -> Receipt:
    """Append one event to a chain in the current transaction; the chain's head stays locked until it ends.

    `data` is canonical JSON (no floats, amounts in minor units, no personal data). One round trip: PostgreSQL takes
    the lock, stamps time and number, links and hashes. Raises TypeError for data that is not canonical.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("an audit event belongs into the transaction of the change it records")
    if kind != OPENS_EPOCH:
        guard.require(house)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq, leaf_hash FROM audit_append(%s, %s, %s, %s, %s, %s, %s, %s)",
            [
                house.id,
                chain,
                kind,
                actor.staff,
                actor.role,
                actor.terminal,
                actor.request,
                canonical.dumps(dict(data)),
            ],
        )
        seq, leaf_hash = cursor.fetchone()
    return Receipt(chain, seq, leaf_hash)
