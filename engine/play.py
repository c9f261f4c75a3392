"""Random legal play: for soak tests, demos and ``python -m engine play``. All chance comes from the caller's
``Random``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from random import Random

from engine.deal.shuffle import reshuffled, shuffled_deck
from engine.kernel.cards import UNKNOWN
from engine.kernel.game import Hand, Legal, Setup, Shuffle, game_info, require_seats, start, supply
from engine.kernel.grammar import up_line
from engine.record.format import Record, record_of

WEIGHTS = {"f": 1, "k": 3, "cc": 5, "rb": 2, "br": 2, "ks": 3, "st": 3, "lk": 3}
"""How often a kind of action is picked against the others on offer: folding at every turn would end hands
early."""


def random_line(hand: Hand, random: Random) -> str:
    """Some line that the hand accepts now; the hand must have a deck, or nobody could say what is dealt."""
    forced = hand.forced()
    if forced is not None:
        return forced
    offers = hand.legal()
    offer = random.choices(offers, [WEIGHTS.get(offer.verb, 1) for offer in offers])[0]
    if offer.verb in _WITH_CARDS:
        return _line_with_cards(hand, offer, random)
    return line_of(offer, random)


_WITH_CARDS = ("up", "cu", "mj", "sm")


def _line_with_cards(hand: Hand, offer: Legal, random: Random) -> str:
    """A line whose argument the offer does not tell: cards of the seat's own, or what it holds in its fist."""
    seat = int(offer.actor[1:])
    if offer.verb == "mj":
        return f"{offer.actor} mj {UNKNOWN}"
    cards = hand.cards_of(seat)
    if offer.verb in ("cu", "sm"):
        return f"{offer.actor} {offer.verb} {''.join(cards)}"
    first, second = random.choice(offer.places or tuple(combinations(range(len(cards)), 2)))
    return up_line(seat, (cards[first], cards[second]))


def line_of(offer: Legal, random: Random) -> str:
    """One line of the offered kind, with an amount from its range (small ones more often)."""
    words = [offer.actor, offer.verb]
    if offer.min is not None and offer.max is not None and offer.step is not None:
        choices = (offer.max - offer.min) // offer.step
        words.append(str(offer.min + offer.step * min(random.randint(0, choices), random.randint(0, choices))))
        if offer.target is not None:
            words.append(f"p{offer.target}")
    elif offer.count is not None:
        words.append(str(offer.count))
    return " ".join(words)


def play_hand(setup: Setup, random: Random, shuffle: Shuffle | None = None) -> Hand:
    """Play one hand to its end at random; the set-up must have a deck. ``shuffle`` makes the packs of redeals."""
    hand = start(setup)
    while not hand.over:
        hand.advance(random_line(hand, random))
        supply(hand, shuffle or (lambda cards, number: tuple(random.sample(cards, len(cards)))))
    return hand


@dataclass(frozen=True, slots=True)
class Sitting:
    """A table for random play: everyone buys in for ``stack``, and again with less than ``least`` left."""

    game: str
    opt: dict[str, object]
    seats: int
    stack: int
    least: int


def play_evening(table: Sitting, *, hands: int, seed: str) -> Iterator[Record]:
    """``hands`` records: stacks and carry go on from hand to hand, the deal passes on. Equal arguments, equal
    records."""
    info = game_info(table.game)
    require_seats(info, table.seats)
    random = Random(f"{table.game}/{seed}")  # noqa: S311 - repeatable play, no secret
    names = tuple(f"s{seat}" for seat in range(1, table.seats + 1))
    opt = info.resolve(table.opt, table.seats, False)
    stacks, carry = (table.stack,) * table.seats, 0
    series: Mapping[str, int] = {}
    for number in range(1, hands + 1):
        hand_id, secret = f"R-{number:06d}", random.randbytes(32)
        deck = shuffled_deck(info.pack_for(opt), secret, hand_id, {})
        setup = Setup(table.game, opt, table.seats, stacks, carry, table.seats, deck, series=series)
        hand = play_hand(setup, random, partial(_redeal, secret, hand_id))
        yield record_of(hand, hand_id=hand_id, rules_id=info.rules_id, seats=names, opt=opt)
        names = names[1:] + names[:1]
        moved_on = hand.stacks[1:] + hand.stacks[:1]
        stacks = tuple(money if money >= table.least else table.stack for money in moved_on)
        carry = hand.result.carry_out if hand.result else 0
        series = hand.result.series if hand.result else {}


def _redeal(seed: bytes, hand_id: str, cards: tuple[str, ...], number: int) -> tuple[str, ...]:
    return reshuffled(cards, seed, hand_id, {}, number)
