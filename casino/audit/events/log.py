"""The log itself.

An epoch begins with an event that is its first leaf. These events have a separate chain, `log/CODE`, because the
house's chain may have older events that are not in the log yet."""

from typing import Annotated

from casino.audit.events.fields import Approver, Reason
from casino.audit.events.registry import AuditEvent, event


@event("log.epoch_opened", chain="log")
class EpochOpened(AuditEvent):
    """Two people opened a new epoch of the log. Where the house might not write, everybody of the house was signed out
    with it."""

    epoch: Annotated[int, "number of the new epoch"]
    note: Annotated[str | None, "newest checkpoint outside the database, in full; absent if there was none"] = None
    old_epoch: Annotated[int | None, "epoch of that checkpoint"] = None
    old_size: Annotated[int | None, "size of the log by that checkpoint, in leaves"] = None
    old_root: Annotated[str | None, "root of the log by that checkpoint, hexadecimal"] = None
    restored_epoch: Annotated[int, "newest epoch in the database, 0 for none"]
    restored_size: Annotated[int, "size of the log in the database, in leaves"]
    restored_root: Annotated[
        str | None, "root of the log in the database; absent where its own hashes were incomplete"
    ] = None
    refused: Annotated[
        str | None, "code of why the house might not write; absent where it might, and the two wanted it"
    ] = None
    reason: Reason
    approver: Approver


@event("log.key_rotated", chain="log")
class KeyRotated(AuditEvent):
    """Two people let another key sign the checkpoints of the log from now on. Both keys have signed that."""

    epoch: Annotated[int, "epoch of the log"]
    size: Annotated[int, "leaves of the last checkpoint under the old key; every larger one is under the new key"]
    old_key: Annotated[str, "the old key, as the house names it (vkey)"]
    new_key: Annotated[str, "the new key (vkey)"]
    note: Annotated[str, "what both keys have signed, with the two signatures: a signed note"]
    reason: Reason
    approver: Approver


@event("log.archived", chain="log")
class Archived(AuditEvent):
    """A closed period was written into an archive outside the database."""

    number: Annotated[int, "number of the archive"]
    epoch: Annotated[int, "epoch of the log"]
    first: Annotated[int, "its first leaf"]
    size: Annotated[int, "size of the log at its last checkpoint: its leaves are below"]
    first_day: Annotated[str, "the first gaming day whose closing it has"]
    last_day: Annotated[str, "the last one"]
    sha256: Annotated[str, "SHA-256 of its manifest, hexadecimal"]


@event("log.put_away", chain="log")
class PutAway(AuditEvent):
    """Two people took texts of events out of the database which an archive has. Their hashes stay."""

    number: Annotated[int, "number of the archive"]
    events: Annotated[int, "how many"]
    reason: Reason
    approver: Approver


@event("log.brought_back", chain="log")
class BroughtBack(AuditEvent):
    """Texts of events were brought back from an archive into the database."""

    number: Annotated[int, "number of the archive"]
    events: Annotated[int, "how many"]
    reason: Reason
