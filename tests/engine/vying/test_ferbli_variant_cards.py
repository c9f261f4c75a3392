"""Ferbli, "Variations" that change what a hand is worth or how much may be bet: grigáré, wild cards, other limits; and
the one that is not built, the combined second and third round."""

from __future__ import annotations

import pytest

from engine.errors import OptionOutOfRange, UnsupportedVariant
from engine.kernel.hand import Hand
from engine.registry import resolve
from tests.engine.support import amounts, play, refused, stacked, table, to_third_round, verbs

THREE_KINGS = ("KaKl", "Kb8h")
SEQUENCE = ("7h8b", "9lXa")
BANDA = ("KhUh", "9hXh")
KIS = ("7a8l", "9bXh")
NAGY = ("UaOl", "KbAh")
FOUR_OVERS = ("OaOl", "ObOh")
TWO_ACES = ("AaAl", "7b9h")
WILD_HEARTS = ("AhKh", "XhOa")
BELLS_41 = ("AbKb", "ObUb")


def winner(first: tuple[str, str], second: tuple[str, str], **opt: object) -> int:
    """Who wins a showdown of two hands, p1 holding the first."""
    deck = stacked(first[0], second[0], first[1], second[1])
    hand = to_third_round(table(2, opt=opt, deck=deck), 2)
    play(hand, "p1 lk 2", "p1 rb 100", "p2 lk 2", "p2 cc 100", "p2 st")
    assert hand.result and hand.result.ending == "showdown"
    return hand.result.winner


class TestGrigare:
    """Variations, "Grigáré": four consecutive cards of four suits, below banda and above three of a kind; or only two
    such hands, small and big, both above everything else."""

    def test_off_a_sequence_is_nothing(self):
        assert winner(THREE_KINGS, SEQUENCE) == 1

    def test_general_it_beats_three_of_a_kind(self):
        assert winner(THREE_KINGS, SEQUENCE, grigare="general") == 2

    def test_general_it_loses_to_a_banda(self):
        assert winner(SEQUENCE, BANDA, grigare="general") == 2

    def test_general_of_two_the_higher_top_card_wins_and_of_equals_the_first(self):
        assert winner(SEQUENCE, ("XbUl", "OhKa"), grigare="general") == 2
        assert winner(SEQUENCE, ("7l8a", "9hXb"), grigare="general") == 1
        assert winner(("7l8a", "9hXb"), SEQUENCE, grigare="general") == 1

    def test_kis_is_the_highest_of_all_and_nagy_the_second(self):
        assert winner(NAGY, KIS, grigare="kis_nagy") == 2
        assert winner(("OhOb", "OaUl"), NAGY, grigare="kis_nagy") == 2

    @pytest.mark.parametrize("special", [KIS, ("UaOl", "KbAh")])
    def test_both_beat_four_of_a_kind(self, special: tuple[str, str]):
        four = ("8a8l", "8b8h") if special == NAGY else FOUR_OVERS
        assert winner(four, special, grigare="kis_nagy") == 2
        assert winner(four, special) == 1

    def test_a_wild_card_is_itself_in_a_sequence_unless_it_may_be_any_needed_card(self):
        wild: dict[str, object] = {"wild": ["Oa"], "grigare": "general"}
        three, needed = ("7b7l", "7hKa"), ("8b9h", "OaXl")
        assert winner(three, needed, **wild) == 1
        assert winner(three, needed, **wild, grigare_wild="natural") == 1
        assert winner(three, needed, **wild, grigare_wild="substitute") == 2

    def test_with_kis_nagy_other_sequences_are_nothing(self):
        assert winner(TWO_ACES, SEQUENCE, grigare="kis_nagy") == 1


