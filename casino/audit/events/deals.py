"""Electronic deals before their cards fall, and the keys with which players check them."""

from casino.audit.events.registry import Told, event, told


@event("deal.committed", chain="table")
def committed(*, hand: str, number: int, commitment: str) -> Told:
    """The house drew a seed for a hand, sealed it, and told the commitment; client seeds can be taken from now on."""
    return told(hand=hand, number=number, commitment=commitment)


@event("deal.seed_taken", chain="table")
def seed_taken(*, hand: str, seat: int, player: str, seed: str, given_by: str) -> Told:
    """A player added a seed to a committed deal, through the dealer's console (`console`) or with his own device
    (`player`): the deck depends on it, whether his seat is dealt in or not."""
    return told(hand=hand, seat=seat, player=player, seed=seed, given_by=given_by)


@event("deal.abandoned", chain="table")
def abandoned(*, hand: str, commitment: str, reason: str) -> Told:
    """The floor gave a committed deal up before it was dealt; its name is used up, its seed is open to auditors."""
    return told(hand=hand, commitment=commitment, reason=reason)


@event("seat.key_issued", chain="table")
def key_issued(*, seat: int, player: str, replaced: bool) -> Told:
    """The player on a seat was given a key for his own device; an earlier one was replaced by it, or there was none."""
    return told(seat=seat, player=player, replaced=replaced)


@event("seat.key_withdrawn", chain="table")
def key_withdrawn(*, seat: int, player: str, reason: str) -> Told:
    """The floor took the key of a seat out of use; its seed may be given at the console from now on."""
    return told(seat=seat, player=player, reason=reason)
