"""Equity: every deal counted, against counting them one by one."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import factorial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import CardAlreadyDealt, CardNotInPack, CardUnknown, EngineError, OptionOutOfRange, WrongCount
from engine.kernel.cards import FRENCH32, TELL32, split_cards
from engine.vying.equity import Equity, equity
from engine.vying.packings import count_deals
from engine.vying.ranking import Ranking, faerbeln_ranking, ferbli_ranking

PLAIN = ferbli_ranking()
SANTA = ferbli_ranking(["Oa"], "general")
FAERBELN = faerbeln_ranking(FRENCH32)


def deal_all(ranking: Ranking, hand: Sequence[str], rest: frozenset[str], before: int, after: int) -> tuple[int, int]:
    """Wins and deals, seat by seat and hand by hand."""
    if not before + after:
        return 1, 1
    wins = total = 0
    key = ranking.key(hand)
    for other in combinations(rest, 4):
        won = key > ranking.key(other) or (not before and key == ranking.key(other))
        left = (before - 1, after) if before else (0, after - 1)
        further, deals = deal_all(ranking, hand, rest - set(other), *left)
        wins += further if won else 0
        total += deals
    return wins, total


def check(ranking: Ranking, order: Sequence[str], left: int, opponents: int, before: int) -> None:
    """Compare on a pack of which only ``left`` cards are unknown."""
    hand, rest, dead = order[:4], order[4 : 4 + left], order[4 + left :]
    found = equity(ranking, hand, opponents, dead=dead, before=before)
    wins, total = deal_all(ranking, hand, frozenset(rest), before, opponents - before)
    assert found == Equity(wins, total - wins, total)


@pytest.mark.parametrize("ranking", [PLAIN, SANTA, FAERBELN])
@pytest.mark.parametrize(("left", "opponents", "befores"), [
    (4, 1, (0, 1)), (9, 1, (0, 1)), (8, 2, (0, 1, 2)), (10, 2, (0, 1, 2)), (12, 3, (1,)),
])  # fmt: skip
def test_small_packs_dealt_out_one_by_one(ranking: Ranking, left: int, opponents: int, befores: Sequence[int]):
    for before in befores:
        order = random.Random(f"{left} {before}").sample(ranking.pack.cards, 32)
        check(ranking, order, left, opponents, before)


@settings(max_examples=12, deadline=None)
@given(
    order=st.permutations(TELL32.cards),
    wild=st.sets(st.sampled_from(TELL32.cards), max_size=6),
    left=st.integers(8, 9),
    before=st.integers(0, 2),
)
def test_any_cards_any_wild_ones(order: list[str], wild: set[str], left: int, before: int):
    check(ferbli_ranking(wild), order, left, 2, before)


def packed(lists: list[list[int]], held: int = 0) -> int:
    """Choices of one hand of each list that share no card, by trying."""
    if not lists:
        return 1
    return sum(packed(lists[1:], held | hand) for hand in lists[0] if not held & hand)


@pytest.mark.parametrize(("cards", "seats", "size"), [
    (13, 3, 100), (16, 4, 80), (20, 4, 60), (21, 5, 40), (24, 6, 80),
])  # fmt: skip
def test_packings_of_some_hands_found_by_trying(cards: int, seats: int, size: int):
    chance = random.Random(f"{cards} {seats}")
    hands = [sum(1 << card for card in cards) for cards in combinations(range(cards), 4)]
    one, other = chance.sample(hands, size), chance.sample(hands, size)
    first = seats // 3
    expected = packed([one] * first + [other] * (seats - first))
    assert count_deals(cards, [(one, first), (other, seats - first)]) == expected > 0
    assert count_deals(cards, [(one, 0), (other, 3)]) == packed([other] * 3)
    assert count_deals(cards, [(one, 1), ([], seats - 1)]) == 0


@pytest.mark.long
def test_packings_of_some_hands_of_a_full_pack():
    chance = random.Random(28)
    hands = [sum(1 << card for card in cards) for cards in combinations(range(28), 4)]
    one, other = chance.sample(hands, 24), chance.sample(hands, 24)
    assert count_deals(28, [(one, 2), (other, 4)]) == packed([one] * 2 + [other] * 4) > 0


def test_pairs_agree_with_packings():
    hand, dead = split_cards("AhKhOh7a"), split_cards("AaAl8a8l7l7b9a9l")
    rest = [card for card in TELL32.cards if card not in {*hand, *dead}]
    hands = {sum(1 << rest.index(card) for card in other): PLAIN.key(other) for other in combinations(rest, 4)}
    lower = [other for other, key in hands.items() if key < PLAIN.key(hand)]
    equal = [other for other, key in hands.items() if key == PLAIN.key(hand)]
    found = [equity(PLAIN, hand, 2, dead=dead, before=before).wins for before in (0, 1, 2)]
    assert found == [count_deals(20, [(lower, before), (lower + equal, 2 - before)]) for before in (0, 1, 2)]
    assert found[0] > found[1] > found[2]


@pytest.mark.long
@pytest.mark.parametrize("opponents", [1, 2, 6])
def test_what_nothing_beats_wins_every_deal_and_what_beats_nothing_none(opponents: int):
    """Of a full pack; six opponents can be dealt to in more ways than a machine word holds."""
    total = factorial(28) // factorial(28 - 4 * opponents) // 24**opponents
    best = equity(PLAIN, split_cards("AaAlAbAh"), opponents, before=opponents // 2)
    assert best == Equity(total, 0, total)
    assert best.share == "1"
    worst = equity(PLAIN, split_cards("8a8l7b7h"), min(opponents, 2), before=min(opponents, 2))
    assert (worst.wins, worst.share) == (0, "0")


def test_who_shows_first_shares_the_deals_out():
    """With one opponent a tie is won by the first to show: both ways together count each deal twice or not at
    all."""
    hand = split_cards("AaKl8b7h")
    first, last = equity(PLAIN, hand, 1), equity(PLAIN, hand, 1, before=1)
    keys = [PLAIN.key(other) for other in combinations([card for card in TELL32.cards if card not in hand], 4)]
    assert first.wins - last.wins == keys.count(PLAIN.key(hand))
    assert first.total == last.total == len(keys) == 20_475


def test_the_share_is_a_reduced_fraction():
    found = equity(PLAIN, split_cards("KlKbKh7a"), 2, before=1)
    share = Fraction(found.share)
    assert share == Fraction(found.wins, found.total)
    assert found.share == f"{share.numerator}/{share.denominator}"


@pytest.mark.parametrize(("hand", "opponents", "before", "dead", "error"), [
    ("AaAlAb", 1, 0, "", WrongCount),
    ("AaAlAbAa", 1, 0, "", CardAlreadyDealt),
    ("AaAlAb??", 1, 0, "", CardUnknown),
    ("AaAlAbAh", 1, 0, "Ah", CardAlreadyDealt),
    ("AaAlAbAh", 1, 0, "7h7h", CardAlreadyDealt),
    ("AaAlAbAh", 1, 0, "7c", CardNotInPack),
    ("AaAlAbAh", 1, 0, "??", CardUnknown),
    ("AaAlAbAh", 0, 0, "", OptionOutOfRange),
    ("AaAlAbAh", 7, 0, "", OptionOutOfRange),
    ("AaAlAbAh", True, 0, "", OptionOutOfRange),
    ("AaAlAbAh", 2, 3, "", OptionOutOfRange),
    ("AaAlAbAh", 2, -1, "", OptionOutOfRange),
    ("AaAlAbAh", 6, 0, "7a7l7b7h8a", OptionOutOfRange),
])  # fmt: skip
def test_what_cannot_be_counted_is_refused(hand: str, opponents: int, before: int, dead: str, error: type[Exception]):
    with pytest.raises(error):
        equity(PLAIN, split_cards(hand), opponents, dead=split_cards(dead), before=before)


def test_too_few_cards_for_another_hand_are_refused():
    hand, others = TELL32.cards[:4], TELL32.cards[4:]
    assert equity(PLAIN, hand, 1, dead=others[4:]).total == 1
    with pytest.raises(WrongCount):
        equity(PLAIN, hand, 1, dead=others[3:])
    with pytest.raises(OptionOutOfRange) as refused:
        equity(PLAIN, hand, 2, dead=others[7:])
    assert isinstance(refused.value, EngineError)
    assert refused.value.expected == {"min": 1, "max": 1}


def test_without_numpy_two_opponents_are_counted_and_more_refused():
    script = (
        "import sys; sys.modules['numpy'] = None\n"
        "from engine.errors import OptionOutOfRange\n"
        "from engine.vying.equity import equity\n"
        "from engine.vying.ranking import ferbli_ranking\n"
        "hand = ('Ah', 'Kh', 'Oh', '7a')\n"
        "assert equity(ferbli_ranking(), hand, 2).wins == 203_625_244\n"
        "try:\n    equity(ferbli_ranking(), hand, 3)\n"
        "except OptionOutOfRange as error:\n    print(error.expected)\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("{'min': 1, 'max': 2}\n", "")
