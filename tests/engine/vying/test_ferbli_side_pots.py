"""Ferbli with side pots (option ``short_stack``, table stakes): the text is silent about short stacks."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from engine.errors import StackTooShort
from engine.kernel.hand import Hand
from engine.kernel.purse import Move, Why
from engine.kernel.setup import Setup
from engine.registry import start
from tests.engine.chance import Players
from tests.engine.support import amounts, play, refused, shuffled, stacked, table, verbs

DECK = stacked("Kl8b", "Ah7l", "XlOb", "Xb7b", "KhOl", "9a9l")
"""Of three seats all in: p1 holds three bells worth 25, p2 two hearts worth 21, p3 two leaves worth 19."""


def joined(*stacks: int, carry: int = 0, deck: tuple[str, ...] = DECK, **opt: object) -> Hand:
    """Everyone has paid the vizi."""
    hand = table(len(stacks), opt={"short_stack": "side_pot", **opt}, stacks=stacks, carry=carry, deck=deck)
    return play(hand, "p1 po 100", *(f"p{seat} cc 100" for seat in range(2, len(stacks) + 1)))


def out_of_the_pot(hand: Hand) -> list[tuple[str, int, int]]:
    """What left the pot: kind, seat, amount."""
    into = (Why.STAKE, Why.PENALTY, Why.CARRY_IN)
    return [(str(move.why), move.seat, move.amount) for move in hand.moves if move.why not in into]


class TestStakes:
    """A seat owes at most what it has, and bets at most what it has beyond that."""

    def test_every_stack_covers_the_vizi(self):
        with pytest.raises(StackTooShort) as refusal:
            joined(500, 99)
        assert refusal.value.expected == {"seat": 2, "min": 100}

    def test_a_bet_is_matched_with_all_that_is_left(self):
        hand = play(joined(5000, 250, 5000), "p1 rb 200")
        assert (hand.actor, verbs(hand), amounts(hand, "cc")) == ("p2", ["cc", "f"], (150, 150))
        refused(hand, "p2 cc 200", "amount_out_of_range", min=150, max=150)
        play(hand, "p2 cc 150")
        assert hand.stacks[1] == 0 and hand.view("public")["seats"][1]["owes"] == 0  # type: ignore[index]

    def test_the_poorest_seat_caps_no_bet(self):
        assert amounts(joined(5000, 100, 5000), "rb") == (100, 200)

    def test_a_bet_is_a_vizi_at_least_and_no_more_than_ones_own(self):
        assert amounts(joined(250, 5000), "rb") == (100, 100)
        assert verbs(joined(199, 5000)) == ["k"]

    def test_a_blind_raise_is_what_is_left_beyond_what_is_owed(self):
        hand = play(joined(5000, 450, 5000), "p1 k", "p1 rb 200")
        assert amounts(hand, "br") == (100, 100)  # of the 350 left 200 are owed

    def test_a_bet_needs_another_seat_with_chips(self):
        hand = play(joined(5000, 100, 5000), "p1 rb 100", "p3 f")
        assert hand.actor is None  # p2 has no chips: the cards are shown
        assert hand.result and hand.result.ending == "showdown"


class TestWhoIsAsked:
    """A seat without chips has no line, nor one that owes nothing and has nobody to bet with."""

    def test_seats_without_chips_are_passed_over_but_show(self):
        hand = play(joined(5000, 100, 5000), "p1 k")
        assert hand.actor == "p1"
        play(hand, "p1 lk 2", "p1 rb 100")
        assert hand.actor == "p3"
        play(hand, "p3 lk 2", "p3 cc 100", "p3 st")
        assert [line.split()[0] for line in hand.log if " sm " in line] == ["p1", "p2", "p3"]

    def test_nobody_is_asked_and_the_cards_are_shown(self):
        hand = joined(100, 100, 5000)
        assert hand.result and (hand.result.ending, hand.result.net) == ("showdown", (200, -100, -100))
        assert not [line for line in hand.log if line.endswith(" k")]

    def test_the_first_player_without_chips_is_not_asked_for_a_besszer(self):
        assert joined(100, 5000, 5000).actor == "p2"  # in the third round: four cards are dealt

    def test_some_are_asked_and_all_check(self):
        """The seat without chips has not checked, so not everyone has: the cards are shown."""
        hand = play(joined(5000, 100, 5000), "p1 k", "p1 k", "p3 k")
        assert [line.split()[0] for line in hand.log if " sm " in line] == ["p1", "p2", "p3"]
        assert hand.result and (hand.result.ending, hand.result.carry_out) == ("showdown", 0)
        assert hand.result.net == (200, -100, -100)

    def test_a_seat_without_chips_that_has_folded_is_no_reason_to_show(self):
        hand = play(joined(5000, 300, 5000), "p1 rb 200", "p2 cc 200", "p3 cc 200", "p3 k", "p1 k", "p3 k")
        assert hand.result and hand.result.ending == "showdown"
        hand = play(joined(5000, 200, 5000), "p1 rb 200", "p2 f", "p3 cc 200", "p3 k", "p1 k", "p3 k")
        assert hand.result and hand.result.ending == "all_checked"

    def test_a_few_chips_left_are_not_all_in(self):
        hand = play(joined(5000, 150, 5000), "p1 k", "p1 k", "p2 k", "p3 k")
        assert hand.result and (hand.result.ending, hand.result.carry_out) == ("all_checked", 300)

    def test_the_last_word_passes_a_matcher_who_is_out_of_chips(self):
        hand = play(joined(5000, 5000, 300), "p1 k", "p1 lk 2", "p1 rb 200", "p2 lk 2", "p2 cc 200", "p3 cc 200")
        assert (hand.actor, verbs(hand)) == ("p2", ["rb", "st"])
        play(hand, "p2 rb 100")
        assert hand.actor == "p1"

    def test_no_matcher_with_chips_no_last_word(self):
        hand = play(joined(5000, 300, 300), "p1 k", "p1 lk 2", "p1 rb 200", "p2 cc 200", "p3 cc 200")
        assert hand.result and hand.result.ending == "showdown"

    def test_a_blind_bet_need_not_be_raised_by_who_cannot(self):
        hand = play(joined(5000, 5000, 300), "p1 k", "p1 rb 200", "p2 f", "p3 cc 200")
        assert hand.result and hand.result.ending == "showdown"
        hand = play(joined(5000, 350), "p1 k", "p1 rb 200", "p2 cc 200")
        assert verbs(hand) == ["lk", "st"]  # 50 left are no vizi

    def test_a_compulsory_raise_is_answered_with_what_is_left(self):
        hand = play(joined(5000, 450), "p1 k", "p1 rb 200", "p2 cc 200", "p2 rb 100", "p1 cc 100")
        assert verbs(hand) == ["lk", "rb"]
        play(hand, "p1 rb 100")
        assert amounts(hand, "cc") == (50, 50)
        play(hand, "p2 cc 50")
        assert out_of_the_pot(hand)[0] == ("returned", 1, 50)


class TestNobodyCanBet:
    """A bet is never less than the vizi: where no stack reaches, the cards are shown at once."""

    def test_stacks_below_a_vizi_are_not_asked_to_check(self):
        hand = play(joined(150, 199, 100), "p1 k")
        assert hand.result and (hand.result.ending, hand.result.carry_out) == ("showdown", 0)
        assert [line.split()[1] for line in hand.log[-3:]] == ["sm"] * 3

    def test_one_stack_that_reaches_is_enough_for_all_to_be_asked(self):
        hand = play(joined(150, 150, 200), "p1 k")
        assert (hand.actor, verbs(hand)) == ("p1", ["lk", "k"])
        play(hand, "p1 k", "p2 k")
        assert (hand.actor, amounts(hand, "rb")) == ("p3", (100, 100))


class TestCharging:
    """Charging with empty stacks."""

    def test_a_charger_out_of_chips_charges_no_more(self):
        hand = play(joined(5000, 5000, 400), "p1 rb 100", "p2 cc 100", "p3 cc 100", "p3 ks 200 p1", "p1 cc 200")
        play(hand, "p2 cc 200")
        assert hand.stacks[2] == 0
        assert (hand.actor, verbs(hand)) == ("p1", ["lk", "k", "rb"])  # the rest was dealt free

    def test_a_last_player_without_chips_charges_nobody(self):
        hand = play(joined(5000, 5000, 200), "p1 rb 100", "p2 cc 100", "p3 cc 100")
        assert (hand.actor, verbs(hand)) == ("p1", ["lk", "k", "rb"])

    def test_a_charged_seat_without_chips_gets_its_cards_and_does_not_answer(self):
        hand = play(joined(200, 5000, 5000), "p1 rb 100", "p2 cc 100", "p3 cc 100")
        hand.apply("p3 ks 200 p1")
        hand.apply(hand.forced() or "")
        assert len(hand.cards_of(1)) == 4
        assert (hand.actor, verbs(hand)) == ("p2", ["cc", "f"])

    def test_a_charge_is_paid_with_all_that_is_left(self):
        hand = play(joined(350, 5000, 5000), "p1 rb 100", "p2 cc 100", "p3 cc 100", "p3 ks 200 p1")
        assert (hand.actor, amounts(hand, "cc")) == ("p1", (150, 150))

    def test_a_trace_horse_without_chips_does_not_charge_back(self):
        hand = play(joined(400, 5000), "p1 rb 100", "p2 cc 100", "p2 ks 100 p1", "p1 cc 100", "p2 ks 100 p1")
        play(hand, "p1 cc 100")
        assert hand.result and hand.result.ending == "showdown"


class TestPots:
    """Main pot and side pots, each to the best hand that competes for it."""

    def test_several_pots(self):
        hand = play(joined(300, 600, 5000), "p1 rb 200", "p2 cc 200", "p3 cc 200", "p3 ks 400 p1", "p2 cc 300")
        assert out_of_the_pot(hand) == [("returned", 3, 100), ("award", 1, 900), ("award", 2, 600)]
        assert hand.result and (hand.result.winner, hand.result.net) == (1, (600, 0, -600))

    def test_money_carried_in_belongs_to_the_main_pot(self):
        hand = play(joined(100, 5000, 5000, carry=777), "p2 lk 2", "p2 rb 200", "p3 cc 200", "p3 lk 2", "p3 st")
        assert out_of_the_pot(hand) == [("award", 1, 1077), ("award", 2, 400)]

    def test_tax_is_taken_once_from_all_that_is_won_the_main_pot_first(self):
        opt: dict[str, object] = {"tax_bps": 500, "tax_cap": 60}
        lines = ("p2 lk 2", "p2 rb 200", "p3 cc 200", "p3 lk 2", "p3 st")
        hand = play(joined(100, 5000, 5000, carry=700, **opt), *lines)
        assert out_of_the_pot(hand) == [("award", 1, 1000 - 50), ("award", 2, 400 - 10), ("tax", 0, 60)]
        assert hand.result and hand.result.tax == 60

    def test_tax_is_rounded_down_to_the_chip_once(self):
        opt: dict[str, object] = {"tax_bps": 500, "tax_cap": 1000, "chip": 25}
        hand = play(joined(100, 5000, 5000, **opt), "p2 lk 2", "p2 rb 200", "p3 cc 200", "p3 lk 2", "p3 st")
        assert out_of_the_pot(hand) == [("award", 1, 300), ("award", 2, 400 - 25), ("tax", 0, 25)]

    def test_what_nobody_matched_goes_back_untaxed(self):
        opt: dict[str, object] = {"tax_bps": 1000, "tax_cap": 1000}
        hand = play(joined(5000, 150, **opt), "p1 rb 200", "p2 cc 50")
        assert out_of_the_pot(hand) == [("returned", 1, 150), ("award", 1, 270), ("tax", 0, 30)]

    def test_a_seat_that_folded_has_paid_into_the_layers_it_reached(self):
        hand = play(joined(200, 5000, 5000), "p1 rb 100", "p2 cc 100", "p3 cc 100", "p3 k", "p2 lk 2", "p2 rb 200")
        play(hand, "p3 f")
        # p1 and p2 have staked 200 and 400, p3 200 before it folded: nobody matched p2's last 200.
        assert out_of_the_pot(hand) == [("returned", 2, 200), ("award", 1, 600)]

    def test_equal_hands_the_first_in_order_of_showing_wins_each_pot(self):
        deck = stacked("AaAl", "AbAh", "8b7l", "8a9b", "KaKl", "9l7h")
        hand = joined(300, 300, 5000, deck=deck)
        play(hand, "p1 k", "p1 lk 2", "p1 rb 200", "p2 cc 200", "p3 cc 200")
        assert out_of_the_pot(hand) == [("award", 1, 900)]

    def test_a_cukassza_with_side_pots_is_carried_out_whole(self):
        hand = play(joined(250, 5000, 5000), "p1 rb 100", "p2 cc 100", "p3 cc 100", "p3 k", "p1 k", "p2 k", "p3 k")
        assert hand.result and (hand.result.ending, hand.result.carry_out) == ("all_checked", 600)


def test_random_hands_make_up_to_as_many_pots_as_there_are_seats():
    """Each pot is one award; the table's money stays the table's."""
    awards: Counter[int] = Counter()
    for number in range(2000):
        random = Random(number)
        stacks = tuple(random.randint(100, 2000) for _ in range(6))
        opt: dict[str, object] = {"vizi": 100, "short_stack": "side_pot"}
        hand, players = start(Setup("ferbli", opt, 6, stacks, 0, 6, shuffled(random))), Players(random)
        while not hand.over:
            players.play_on(hand)
        assert hand.result and sum(hand.stacks) + hand.result.carry_out == sum(stacks)
        awards[sum(isinstance(move, Move) and move.why is Why.AWARD for move in hand.moves)] += 1
    assert min(awards[1], awards[2], awards[3]) > 20, awards
