"""Chips by denomination: mixes, and the arithmetic of paying and changing. Pure: no house, no database.

A chip set is a ladder of denominations, each of which divides the next. That makes everything here exact: largest
first finds a way to pay whenever there is one, and so does `settle` when change has to be given.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from casino.core.errors import Conflict, Unprocessable

#: Pieces of each denomination that a float holds at most before the rest of it is made largest first.
MOST_OF_EACH = 400


@dataclass(frozen=True, slots=True)
class ChipSet:
    """What a set of chips is: its code and its denominations in minor units, smallest first, each dividing the next."""

    code: str
    values: tuple[int, ...]

    def __post_init__(self) -> None:
        ladder = pairwise(self.values)
        if not self.values or self.values[0] < 1 or any(low >= high or high % low for low, high in ladder):
            raise Unprocessable(
                f"Each denomination must divide the next one; in {list(self.values)} this is not so.",
                code="chip_set_not_a_ladder",
                denominations=list(self.values),
            )

    @property
    def smallest(self) -> int:
        """Every amount of chips is a multiple of it."""
        return self.values[0]

    def steps(self) -> list[tuple[int, int]]:
        """Each denomination but the largest, with how many of it make one of the next."""
        return [(low, high // low) for low, high in pairwise(self.values)]

    def require_payable(self, amount: int, what: str) -> None:
        """Refuse an amount that no chips of this set make. Raises Unprocessable amount_not_payable."""
        if amount % self.smallest:
            raise Unprocessable(
                f"{what} is a multiple of the smallest chip.",
                code="amount_not_payable",
                amount=amount,
                smallest=self.smallest,
            )


@dataclass(frozen=True, slots=True)
class Chips:
    """Chips of one set: denomination in minor units -> pieces. A denomination without pieces is left out."""

    chip_set: str
    pieces: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pieces", {value: count for value, count in sorted(self.pieces.items()) if count})

    @property
    def value(self) -> int:
        """Face value in minor units."""
        return sum(value * count for value, count in self.pieces.items())

    def __bool__(self) -> bool:
        return bool(self.pieces)

    def __add__(self, other: "Chips") -> "Chips":
        return self._with(other, 1)

    def __sub__(self, other: "Chips") -> "Chips":
        return self._with(other, -1)

    def _with(self, other: "Chips", sign: int) -> "Chips":
        if other.chip_set != self.chip_set:
            raise AssertionError(f"chips of {self.chip_set} and of {other.chip_set} are not added up")
        values = self.pieces.keys() | other.pieces.keys()
        return Chips(self.chip_set, {value: self[value] + sign * other[value] for value in values})

    def __getitem__(self, value: int) -> int:
        return self.pieces.get(value, 0)

    @property
    def surplus(self) -> "Chips":
        """The denominations with more than zero pieces."""
        return Chips(self.chip_set, {value: count for value, count in self.pieces.items() if count > 0})

    @property
    def shortage(self) -> "Chips":
        """The denominations with fewer than zero pieces, as the number of missing pieces."""
        return Chips(self.chip_set, {value: -count for value, count in self.pieces.items() if count < 0})

    def as_json(self) -> dict[str, int]:
        """As answers, events and rows carry it: `{"500": 3, "100": 2}`, the largest first."""
        return {str(value): count for value, count in sorted(self.pieces.items(), reverse=True)}


def parse(chips: ChipSet, given: Mapping[Any, Any]) -> Chips:
    """Chips as the request names them. Raises Unprocessable unknown_denomination or pieces_not_a_count."""
    by_name = {str(value): value for value in chips.values}
    unknown = sorted(str(name) for name in given if str(name) not in by_name)
    if unknown:
        raise Unprocessable(
            f"The chip set {chips.code} has no chip of {', '.join(unknown)}.",
            code="unknown_denomination",
            unknown=unknown,
            denominations=list(chips.values),
        )
    wrong = sorted(str(name) for name, count in given.items() if type(count) is not int or count < 0)
    if wrong:
        raise Unprocessable(
            f"The number of pieces is 0 or more; those of {', '.join(wrong)} are not.",
            code="pieces_not_a_count",
            denominations=wrong,
        )
    return Chips(chips.code, {by_name[str(name)]: count for name, count in given.items()})


def worth(mix: Chips, amount: int) -> Chips:
    """The mix, after making sure that it is worth so much. Raises Unprocessable chips_do_not_add_up."""
    if mix.value != amount:
        raise Unprocessable(
            "The chips are not worth the amount.",
            code="chips_do_not_add_up",
            amount=amount,
            value=mix.value,
        )
    return mix


def canonical(chips: ChipSet, amount: int) -> Chips:
    """The fewest chips that make an amount, without regard to what is available. Raises Unprocessable
    amount_not_payable."""
    chips.require_payable(amount, "An amount")
    found = {}
    for value in reversed(chips.values):
        found[value], amount = divmod(amount, value)
    return Chips(chips.code, found)


def make(amount: int, rack: Chips) -> Chips:
    """An amount out of a rack, the largest chips first. Raises Conflict no_exact_change when it cannot be paid
    exactly from what is there."""
    found = _solve(amount, {value: (0, count) for value, count in rack.pieces.items()})
    if found is None:
        raise cannot_make(amount, rack)
    return Chips(rack.chip_set, found)


def settle(amount: int, giver: Chips, changer: Chips) -> tuple[Chips, Chips]:
    """Pay an amount out of one rack, with change out of another: what is given, and what is given back.

    Without change if possible, the largest chips first. Raises Conflict no_exact_change.
    """
    values = giver.pieces.keys() | changer.pieces.keys()
    found = _solve(amount, {value: (0, giver[value]) for value in values})
    if found is None:
        found = _solve(amount, {value: (-changer[value], giver[value]) for value in values})
    if found is None:
        raise cannot_make(amount, giver, changer)
    net = Chips(giver.chip_set, found)
    return net.surplus, net.shortage


def collect(amount: int, public: Chips, tray: Chips) -> tuple[Chips, Chips, Chips]:
    """Chips for a box that takes exactly `amount` from the public and gives no change, while a tray can change.

    Returns what falls into the box, and the exchange before it: what the public gives the tray, and what it gets for
    it. Raises Conflict no_exact_change.
    """
    values = public.pieces.keys() | tray.pieces.keys()
    direct = _solve(amount, {value: (0, public[value]) for value in values})
    if direct is not None:
        return Chips(public.chip_set, direct), Chips(public.chip_set), Chips(public.chip_set)
    box = _solve(amount, {value: (0, public[value] + tray[value]) for value in values})
    paid = box and _solve(amount, {value: (box[value] - tray[value], public[value]) for value in values})
    if not box or not paid:
        raise cannot_make(amount, public, tray)
    exchange = Chips(public.chip_set, paid) - Chips(public.chip_set, box)
    return Chips(public.chip_set, box), exchange.surplus, exchange.shortage


def spread(amount: int, rack: Chips) -> Chips:
    """A working float: some chips of every denomination, and the rest in the largest chips.

    Half of it goes in equal numbers of each chip (at most MOST_OF_EACH), or at least what two changes need of each as
    far as the amount goes. Raises Conflict no_exact_change.
    """
    values = sorted(value for value in rack.pieces if value <= amount)
    equal = min(MOST_OF_EACH, amount // 2 // sum(values)) if values else 0
    chosen: dict[int, int] = {}
    left = amount
    for at, value in enumerate(values):
        wanted = max(equal, 2 * (values[at + 1] // value - 1) if at + 1 < len(values) else 0)
        chosen[value] = min(wanted, rack[value], left // 2 // value if wanted > equal else left // value)
        left -= value * chosen[value]
    taken = Chips(rack.chip_set, chosen)
    rest = _solve(left, {value: (0, count) for value, count in (rack - taken).pieces.items()})
    return taken + Chips(rack.chip_set, rest) if rest is not None else make(amount, rack)


def cannot_change(chips: ChipSet, most: int, public: Chips, tray: Chips) -> list[int]:
    """Denominations with too few chips to be sure that `collect` can make any payment up to `most`.

    Sure means: of every denomination below the chips that the public can pay `most` with, the public or the tray has
    as many as make one of the next. An empty list is a guarantee; any other result is only a warning.
    """
    held, largest = 0, chips.smallest
    for value in chips.values:
        held += value * max(public[value], 0)
        if public[value] > 0:
            largest = value
        if held >= most:
            break
    return [value for value, step in chips.steps() if value < largest and max(public[value], tray[value]) < step]


def cannot_make(amount: int, rack: Chips, changer: Chips | None = None) -> Conflict:
    """The refusal of an amount that cannot be paid exactly; it names what is available."""
    extra = {} if changer is None else {"change": changer.as_json()}
    return Conflict(
        "The amount cannot be made exactly of the chips that are available.",
        code="no_exact_change",
        amount=amount,
        available=rack.as_json(),
        **extra,
    )


def _solve(amount: int, bounds: Mapping[int, tuple[int, int]]) -> dict[int, int] | None:
    """Pieces within their bounds that are worth `amount` together, as near to largest first as can be; None if there
    are none. Denominations divide each other.

    Below each denomination the payments that the smaller ones can complete leave an unbroken range of pieces for it,
    so the range is known beforehand and nothing is tried in vain.
    """
    values = sorted(bounds)
    chosen: dict[int, int] = {}
    for at in range(len(values) - 1, -1, -1):
        possible = _range(amount, values[: at + 1], bounds)
        if possible is None:
            return None
        value = values[at]
        best = amount // value if amount >= 0 else -(-amount // value)
        chosen[value] = min(max(best, possible[0]), possible[1])
        amount -= value * chosen[value]
    return chosen if amount == 0 else None


def _range(amount: int, values: list[int], bounds: Mapping[int, tuple[int, int]]) -> tuple[int, int] | None:
    """From how many to how many pieces of the last of `values` can be part of a payment of `amount`."""
    if amount % values[0]:
        return None
    low = high = amount // values[0]
    for value, larger in pairwise(values):
        least, most = bounds[value]
        low, high = -(-(low - most) // (larger // value)), (high - least) // (larger // value)
        if low > high:
            return None
    least, most = bounds[values[-1]]
    low, high = max(low, least), min(high, most)
    return (low, high) if low <= high else None


def total(chip_set: str, mixes: Iterable[Chips]) -> Chips:
    """All of them together."""
    together = Chips(chip_set)
    for mix in mixes:
        together += mix
    return together
