"""The moment that a report is as of: a ledger transaction and an event up to which everything is known for good.

Ids are given out before a transaction commits, so that a lower one may appear after a higher one. A moment is thus
taken in two steps: the highest ids that can be seen, then a wait until every transaction of the database that is under
way has ended. From then on the rows up to these ids are the same whenever they are read. Other databases of the server
share its numbers of transactions, and write no row of this one: nobody waits for theirs.
"""

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from casino.audit import selectors as audit
from casino.audit.models import Event
from casino.core import sql
from casino.core.errors import NotFound
from casino.core.patience import Busy
from casino.houses.models import House
from casino.reports.frame.report import AsOf, Checkpoint, LastEvent

#: Seconds that a moment is waited for, and between two looks.
PATIENCE, _PAUSE = 15.0, 0.02
#: Rounds after which a house whose postings and events do not settle is called busy.
_ROUNDS = 50
_SEEN = """
SELECT coalesce((SELECT max(id) FROM ledger_transaction WHERE book = %s), 0),
       coalesce((SELECT max(id) FROM audit_event WHERE house_id = %s), 0), clock_timestamp()
"""
_UNTIL = "SELECT coalesce(max(transaction_id), 0) FROM audit_posting WHERE house_id = %s AND event_id <= %s"
#: Numbers of the transactions of this database that are under way: each holds a lock on its own until others see what
#: it has done. Who posts has one before an id is given out, as the accounts are locked first. A prepared one has
#: no process.
_UNDER_WAY = """
SELECT held.transactionid::text::bigint FROM pg_locks held
LEFT JOIN pg_stat_activity backend ON backend.pid = held.pid
LEFT JOIN pg_prepared_xacts prepared ON held.pid IS NULL AND prepared.transaction = held.transactionid
WHERE held.locktype = 'transactionid' AND held.mode = 'ExclusiveLock' AND held.granted
AND current_database() = coalesce(backend.datname, prepared.database)
"""
#: Postings that only one of the two bounds lets in.
_APART = """
SELECT coalesce(max(transaction_id), 0), coalesce(max(event_id), 0) FROM audit_posting
WHERE house_id = %s AND ((transaction_id <= %s) <> (event_id <= %s))
  AND (transaction_id > %s - 10000 OR event_id > %s - 10000)
"""


def now(house: House) -> AsOf:
    """The newest moment that is settled. Raises Busy where a transaction stays open for longer than PATIENCE."""
    deadline = time.monotonic() + PATIENCE
    [(transaction, event, at)] = sql.rows(_SEEN, [house.id, house.id])
    for _ in range(_ROUNDS):
        _wait(deadline)
        wider = _wider(house, transaction, event)
        if wider is None:
            return _settled(house, transaction, event, checkpoint(house), at)
        transaction, event = wider
        [(_, _, at)] = sql.rows(_SEEN, [house.id, house.id])
    raise Busy


def of_event(house: House, event: int, at: datetime, known: Checkpoint | None) -> AsOf:
    """The moment of an event that is committed, and of what was posted until then; the same whenever it is asked for.
    `at`: when it was recorded; `known`: the checkpoint that is named with it. Raises Busy as `now` does."""
    deadline = time.monotonic() + PATIENCE
    _wait(deadline)
    [(transaction,)] = sql.rows(_UNTIL, [house.id, event])
    for _ in range(_ROUNDS):
        wider = _wider(house, transaction, event)
        if wider is None:
            return _settled(house, transaction, event, known, at)
        transaction, event = wider
        _wait(deadline)
    raise Busy


def of_chain(house: House, event: int, at: datetime, known: Checkpoint | None) -> AsOf:
    """The moment of an event that is committed, for what its own place says: all who write there have waited for the
    chain's lock, so nothing of the place comes in between later. Other places may still be under way, and nobody waits
    for them."""
    [(transaction,)] = sql.rows(_UNTIL, [house.id, event])
    return _settled(house, transaction, event, known, at)


def kept(house: House, found: Mapping[str, Any]) -> AsOf:
    """The moment that `AsOf.as_json` has written down. Raises Event.DoesNotExist where its event is gone."""
    last, known = found["event"], found["checkpoint"]
    row = None if last is None else Event.objects.get(house=house, chain__name=last["chain"], seq=last["seq"])
    return AsOf(
        transaction=found["transaction"],
        event=0 if row is None else row.pk,
        last=None if last is None else LastEvent(**last),
        checkpoint=None if known is None else Checkpoint(**known),
        at=datetime.fromisoformat(found["at"]),
    )


def _settled(house: House, transaction: int, event: int, known: Checkpoint | None, at: datetime) -> AsOf:
    """A moment with the name of its event."""
    named = Event.objects.filter(house=house, id=event).values_list("chain__name", "seq")
    last = LastEvent(*named.get()) if event else None
    return AsOf(transaction=transaction, event=event, last=last, checkpoint=known, at=at)


def _wider(house: House, transaction: int, event: int) -> tuple[int, int] | None:
    """Bounds that let in every posting which only one of these does; None where there is none."""
    [(late_transaction, late_event)] = sql.rows(_APART, [house.id, transaction, event, transaction, event])
    return (max(transaction, late_transaction), max(event, late_event)) if late_event else None


def _wait(deadline: float) -> None:
    """Wait until every transaction of this database that is under way has ended. Must not be called within one."""
    waited_for = _under_way()
    while waited_for:
        if time.monotonic() > deadline:
            raise Busy
        time.sleep(_PAUSE)
        waited_for &= _under_way()


def _under_way() -> set[int]:
    return {number for (number,) in sql.rows(_UNDER_WAY, [])}


def checkpoint(house: House) -> Checkpoint | None:
    """The newest checkpoint of the house's log; None where there is none."""
    try:
        found = audit.checkpoint(house)
    except NotFound:
        return None
    return Checkpoint(epoch=found.epoch, size=found.size, root=bytes(found.root).hex())
