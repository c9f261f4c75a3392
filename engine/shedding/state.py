"""What the shedding games share: a loser who pays every other seat, and a series that counts the deals lost.

Cards move from hand to hand, so a card's place in the pack reveals who was dealt it: while the deal is played, a seat
knows the places of the cards that it was dealt, and of no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from engine.errors import MalformedSetup
from engine.kernel.game import require_settles_itself
from engine.kernel.hands import HandsState
from engine.kernel.rules import MAX_MONEY
from engine.kernel.setup import AUDITOR, Setup, Viewer
from engine.tricks.chairs import chair_of_first, counts, first_chairs, require_keys

SERIES = ("order", "deals", "lost")
"""Keys of a series: who sits in which order, who deals, and how many deals each chair has lost."""


class SheddingState(HandsState):
    """One deal. ``loser`` is 0 until there is one, and in a void deal."""

    KEYS: ClassVar[tuple[str, ...]] = SERIES
    """The keys of the series."""

    __slots__ = ("chair", "loser", "lost", "order")

    def __init__(self, setup: Setup, rules: Any) -> None:
        super().__init__(setup, rules)
        self.chair = chair_of_first(setup)  # place of p1 in the order of the evening
        self.order = setup.names[-self.chair :] + setup.names[: -self.chair]
        self.lost = counts(setup, "lost", setup.seats, MAX_MONEY)
        self.loser = 0

    # -- the end -----------------------------------------------------------------------------------------------------

    def lose(self, loser: int, ending: str) -> None:
        """The deal is over, and the loser pays ``forfeit`` to each other seat, p1 first."""
        self.loser = loser
        self.settle(loser)
        self.finish(ending, 0)

    def settle(self, loser: int) -> None:
        """What the loser pays, and to whom."""
        for winner in range(1, self.seats + 1):
            if winner != loser:
                self.pay(loser, winner, self.rules.forfeit)

    def chair_of(self, seat: int) -> int:
        """The seat's place in the order of the evening, from 0."""
        return (self.chair + seat - 1) % self.seats

    def next_dealer(self) -> int:
        """The seat that deals next: the loser."""
        return self.loser

    def series(self, ending: str) -> Mapping[str, object]:
        """The loser is counted; after a void deal nothing changes, and the same dealer deals again."""
        lost, deals = list(self.lost), self.order[self.chair - 1]
        if self.loser:
            lost[self.chair_of(self.loser)] += 1
            deals = self.order[self.chair_of(self.next_dealer())]
        return {"order": list(self.order), "deals": deals, "lost": lost}

    # -- who may know what -------------------------------------------------------------------------------------------

    def dealt_as_seen(self, seat: int, viewer: Viewer) -> list[str]:
        """A seat knows all cards that it was dealt. Of cards that others were dealt, and that were shown or came to the
        seat, the place would reveal who had them when; they come with the end."""
        if viewer in (seat, AUDITOR):
            return list(self.dealt_to(seat))
        if self.result is None:
            return []
        shown = self.shown_so_far()
        if isinstance(viewer, int):
            shown |= set(self.cards[viewer])
        return [card for card in self.dealt_to(seat) if card in shown]

    def shown_so_far(self) -> set[str]:
        """Cards that everybody has seen, wherever they lie now."""
        return set()

    def view_of_table(self, viewer: Viewer) -> dict[str, object]:
        """How many deals each chair has lost, in the order of the evening."""
        return {"lost": list(self.lost)}


def require_table(setup: Setup, rules: Any, state: type[SheddingState]) -> None:
    """What every deal needs: a series with the right keys, nothing else carried in, stacks that cover the worst loss.
    Raises ``MalformedSetup`` or ``StackTooShort``."""
    require_settles_itself(setup, worst_loss(rules, setup.seats))
    require_keys(setup, state.KEYS)


def worst_loss(rules: Any, seats: int) -> int:
    """The most that a seat can lose in a deal, in minor units: ``forfeit`` to each of the others."""
    return int(rules.forfeit) * (seats - 1)


def new_series(ids: tuple[str, ...], rules: Any) -> dict[str, object]:
    """Nobody has lost yet."""
    return first_chairs(ids) | {"lost": [0] * len(ids)}


def next_seats(seats: int, series: Mapping[str, Any], series_out: Mapping[str, Any]) -> tuple[int, ...]:
    """Who sits on the seats next, by their places now, from 0: people stay where they are, and the dealer of the next
    deal is last.

    >>> before = {"order": ["ann", "ben", "cat"], "deals": "cat"}
    >>> next_seats(3, before, before), next_seats(3, before, before | {"deals": "ann"})
    ((0, 1, 2), (1, 2, 0))
    """
    order: list[str] = series["order"]
    if series_out.get("order") != order:
        raise MalformedSetup("people stay on their chairs for the evening", order=order)
    turn = order.index(series_out["deals"]) - order.index(series["deals"])
    return tuple((place + turn) % seats for place in range(seats))
