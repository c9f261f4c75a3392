"""Which chips a posting moves, if the request does not name them.

A house that names its chips needs none of this. Where an amount is all there is - the tax of a hand, a bonus, an
old-fashioned cash-out - the chips are worked out: largest first, out of what is there, and with change where the exact
chips are not to be had.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from casino.bookkeeping import books, chart
from casino.bookkeeping.postings import Posting, posting
from casino.chips import selectors
from casino.core import denominations, sql
from casino.core.denominations import Chips, ChipSet
from casino.core.errors import Conflict, Unprocessable
from casino.houses.models import House

#: What the statements of `Desk.asking` have found, each in rows of a commodity and its pieces.
Lying = tuple[list[Any], list[Any]]


# No `cached_property`: before Python 3.12 it holds a lock that all desks of a process share while it computes, and here
# that may mean to wait for the database.
@dataclass(slots=True)
class Desk:
    """One rack of the house facing the public, while the chips of a posting are worked out.

    `rack_code` is where the house's chips are (`9130/T1`), `place` names its public account and its boxes. What is
    worked out is counted on by the next step, so that several payments of one posting add up.
    """

    house: House
    rack_code: str
    place: str
    _chips: ChipSet | None = field(default=None, init=False, repr=False)
    _rack: Chips | None = field(default=None, init=False, repr=False)
    _public: Chips | None = field(default=None, init=False, repr=False)

    @property
    def chips(self) -> ChipSet:
        """The set in use. Raises Conflict no_chip_set."""
        if self._chips is None:
            self._chips = selectors.in_use(self.house)
        return self._chips

    @property
    def rack(self) -> Chips:
        """What the rack holds and nothing has set aside."""
        if self._rack is None:
            self._rack = chart.available(self.house, self.rack_code, self.chips.code)
        return self._rack

    @property
    def public(self) -> Chips:
        """What the public holds, all over the house; locked until the transaction ends."""
        if self._public is None:
            reads = chart.holding(self.house), chart.holding_free(self.house, self.rack_code)
            held, free = selectors.lock_chip_set(self.house, *reads)
            self._public = chart.held_in(self.house, self.chips.code, held).surplus
            if self._rack is None:
                self._rack = chart.held_in(self.house, self.chips.code, free)
        return self._public

    def asking(self) -> tuple[sql.Statement, sql.Statement]:
        """What `look` reads, for who reads it with something else."""
        return chart.holding(self.house), chart.holding_free(self.house, self.rack_code)

    def look(self, lying: Lying | None = None) -> tuple[Chips, Chips]:
        """What the public holds, not locked, and the rack; read together, or what `asking` has found."""
        held, free = lying or sql.together(*self.asking())
        self._rack = chart.held_in(self.house, self.chips.code, free)
        return chart.held_in(self.house, self.chips.code, held), self._rack

    def for_the_box(self, amount: int) -> tuple[Chips, list[Posting]]:
        """Chips for a locked box that gives no change (tax): what falls into it, and the exchange with the rack that
        the public needs before. Raises Conflict no_exact_change."""
        nothing = Chips(self.chips.code)
        try:
            # The rack is read only when the public needs change.
            box, given, change = denominations.make(amount, self.public), nothing, nothing
        except Conflict:
            box, given, change = denominations.collect(amount, self.public, self.rack)
        self._count(to_rack=given - change, to_public=change - given - box)
        if not given:
            return box, []
        return box, [posting("exchange", {"rack": self.rack_code, "place": self.place}, given=given, change=change)]

    def pay_out(self, amount: int) -> tuple[Chips, Chips]:
        """Chips from the rack to the public, and what the public gives back. Raises InsufficientFunds when the rack
        holds less, Conflict no_exact_change when it cannot be paid exactly."""
        books.require(self.house, self.rack_code, self.rack.value, amount)
        try:
            given, change = denominations.make(amount, self.rack), Chips(self.chips.code)
        except Conflict:
            given, change = denominations.settle(amount, self.rack, self.public)
            self._count(to_public=given - change)
        self._count(to_rack=change - given)
        return given, change

    def give(self, amount: int) -> Chips:
        """Chips from the rack, with no change from anybody. Raises as `pay_out`."""
        books.require(self.house, self.rack_code, self.rack.value, amount)
        given = denominations.make(amount, self.rack)
        self._count(to_rack=Chips(given.chip_set) - given)
        return given

    def take_in(self, amount: int) -> tuple[Chips, Chips]:
        """Chips of the public to the rack, and the change. Raises Conflict no_exact_change."""
        self.chips.require_payable(amount, "A payment")
        try:
            taken, change = denominations.make(amount, self.public), Chips(self.chips.code)
        except Conflict:
            taken, change = denominations.settle(amount, self.public, self.rack)
        self._count(to_rack=taken - change, to_public=change - taken)
        return taken, change

    def named(self, pieces: Mapping[Any, Any], amount: int | None = None) -> Chips:
        """Chips that somebody has named, worth `amount` where one is given. Raises Unprocessable."""
        found = denominations.parse(self.chips, pieces)
        return found if amount is None else denominations.worth(found, amount)

    def require_public(self, chips: Chips) -> Chips:
        """The chips, if the public can have them. Raises Conflict chips_not_in_circulation."""
        if missing := (self.public - chips).shortage:
            raise Conflict(
                f"There are not so many chips of {', '.join(missing.as_json())} in circulation.",
                code="chips_not_in_circulation",
                missing=missing.as_json(),
            )
        return chips

    def swap(self, given: Mapping[Any, Any], wanted: Mapping[Any, Any] | None) -> tuple[Posting, dict[str, Any]]:
        """Chips of the public against chips of the rack worth the same: those wanted, or the largest there are.

        Returns the event of the books and what an answer shows. Raises Conflict chips_not_in_circulation or
        no_exact_change, InsufficientFunds, Unprocessable chips_do_not_add_up, nothing_to_change, or for wrong pieces.
        """
        taken = self.require_public(self.named(given))
        if wanted is None:
            books.require(self.house, self.rack_code, self.rack.value, taken.value)
            change = denominations.make(taken.value, self.rack)
        else:
            change = self.named(wanted, taken.value)
        if taken == change:
            raise Unprocessable(
                "Both sides of the exchange name the same chips.", code="nothing_to_change", chips=taken.as_json()
            )
        places = {"rack": self.rack_code, "place": self.place}
        shown = {"amount": taken.value, "given": taken.as_json(), "change": change.as_json()}
        return posting("exchange", places, given=taken, change=change), shown

    def _count(self, *, to_rack: Chips | None = None, to_public: Chips | None = None) -> None:
        if to_rack:
            self._rack = self.rack + to_rack
        if to_public:
            self._public = self.public + to_public
