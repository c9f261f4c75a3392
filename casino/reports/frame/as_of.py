"""The moment that a report is as of: a ledger transaction and an event up to which everything is known for good.

Ids are given out before a transaction commits, so that a lower one may appear after a higher one. A moment is therefore
taken in two steps: the highest ids that can be seen, then a wait until every transaction of the database that is under
way has ended. From then on the rows up to these ids are the same whenever they are read.
"""

import time

from casino.core import sql
from casino.core.patience import Busy
from casino.houses.models import House
from casino.reports.frame.report import AsOf, Checkpoint
from casino.reports.package import newest_checkpoint

#: Seconds that a moment is waited for, and between two looks.
PATIENCE, _PAUSE = 15.0, 0.02
#: Rounds after which a house whose postings and events do not settle is called busy.
_ROUNDS = 50
_SEEN = """
SELECT coalesce((SELECT max(id) FROM ledger_transaction WHERE book = %s), 0),
       coalesce((SELECT max(id) FROM audit_event WHERE house_id = %s), 0), clock_timestamp()
"""
#: A number of our own, above that of every transaction that has one by now. Who posts has one before an id is given
#: out, for the accounts are locked first.
_MARK = "SELECT pg_current_xact_id()::text::bigint"
_OLDEST = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
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
        [(late_transaction, late_event)] = sql.rows(_APART, [house.id, transaction, event, transaction, event])
        if not late_event:
            return AsOf(transaction=transaction, event=event, checkpoint=checkpoint(house), at=at)
        transaction, event = max(transaction, late_transaction), max(event, late_event)
        [(_, _, at)] = sql.rows(_SEEN, [house.id, house.id])
    raise Busy


def _wait(deadline: float) -> None:
    """Wait until every transaction that is under way has ended. Must not be called within one."""
    [(mark,)] = sql.rows(_MARK, [])
    while True:
        [(oldest,)] = sql.rows(_OLDEST, [])
        if oldest >= mark:
            return
        if time.monotonic() > deadline:
            raise Busy
        time.sleep(_PAUSE)


def checkpoint(house: House) -> Checkpoint | None:
    """The newest checkpoint of the house's log; None where there is none."""
    found = newest_checkpoint(house)
    return None if found is None else Checkpoint(**found)
