"""A refusal goes to the sender of a line, which need not be the seat that it is about: what it says does not depend on
cards that nobody has seen. Cards of lines that are tried here are ``??``, as where the house deals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

import pytest

from engine.errors import EngineError
from engine.kernel.cards import UNKNOWN
from engine.kernel.grammar import SEAT, Argument
from engine.kernel.hand import Hand
from engine.play import random_line
from engine.registry import start
from tests.engine import unseen
from tests.engine.deals import shuffled, table
from tests.engine.shedding import test_views as test_shedding_views
from tests.engine.shedding.shedding_kit import OPTIONS, advance
from tests.engine.tricks import test_ramsli_views
from tests.engine.tricks.ramsli_tables import setup

TRICKS: tuple[tuple[str, dict[str, object], int], ...] = (
    ("rufmariasch", {"unit": 10}, 4),
    ("preferansz", {"unit": 10}, 3),
    ("siebner_schuster", {"stake": 10}, 4),
    ("zsiros", {"stake": 10}, 4),
)


def tried(hand: Hand) -> Iterator[str]:
    """Lines of every verb and seat that name no card; most of them are not legal."""
    for verb in hand.grammar:
        for seat in range(1, hand.setup.seats + 1) if verb.by == SEAT else ():
            head = f"p{seat} {verb.name}"
            if not verb.arguments or verb.arguments[-1].optional:
                yield head
            yield from (f"{head} {text}" for argument in verb.arguments for text in texts(argument))


def texts(argument: Argument) -> Iterator[str]:
    """Some of the texts that an argument may be."""
    if argument.kind == "cards":
        yield from (UNKNOWN * count for count in range(1, min(argument.most, 4) + 1))
    elif argument.kind == "word":
        yield from argument.words[-3:]
    else:
        yield from {"seats": ("p1", "p2"), "seat": ("p1", "p2")}.get(argument.kind, ("1", "400"))


def answer(hand: Hand, line: str) -> str:
    """What the sender of the line is shown."""
    try:
        hand.copy().advance(line)
    except EngineError as refusal:
        return json.dumps([refusal.code, refusal.message, refusal.expected])
    return "good"


def require_alike(hand: Hand, twin: Hand | None) -> int:
    """The same answers for a deal that looks the same; how many were compared."""
    if twin is None:
        return 0
    lines = [*tried(hand)]
    for line in lines:
        assert answer(hand, line) == answer(twin, line), (line, hand.phase, hand.log)
    return len(lines)


@pytest.mark.parametrize(("game", "opt", "seats"), TRICKS)
def test_refusals_do_not_depend_on_unseen_cards(game: str, opt: dict[str, object], seats: int):
    random, compared = Random(game), 0
    for _ in range(2):
        hand = start(table(game, opt, seats=seats, deck=shuffled(random)))
        while not hand.over:
            compared += require_alike(hand, unseen.exchanged(hand, "public", random))
            late = hand.timed and hand.pending is None and random.random() < 0.2
            hand.advance(f"{hand.actor} au" if late else random_line(hand, random))
    assert compared > 500


def test_refusals_of_ramsli_do_not_tell_who_holds_the_seven():
    random, compared = Random("ramsli"), 0
    for seats in (3, 5):
        hand = start(setup(seats, deck=shuffled(random), kitty=0))
        while not hand.over:
            compared += require_alike(hand, test_ramsli_views.exchanged(hand, "public", random))
            hand.advance(random_line(hand, random))
    assert compared > 500


@pytest.mark.parametrize("game", ["esel", "pacal", "old_maid"])
def test_refusals_of_shedding_games_do_not_depend_on_unseen_cards(game: str):
    random, compared = Random(game), 0
    hand = test_shedding_views.random_hand(game, random, OPTIONS[game][0])
    for _ in range(50):
        if hand.over:
            break
        compared += require_alike(hand, test_shedding_views.exchanged(hand, "public", random))
        late = hand.timed and hand.pending is None and random.random() < 0.2
        advance(hand, f"{hand.actor} au" if late else random_line(hand, random))
    assert compared > 200


def test_the_automatic_act_is_shown_as_far_as_everybody_may_know_it():
    hand = start(table("rufmariasch", {"unit": 10, "call_own_card": False}, seats=4))
    for line in ("d dh p1 AaKaOaXa", "d dh p2 AlKlOlXl", "d dh p3 AbKbObXb", "d dh p4 AhKhOhXh", "p1 au"):
        hand.advance(line)
    assert hand.automatic() == "p1 cl Ua"
    assert "Ua" not in answer(hand, "p1 cl 7h").replace("automatic", "")
    hand.advance("p1 cl Ua")
    for line in ("d dh p1 UaUlUbUh", "d dh p2 9a8a7a9l", "d dh p3 8l7l9b8b", "d dh p4 7b9h8h7h", "p1 au"):
        hand.advance(line)
    assert json.loads(answer(hand, "p1 pl 7h"))[2] == {"phase": "first_trick", "action": "pl"}
