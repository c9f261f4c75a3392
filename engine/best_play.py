"""The exact end of a hand whose cards are all known: what some seats can force, no matter what the others do.

For replayers and auditors, once the cards are open: the last five tricks of a trick game are searched to the end (the
"double dummy" of bridge players). The given seats play together, all others together against them, and everybody sees
all cards, so the worth is what the seats can force and no more. Tricks are quickly counted, since those that were taken
do not change those to come; money takes longer, since it may depend on every card that was taken.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from typing import Any, NamedTuple

from engine.errors import MalformedSetup, SearchTooLarge
from engine.kernel.hand import Hand
from engine.record.format import Record
from engine.registry import start

MOST_POSITIONS = 100_000
"""Positions after which a search gives up: some ten seconds to a minute."""
TRICKS, NET = "tricks", "net"
"""What can be counted: tricks taken from the beginning of the hand, or money won in minor units."""


class Best(NamedTuple):
    """What the seats can make sure of by the end of the hand, the lines with which both sides play their best, and how
    many positions were looked at."""

    worth: int
    lines: tuple[str, ...]
    positions: int


def best_play(hand: Hand, seats: Collection[int], of: str = TRICKS, *, most: int = MOST_POSITIONS) -> Best:
    """Search the hand to its end, every card known: ``seats`` get as much as they can against all others, ``tricks`` or
    ``net``. Asides, which change nothing, are left out.

    Raises ``MalformedSetup`` for other seats, other games, and where cards are unknown; ``SearchTooLarge`` after
    ``most`` positions.
    """
    if not seats or not set(seats) <= set(range(1, hand.setup.seats + 1)):
        raise MalformedSetup("best play is of some of the hand's seats", seats=hand.setup.seats)
    if "trick" not in hand.view("public"):
        raise MalformedSetup("best play is of trick games, which end with their cards", game=hand.setup.game)
    search = _Search(frozenset(seats), of == TRICKS, most)
    worth = search.so_far(hand) + search.to_come(hand.copy(), -_INFINITE, _INFINITE)
    return Best(worth, tuple(search.line(hand.copy())), search.positions)


_INFINITE = 1 << 62
_EXACT, _AT_LEAST, _AT_MOST = 0, 1, 2


class _Search:
    """Alpha-beta over what is still to come, with what was found before by position."""

    def __init__(self, seats: frozenset[int], tricks: bool, most: int) -> None:
        self.seats, self.tricks, self.most = seats, tricks, most
        self.positions = 0
        self.found: dict[Any, tuple[int, int]] = {}  # position -> kind of bound, value

    def so_far(self, hand: Hand) -> int:
        """What the seats have by now."""
        if self.tricks:
            return sum(map(hand.tricks, self.seats))
        return sum(hand.stacks[seat - 1] - hand.setup.stacks[seat - 1] for seat in self.seats)

    def to_come(self, hand: Hand, low: int, high: int) -> int:
        """What the seats can add to it, as far as that lies between ``low`` and ``high``. The hand goes on."""
        before = self.so_far(hand)
        while not hand.over and (line := hand.forced()) is not None:
            hand.advance(line)
        added = self.so_far(hand) - before
        if hand.over:
            return added
        return added + self.searched(hand, low - added, high - added)

    def searched(self, hand: Hand, low: int, high: int) -> int:
        """The same of a hand in which a seat chooses."""
        key = _frozen(hand.play_position() if self.tricks else hand.position())
        if (known := self.found.get(key)) is not None:
            kind, value = known
            if kind == _EXACT or (kind == _AT_LEAST and value >= high) or (kind == _AT_MOST and value <= low):
                return value
        self.positions += 1
        if self.positions > self.most:
            raise SearchTooLarge(f"more than {self.most} positions are to be looked at", most=self.most)
        best = self.best(hand, low, high)
        self.found[key] = (_AT_MOST if best <= low else _AT_LEAST if best >= high else _EXACT), best
        return best

    def best(self, hand: Hand, low: int, high: int) -> int:
        """The best of all choices, for the side that chooses."""
        lines = list(choices(hand))
        ours = int(lines[0].split(" ")[0][1:]) in self.seats
        best = -_INFINITE if ours else _INFINITE
        for line in lines:
            value = self.after(hand, line, low, high)
            if ours:
                best = max(best, value)
                low = max(low, best)
            else:
                best = min(best, value)
                high = min(high, best)
            if low >= high:
                break
        return best

    def after(self, hand: Hand, line: str, low: int, high: int) -> int:
        """What a line adds, and what can be added after it."""
        twin = hand.copy()
        twin.advance(line)
        added = self.so_far(twin) - self.so_far(hand)
        return added + self.to_come(twin, low - added, high - added)

    def line(self, hand: Hand) -> Iterator[str]:
        """Lines to the end, each of which keeps what can be made sure of. The hand goes on."""
        while not hand.over:
            said = hand.forced()
            if said is None:
                wanted = self.to_come(hand.copy(), -_INFINITE, _INFINITE)
                said = next(one for one in choices(hand) if self.after(hand, one, -_INFINITE, _INFINITE) == wanted)
            yield said
            hand.advance(said)


def last_cards(record: Record, cards: int) -> Hand | None:
    """The hand of a valid record, where for the first time since a card was played no seat holds more than so
    many cards and a seat is on turn; None where it ends before."""
    hand = start(record.setup())
    seats = range(1, hand.setup.seats + 1)
    for line in record.acts:
        played = any(map(hand.tricks, seats))
        if played and hand.actor != "d" and max(len(hand.held(seat)) for seat in seats) <= cards:
            return hand
        hand.advance(line)
    return None


def choices(hand: Hand) -> Iterator[str]:
    """The lines among which the seat whose turn it is chooses. Raises ``MalformedSetup`` where cards are unknown."""
    if hand.actor == "d" or len(hand.actors) > 1:
        raise MalformedSetup("best play needs every card to be known, and one seat to be on turn", actor=hand.actor)
    for offer in hand.legal():
        if offer.actor == hand.actor and not hand.grammar.verb(offer.actor, offer.verb).aside:
            yield from offer.lines()


def _frozen(value: Any) -> Any:
    """The value as something that can be a key."""
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return tuple(sorted((key, _frozen(item)) for key, item in value.items()))
    if isinstance(value, set):
        return frozenset(value)
    # What else a state holds never changes in place, so copies of a hand share it.
    return value if _has_hash(value) else id(value)


def _has_hash(value: Hashable) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
