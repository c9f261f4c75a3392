"""Numbers without gaps, one series for each kind of paper and house."""

from casino.core import locks, patience, sql
from casino.houses.models import House

_NEXT = """
INSERT INTO transfers_serial AS known (house_id, series, last)
SELECT %s::uuid, patient.value, 1 FROM {}
ON CONFLICT (house_id, series) DO UPDATE SET last = known.last + 1 RETURNING last
""".format(patience.PATIENT.format(type="text"))


def next_of(house: House, series: str, *before: sql.Statement) -> int:
    """The next number of a series, from 1, once `before` was run. Others who want one wait until this transaction ends;
    if it is rolled back, the number is given again. Raises LockOrderError, Busy."""
    locks.taken(locks.Rank.SERIAL, f"series {series}")
    *_, [(number,)] = sql.together(*before, (_NEXT, [house.id, series, patience.lock_timeout()]))
    return int(number)
