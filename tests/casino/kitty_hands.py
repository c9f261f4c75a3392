"""Hands of a game with a kitty and a bank over HTTP: a pack of the test's own, or the house's, played at random."""

import random
from typing import Any

from casino.hands import selectors
from casino.hands.models import Hand
from casino.tables.models import CarryoverOnClose
from engine.kernel.cards import TELL32, UNKNOWN
from engine.kernel.grammar import OUT_OF_HAND
from engine.kernel.hand import Hand as Game
from engine.play import random_line
from engine.registry import game_info, start
from tests.casino.kit import Desk, Kit
from tests.casino.trick_hands import last_hand, settled

UNIT = 100
LEVEL = 16
"""Units."""


def ramsli(kit: Kit, *, code: str = "T1", seats: int = 3, **options: Any) -> None:
    """A table of Ramsli whose kitty may hold sixteen units."""
    agreed = {"unit": UNIT, "bank_level": LEVEL} | options
    kit.table_for(
        "ramsli", agreed, code=code, seats=seats, tray=0, max_stack=500_000, carryover_on_close=CarryoverOnClose.SPLIT
    )  # fmt: skip


def at_table(kit: Kit, *, seats: int = 3, **options: Any) -> Desk:
    """Players at such a table, the dealer's console."""
    ramsli(kit, seats=seats, **options)
    return kit.seated(stacks=(90_000,) * seats)


def masked(line: str, hidden: frozenset[str]) -> str:
    """The line as a dealer says it who does not know the cards of these seats; of others it records all."""
    words = line.split(" ")
    concealed = (words[1] == "dh" and words[2] in hidden) or (words[1] == "ds" and words[0] in hidden)
    return " ".join([*words[:-1], UNKNOWN * (len(words[-1]) // 2)]) if concealed else line


def begin_physical(
    kit: Kit, desk: Desk, choice: random.Random, deck: tuple[str, ...] | None = None, **dealt: Any
) -> Game:
    """Deal a physical hand; the game as it goes with this pack, which the house is not recorded."""
    desk.ok("hands", {"mode": "physical", **dealt})
    pack = deck or tuple(choice.sample(TELL32.cards, 32))
    return start(selectors.setup(last_hand(kit))._replace(deck=pack))


def go_on(desk: Desk, game: Game, line: str, hidden: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Say a line at the table and in the game beside it."""
    game.advance(line)
    return desk.say("ramsli", masked(line, hidden))


def play_physical(
    kit: Kit, desk: Desk, seed: int, *, hidden: tuple[str, ...] = (), lines: tuple[str, ...] = (), **dealt: Any
) -> Hand:
    """One physical hand from the deal to its settlement: these lines of seats, then what chance wants."""
    choice = random.Random(seed)
    game, waiting = begin_physical(kit, desk, choice, **dealt), list(lines)[::-1]
    while not game.over:
        line = game.forced() or (waiting.pop() if waiting else random_line(game, choice))
        go_on(desk, game, line, frozenset(hidden))
    return settled(kit, desk)


def by_places(game: Game, line: str) -> dict[str, Any]:
    """The action of a line as a console sends it that knows no hand."""
    grammar = game_info("ramsli").grammar
    action = grammar.parse(line)
    if action.cards and grammar.role(action) in OUT_OF_HAND:
        held = game.held(action.actor)
        return {"actor": f"p{action.actor}", "verb": action.verb, "places": [held.index(one) for one in action.cards]}
    return grammar.fields_of(line)


def electronic_step(kit: Kit, desk: Desk, choice: random.Random) -> dict[str, Any]:
    """The next action of an electronic hand, by chance."""
    game = selectors.state(last_hand(kit))
    return desk.ok("hand/actions", {"actions": [by_places(game, random_line(game, choice))]})


def play_electronic(kit: Kit, desk: Desk, seed: int, **dealt: Any) -> Hand:
    """One electronic hand from the deal to its settlement."""
    choice, answer = random.Random(seed), desk.deal(**dealt)
    while answer["actor"] is not None:
        answer = electronic_step(kit, desk, choice)
    return settled(kit, desk)
