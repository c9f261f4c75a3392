"""Backups: what the operator's drills have restored and found."""

from collections.abc import Sequence
from typing import Annotated

from casino.audit.events.registry import AuditEvent, event


@event("backup.drilled", chain="house")
class BackupDrilled(AuditEvent):
    """The operator's unit has restored the newest backup into a cluster of its own and verified what is there, or has
    tried to: what its report says. The report itself lies with the operator."""

    tried: Annotated[str, "when it ended, ISO 8601, UTC"]
    ok: Annotated[bool, "whether the backup can be relied on"]
    backup: Annotated[str | None, "name of the backup; absent where none could be tried"] = None
    backup_age_seconds: Annotated[int | None, "seconds from the end of the backup to the drill; absent: none"] = None
    recovered_to: Annotated[str | None, "the segment of the database's log in which recovery ended; absent: none"] = (
        None
    )
    last_commit: Annotated[
        str | None, "when the last transaction was committed that was recovered, ISO 8601, UTC; absent: none"
    ] = None
    cut_off_leaves: Annotated[int, "leaves of all logs that checkpoints outside have, and what was restored has not"]
    cut_off_seconds: Annotated[int, "how much time these are, in seconds"]
    hand_count: Annotated[int | None, "hands of this house that were verified; absent where it was not there"] = None
    event_count: Annotated[int | None, "events of this house that were verified; absent where it was not there"] = None
    problems: Annotated[Sequence[str], "what was found, in words of the drill; empty: nothing"]
    report_sha256: Annotated[str, "SHA-256 of the report's canonical JSON, hexadecimal"]
