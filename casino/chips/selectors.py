"""Reading chip sets, and what a computed payment may draw on."""

from contextlib import suppress
from typing import Any

from django.db.models import QuerySet

from casino.bookkeeping import chart
from casino.chips.models import ChipSet
from casino.core import kept, locks, sql
from casino.core.denominations import Chips
from casino.core.denominations import ChipSet as Ladder
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.houses.models import House

_IN_USE = """
SELECT chips_chipset.code, array_agg(chips_denomination.value ORDER BY chips_denomination.value)
FROM chips_chipset JOIN chips_denomination ON chips_denomination.chip_set_id = chips_chipset.id
WHERE chips_chipset.house_id = %s::uuid AND chips_chipset.in_use GROUP BY chips_chipset.code
"""


def in_use(house: House) -> Ladder:
    """The house's chip set. Raises Conflict no_chip_set for a house that has none."""
    found = kept.once(_key(house), lambda: sql.bound(*reading(house)))
    for code, values in found:
        return Ladder(code, tuple(values))
    raise _without_chips(house)


def denominations(house: House) -> tuple[int, ...]:
    """Face values of the chips in use, in minor units; none for a house without chips."""
    return next((tuple(values) for _, values in sql.read(reading(house))), ())


def reading(house: House) -> sql.Statement:
    """What `in_use` reads, for who reads it with something else; `read` takes what it has found."""
    return sql.Bound(_IN_USE, [house.id])


def read(house: House, found: list[tuple[Any, ...]]) -> None:
    """Let the transaction count on what `reading` has found, until it locks the set in use."""
    kept.keep(_key(house), found)


def changed(house: House) -> None:
    """Let the transaction read the set in use again."""
    kept.drop(_key(house))


def _key(house: House) -> tuple[str, Any]:
    return "chip set in use", house.pk


_OF = """
SELECT chips_chipset.code, array_agg(chips_denomination.value ORDER BY chips_denomination.value)
FROM chips_chipset JOIN chips_denomination ON chips_denomination.chip_set_id = chips_chipset.id
WHERE chips_chipset.house_id = %s AND chips_chipset.code = %s GROUP BY chips_chipset.code
"""


def of(house: House, code: str | None) -> Ladder:
    """The chip set of this code, in use or not; the one in use where no code is given. Raises Conflict no_chip_set,
    Unprocessable unknown_chip_set."""
    return in_use(house) if code is None else named(house, code, sql.read(naming(house, code)))


def naming(house: House, code: str) -> sql.Statement:
    """What `of` reads of the set of this code, for who reads it with something else; `named` takes what it has
    found."""
    return _OF, [house.id, code]


def named(house: House, code: str, found: list[tuple[Any, ...]]) -> Ladder:
    """The chip set of this code, by what `naming` has found. Raises Unprocessable unknown_chip_set."""
    for held, values in found:
        return Ladder(held, tuple(values))
    raise Unprocessable(f"House {house.code} has no chip set {code}.", code="unknown_chip_set")


def _without_chips(house: House) -> Conflict:
    return Conflict(f"House {house.code} has no chip set; its chips have no denominations.", code="no_chip_set")


def rack(house: House, code: str) -> Chips:
    """The chips in one place, e.g. `9130/T1` for a table's tray; of the set in use."""
    return chart.rack(house, code, in_use(house).code)


def available(house: House, code: str) -> Chips:
    """The chips in one place that nothing has set aside, e.g. for a fill that was asked for; of the set in use."""
    return chart.available(house, code, in_use(house).code)


def lock_chip_set(house: House, *beside: sql.Statement | QuerySet[Any, Any]) -> list[list[Any]]:
    """Keep others from deciding on chips of the public or the vault until the transaction ends, and run `beside` in the
    same round trip; returns what each of those has found.

    Taken before what they hold is read; otherwise two tables could each count on the same chip.
    """
    for _ in range(2):
        with suppress(NotFound):
            reads = reading(house), *beside
            _, (found, *others) = locks.lock_beside(ChipSet, locks.Rank.CHIPS, *reads, house=house, in_use=True)
            read(house, found)
            return others
        # Another set may just have taken its place: then that one is found now.
    raise _without_chips(house)
