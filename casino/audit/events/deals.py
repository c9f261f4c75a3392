"""Electronic deals before their cards fall, and the keys with which players check them."""

from collections.abc import Sequence
from typing import Annotated

from casino.audit.events.fields import Commitment, Hand, JsonObjects, Player, Reason, Seat
from casino.audit.events.registry import AuditEvent, TableEvent, event

Closed = Annotated[bool | None, "true where this closed the commitments: every seat that is dealt in has given its own"]


@event("deal.committed", chain="table")
class DealCommitted(TableEvent):
    """The house drew a seed for a hand, sealed it, and published the commitment. Who is dealt in is fixed with it;
    client seeds can be committed to from now on."""

    hand: Hand
    number: Annotated[int, "number of the hand at the table, from 1"]
    commitment: Commitment
    seats: Annotated[JsonObjects, "who is dealt in, in play order, the button last: seat and player"]
    announced: Annotated[Sequence[str] | None, "what the dealer announced for this deal"] = None


@event("deal.seed_committed", chain="table")
class ClientSeedCommitted(TableEvent):
    """A player's device committed to a seed that nobody else knows yet."""

    hand: Hand
    seat: Seat
    player: Player
    seed_commitment: Annotated[str, "the commitment to the client seed, 64 hex digits"]
    closed: Closed = None


@event("deal.commitments_closed", chain="table")
class CommitmentsClosed(TableEvent):
    """No seat can commit to a seed any more; those that have committed reveal theirs."""

    hand: Hand


@event("deal.seed_taken", chain="table")
class ClientSeedTaken(TableEvent):
    """A player added a seed to a committed deal: the deck depends on it, whether the seat is dealt in or not."""

    hand: Hand
    seat: Seat
    player: Player
    seed: Annotated[str, "the client seed, 1 to 64 visible ASCII characters"]
    given_by: Annotated[
        str, "`console`: said at the table, before the commitments closed; `player`: revealed by the player's device"
    ]
    closed: Closed = None


@event("deal.abandoned", chain="table")
class DealAbandoned(TableEvent):
    """The floor gave up a committed deal before it was dealt; its name is used up, its seed is open to auditors."""

    hand: Hand
    commitment: Commitment
    reason: Reason
    unrevealed: Annotated[Sequence[int] | None, "seats that committed to a seed and have not revealed it"] = None


@event("seat.key_issued", chain="table")
class SeatKeyIssued(TableEvent):
    """The player on a seat got a key for a device of the player's own."""

    seat: Seat
    player: Player
    replaced: Annotated[bool, "whether it replaced an earlier key"]
    key_sha256: Annotated[str, "SHA-256 of the stored digest of the key, hexadecimal"]


@event("seat.device_named", chain="table")
class SeatDeviceNamed(AuditEvent):
    """A device used the key of a seat for the first time while its player sat there."""

    seat: Seat
    player: Player
    device: Annotated[str, "SHA-256 of the device's mark with the house's number, hexadecimal"]


@event("seat.key_revoked", chain="table")
class SeatKeyRevoked(TableEvent):
    """The floor took the key of a seat out of use; the console may give the seat's seed from now on."""

    seat: Seat
    player: Player
    reason: Reason
