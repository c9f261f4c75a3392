"""Odds of changing cards in Ramsli, against every draw enumerated card by card."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from itertools import combinations
from math import comb
from random import Random
from typing import Any

import pytest

from engine.errors import EngineError
from engine.kernel.cards import TELL32
from engine.tricks import ramsli_odds
from engine.tricks.ramsli_odds import DRAWS, UP, DrawOdds, draw_odds

ORDER = "789XUOKA"


def value(card: str, trump: str) -> tuple[bool, int]:
    """A trump before all others, then by rank."""
    return card[1] == trump, ORDER.index(card[0])


def enumerated(hand: tuple[str, ...], trump_card: str, draw: int | str, dead: tuple[str, ...]) -> DrawOdds:
    """The same by going through the draws one by one."""
    trump = trump_card[1]
    rest = [card for card in TELL32.cards if card not in (*hand, *dead, trump_card)]
    weakest = sorted(hand, key=lambda card: (value(card, trump), TELL32.cards.index(card)))
    away = weakest[: 0 if draw == UP else int(draw)]
    kept = [card for card in hand if card not in away]
    size = {4: 5, UP: 1}.get(draw, draw)
    before = sorted((value(card, trump) for card in hand), reverse=True)
    trumps, better, equal, total = [0] * 5, 0, 0, 0
    for drawn in combinations(rest, int(size)):
        after = sorted((value(card, trump) for card in (*kept, *drawn)), reverse=True)[:4]
        trumps[sum(one for one, _ in after)] += 1
        better += after > before
        equal += after == before
        total += 1
    return DrawOdds(tuple(away), total, tuple(trumps), better, equal)


@pytest.mark.parametrize("number", range(14))
@pytest.mark.parametrize("draw", [1, 2, 3, UP])
def test_as_many_draws_as_there_are(number: int, draw: int | str):
    random = Random(f"{number}/{draw}")
    cards = random.sample(TELL32.cards, 14)
    hand, dead = tuple(cards[:4]), tuple(cards[5 : 5 + random.randint(0, 9)])
    trump_card = random.choice((cards[4], cards[0]))
    assert draw_odds(hand, trump_card, draw, dead=dead) == enumerated(hand, trump_card, draw, dead)


@pytest.mark.parametrize("number", range(3))
def test_a_new_hand(number: int):
    random = Random(number)
    cards = random.sample(TELL32.cards, 16)
    hand, dead = tuple(cards[:4]), tuple(cards[5:])
    found = draw_odds(hand, cards[4], 4, dead=dead)
    assert found == enumerated(hand, cards[4], 4, dead) and len(found.away) == 4


def test_trumps_by_the_textbook():
    """Three plain cards changed for three of 27, seven of them trumps."""
    odds = draw_odds(("Ab", "8l", "8h", "7a"), "9l", 3)
    assert odds.total == comb(27, 3) and odds.away == ("7a", "8h", "Ab")
    assert odds.trumps == (0, *(comb(6, k) * comb(21, 3 - k) for k in range(4)))


@pytest.mark.parametrize("draw", DRAWS)
def test_every_draw_is_counted_once(draw: int | str):
    odds = draw_odds(("Aa", "Kl", "Ob", "7h"), "8h", draw)
    assert sum(odds.trumps) == odds.total and 0 < odds.better + odds.equal <= odds.total
    assert draw_odds(("Ah", "Kh", "Oh", "Uh"), "7b", draw, dead=("Ab",)).better >= 0


def test_the_best_hand_gets_no_better():
    for draw in DRAWS:
        assert draw_odds(("Ah", "Kh", "Oh", "Uh"), "7h", draw).better == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((("Aa", "Ka", "Oa"), "7h", 1), "wrong_count"),
        ((("Aa", "Ka", "Oa", "Aa"), "7h", 1), "card_already_dealt"),
        ((("Aa", "Ka", "Oa", "1a"), "7h", 1), "card_not_in_pack"),
        ((("Aa", "Ka", "Oa", "??"), "7h", 1), "card_unknown"),
        ((("Aa", "Ka", "Oa", "Ua"), "7h", 5), "option_out_of_range"),
        ((("Aa", "Ka", "Oa", "Ua"), "7h", 0), "option_out_of_range"),
    ],
)
def test_what_is_refused(arguments: Any, code: str):
    with pytest.raises(EngineError) as refusal:
        draw_odds(*arguments)
    assert refusal.value.code == code
    with pytest.raises(EngineError) as refusal:
        draw_odds(("Aa", "Ka", "Oa", "Ua"), "7h", 2, dead=tuple(TELL32.cards[4:30]))
    assert refusal.value.code == "wrong_count"


def test_the_example_of_the_module():
    assert doctest.testmod(ramsli_odds).failed == 0


def test_at_the_command_line():
    command = [sys.executable, "-m", "engine", "odds", "ramsli", "AbKl8h7a", "--trump", "9b", "--draw", "2"]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert answer == {
        "away": ["7a", "8h"], "total": 351, "trumps": [0, 210, 126, 15, 0],
        "better": 346, "equal": 4, "share": "346/351",
    }  # fmt: skip
    wrong = subprocess.run([*command[:5], "AbKl8h", *command[6:]], capture_output=True, text=True, check=False)
    assert wrong.returncode and "a hand has 4 cards" in wrong.stderr
