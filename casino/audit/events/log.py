"""The log itself.

An epoch begins with an event that is its first leaf. These events stand in a chain of their own, `log/CODE`: in the
house's chain older ones may wait that are not in the log yet."""

from casino.audit.events.registry import Told, event, told


@event("log.epoch_opened", chain="log")
def epoch_opened(
    *,
    epoch: int,
    note: str | None,
    old_epoch: int | None,
    old_size: int | None,
    old_root: str | None,
    restored_epoch: int,
    restored_size: int,
    restored_root: str | None,
    refused: str | None,
    reason: str,
    approver: str,
) -> Told:
    """Two people began a new epoch of the log: `note` is the newest checkpoint outside the database, in full, with its
    epoch, size and root (none where there was none); `restored_...` is what the database had of the log (no root
    where its own hashes were incomplete); `refused` is the code of why the house might not write, absent where it might
    and the two wanted a new epoch all the same. Where it might not,
    everybody of the house was signed out with it."""
    return told(
        epoch=epoch,
        note=note,
        old_epoch=old_epoch,
        old_size=old_size,
        old_root=old_root,
        restored_epoch=restored_epoch,
        restored_size=restored_size,
        restored_root=restored_root,
        refused=refused,
        reason=reason,
        approver=approver,
    )
