"""Every option of Färbeln: one test each, its limits, and what a table must set."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from engine.errors import CardNotInPack, OptionMissing, OptionOutOfRange, UnknownOption, UnsupportedVariant
from engine.kernel.cards import FRENCH32, TELL32
from engine.kernel.hand import Hand
from engine.registry import game_info
from engine.vying.faerbeln_rules import FaerbelnRules
from engine.vying.ranking import faerbeln_ranking
from tests.engine.support import amounts, forty_one, play, refused, stacked, verbs

SET: dict[str, object] = {"ante": 200, "lower": 500, "round2_unit": "lower", "bonus41": 0, "tax_cap": 700}


def first_round(
    seats: int = 3,
    *,
    stacks: tuple[int, ...] | None = None,
    deck: tuple[str, ...] = TELL32.cards,
    **opt: object,
) -> Hand:
    """p2 is to speak."""
    antes = [f"p{seat} po 200" for seat in range(1, seats + 1)]
    return play(forty_one(seats, opt=opt, stacks=stacks, deck=deck), *antes, "p1 po 500")


def second_round(*first: str, stacks: tuple[int, ...] | None = None, **opt: Any) -> Hand:
    """After ``first`` (or two calls), cards turned up: the first active seat is to speak."""
    hand = play(first_round(stacks=stacks, **opt), *(first or ("p2 cc 500", "p3 cc 500", "p1 k")))
    while verbs(hand) == ["up"]:
        seat = int((hand.actor or "")[1:])
        play(hand, f"p{seat} up {''.join(hand.cards_of(seat)[1:3])}")
    return hand


@pytest.mark.parametrize("name", sorted(SET))
def test_what_a_table_must_set(name: str):
    with pytest.raises(OptionMissing) as refusal:
        FaerbelnRules.parse({key: value for key, value in SET.items() if key != name}, 3)
    assert refusal.value.expected == {"option": name}


def test_an_unknown_option_is_refused():
    with pytest.raises(UnknownOption):
        FaerbelnRules.parse({**SET, "vizi": 100}, 3)


@pytest.mark.parametrize("opt", [{"short_stack": "must_fold"}, {"deal_model": "preassigned"}])
def test_a_variant_that_is_not_built_is_refused_by_name(opt: dict[str, object]):
    with pytest.raises(UnsupportedVariant) as refusal:
        FaerbelnRules.parse(SET | opt, 3)
    assert refusal.value.expected == {"option": next(iter(opt))}


@pytest.mark.parametrize("opt", [
    {"ante": 0}, {"lower": 0}, {"lower": True}, {"upper": 0}, {"upper": 499}, {"round2_unit": "both"}, {"raise_cap": 0},
    {"raise_cap": 1001}, {"cap_heads_up": -1}, {"forehand_option": 1}, {"forehand_option": "yes"}, {"check_allowed": 0},
    {"showdown": "never"}, {"bonus41": -1}, {"bonus41_for": "all"}, {"pack": "italian"}, {"tie": "split"},
    {"tax_bps": 10_001}, {"tax_cap": -1}, {"chip": 0}, {"ante": 10**16}, {"pack": ["tell"]}, {"points": 0},
    {"points": "no"},
])  # fmt: skip
def test_an_impossible_value_is_refused(opt: dict[str, object]):
    with pytest.raises(OptionOutOfRange):
        FaerbelnRules.parse(SET | opt, 3)


def test_every_default_may_also_be_named():
    rules = FaerbelnRules.parse(SET, 3)
    named = {
        field.name: getattr(rules, field.name)
        for field in dataclasses.fields(rules)
        if getattr(rules, field.name) is not None
    }
    assert FaerbelnRules.parse(named, 3) == rules
    assert rules.non_default == SET


class TestMoney:
    """Ante; first and second round."""

    def test_ante_is_what_every_seat_pays(self):
        hand = forty_one(opt={"ante": 300})
        assert amounts(hand, "po") == (300, 300)

    def test_lower_is_forehands_stake_and_the_unit_of_the_first_round(self):
        hand = play(forty_one(opt={"lower": 400}), *(f"p{seat} po 200" for seat in (1, 2, 3)))
        assert amounts(hand, "po") == (400, 400)
        play(hand, "p1 po 400")
        assert amounts(hand, "rb") == (400, 400)

    def test_round2_unit_lower(self):
        assert amounts(second_round(round2_unit="lower"), "rb") == (500, 500)

    def test_round2_unit_upper(self):
        hand = second_round(round2_unit="upper", upper=1000)
        assert amounts(hand, "rb") == (1000, 1000)
        assert amounts(play(hand, "p1 rb 1000"), "cc") == (1000, 1000)
        assert amounts(first_round(round2_unit="upper", upper=1000), "rb") == (500, 500)

    def test_upper_must_be_set_only_where_it_is_played_with(self):
        assert FaerbelnRules.parse(SET, 3).second_unit == 500
        with pytest.raises(OptionMissing) as refusal:
            FaerbelnRules.parse(SET | {"round2_unit": "upper"}, 3)
        assert refusal.value.expected == {"option": "upper"}

    def test_tax_bps_is_five_per_cent_unless_the_table_says_otherwise(self):
        for opt, tax in (({}, 105), ({"tax_bps": 1000}, 210), ({"tax_bps": 0}, 0)):
            hand = play(second_round(**opt), "p1 k", "p2 k", "p3 k")
            assert hand.result and hand.result.tax == tax

    def test_tax_cap_bounds_it_and_is_not_needed_without_tax(self):
        hand = play(second_round(tax_cap=100), "p1 k", "p2 k", "p3 k")
        assert hand.result and hand.result.tax == 100
        untaxed = {key: value for key, value in SET.items() if key != "tax_cap"} | {"tax_bps": 0}
        assert FaerbelnRules.parse(untaxed, 3).tax_cap is None

    def test_chip_is_what_tax_is_rounded_down_to(self):
        hand = play(second_round(chip=25), "p1 k", "p2 k", "p3 k")
        assert hand.result and hand.result.tax == 100

    def test_bonus41_is_what_the_house_pays(self):
        """In its printed order the pack deals p1 A K and 9 8 of acorns, no 41: see the section's own tests."""
        hand = play(second_round(bonus41=5000), "p1 k", "p2 k", "p3 k")
        assert hand.result and hand.result.bonus == (0, 0, 0)

    def test_bonus41_for_shown_hands_only(self):
        assert FaerbelnRules.parse(SET | {"bonus41_for": "shown"}, 3).bonus41_for == "shown"
        hand = alone(bonus41=5000)
        assert hand.result and hand.result.bonus == (0, 0, 0)


