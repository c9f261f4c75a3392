"""Opening a new epoch of a log: after a backup was restored, after the outside files were lost, or under another
key."""

from collections.abc import Callable

from django.db import transaction

from casino.audit import guard, outside
from casino.audit.events.log import EpochOpened
from casino.audit.merkle import EMPTY_ROOT
from casino.audit.models import Epoch, Log
from casino.audit.proofs import Hashes, HashesMissing
from casino.audit.refusals import log_refusals, owner_needed
from casino.audit.services import Actor, record
from casino.audit.signing import origin
from casino.core import sql
from casino.core.errors import Conflict, LogRefused
from casino.houses.models import House

#: Who opens epochs: the application may not.
ALIAS = "owner"
_OPEN = "SELECT audit_open_epoch(%s, %s, %s, %s, %s, %s, %s, %s, %s)"


def open_epoch(
    *,
    house: House,
    actor: Actor,
    approver: str,
    reason: str,
    healthy: bool = False,
    restored: Callable[[], object] = lambda: None,
) -> Epoch:
    """Begin the next epoch of a house's log, in one transaction of the owner's with the event that is its first leaf.

    The event says what the newest checkpoint outside the database said and what the database had of the log, so that
    what is lost stays known. Who may do this is for the caller to check: it takes two people. Raises a LogRefused where
    a file outside cannot be read (put it right or move it away first), Conflict `log_healthy` where the house may write
    and `healthy` does not say that it shall be done all the same (for another key), Forbidden `owner_needed` without
    the owner's rights. Where the house might not write, `restored` is called in that transaction (alias `owner`).
    """
    refused = _refusal(house)
    if refused is None and not healthy:
        raise Conflict(
            f"The log of {house.code} agrees with the checkpoints outside; it needs no new epoch. To open one "
            "anyway, for a new signing key, use --healthy.",
            code="log_healthy",
        )
    endings = [found for folder in outside.folders() if (found := outside.ending(folder, house)) is not None]
    newest = max((found for found in endings if found.checkpoint), key=lambda found: found.place, default=None)
    checkpoint = newest.checkpoint if newest else None
    with owner_needed("Opening an epoch"), log_refusals(), transaction.atomic(using=ALIAS, durable=True):
        log = Log.objects.using(ALIAS).filter(house=house).order_by("-epoch").first()
        old_epoch, size = (log.epoch, log.size) if log else (0, 0)
        their_epoch = newest.place[0] if newest else None
        epoch = max(old_epoch, their_epoch or 0, 1) + 1
        event = EpochOpened(
            epoch=epoch,
            note=newest.note if newest else None,
            old_epoch=their_epoch,
            old_size=checkpoint.size if checkpoint else None,
            old_root=checkpoint.root.hex() if checkpoint else None,
            restored_epoch=old_epoch,
            restored_size=size,
            restored_root=_root(house, old_epoch, size),
            refused=refused,
            reason=reason,
            approver=approver,
        )
        receipt = record(chain=f"log/{house.code}", house=house, actor=actor, event=event, using=ALIAS)
        outside_says = [their_epoch, *((checkpoint.size, checkpoint.root) if checkpoint else (None, None))]
        place = [receipt.chain, receipt.seq, *outside_says]
        sql.rows(_OPEN, [house.id, epoch, origin(house, epoch), size, *place], ALIAS)
        opened = Epoch.objects.using(ALIAS).get(house=house, epoch=epoch)
        if refused is not None:
            restored()
    guard.forget()
    return opened


def _refusal(house: House) -> str | None:
    """The code of why the house may not write, None when it may."""
    try:
        guard.examine(house)
    except LogRefused as error:
        return error.code
    return None


def _root(house: House, epoch: int, size: int) -> str | None:
    """Root of what the database has, None where its own hashes are incomplete."""
    if not size:
        return EMPTY_ROOT.hex()
    try:
        return Hashes(house.id, epoch, ALIAS).root(size).hex()
    except HashesMissing:
        return None
