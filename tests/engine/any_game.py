"""Hands of every registered game, for tests of the kernel: small tables of the game's own example, played at random.

A game that is registered is tested by being registered; nothing here knows one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

from engine.errors import EngineError
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup
from engine.play import Sitting, play_evening
from engine.record.format import Record
from engine.registry import game_info, game_names, start

GAMES = game_names()
EVENINGS = 3
HANDS = 4
#: Lines of a hand from which on a share of its points grows no further: some games have hands of a thousand lines.
LONG = 80


@cache
def records(game: str) -> tuple[Record, ...]:
    """Some evenings with the fewest and the most seats, whose series goes on from deal to deal."""
    info = game_info(game)
    sizes = info.seats_allowed or (info.min_seats, info.max_seats)
    found: list[Record] = []
    for number in range(EVENINGS):
        seats = sizes[number % len(sizes)]
        opt = info.resolve(info.example, seats, ())
        least = info.rules.parse(opt, seats).least_stack
        table = Sitting(game, opt, seats, 20 * least, least)
        found += play_evening(table, hands=HANDS, seed=f"kernel-{number}")
    return tuple(found)


def physical(setup: Setup) -> Setup:
    """The same table where the house knows no card before it falls."""
    return setup._replace(deck=None, redeals=())


def setups(game: str) -> Iterator[tuple[Setup, tuple[str, ...]]]:
    """Set-ups with the log of a whole hand: decks that are known and decks that are not, in turn."""
    for number, record in enumerate(records(game)):
        setup = record.setup()
        yield (physical(setup) if number % 2 and not setup.redeals else setup), record.acts


def points(game: str, share: float = 1.0) -> Iterator[tuple[Hand, str]]:
    """Hands in the middle of play, each with the line that follows; of all points about this share, less of those of
    long hands.

    The hand is the walker's own: copy it, or leave it as it is.
    """
    random = Random(game)
    for setup, lines in setups(game):
        hand = start(setup)
        wanted = share if share == 1 else share * min(1, LONG / len(lines))
        for line in lines:
            if random.random() < wanted:
                yield hand, line
            hand.advance(line)


def after(hand: Hand, *lines: str) -> Hand | None:
    """A copy after these lines; None if one is refused."""
    trial = hand.copy()
    try:
        for line in lines:
            trial.apply(line)
    except EngineError:
        return None
    return trial


def everything(hand: Hand) -> tuple[object, ...]:
    """All that the hand's state holds."""
    return hand._state.values()