def alone(*, four: bool = True, deck: tuple[str, ...] | None = None, **opt: object) -> Hand:
    """p1 is left alone, holding a 41 in acorns (unless on another deck), with four cards or with two."""
    cards = deck or stacked("AaKa", "8b7l", "9h8h", "OaUa", "XbXl", "7h7b")
    antes = [f"p{seat} po 200" for seat in (1, 2, 3)]
    hand = play(forty_one(opt=opt, deck=cards), *antes, "p1 po 500")
    if not four:
        return play(hand, "p2 f", "p3 f")
    play(hand, "p2 cc 500", "p3 cc 500", "p1 k")
    for seat in (1, 2, 3):
        play(hand, f"p{seat} up {''.join(hand.cards_of(seat)[:2])}")
    return play(hand, "p1 rb 500", "p2 f", "p3 f")


class TestBonusUncontested:
    """Card combinations: a player with 41 points is paid by the house; Show down: the remaining player need not reveal
    the hand. With ``bonus41_for="uncontested"`` the player may, and is paid."""

    OPT: dict[str, object] = {"bonus41": 5000, "bonus41_for": "uncontested"}

    def test_a_41_shown_of_ones_own_will_is_paid_untaxed(self):
        hand = alone(**self.OPT)
        assert (hand.actor, verbs(hand)) == ("p1", ["sm", "k"])
        play(hand, "p1 sm AaKaOaUa")
        assert hand.result and hand.result.bonus == (5000, 0, 0)
        # 2,100 are in the pot and taxed with 105; the bet that nobody matched goes back.
        assert (hand.result.ending, hand.result.tax, hand.result.net) == ("uncontested", 105, (6295, -700, -700))

    def test_shown_cards_are_everybodys(self):
        hand = play(alone(**self.OPT), "p1 sm AaKaOaUa")
        assert hand.view("public")["seats"][0]["cards"] == ["Aa", "Ka", "Oa", "Ua"]  # type: ignore[index]

    def test_who_shows_nothing_is_not_paid_and_keeps_the_cards_hidden(self):
        hand = play(alone(**self.OPT), "p1 k")
        assert hand.result and (hand.result.bonus, hand.result.net) == ((0, 0, 0), (1295, -700, -700))
        assert hand.view("public")["seats"][0]["cards"] == ["??"] * 4  # type: ignore[index]

    def test_another_hand_may_be_shown_too_and_is_not_paid(self):
        deck = stacked("AaKa", "8b7l", "9h8h", "OaUl", "XbXl", "7h7b")
        hand = play(alone(deck=deck, **self.OPT), "p1 sm AaKaOaUl")
        assert hand.result and hand.result.bonus == (0, 0, 0)

    def test_only_the_hand_dealt_can_be_shown(self):
        hand = alone(**self.OPT)
        refused(hand, "p1 sm KaAaOaUa", "card_mismatch")
        refused(hand, "p1 sm AaKaOa", "wrong_count", count=4)
        refused(hand, "p2 sm 8b7lXbXl", "not_your_turn", actor="p1")
        refused(hand, "p1 f", "verb_not_legal", phase="reveal", verbs=["sm", "k"])

    def test_nobody_is_asked_with_two_cards_or_where_nothing_is_paid(self):
        assert alone(four=False, **self.OPT).over
        assert alone(bonus41=0, bonus41_for="uncontested").over
        assert alone(bonus41=5000).over

    def test_at_a_showdown_it_changes_nothing(self):
        hand = second_round(**self.OPT)
        assert play(hand, "p1 k", "p2 k", "p3 k").log[-1].startswith("p3 sm ")

    def test_in_physical_mode_the_cards_are_named_when_they_are_shown(self):
        hand = forty_one(opt=self.OPT, deck=None)
        lines = [*(f"p{seat} po 200" for seat in (1, 2, 3)), "p1 po 500", *(f"d dh p{seat} ????" for seat in (1, 2, 3))]
        lines += ["p2 cc 500", "p3 cc 500", "p1 k", *(f"d dh p{seat} ????" for seat in (1, 2, 3))]
        lines += ["p1 up AaUa", "p2 up 8b7l", "p3 up 9h8h", "p1 rb 500", "p2 f", "p3 f"]
        for line in lines:
            hand.apply(line)
        refused(hand, "p1 sm AaKaOaXa", "card_mismatch")
        refused(hand, "p1 sm AaKaUa8b", "card_already_dealt", card="8b")
        hand.apply("p1 sm AaKaOaUa")
        assert hand.result and hand.result.bonus == (5000, 0, 0)


