"""Reading chip sets, and what a computed payment may draw on."""

from casino.bookkeeping import chart
from casino.chips.models import ChipSet
from casino.core import locks, sql
from casino.core.denominations import Chips
from casino.core.denominations import ChipSet as Ladder
from casino.core.errors import Conflict, NotFound
from casino.houses.models import House

_IN_USE = """
SELECT chips_chipset.code, array_agg(chips_denomination.value ORDER BY chips_denomination.value)
FROM chips_chipset JOIN chips_denomination ON chips_denomination.chip_set_id = chips_chipset.id
WHERE chips_chipset.house_id = %s AND chips_chipset.in_use GROUP BY chips_chipset.code
"""


def in_use(house: House) -> Ladder:
    """The house's chip set. Raises Conflict no_chip_set for a house that has none."""
    for code, values in sql.rows(_IN_USE, [house.id]):
        return Ladder(code, tuple(values))
    raise _without_chips(house)


def _without_chips(house: House) -> Conflict:
    return Conflict(f"House {house.code} has no chip set; its chips have no denominations.", code="no_chip_set")


def rack(house: House, code: str) -> Chips:
    """The chips in one place, e.g. `9130/T1` for a table's tray; of the set in use."""
    return chart.rack(house, code, in_use(house).code)


def lock_chip_set(house: House) -> None:
    """Keep others from deciding on chips of the public or the vault until the transaction ends.

    Taken before what they hold is read; otherwise two tables could each count on the same chip.
    """
    try:
        locks.lock(ChipSet, locks.Rank.CHIPS, house=house, in_use=True)
    except NotFound:
        raise _without_chips(house) from None