class TestWildCards:
    """Variations, "Sánta" and the wild tens and sevens: a wild card replaces any card that is needed, and counts eleven
    among cards of one suit."""

    def test_the_santa_makes_a_banda_of_42(self):
        assert winner(BELLS_41, WILD_HEARTS) == 1
        assert winner(BELLS_41, WILD_HEARTS, wild=["Oa"]) == 2

    def test_a_natural_hand_is_no_better_than_one_with_a_wild_card(self):
        assert winner(("KaKl", "Oa8h"), ("KbKh", "9l7a"), wild=["Oa"]) == 1
        three = ("XaXl", "Xb7h")
        assert winner(("8a8l", "Oa9h"), three, wild=["Oa"]) == 2

    def test_four_wild_tens(self):
        assert winner(("AaAl", "XaXl"), ("KaKl", "KbKh"), wild=["Xa", "Xl", "Xb", "Xh"]) == 1
        assert winner(("AaAl", "XaXl"), ("KaKl", "KbKh")) == 2

    def test_any_set_of_cards_may_be_wild(self):
        odd = ["Ah", "9l", "7b"]
        assert winner(("KaOa", "9l7b"), ("8a8l", "8b8h"), wild=odd) == 2
        assert winner(("KaKh", "9l7b"), ("8a8l", "8b8h"), wild=odd) == 1

    @pytest.mark.parametrize(("name", "seats", "cards"), [
        ("santa", 2, ["Oa"]),
        ("santa", 7, ["Oa"]),
        ("tens", 5, ["Xa", "Xl", "Xb", "Xh"]),
        ("tens_santa", 4, ["Xa", "Xl", "Xb", "Xh"]),
        ("tens_santa", 5, ["Oa", "Xa", "Xl", "Xb", "Xh"]),
        ("sevens", 4, None),
        ("sevens", 5, ["7h"]),
        ("sevens", 6, ["7h", "7l"]),
        ("sevens", 7, ["7h", "7l", "7a"]),
    ])  # fmt: skip
    def test_a_table_names_its_wild_cards_and_a_hand_lists_them(self, name: str, seats: int, cards: list[str] | None):
        found = resolve("ferbli", {"vizi": 100, "wild": name}, seats)
        assert found == {"vizi": 100} | ({} if cards is None else {"wild": cards})
        assert not table(seats, opt=found).over

    def test_a_list_and_other_options_are_left_as_they_are(self):
        opt: dict[str, object] = {"vizi": 100, "wild": ["Ah"], "cuhhol": True}
        assert resolve("ferbli", opt, 5) == opt
        assert resolve("faerbeln", {"ante": 200}, 5) == {"ante": 200}

    def test_a_name_that_is_none_is_refused(self):
        with pytest.raises(OptionOutOfRange) as refusal:
            resolve("ferbli", {"wild": "kings"}, 4)
        assert refusal.value.expected == {"choices": ["santa", "tens", "tens_santa", "sevens", "a list of cards"]}

    @pytest.mark.parametrize("wild", ["santa", ["Oa", "Oa"], ["Qs"], ["??"], ["oa"], [""], "Oa"])
    def test_in_a_hand_wild_cards_are_cards_of_the_pack_each_once(self, wild: object):
        with pytest.raises(OptionOutOfRange):
            table(2, opt={"wild": wild})

    @pytest.mark.parametrize(("wild", "goes_on"), [
        (["Oa"], True), (["Oa", "Xa", "Xl", "Xb", "Xh"], True), (["Xa", "Xl", "Xb", "Xh"], False), (["7h"], False),
    ])  # fmt: skip
    def test_with_a_santa_two_are_enough_whatever_the_number_of_players(self, wild: list[str], goes_on: bool):
        hand = play(table(5, opt={"wild": wild}), "p1 po 100", "p2 cc 100", "p3 f", "p4 f", "p5 f")
        assert hand.over is not goes_on

    def test_min_active_of_the_table_comes_before_the_santas(self):
        hand = play(table(4, opt={"wild": ["Oa"], "min_active": 3}), "p1 po 100", "p2 cc 100", "p3 f", "p4 f")
        assert hand.over

    def test_even_with_a_santa_the_first_player_alone_does_not_win(self):
        hand = play(table(3, opt={"wild": ["Oa"]}), "p1 po 100", "p2 f", "p3 f")
        assert hand.result and hand.result.ending == "cukassza"


