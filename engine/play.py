"""Random legal play: for soak tests, demos and ``python -m engine play``. All chance comes from the caller's
``Random``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from engine.actions import up_line
from engine.game import Hand, Legal, Setup, game_info, require_seats, start
from engine.record import Record, record_of
from engine.shuffle import shuffled_deck

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
    if offer.verb == "up":
        seat = int(offer.actor[1:])
        return up_line(seat, tuple(random.sample(hand.cards_of(seat), offer.count or 0)))
    return line_of(offer, random)


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


def play_hand(setup: Setup, random: Random) -> Hand:
    """Play one hand to its end at random; the set-up must have a deck."""
    hand = start(setup)
    while not hand.over:
        hand.advance(random_line(hand, random))
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
    stacks, carry = (table.stack,) * table.seats, 0
    for number in range(1, hands + 1):
        hand_id = f"R-{number:06d}"
        deck = shuffled_deck(info.pack_for(table.opt), random.randbytes(32), hand_id, {})
        hand = play_hand(Setup(table.game, table.opt, table.seats, stacks, carry, table.seats, deck), random)
        yield record_of(hand, hand_id=hand_id, rules_id=info.rules_id, seats=names, opt=table.opt)
        names = names[1:] + names[:1]
        moved_on = hand.stacks[1:] + hand.stacks[:1]
        stacks = tuple(money if money >= table.least else table.stack for money in moved_on)
        carry = hand.result.carry_out if hand.result else 0
