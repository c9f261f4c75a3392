"""Players, by reference only: a payload never has a name or a document."""

from collections.abc import Sequence
from typing import Annotated

from casino.audit.events.fields import Approver, Player, Reason
from casino.audit.events.registry import ApprovedEvent, AuditEvent, event


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


@event("player.data_copied", chain="house")
class PersonalDataCopied(AuditEvent):
    """A file was handed out with what the house holds on a player. It is kept nowhere."""

    player: Player
    format: Annotated[str, "`json` or `pdf`"]
    file_sha256: Annotated[str, "SHA-256 of the file, hexadecimal"]
    size: Annotated[int, "bytes of the file"]


@event("player.forgotten", chain="house")
class PlayerForgotten(AuditEvent):
    """The key to a player's personal data was destroyed after the retention period, by two people or by a run of
    retention."""

    player: Player
    version: Annotated[int, "version of the newest record"]
    sealed_sha256: Annotated[str, "SHA-256 of the sealed bytes of the newest record, hexadecimal"]
    last_activity: Annotated[str, "time of the player's last activity, ISO 8601"]
    retention_days: Annotated[int, "length of the retention period in days"]
    retention_run: Annotated[int | None, "number of the run of retention; absent where two people did it"] = None
    reason: Reason
    approver: Approver | None = None


@event("player.erased", chain="house")
class PlayerErased(ApprovedEvent):
    """After a player was forgotten by two people, it was looked for what was to go, and nothing was found. What was
    recorded of the person stays sealed, and can be opened by nobody."""

    player: Player
    records: Annotated[
        Sequence[str], "SHA-256 of the sealed bytes of every record of the person, the oldest first, hexadecimal"
    ]
    answer_count: Annotated[int, "stored answers about the player that were deleted"]
    left: Annotated[Sequence[str], "what was still found afterwards; always empty"]
