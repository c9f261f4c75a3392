"""Another seal key: the data keys of a house are wrapped under it, and nothing that they seal is touched."""

from django.db import transaction

from casino.audit.events.house import SealKeyRotated
from casino.audit.refusals import owner_needed
from casino.audit.services import Actor, record
from casino.core import sql
from casino.core.errors import Conflict, SealKeyWrong
from casino.core.seal_key import SealKey
from casino.houses import sealing
from casino.houses.models import DataKey, House

#: Who wraps data keys again: the application may not.
ALIAS = "owner"
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('data keys of ' || %s, 0))"


def rotate_seal_key(*, house: House, actor: Actor, approver: str, old: SealKey, new: SealKey, reason: str) -> int:
    """Wrap every data key of a house under `new` instead of `old`, and begin a new data key for what is sealed from now
    on, in one transaction of the owner's with its event; returns how many keys were wrapped again. It takes two people,
    which the caller checks (`casino/staff/two_signers.py`).

    A data key is in the clear only in this process's memory. Raises Conflict `no_change` where all of them are under
    the new key already, SealKeyWrong for one that is under neither, SealKeyRetired where a house was rotated away from
    the new key, SealedUnreadable and KeyUnavailable where one cannot be unwrapped; nothing has changed then. Forbidden
    `owner_needed` without the owner's rights.
    """
    with owner_needed("Rotating the seal key"), transaction.atomic(using=ALIAS, durable=True):
        sql.rows(_LOCK, [str(house.id)], ALIAS)
        rows = list(DataKey.objects.using(ALIAS).filter(house=house).order_by("number"))
        left = [row for row in rows if row.seal_key != new.id]
        if not left:
            raise Conflict(f"The data keys of {house.code} are under this seal key already.", code="no_change")
        for row in left:
            _wrap_again(row, old, new)
        number = rows[-1].number + 1
        sealing.begin(house.id, number, new, using=ALIAS, retired=old.id)
        event = SealKeyRotated(
            old_key=old.id,
            new_key=new.id,
            wrapped_count=len(left),
            data_key=number,
            reason=reason,
            approver=approver,
        )
        record(chain=house.chain, house=house, actor=actor, event=event, using=ALIAS)
    sealing.forget()
    return len(left)


def _wrap_again(row: DataKey, old: SealKey, new: SealKey) -> None:
    if row.seal_key != old.id:
        raise SealKeyWrong(
            f"Data key {row.number} is wrapped under the seal key {row.seal_key}; the old one is {old.id}."
        )
    context = sealing.wrapping_context(row.house_id, row.number)
    wrapped = new.wrap(old.unwrap(bytes(row.wrapped), context), context)
    DataKey.objects.using(ALIAS).filter(id=row.id).update(seal_key=new.id, wrapped=wrapped)
