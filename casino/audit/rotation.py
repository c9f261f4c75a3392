"""Another key for a house's log, without a new epoch: nothing was lost, and both keys say so."""

from django.db import transaction

from casino.audit import guard
from casino.audit.events.log import KeyRotated
from casino.audit.models import KeyRotation, Log, SignedCheckpoint
from casino.audit.notes import Rotation
from casino.audit.refusals import log_refusals, owner_needed
from casino.audit.services import Actor, record
from casino.audit.signing import Signer, origin
from casino.core import sql
from casino.core.errors import Conflict
from casino.houses.models import House

#: Who rotates keys: the application may not.
ALIAS = "owner"
_LOCK = "SELECT audit_lock_log(%s)"
_KEY = "SELECT audit_key_of_log(%s, %s)"
_ROTATE = "SELECT audit_rotate_key(%s, %s, %s, %s, %s, %s, %s)"


def rotate_key(*, house: House, actor: Actor, approver: str, old: Signer, new: Signer, reason: str) -> KeyRotation:
    """Name the key of `new` as the one that signs every checkpoint of the house's log after the last one, in one
    transaction of the owner's with the event that has both keys' signatures over that. It takes two people, which the
    caller checks (`casino/staff/two_signers.py`).

    Raises Conflict `no_change` where the log has this key already, `log_key_wrong` where it has neither key,
    `log_not_begun` before its first checkpoint, `log_rotation_pending` while no checkpoint was made since the last
    rotation; a LogRefused where the house may not write; Forbidden `owner_needed` without the owner's rights;
    KeyUnavailable.
    """
    with owner_needed("Rotating the log's key"), log_refusals(), transaction.atomic(using=ALIAS, durable=True):
        sql.rows(_LOCK, [house.id], ALIAS)  # no checkpoint is made meanwhile
        guard.examine(house, using=ALIAS)
        last = _last_checkpoint(house)
        rotation = Rotation(origin(house, last.epoch), last.size, bytes(last.root), old.key(house), new.key(house))
        _require_old(house, last, rotation)
        text = rotation.text.encode()
        event = KeyRotated(
            epoch=last.epoch,
            size=last.size,
            old_key=rotation.old.text,
            new_key=rotation.new.text,
            note=rotation.note(old.sign(text), new.sign(text)),
            reason=reason,
            approver=approver,
        )
        receipt = record(chain=f"log/{house.code}", house=house, actor=actor, event=event, using=ALIAS)
        keys = [rotation.old.text, rotation.new.text]
        sql.rows(_ROTATE, [house.id, last.epoch, last.size, *keys, receipt.chain, receipt.seq], ALIAS)
        return KeyRotation.objects.using(ALIAS).get(house=house, epoch=last.epoch, size=last.size)


def _last_checkpoint(house: House) -> SignedCheckpoint:
    log = Log.objects.using(ALIAS).filter(house=house).order_by("-epoch").first()
    epoch = log.epoch if log else 0
    last = SignedCheckpoint.objects.using(ALIAS).filter(house=house, epoch=epoch).order_by("-size").first()
    if last is None:
        raise Conflict(
            f"The log of {house.code} has no checkpoint yet; the sequencer begins it under CASINO_LOG_KEY.",
            code="log_not_begun",
        )
    return last


def _require_old(house: House, last: SignedCheckpoint, rotation: Rotation) -> None:
    [(vkey,)] = sql.rows(_KEY, [house.id, last.epoch], ALIAS)
    if vkey == rotation.new.text:
        raise Conflict(f"The log of {house.code} is under this key already.", code="no_change")
    if vkey != rotation.old.text:
        raise Conflict(
            f"The log of {house.code} is under the key {vkey}, which is neither the new nor the old one.",
            code="log_key_wrong",
        )
    if KeyRotation.objects.using(ALIAS).filter(house=house, epoch=last.epoch, size=last.size).exists():
        raise Conflict(
            f"The log of {house.code} has no checkpoint since its key was rotated; start the sequencer.",
            code="log_rotation_pending",
        )