class TestRaises:
    """First round: at most three raises."""

    @pytest.mark.parametrize("cap", [1, 2, 3])
    def test_raise_cap_with_more_than_two_players(self, cap: int):
        hand = first_round(5, raise_cap=cap)
        for seat in range(2, 2 + cap):
            assert "rb" in verbs(hand)
            play(hand, f"p{seat} rb 500")
        assert verbs(hand) == ["cc", "f"]

    def test_cap_heads_up_with_two_left(self):
        """Three raises bind "with more than two players": with 0, two players raise until a stack ends it."""
        hand = play(first_round(cap_heads_up=0), "p2 rb 500", "p3 f")
        for at in range(12):
            seat = 1 if at % 2 == 0 else 2
            assert hand.actor == f"p{seat}" and "rb" in verbs(hand)
            play(hand, f"p{seat} rb 500")
        hand = play(first_round(cap_heads_up=2), "p2 rb 500", "p3 f", "p1 rb 500")
        assert verbs(hand) == ["cc", "f"]

    def test_the_caps_change_places_when_a_third_player_drops_out(self):
        hand = play(first_round(cap_heads_up=4), "p2 rb 500", "p3 rb 500", "p1 rb 500")
        assert verbs(hand) == ["cc", "f"]
        play(hand, "p2 f")
        assert hand.actor == "p3" and verbs(hand) == ["cc", "f", "rb"]

    def test_forehand_option_off_closes_the_round_when_all_have_called(self):
        hand = play(first_round(forehand_option=False), "p2 cc 500", "p3 cc 500")
        assert verbs(hand) == ["up"]

    def test_forehand_option_off_still_lets_forehand_answer_a_raise(self):
        hand = play(first_round(forehand_option=False), "p2 cc 500", "p3 rb 500")
        assert hand.actor == "p1" and verbs(hand) == ["cc", "f", "rb"]

    def test_forehand_option_off_and_all_others_out(self):
        hand = play(first_round(forehand_option=False), "p2 f", "p3 f")
        assert hand.result and hand.result.net == (370, -200, -200)

    def test_check_allowed_off_means_bet_or_drop_out(self):
        hand = second_round(check_allowed=False)
        assert verbs(hand) == ["f", "rb"]
        play(hand, "p1 f", "p2 rb 500")
        assert hand.actor == "p3" and verbs(hand) == ["cc", "f", "rb"]

    def test_check_allowed_off_leaves_forehand_its_option_in_the_first_round(self):
        assert verbs(play(first_round(check_allowed=False), "p2 cc 500", "p3 cc 500")) == ["f", "k", "rb"]

    def test_check_allowed_off_where_no_bet_is_possible(self):
        hand = second_round(check_allowed=False, stacks=(10_000, 700, 10_000))
        assert verbs(hand) == ["f", "k"]
        assert play(hand, "p1 k", "p2 k", "p3 k").over

    def test_check_allowed_on(self):
        assert verbs(second_round()) == ["f", "k", "rb"]


