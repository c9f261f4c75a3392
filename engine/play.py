"""Random legal play: for soak tests, demos and ``python -m engine play``. All chance comes from the caller's
``Random``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from random import Random

from engine.deal.shuffle import reshuffled, shuffled_deck
from engine.kernel.game import require_seats
from engine.kernel.hand import Hand
from engine.kernel.legal import Legal, Order, Parts, Pick, Range
from engine.kernel.setup import Setup
from engine.record.format import Record, record_of
from engine.registry import Shuffle, game_info, start, supply


def random_line(hand: Hand, random: Random) -> str:
    """Some line that the hand accepts now. Without a deck the deal is drawn at random too."""
    line = hand.forced()
    if line is not None:
        return line
    chance = hand.chance()
    if chance is not None:
        return chance.line(random)
    weights = game_info(hand.setup.game).weights
    offers = hand.legal()
    offer = random.choices(offers, [weights.get(offer.verb, 1) for offer in offers])[0]
    return line_of(offer, random)


def line_of(offer: Legal, random: Random) -> str:
    """One line of the offered kind; amounts are small more often than large."""
    words = [offer.actor, offer.verb]
    for argument in offer.arguments:
        if isinstance(argument, Range):
            choices = (argument.high - argument.low) // argument.step
            steps = min(random.randint(0, choices), random.randint(0, choices))
            words.append(str(argument.low + argument.step * steps))
        elif isinstance(argument, Order | Parts):
            words.append(argument.draw(random))
        elif isinstance(argument, Pick) and argument.places is None and argument.pool is not None:
            # There can be millions of sets.
            words.append("".join(random.sample(argument.pool, argument.count)))
        else:
            words.append(random.choice(list(argument.texts())))
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
    opt = info.resolve(table.opt, table.seats, ())
    rules = info.rules.parse(opt, table.seats)
    stacks, carry = (table.stack,) * table.seats, 0
    series = info.new_series(names, rules)
    for number in range(1, hands + 1):
        hand_id, secret = f"R-{number:06d}", random.randbytes(32)
        deck = shuffled_deck(info.pack_for(opt), secret, hand_id, {})
        setup = Setup(table.game, opt, table.seats, stacks, carry, table.seats, deck, series=series, ids=names)
        hand = play_hand(setup, random, partial(_redeal, secret, hand_id))
        yield record_of(hand, hand_id=hand_id, rules_id=info.rules_id, seats=names, opt=opt)
        if hand.result is None:
            raise LookupError("a hand that was played to its end has a result")
        after = hand.result.series
        order = info.next_seats(table.seats, series, after)
        names = tuple(names[at] for at in order)
        stacks = tuple(hand.stacks[at] for at in order)
        stacks = tuple(money if money >= table.least else table.stack for money in stacks)
        carry, series = hand.result.carry_out, after


def _redeal(seed: bytes, hand_id: str, cards: tuple[str, ...], number: int) -> tuple[str, ...]:
    return reshuffled(cards, seed, hand_id, {}, number)
