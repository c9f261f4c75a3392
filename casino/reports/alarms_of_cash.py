"""Drawers with more cash than their ceiling, which are to be skimmed (`casino/chips/templates.py`)."""

from collections.abc import Iterator
from datetime import datetime

from casino.bookkeeping.accounts import Account
from casino.cage import selectors as drawers
from casino.cage.models import Shift
from casino.chips import templates
from casino.core import sql
from casino.houses.control_points import ControlPoints
from casino.houses.models import House
from casino.reports.alarms_of_counts import Sign

#: When an account's balance rose above an amount and stayed there.
_SINCE = """
SELECT min(posted.posted_at) FROM ledger_account account
JOIN ledger_entry entry ON entry.account_id = account.id
JOIN ledger_transaction posted ON posted.id = entry.transaction_id
WHERE account.book = %s AND account.code = %s AND entry.version > (
    SELECT coalesce(max(version), 0) FROM ledger_entry below
    WHERE below.account_id = account.id AND below.balance_after <= %s
)
"""


def skims(house: House, _points: ControlPoints, _now: datetime) -> Iterator[Sign]:
    """Open drawers that are to be skimmed, since their cash has been above the ceiling. How much it is is not said: it
    is counted without knowing."""
    for shift in Shift.objects.filter(house=house, closed_at=None).select_related("drawer").order_by("drawer__code"):
        drawer = shift.drawer
        drawer.house = house
        ceiling = templates.skim_above(house, drawer.code)
        if drawers.cash(drawer) > ceiling:
            [(since,)] = sql.rows(_SINCE, [house.id, drawer.account(Account.DRAWER_CASH), ceiling])
            yield Sign(f"drawer {drawer.code}", since)
