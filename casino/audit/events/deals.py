"""Electronic deals before their cards fall, and the keys with which players check them."""

from typing import Annotated

from casino.audit.events.fields import Commitment, Hand, Player, Reason, Seat
from casino.audit.events.registry import TableEvent, event


@event("deal.committed", chain="table")
class DealCommitted(TableEvent):
    """The house drew a seed for a hand, sealed it, and published the commitment; client seeds can be taken from now
    on."""

    hand: Hand
    number: Annotated[int, "number of the hand at the table, from 1"]
    commitment: Commitment


@event("deal.seed_taken", chain="table")
class ClientSeedTaken(TableEvent):
    """A player added a seed to a committed deal: the deck depends on it, whether the seat is dealt in or not."""

    hand: Hand
    seat: Seat
    player: Player
    seed: Annotated[str, "the client seed, 1 to 64 visible ASCII characters"]
    given_by: Annotated[str, "`console`: entered by the dealer; `player`: by the player's own device"]


@event("deal.abandoned", chain="table")
class DealAbandoned(TableEvent):
    """The floor gave up a committed deal before it was dealt; its name is used up, its seed is open to auditors."""

    hand: Hand
    commitment: Commitment
    reason: Reason


@event("seat.key_issued", chain="table")
class SeatKeyIssued(TableEvent):
    """The player on a seat got a key for a device of the player's own."""

    seat: Seat
    player: Player
    replaced: Annotated[bool, "whether it replaced an earlier key"]


@event("seat.key_revoked", chain="table")
class SeatKeyRevoked(TableEvent):
    """The floor took the key of a seat out of use; the console may give the seat's seed from now on."""

    seat: Seat
    player: Player
    reason: Reason
