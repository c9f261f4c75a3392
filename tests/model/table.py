"""The facts of a hand while it is played: cards, stakes, who is in. Money in minor units, seats count from 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from tests.model.ranking import Strength, strength

UNLIMITED = 10**18


@dataclass(frozen=True)
class Case:
    """Everything about a hand but its log. ``decks``: the deck and the packs of redeals, None in physical mode."""

    opt: Mapping[str, Any]
    stacks: Sequence[int]
    carry: int = 0
    series: Mapping[str, int] = field(default_factory=dict)
    decks: Sequence[Sequence[str]] | None = None

    @property
    def seats(self) -> int:
        return len(self.stacks)


@dataclass(frozen=True)
class Outcome:
    """What a hand comes to; ``winner`` 0: nobody."""

    net: tuple[int, ...]
    tax: int
    carry_out: int
    ending: str
    winner: int
    series: dict[str, int]
    bonus: tuple[int, ...] = ()


class Finished(Exception):
    """Raised as soon as a hand is over."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class Table:
    """Who sits there, what has been paid, dealt and seen."""

    def __init__(self, case: Case) -> None:
        opt = case.opt
        self.case, self.opt = case, opt
        self.seats = range(1, case.seats + 1)
        self.stack = dict(zip(self.seats, case.stacks, strict=True))
        self.paid = dict.fromkeys(self.seats, 0)
        self.folded: set[int] = set()
        self.hand: dict[int, list[str]] = {seat: [] for seat in self.seats}
        self.seen: dict[int, set[int]] = {seat: set() for seat in self.seats}  # which of its cards, from 0
        self.up: dict[int, list[str]] = {}
        self.up_places: dict[int, list[tuple[int, int]]] = {}
        self.vizi: int = opt["vizi"]
        self.level = self.largest = 0  # what every active seat must have paid; the largest single bet
        self.deck = list(case.decks[0]) if case.decks else None
        self.wild = frozenset(opt.get("wild") or ())
        self.grigare: str = opt.get("grigare", "off")
        self.grigare_wild: str = opt.get("grigare_wild", "natural")
        self.side_pot = opt.get("short_stack", "cap_bet") == "side_pot"
        self.raisers: set[int] = set()  # made the besszer or a charge
        self.single_charges_paid: dict[int, int] = {}
        self.claims: dict[int, Strength] = {}  # said to be higher than an exposed hand
        self.exposed: list[int] = []  # the seat that laid its hand open, once somebody is higher
        self.third_round_bets = 0
        self.blind_bet = self.blind_ended = False

    # Options.

    @property
    def step(self) -> int:
        """Bets are whole multiples of this."""
        return self.vizi if self.opt.get("bet_unit", "vizi") == "vizi" else self.opt.get("chip", 1)

    @property
    def called_out(self) -> bool:
        """A deal under "call or discard": there is money from the deal before and the house plays so."""
        return self.case.carry > 0 and self.opt.get("cukassza_call", "normal") == "megadas_eldobas"

    @property
    def forced_deal(self) -> bool:
        """Third deal after two that failed: everyone is in."""
        return bool(self.opt.get("force_third_deal")) and self.case.series.get("failed", 0) >= 2

    @property
    def enough(self) -> int:
        """How many active players a game needs."""
        if self.called_out:
            return 2
        if self.opt.get("min_active") is not None:
            return self.opt["min_active"]
        return 2 if len(self.seats) <= 4 or "Oa" in self.wild else 3

    # Who is in, and what they owe.

    @property
    def active(self) -> list[int]:
        """Seats that have not folded, in play order."""
        return [seat for seat in self.seats if seat not in self.folded]

    def others(self, after: int) -> list[int]:
        """The other active seats, from the one after ``after`` round to the one before it."""
        return sorted((seat for seat in self.active if seat != after), key=lambda seat: (seat < after, seat))

    def chips(self, seat: int) -> int:
        return self.stack[seat] - self.paid[seat]

    def owes(self, seat: int) -> int:
        due = max(self.level - self.paid[seat], 0)
        return min(due, self.chips(seat)) if self.side_pot else due

    def opponents_with_chips(self, seat: int) -> bool:
        return any(self.chips(other) > 0 for other in self.active if other != seat)

    def is_asked(self, seat: int) -> bool:
        """With table stakes only who has chips is asked, and only if it matters."""
        if not self.side_pot:
            return True
        return self.chips(seat) > 0 and (self.owes(seat) > 0 or self.opponents_with_chips(seat))

    def most(self, seat: int) -> int:
        """The largest bet open to ``seat`` on top of what it owes; 0 when not even a vizi is."""
        factor = {"double": 2, "triple": 3, "none": UNLIMITED}[self.opt.get("limit", "double")]
        most = min(factor * self.largest, self.opt.get("table_max") or UNLIMITED)
        if not self.side_pot:
            most = min(most, min(self.stack[other] for other in self.active) - self.level)
        elif self.opponents_with_chips(seat):
            most = min(most, self.chips(seat) - self.owes(seat))
        else:
            most = 0
        most -= most % self.step
        return most if most >= self.vizi else 0

    def pay(self, seat: int, amount: int) -> None:
        self.paid[seat] += amount
        self.level = max(self.level, self.paid[seat])

    def bet(self, seat: int, amount: int) -> None:
        """What is owed, and so much on top."""
        self.pay(seat, self.owes(seat) + amount)
        self.largest = max(self.largest, amount)

    # Cards.

    def draw(self, count: int) -> list[str] | None:
        """What comes next from the deck, None if it is not known."""
        return None if self.deck is None else self.deck[:count]

    def elsewhere(self, but: int = 0) -> set[str]:
        """Cards known to lie in some hand, that of ``but`` apart."""
        dealt = {card for seat in self.seats if seat != but for card in self.hand[seat]}
        shown = {card for seat, cards in self.up.items() if seat != but for card in cards}
        return (dealt | shown) - {"??"}

    def can_be_dealt(self, cards: list[str]) -> bool:
        coming = self.draw(len(cards))
        return cards == coming if coming is not None else not self.elsewhere() & set(cards)

    def receive(self, seat: int, cards: list[str]) -> None:
        self.hand[seat] += cards
        if self.deck is not None:
            del self.deck[: len(cards)]

    def unseen(self, seat: int) -> int:
        return len(self.hand[seat]) - len(self.seen[seat])

    def look(self, seat: int, count: int) -> None:
        """The seat turns over so many of the cards that it has not seen, those dealt last."""
        unseen = [place for place in range(len(self.hand[seat])) if place not in self.seen[seat]]
        self.seen[seat].update(unseen[-count:])

    def is_blind(self, seat: int) -> bool:
        """A seat that knows two of its cards and no more."""
        return self.seen[seat] == {0, 1}

    def is_whole_hand(self, seat: int, cards: list[str]) -> bool:
        """Whether ``cards`` can be the seat's four, in dealing order, given all that is known of them."""
        if any(dealt not in ("??", card) for dealt, card in zip(self.hand[seat], cards, strict=True)):
            return False
        if self.elsewhere(but=seat) & set(cards):
            return False
        return seat not in self.up or any(
            {cards[one], cards[two]} == set(self.up[seat]) for one, two in self.up_places[seat]
        )

    def places_to_turn_up(self, seat: int) -> list[tuple[int, int]]:
        """The pairs of its cards that a seat may turn up: seen ones; the raiser, a batch as it was dealt."""
        pairs = [(0, 1), (2, 3)] if seat in self.raisers else list(combinations(range(4), 2))
        return [pair for pair in pairs if self.seen[seat].issuperset(pair)]

    def places_of(self, seat: int, pair: list[str]) -> list[tuple[int, int]]:
        """Where the two named cards may lie."""

        def lies(card: str, place: int) -> bool:
            dealt = self.hand[seat][place]
            return dealt == card or (dealt == "??" and card not in self.elsewhere())

        return [
            (one, two)
            for one, two in self.places_to_turn_up(seat)
            if (lies(pair[0], one) and lies(pair[1], two)) or (lies(pair[0], two) and lies(pair[1], one))
        ]

    def worth(self, cards: Sequence[str]) -> Strength:
        return strength(cards, self.wild, self.grigare, self.grigare_wild)

    def best_of(self, seats: Sequence[int]) -> int:
        """Who has the best hand; of equal ones, who shows first."""
        return max(seats, key=lambda seat: (self.worth(self.hand[seat]), -seat))
