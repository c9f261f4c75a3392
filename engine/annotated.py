"""A deal explained line by line: what each line of its log means, and the money that it moves.

For replayers and for the reference pages; nothing here knows a game, all of it comes from the declarations.

>>> from engine.registry import start
>>> from engine.kernel.setup import Setup
>>> hand = start(Setup("ferbli", {"vizi": 100}, 2, (5000, 5000)))
>>> for line in ("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "p2 f"):
...     hand.advance(line)
>>> for line in annotated(hand):
...     print(line.number, line.text, "|", line.phase, "|", line.money)
0 p1 po 100 | post | p1 to pot 100
1 d dh p1 Kl8b | deal |
2 d dh p2 Ah7l | deal |
3 p2 f | first_round | p2 to pot 100, pot to carry 200
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from engine.kernel.hand import Hand
from engine.kernel.purse import Move, place_name
from engine.play import Sitting, play_evening
from engine.record.format import Record
from engine.registry import game_info, resume, rules_version, start

LONGEST = 60
"""Lines of the longest deal that a page shows, if there is a shorter one."""
TRIED = 24
"""Random deals among which the one for a page is chosen."""


class Line(NamedTuple):
    """One line of a log: its place from 0, its text, the phase in which it was said, what its verb means, and what
    money it moved, in words."""

    number: int
    text: str
    phase: str
    meaning: str
    money: str


def annotated(hand: Hand) -> Iterator[Line]:
    """Every line of a hand that was played, with the automatic acts and what the house dealt."""
    grammar = rules_version(hand.rules.RULES_ID).grammar
    again = start(hand.setup)
    for number, text in enumerate(hand.log):
        phase, moved = again.phase, again.moved
        again.advance(text)
        declared = grammar.declared(grammar.parse(text))
        yield Line(number, text, phase, declared.meaning, ", ".join(map(_said, again.moves[moved:])))


def _said(move: Move) -> str:
    """A money move in words."""
    return f"{place_name(move.source)} to {place_name(move.target)} {move.amount}"


@cache
def random_deals(game: str) -> tuple[Record, ...]:
    """Some random deals at the table of the game's example, always the same ones."""
    info = game_info(game)
    sizes = info.seats_allowed or range(info.min_seats, min(info.max_seats, 4) + 1)
    opt = info.resolve(info.example, max(sizes), ())
    least = info.rules.parse(opt, max(sizes)).least_stack
    table = Sitting(game, opt, max(sizes), 20 * least or 1, least)
    return tuple(play_evening(table, hands=TRIED, seed="reference"))


def example(game: str) -> Record:
    """A deal that shows much of the game in few lines: of :func:`random_deals` the one with most verbs among those that
    are not long."""
    found = random_deals(game)
    short = [record for record in found if len(record.acts) <= LONGEST] or [min(found, key=lambda one: len(one.acts))]
    return max(short, key=lambda one: (len({line.split(" ")[1] for line in one.acts}), -len(one.acts)))


def payments(game: str) -> Iterator[tuple[str, str, str]]:
    """Every kind of money move of :func:`random_deals`: source, target, why; each once, in a fixed order."""
    found = {move.key for record in random_deals(game) for move in played(record).moves}
    return iter(sorted(found))


def played(record: Record) -> Hand:
    """The hand of a valid record."""
    return resume(record.setup(), record.acts)
