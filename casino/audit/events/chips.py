"""Chip sets."""

from collections.abc import Mapping
from typing import Annotated

from casino.audit.events.registry import AuditEvent, event


@event("chips.introduced", chain="house")
class ChipsIntroduced(AuditEvent):
    """The house got its chip set."""

    chip_set: Annotated[str, "code of the chip set"]
    denominations: Annotated[Mapping[str, str], "colour by denomination in minor units"]
