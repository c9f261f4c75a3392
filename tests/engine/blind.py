"""Deals whose cards the house does not all know: which lines stand in some deal of the unknown cards, by trying all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import factorial, prod
from random import Random

from engine.errors import EngineError
from engine.kernel.cards import UNKNOWN, split_cards
from engine.kernel.hand import Hand
from engine.kernel.hands import order_of
from engine.kernel.setup import Setup
from engine.play import random_line
from engine.registry import resume, start
from tests.engine.deals import lines_on_offer, shuffled, table


def shares(free: Sequence[str], counts: Sequence[int]) -> Iterator[list[tuple[str, ...]]]:
    """Every way to give the first so many of the cards, the next so many, and so on."""
    if not counts:
        yield []
        return
    for chosen in combinations(free, counts[0]):
        for rest in shares([card for card in free if card not in chosen], counts[1:]):
            yield [chosen, *rest]


class Lying:
    """What is known of where the cards of a hand lie, by its log alone."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.seats = range(1, hand.setup.seats + 1)
        self.played: dict[int, list[str]] = {seat: [] for seat in self.seats}
        self.widow: list[str] = []
        self.away: list[str] = []
        self.taker = 0  # who laid cards away
        named = {card for seat in self.seats for card in hand.held(seat)}
        for line in hand.log:
            actor, verb, *words = line.split(" ")
            if verb == "pl":
                self.played[int(actor[1])].append(words[0])
            elif verb == "up":
                self.widow = list(split_cards(words[0]))
                self.taker = 0
            elif verb == "ds":
                self.away, self.taker = list(split_cards(words[0])), int(actor[1])
        named |= {*self.away, *(card for cards in self.played.values() for card in cards)}
        if not self.taker:
            named |= set(self.widow)
        self.free = [card for card in hand._state.pack.cards if card not in named]
        self.counts = [hand.held(seat).count(UNKNOWN) for seat in self.seats] + [self.away.count(UNKNOWN)]

    @property
    def ways(self) -> int:
        """How many ways there are to lay the unknown cards."""
        rest = len(self.free) - sum(self.counts)
        return factorial(len(self.free)) // prod(factorial(count) for count in (*self.counts, rest))

    def logs(self) -> Iterator[list[str]]:
        """The log with all cards named, for each way to lay the unknown cards that agrees with what it names."""
        for *hands, away in shares(self.free, self.counts):
            log = self.filled(hands, [card for card in (*self.away, *away) if card != UNKNOWN])
            if log is not None:
                yield log

    def filled(self, hands: list[tuple[str, ...]], away: list[str]) -> list[str] | None:
        dealt: dict[int, list[str]] = {}
        for seat in self.seats:
            own = [card for card in (*self.hand.held(seat), *hands[seat - 1], *self.played[seat]) if card != UNKNOWN]
            if seat == self.taker:
                own += away
            if seat == self.taker or (self.widow and set(self.widow) <= set(own)):
                if not set(self.widow) <= set(own):
                    return None
                own = [card for card in own if card not in self.widow]
            dealt[seat] = own
        return self.named(dealt, away)

    def named(self, dealt: dict[int, list[str]], away: list[str]) -> list[str] | None:
        """The lines with these cards in place of the unknown ones."""
        given = {seat: set[str]() for seat in self.seats}
        for line in self.hand.log:
            if line.startswith("d dh "):
                given[int(line[6])] |= set(split_cards(line[8:])) - {UNKNOWN}
        if any(not given[seat] <= set(dealt[seat]) for seat in self.seats):
            return None
        called = next((line[6:8] for line in self.hand.log if line.startswith("p1 cl ")), "")
        left = {seat: [card for card in dealt[seat] if card not in given[seat]] for seat in self.seats}
        for cards in left.values():
            cards.sort(key=lambda card: card != called)  # taken from behind: the called card comes as late as possible
        order = order_of(self.hand._state.pack)
        log = []
        for line in self.hand.log:
            if line.startswith("d dh "):
                seat = int(line[6])
                cards = [left[seat].pop() if card == UNKNOWN else card for card in split_cards(line[8:])]
                line = f"{line[:8]}{''.join(cards)}"
            elif " ds " in line:
                line = f"{line[:6]}{''.join(sorted(away, key=order.__getitem__))}"
            log.append(line)
        return log


def offered_by_any(hand: Hand, lying: Lying) -> set[str]:
    """What is on offer in some deal of the unknown cards under which the whole log stands."""
    found: set[str] = set()
    for log in lying.logs():
        try:
            known = resume(hand.setup, log)
        except EngineError:
            continue
        found |= lines_on_offer(known)
    return found


def masked(lines: Sequence[str], places: set[tuple[int, int]], *, discards: bool) -> list[str]:
    """The log with the cards at these places (line, place in it) unknown, and the cards laid away if ``discards``."""
    found = []
    for at, line in enumerate(lines):
        if line.startswith("d dh "):
            cards = [UNKNOWN if (at, place) in places else card for place, card in enumerate(split_cards(line[8:]))]
            line = line[:8] + "".join(cards)
        elif " ds " in line and discards:
            line = line[:6] + UNKNOWN * 2
        found.append(line)
    return found


def played(game: str, opt: dict[str, object], seats: int, random: Random) -> Hand:
    """A whole deal, played at random."""
    hand = start(table(game, opt, seats=seats, deck=shuffled(random)))
    while not hand.over:
        hand.advance(random_line(hand, random))
    return hand


def require_exact(setup: Setup, lines: Sequence[str], most: int) -> int:
    """Play a log with unknown cards: wherever there are at most so many ways to lay them, what is on offer is what
    some of them allows. How often that was so."""
    hand, compared = start(setup._replace(deck=None)), 0
    for line in lines:
        if hand.actor not in ("d", None):
            lying = Lying(hand)
            asked = hand.phase != "discard"  # a card laid away may stay unnamed where the hand is not known
            if asked and 1 < lying.ways <= most:
                found = lines_on_offer(hand)
                assert found == offered_by_any(hand, lying), (hand.log, found ^ offered_by_any(hand, lying))
                compared += 1
        hand.advance(line)
    assert hand.over
    return compared


def few_unknown(game: str, opt: dict[str, object], seats: int, random: Random) -> int:
    """A deal in which the house does not know a few cards, compared at every line."""
    known = played(game, opt, seats, random)
    deals = [at for at, line in enumerate(known.log) if line.startswith("d dh ")]
    size = len(split_cards(known.log[deals[0]][8:]))
    places = {(random.choice(deals), random.randrange(size)) for _ in range(random.randint(2, 5))}
    lines = masked(known.log, places, discards=any_of_taker(known, places))
    return require_exact(known.setup, lines, 120)


def many_unknown(game: str, opt: dict[str, object], seats: int, random: Random) -> int:
    """A deal in which the house does not know whole hands, compared where few cards are left."""
    known = played(game, opt, seats, random)
    hidden = random.sample(range(1, seats + 1), random.randint(2, seats))
    places = {
        (at, place)
        for at, line in enumerate(known.log)
        if line.startswith("d dh ") and int(line[6]) in hidden
        for place in range(len(line))
    }
    lines = masked(known.log, places, discards=any_of_taker(known, places))
    return require_exact(known.setup, lines, 300)


def any_of_taker(hand: Hand, places: set[tuple[int, int]]) -> bool:
    """Whether some card is unknown of the seat that lays cards away: only then may those be."""
    taker = next((line[1] for line in hand.log if " ds " in line), "")
    return any(hand.log[at].startswith(f"d dh p{taker} ") for at, _ in places) if taker else False
