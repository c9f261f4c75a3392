"""Chip sets."""

from casino.audit.events.registry import Told, event, told


@event("chips.introduced", chain="house")
def introduced(*, chip_set: str, denominations: dict[str, str]) -> Told:
    """The house got its chip set: denominations in minor units with their colours."""
    return told(chip_set=chip_set, denominations=denominations)
