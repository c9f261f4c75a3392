"""Players, by reference only: a payload never has a name or a document."""

from collections.abc import Sequence
from typing import Annotated

from casino.audit.events.fields import Approver, Player, Reason
from casino.audit.events.registry import AuditEvent, event


@event("player.registered", chain="house")
class PlayerRegistered(AuditEvent):
    """A player was registered under a reference."""

    player: Player


@event("player.person_recorded", chain="house")
class PersonRecorded(AuditEvent):
    """The personal data of a player were recorded, sealed."""

    player: Player
    version: Annotated[int, "version of the record, from 1"]
    sealed_sha256: Annotated[str, "SHA-256 of the sealed bytes, hexadecimal; it says nothing about the data"]
    fields: Annotated[Sequence[str], "names of the recorded fields, no values"]
    reason: Reason


@event("player.forgotten", chain="house")
class PlayerForgotten(AuditEvent):
    """Two people destroyed the key to a player's personal data after the retention period."""

    player: Player
    version: Annotated[int, "version of the newest record"]
    sealed_sha256: Annotated[str, "SHA-256 of the sealed bytes of the newest record, hexadecimal"]
    last_activity: Annotated[str, "time of the player's last activity, ISO 8601"]
    retention_days: Annotated[int, "length of the retention period in days"]
    reason: Reason
    approver: Approver
