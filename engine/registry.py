"""The registry of games, and hands started and resumed by it.

>>> hand = start(Setup(game="ferbli", opt={"vizi": 100}, seats=2, stacks=(5000, 5000), carry=0, dealer=2))
>>> hand.actor, [offer.verb for offer in hand.legal()]
('p1', ['po'])
>>> for line in ("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l"):
...     events = hand.apply(line)
>>> [(offer.verb, offer.min, offer.max) for offer in hand.legal()]
[('cc', 100, 100), ('f', None, None)]
>>> [(move.key, move.amount) for move in hand.apply("p2 f")[1:-1]]
[(('seat', 'pot', 'penalty'), 100), (('pot', 'carry', 'carry_out'), 200)]
>>> hand.over, hand.result.net, hand.result.carry_out
(True, (-100, -100), 200)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module

from engine.errors import UnknownGame, UnknownRules
from engine.kernel.game import Game
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup

# Modules are imported when their game is asked for: few processes need all of them.
MODULES = {
    "ferbli": "engine.vying.ferbli",
    "faerbeln": "engine.vying.faerbeln",
    "barbu": "engine.tricks.barbu",
    "zsiros": "engine.tricks.zsiros",
    "siebner_schuster": "engine.tricks.siebner_schuster",
    "rufmariasch": "engine.tricks.rufmariasch",
    "preferansz": "engine.tricks.preferansz",
    "ramsli": "engine.tricks.ramsli",
    "esel": "engine.shedding.esel",
    "pacal": "engine.shedding.pacal",
    "old_maid": "engine.shedding.old_maid",
}
"""Name of a game -> the module whose ``GAME`` it is: the one line that a game needs outside its own modules."""

EARLIER: dict[str, str] = {}
"""Rules that no table is dealt by any more: their id -> the module whose ``GAME`` still plays them.

Rules never change under their id. What changes them gets the next id and leaves the module of the old ones here, so
that every hand replays under the rules of its day.
"""


def game_names() -> tuple[str, ...]:
    """Names of the games that :func:`start` knows."""
    return tuple(MODULES)


def games() -> tuple[Game, ...]:
    """Every game that :func:`start` knows."""
    return tuple(map(game_info, MODULES))


@cache
def game_info(name: str) -> Game:
    """The registry's entry; :class:`UnknownGame` if there is none."""
    if name not in MODULES:
        raise UnknownGame(f"there is no game {name!r}", games=list(MODULES))
    game: Game = import_module(MODULES[name]).GAME
    return game


@cache
def rules_version(rules_id: str) -> Game:
    """The game that is played by this version of its rules, today's or an earlier one; raises
    :class:`UnknownRules`."""
    name = rules_id.rpartition("/")[0]
    if name in MODULES and game_info(name).rules_id == rules_id:
        return game_info(name)
    if rules_id not in EARLIER:
        today = [game_info(known).rules_id for known in MODULES]
        raise UnknownRules(f"there are no rules {rules_id!r}", rules=[*today, *EARLIER])
    game: Game = import_module(EARLIER[rules_id]).GAME
    return game


def played_by(name: str, rules_id: str | None) -> Game:
    """The game of this name by this version of its rules, None for today's; raises :class:`UnknownGame`, and
    :class:`UnknownRules` for those of another game too."""
    today = game_info(name)
    if rules_id is None or rules_id == today.rules_id:
        return today
    found = rules_version(rules_id)
    if found.name != name:
        raise UnknownRules(f"{name} is played by {today.rules_id}, not {rules_id}", rules=today.rules_id)
    return found


def start(setup: Setup) -> Hand:
    """Start a hand; raises a subclass of ``SetupError`` or ``CardError`` if it cannot be played."""
    return played_by(setup.game, setup.rules).start(setup)


Shuffle = Callable[[tuple[str, ...], int], tuple[str, ...]]
"""Shuffles the given cards; the number (1, 2, ...) says which shuffle of the hand it is, that of the deck apart."""


def resume(setup: Setup, log: Sequence[str], shuffle: Shuffle | None = None) -> Hand:
    """The hand as it stood after ``log``; a wrong line raises as :meth:`Hand.apply` does.

    ``shuffle`` supplies the packs that the hand wants beyond those of the set-up; the same cards and number must
    always give the same pack.
    """
    hand = start(setup)
    if shuffle is None:
        hand.advance_all(log)
        return hand
    for line in log:
        hand.advance(line)
        supply(hand, shuffle)
    return hand


def supply(hand: Hand, shuffle: Shuffle) -> None:
    """Give the hand the cards that it wants shuffled again, if it wants any."""
    wanted = hand.wants
    if wanted is not None:
        hand.supply(shuffle(wanted, hand.shuffles + 1))


def resolve(game: str, opt: Mapping[str, object], seats: int, *, announced: Sequence[str] = ()) -> dict[str, object]:
    """The options of a table as those of a hand for ``seats`` seats: what the hand's record holds.

    ``announced``: what the dealer has announced before the deal (:attr:`engine.kernel.game.Policy.announcements`); what
    the table does not leave to the dealer raises ``OptionOutOfRange``.
    """
    return game_info(game).resolve(opt, seats, tuple(announced))


def prepare() -> None:
    """Build what the games need for their first hands; called once before a server forks its processes."""
    for name in MODULES:
        game_info(name).prepare()
