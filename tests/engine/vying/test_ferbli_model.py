"""An independent model of Ferbli's outcome against the engine.

The referee below knows no phases and no limits: it reads a finished log as text, counts who put what into the
pot, and decides who wins by trying every combination of every hand. It shares no code with the engine.
"""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.kernel.setup import Setup
from engine.play import play_hand
from engine.record.format import Record, record_of
from engine.vying.ranking import ferbli_ranking
from tests.engine.support import evening, extra, shuffled

WORTH = {"A": 11, "K": 10, "O": 10, "U": 10, "X": 10, "9": 9, "8": 8, "7": 7}
RANKS = "789XUOKA"
SUITS = "albh"


def strength(hand: list[str]) -> tuple[int, int]:
    """(kind of hand from 7 down to 1, value within the kind): the best of all groups of cards in the hand."""
    best = (0, 0)
    for size in (4, 3, 2, 1):
        for group in combinations(hand, size):
            ranks, suits = {card[0] for card in group}, {card[1] for card in group}
            total = sum(WORTH[card[0]] for card in group)
            found = [(0, 0)]
            if len(ranks) == 1 and size >= 3:
                found.append((7 if size == 4 else 5, RANKS.index(group[0][0])))
            if len(suits) == 1 and size >= 2:
                found.append(({4: 6, 3: 4, 2: 2}[size], total))
            if size == 2 and ranks == {"A"}:
                found.append((3, 0))
            if size == 1:
                found.append((1, total))
            best = max(best, *found)
    return best


def referee(record: Record) -> tuple[list[int], int, int]:
    """(net per seat, tax, money carried out) of a finished log, by counting."""
    seats, vizi = len(record.seats), int(str(record.opt["vizi"]))
    paid, level, folded = [0] * seats, 0, set()
    hands: dict[int, list[str]] = {}
    for line in record.acts:
        words = line.split()
        if words[0] == "d":
            continue
        seat = int(words[0][1:]) - 1
        if words[1] == "f":
            folded.add(seat)
        elif words[1] == "sm":
            hands[seat] = [words[2][at : at + 2] for at in range(0, 8, 2)]
        elif words[1] in ("po", "cc"):
            paid[seat] += int(words[2])
        elif words[1] in ("rb", "ks", "br"):
            paid[seat] = level + int(words[2])
        level = max(level, *paid)
    left = [seat for seat in range(seats) if seat not in folded]
    first_round_failed = not any(line.split()[1] in ("k", "rb") for line in record.acts)
    last = record.acts[-1].split()[1]
    if first_round_failed or last == "k":
        return carried(record, paid, vizi)
    if len(left) == 1:
        winner = left[0]
        paid[winner] = min(paid[winner], max(paid[seat] for seat in range(seats) if seat != winner))
    else:
        winner = max(left, key=lambda seat: (strength(hands[seat]), -seat))
    pot = sum(paid) + record.carry
    tax = min(pot * int(str(record.opt.get("tax_bps", 0))) // 10_000, int(str(record.opt.get("tax_cap", 0))))
    return [(pot - tax if seat == winner else 0) - paid[seat] for seat in range(seats)], tax, 0


def carried(record: Record, paid: list[int], vizi: int) -> tuple[list[int], int, int]:
    """No one wins: players who have paid nothing pay a vizi, everything stays."""
    paid = [money or vizi for money in paid]
    return [-money for money in paid], 0, sum(paid) + record.carry


@pytest.mark.parametrize("source", [evening, extra])
def test_the_referee_agrees_with_the_recorded_results(source):
    for record in source():
        assert referee(record) == (list(record.net), record.tax, record.carry_out), record.hand


@settings(max_examples=300, deadline=None)
@given(
    seats=st.integers(2, 7),
    chance=st.integers(0, 2**32),
    carry=st.integers(0, 50).map(lambda vizis: 100 * vizis),
    stack=st.integers(100, 20_000),
    tax=st.sampled_from([{}, {"tax_bps": 500, "tax_cap": 300}, {"tax_bps": 333, "tax_cap": 10**6}]),
)
def test_the_referee_agrees_with_random_hands(seats: int, chance: int, carry: int, stack: int, tax: dict[str, object]):
    random = Random(chance)
    stacks = tuple(random.randint(100, stack) for _ in range(seats))
    opt = {"vizi": 100, **tax}
    hand = play_hand(Setup("ferbli", opt, seats, stacks, carry, seats, shuffled(random)), random)
    names = tuple(f"s{seat}" for seat in range(seats))
    record = record_of(hand, hand_id="h", rules_id="ferbli/1", seats=names, opt=opt)
    assert referee(record) == (list(record.net or ()), record.tax, record.carry_out)


CARD = st.sampled_from([rank + suit for rank in RANKS for suit in SUITS])
FOUR = st.lists(CARD, min_size=4, max_size=4, unique=True)


@settings(max_examples=500, deadline=None)
@given(FOUR, FOUR)
def test_two_hands_compare_as_the_brute_force_comparison_says(one: list[str], two: list[str]):
    def sign(left: object, right: object) -> int:
        return (left > right) - (left < right)  # type: ignore[operator]

    expected = sign(strength(one), strength(two))
    assert sign(ferbli_ranking().rank(one).key, ferbli_ranking().rank(two).key) == expected
    assert sign(ferbli_ranking().key(one), ferbli_ranking().key(two)) == expected