class TestShowdown:
    """Show down: a stake that is paid without raising it, by a player entitled to raise."""

    def test_equal_stakes_a_call_only_closes_the_round_when_all_are_level(self):
        hand = play(second_round(), "p1 rb 500", "p2 cc 500")
        assert hand.actor == "p3" and verbs(hand) == ["cc", "f", "rb"]
        play(hand, "p3 rb 500", "p1 cc 500", "p2 rb 500", "p3 cc 500", "p1 cc 500")
        assert hand.over

    def test_any_call_ends_the_raising_of_the_second_round(self):
        hand = play(second_round(showdown="any_call"), "p1 rb 500", "p2 cc 500")
        assert hand.actor == "p3" and verbs(hand) == ["cc", "f"]
        play(hand, "p3 cc 500")
        assert hand.over and hand.result and hand.result.ending == "showdown"

    def test_any_call_leaves_the_first_round_as_it_is(self):
        hand = play(first_round(showdown="any_call"), "p2 cc 500")
        assert verbs(hand) == ["cc", "f", "rb"]

    def test_any_call_does_not_mean_waiting_nor_a_raise(self):
        hand = play(second_round(showdown="any_call"), "p1 k", "p2 rb 500", "p3 rb 500")
        assert hand.actor == "p1" and verbs(hand) == ["cc", "f", "rb"]

    def test_any_call_needs_a_player_who_was_entitled_to_raise(self):
        """With two left at the common cap nobody was; when the caps allow it again, the raising goes on."""
        opt: dict[str, object] = {"showdown": "any_call", "raise_cap": 1, "cap_heads_up": 3}
        hand = play(second_round(**opt), "p1 rb 500")
        assert verbs(hand) == ["cc", "f"]
        play(hand, "p2 f")
        assert hand.actor == "p3" and verbs(hand) == ["cc", "f", "rb"]

    def test_tie_has_only_one_reading(self):
        assert FaerbelnRules.parse(SET | {"tie": "forehand"}, 3).tie == "forehand"


def shown_down(*batches: str, **opt: object) -> Hand:
    """A showdown of three seats that hold two batches each, the first batch of each seat first."""
    hand = second_round(deck=stacked(*batches), **opt)
    return play(hand, "p1 k", "p2 k", "p3 k")