def after_besszer(limit: str, by: int, **opt: object) -> Hand:
    """Two seats; p1 raises by ``by`` and p2 matches; p2 may charge."""
    hand = play(table(2, opt={"limit": limit, **opt}), "p1 po 100", "p2 cc 100")
    return play(hand, f"p1 rb {by}", f"p2 cc {by}")


class TestLimits:
    """Variations: with a sánta three times the largest bet; Unlimited Ferbli without an upper limit."""

    def test_triple_is_three_times_the_largest_bet_in_every_round(self):
        hand = play(table(2, opt={"limit": "triple"}), "p1 po 100", "p2 cc 100")
        assert amounts(hand, "rb") == (100, 300)
        refused(hand, "p1 rb 400", "amount_out_of_range", min=100, max=300, step=100)
        play(hand, "p1 rb 300", "p2 cc 300")
        assert amounts(hand, "ks") == (100, 900)
        play(hand, "p2 ks 900 p1", "p1 lk 1", "p1 cc 900", "p2 k")
        assert amounts(hand, "rb") == (100, 2700)

    @pytest.mark.parametrize(("opt", "most"), [
        ({}, 200), ({"limit": "triple"}, 300), ({"limit": "none"}, 9900),
        ({"limit": "triple", "bet_unit": "chip", "chip": 50}, 300), ({"limit": "none", "table_max": 700}, 700),
        ({"limit": "triple", "table_max": 200}, 200), ({"limit": "none", "short_stack": "side_pot"}, 9900),
        ({"limit": "triple", "short_stack": "side_pot"}, 300),
    ])  # fmt: skip
    def test_a_besszer_follows_the_limit_whatever_was_carried_in(self, opt: dict[str, object], most: int):
        """Second round of betting: two vizi is the usual limit, since the vizi is the largest bet so far."""
        hand = play(table(2, opt=opt, carry=5000), "p1 po 100", "p2 cc 100")
        assert amounts(hand, "rb") == (100, most)
        refused(hand, f"p1 rb {most + 100}", "amount_out_of_range", min=100, max=most)
        assert amounts(play(hand, f"p1 rb {most}"), "cc") == (most, most)

    def test_none_leaves_only_the_stacks(self):
        hand = play(table(2, opt={"limit": "none"}, stacks=(10_000, 7050)), "p1 po 100", "p2 cc 100")
        assert amounts(hand, "rb") == (100, 6900)
        refused(hand, "p1 rb 7000", "amount_out_of_range", min=100, max=6900, step=100)
        play(hand, "p1 rb 100", "p2 cc 100")
        assert amounts(hand, "ks") == (100, 6800)
        play(hand, "p2 k")
        assert amounts(hand, "rb") == (100, 6800)

    def test_none_and_the_maximum_that_the_table_has_agreed_on(self):
        assert amounts(after_besszer("none", 100, table_max=1500), "ks") == (100, 1500)
        assert amounts(after_besszer("triple", 300, table_max=500), "ks") == (100, 500)

    def test_double_is_the_default(self):
        assert amounts(play(table(2), "p1 po 100", "p2 cc 100"), "rb") == (100, 200)

    def test_a_limit_goes_with_any_wild_cards(self):
        """The text speaks of the triple limit where there is a sánta, as a custom and not as a rule."""
        hand = play(table(2, opt={"limit": "triple", "wild": ["Oa"]}), "p1 po 100", "p2 cc 100")
        assert amounts(hand, "rb") == (100, 300)


def test_combined_rounds_are_refused_by_name():
    """Variations: the version with the second and third rounds combined is not clear to the text itself."""
    with pytest.raises(UnsupportedVariant) as refusal:
        table(2, opt={"combined_rounds": True})
    assert (refusal.value.code, refusal.value.expected) == ("unsupported_variant", {"option": "combined_rounds"})
    assert verbs(table(2, opt={"combined_rounds": False})) == ["po"]
