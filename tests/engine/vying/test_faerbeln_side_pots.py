"""Färbeln with side pots (option ``short_stack``): the text is silent about short stacks."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from engine.errors import AmountOutOfRange, StackTooShort
from engine.kernel.hand import Hand
from engine.kernel.purse import HOUSE, POT, Move, Why
from engine.kernel.setup import Setup
from engine.play import play_hand
from engine.vying.pots import Pot, split_pots
from tests.engine.support import amounts, forty_one, play, shuffled, stacked, verbs

DECK = stacked("Kl8b", "Ah7l", "XlOb", "Xb7b", "KhOl", "9a9l")
"""p1 holds three bells worth 25, p2 two hearts worth 21, p3 two leaves worth 19."""
UP = ("p1 up Xb8b", "p2 up AhKh", "p3 up 9a9l")


def first_round(*stacks: int, **opt: object) -> Hand:
    """p2 is to speak."""
    hand = forty_one(len(stacks), opt={"short_stack": "side_pot", **opt}, stacks=stacks, deck=DECK)
    return play(hand, *(f"p{seat} po 200" for seat in range(1, len(stacks) + 1)), "p1 po 500")


def paid_out(hand: Hand) -> list[Move]:
    """What left the pot."""
    return [move for move in hand.moves if move.why is not Why.STAKE]


def test_forehand_must_hold_ante_and_stake_the_others_their_ante():
    for stacks, seat, least in (((699, 900, 900), 1, 700), ((700, 199, 900), 2, 200)):
        with pytest.raises(StackTooShort) as refusal:
            first_round(*stacks)
        assert refusal.value.expected == {"seat": seat, "min": least}
    assert first_round(700, 201, 201).actor == "p2"


def test_a_stake_is_held_with_all_that_is_left():
    hand = first_round(10_000, 450, 10_000)
    assert verbs(hand) == ["cc", "f"] and amounts(hand, "cc") == (250, 250)
    with pytest.raises(AmountOutOfRange):
        hand.apply("p2 cc 500")
    hand.apply("p2 cc 250")
    assert hand.stacks[1] == 0 and hand.view("public")["seats"][1]["owes"] == 0


def test_a_seat_without_chips_is_asked_no_more_but_turns_up_and_shows():
    hand = play(first_round(900, 10_000, 10_000), "p2 rb 500", "p3 cc 1000", "p1 cc 200", *UP)
    assert hand.actor == "p2" and verbs(hand) == ["f", "k", "rb"]
    play(hand, "p2 k", "p3 k")
    assert [line.split()[0] for line in hand.log if " sm " in line] == ["p1", "p2", "p3"]


def test_main_pot_and_side_pot_go_to_the_best_hand_that_competes_for_each():
    hand = play(first_round(900, 10_000, 10_000), "p2 rb 500", "p3 cc 1000", "p1 cc 200", *UP)
    play(hand, "p2 rb 500", "p3 cc 500")
    assert paid_out(hand) == [
        Move(POT, 1, 2700 - 135, Why.AWARD),
        Move(POT, 2, 1600 - 80, Why.AWARD),
        Move(POT, HOUSE, 215, Why.TAX),
    ]
    assert hand.result and (hand.result.winner, hand.result.net) == (1, (1665, -180, -1700))


def test_tax_is_limited_once_and_the_main_pot_pays_first():
    hand = play(first_round(900, 10_000, 10_000, tax_cap=140), "p2 rb 500", "p3 cc 1000", "p1 cc 200", *UP)
    play(hand, "p2 rb 500", "p3 cc 500")
    assert [move.amount for move in paid_out(hand)] == [2700 - 135, 1600 - 5, 140]


def test_what_nobody_could_match_goes_back_untaxed_before_the_pots_are_paid():
    hand = play(first_round(10_000, 450, 300), "p2 cc 250", "p3 cc 100")
    assert hand.actor == "p1" and verbs(hand) == ["up"]  # forehand has nobody left to bet with
    play(hand, *UP)
    assert paid_out(hand) == [
        Move(POT, 1, 250, Why.RETURNED),
        Move(POT, 1, 900 - 45, Why.AWARD),
        Move(POT, 1, 300 - 15, Why.AWARD),
        Move(POT, HOUSE, 60, Why.TAX),
    ]


def test_a_raise_needs_the_whole_unit_and_somebody_to_answer():
    hand = first_round(10_000, 1199, 10_000)
    assert verbs(hand) == ["cc", "f"]
    assert verbs(first_round(10_000, 1200, 10_000)) == ["cc", "f", "rb"]
    play(hand, "p2 cc 500", "p3 f")
    assert hand.actor == "p1" and verbs(hand) == ["f", "k", "rb"]
    hand = play(first_round(700, 700, 10_000), "p2 cc 500")
    assert hand.actor == "p3" and verbs(hand) == ["cc", "f"]


def test_the_money_of_folded_seats_falls_into_the_layers_it_reaches():
    hand = play(first_round(900, 10_000, 10_000), "p2 rb 500", "p3 rb 500", "p1 cc 200", "p2 f")
    play(hand, "p1 up Xb8b", "p3 up XlOb")
    assert hand.result and hand.result.winner == 1
    # p3 staked 1,700, p2 1,200 before it folded, p1 900: p3 gets 500 back and the 600 beyond p1's stake.
    assert [(move.why, move.seat) for move in paid_out(hand)] == [
        ("returned", 3), ("award", 1), ("award", 3), ("tax", 0),
    ]  # fmt: skip


def test_split_pots():
    assert split_pots([0, 700, 700, 200], [1, 2]) == [Pot(1600, (1, 2))]
    assert split_pots([0, 200, 700, 1200, 1200], [1, 2, 3, 4]) == [
        Pot(800, (1, 2, 3, 4)),
        Pot(1500, (2, 3, 4)),
        Pot(1000, (3, 4)),
    ]


def test_random_hands_make_up_to_as_many_pots_as_there_are_seats():
    """Each pot is one award."""
    opt: dict[str, object] = {
        "ante": 200, "lower": 500, "round2_unit": "lower", "bonus41": 0, "tax_bps": 0, "short_stack": "side_pot",
    }  # fmt: skip
    awards: Counter[int] = Counter()
    for number in range(2000):
        random = Random(number)
        stacks = (random.randint(700, 4000), *(random.randint(200, 4000) for _ in range(5)))
        hand = play_hand(Setup("faerbeln", opt, 6, stacks, 0, 6, shuffled(random)), random)
        assert sum(hand.stacks) == sum(stacks)
        awards[sum(move.why is Why.AWARD for move in hand.moves)] += 1
    assert min(awards[1], awards[2], awards[3], awards[4]) > 20, awards