class TestPoints:
    """Rules: the traditional version lacks the combination Points, so no other card of a lower hand counts."""

    PAIR = ("7a8l", "KbKh", "AaAl", "9bXh", "7b9h", "8h7l")
    """p1 has one of each suit, p2 two kings, p3 two aces."""

    def test_points_are_played_unless_the_table_says_otherwise(self):
        for opt in ({}, {"points": True}):
            assert shown_down(*self.PAIR, **opt).result.winner == 3  # type: ignore[union-attr]

    def test_without_points_the_seat_nearest_to_forehand_wins_below_the_three_card_flush(self):
        assert shown_down(*self.PAIR, points=False).result.winner == 1  # type: ignore[union-attr]
        hand = play(first_round(deck=stacked(*self.PAIR), points=False), "p2 cc 500", "p3 cc 500", "p1 f")
        while verbs(hand) == ["up"]:
            play(hand, f"{hand.actor} up {''.join(hand.cards_of(int((hand.actor or '')[1:]))[:2])}")
        assert play(hand, "p2 k", "p3 k").result.winner == 2  # type: ignore[union-attr]

    def test_without_points_a_three_card_flush_still_beats_what_is_none(self):
        lowest = ("AaAl", "9b8b", "7aXh", "KbKh", "7b9l", "8h7l")
        assert shown_down(*lowest, points=False).result.winner == 2  # type: ignore[union-attr]

    def test_without_points_the_hands_below_are_one_class(self):
        ranking = faerbeln_ranking(TELL32, points=False)
        plain = faerbeln_ranking(TELL32)
        assert ranking.rank(("Aa", "Al", "8b", "7h")).category == "no combination"
        for hand, key in plain.keys.items():
            assert ranking.keys[hand] == (key if key >= 100 else 0)
        assert ranking is faerbeln_ranking(TELL32, points=False)
        assert plain is faerbeln_ranking(TELL32, points=True)


class TestPackAndStacks:
    """General: a French or a Double German pack. Stacks: the text is silent."""

    def test_pack_tell_is_the_usual_one(self):
        assert game_info("faerbeln").pack_for({}) is TELL32
        assert first_round().view("public")["options"] == SET | {"upper": 1000}

    def test_pack_french(self):
        assert game_info("faerbeln").pack_for({"pack": "french"}) is FRENCH32
        hand = forty_one(opt={"pack": "french"}, deck=FRENCH32.cards)
        play(hand, "p1 po 200", "p2 po 200", "p3 po 200", "p1 po 500")
        assert hand.cards_of(1) == ("Ac", "Kc")
        with pytest.raises(CardNotInPack):
            forty_one(opt={"pack": "french"})
        with pytest.raises(CardNotInPack):
            forty_one(deck=FRENCH32.cards)

    @pytest.mark.parametrize("named", ["italian", 7, ["tell"], None])
    def test_a_pack_that_is_not_one_is_refused_by_the_options_not_by_the_look_up(self, named: object):
        assert game_info("faerbeln").pack_for({"pack": named}) is TELL32

    def test_ferbli_has_one_pack(self):
        assert game_info("ferbli").pack_for({"pack": "french"}) is TELL32

    def test_short_stack_cap_bet(self):
        """No raise that the poorest active seat could not match; when it drops out, raising goes on."""
        hand = first_round(4, stacks=(10_000, 10_000, 1000, 10_000))
        assert verbs(hand) == ["cc", "f"]
        play(hand, "p2 cc 500", "p3 f")
        assert verbs(hand) == ["cc", "f", "rb"]

    def test_deal_model_draw_who_drops_out_changes_who_gets_what(self):
        all_in = play(first_round(), "p2 cc 500", "p3 cc 500", "p1 k")
        without = play(first_round(), "p2 f", "p3 cc 500", "p1 k")
        assert all_in.cards_of(3) == ("Xa", "9a", "Ol", "Ul") == TELL32.cards[4:6] + TELL32.cards[10:12]
        assert without.cards_of(3) == ("Xa", "9a", "Al", "Kl")
