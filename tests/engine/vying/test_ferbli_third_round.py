"""Ferbli's third round, blind betting and showdown, section by section of the rules text."""

from __future__ import annotations

import pytest

from engine.errors import AmountOutOfRange, VerbNotLegal, WrongCount
from tests.engine.support import amounts, play, stacked, table, to_third_round, verbs


class TestThirdRound:
    """Third betting round - hívás and visszahívás."""

    def test_the_first_active_seat_bets_one_vizi_to_twice_the_largest_bet(self):
        hand = to_third_round(table(3), 2, 3)
        assert amounts(hand, "rb") == (100, 200)
        besszer = play(table(2), "p1 po 100", "p2 cc 100", "p1 rb 200", "p2 cc 200", "p2 k")
        assert amounts(besszer, "rb") == (100, 400)

    def test_the_limit_follows_the_largest_bet_not_the_last(self):
        """Deal and Betting: bets of 2, 4 and 1 vizi allow up to 8."""
        hand = play(table(2), "p1 po 100", "p2 cc 100", "p1 rb 200", "p2 cc 200", "p2 ks 400 p1", "p1 lk 1")
        assert amounts(play(hand, "p1 cc 400"), "ks") == (100, 800)
        assert amounts(play(hand, "p2 ks 100 p1", "p1 cc 100"), "ks") == (100, 800)

    def test_after_a_fold_of_the_first_player_the_next_active_seat_is_first(self):
        hand = play(table(3), "p1 po 100", "p2 cc 100", "p3 cc 100", "p1 rb 100", "p2 cc 100", "p3 cc 100")
        play(hand, "p3 ks 100 p1", "p1 f", "p2 cc 100", "p3 k")
        assert hand.actor == "p2"

    def test_all_check_nobody_wins_and_who_has_no_vizi_in_pays_one(self):
        hand = play(to_third_round(table(4), 2, 4), "p1 k", "p2 k", "p4 k")
        assert hand.result and hand.result.net == (-100, -100, -100, -100)
        assert (hand.result.carry_out, hand.result.ending) == (400, "all_checked")

    def test_a_seat_that_checked_may_only_call_or_fold(self):
        hand = play(to_third_round(table(3), 2, 3), "p1 lk 2", "p1 k", "p2 lk 2", "p2 rb 100", "p3 f")
        assert (hand.actor, verbs(hand)) == ("p1", ["cc", "f"])

    def test_only_the_last_matcher_may_raise_and_all_others_answer(self):
        hand = to_third_round(table(4), 2, 3, 4)
        play(hand, "p1 k", "p2 lk 2", "p2 rb 100", "p3 cc 100", "p4 f", "p1 lk 2", "p1 cc 100")
        assert (hand.actor, verbs(hand)) == ("p1", ["rb", "st"])
        play(hand, "p1 rb 200")
        assert hand.actor == "p2"
        play(hand, "p2 cc 200", "p3 f")
        assert (hand.actor, verbs(hand)) == ("p2", ["rb", "st"])

    def test_the_last_survivor_wins_without_showing(self):
        hand = play(to_third_round(table(3), 2, 3), "p1 lk 2", "p1 rb 200", "p2 f", "p3 f")
        assert hand.result and hand.result.net == (200, -100, -100)
        assert not any(" sm " in line for line in hand.log)

    def test_a_raise_that_everyone_folds_is_returned(self):
        hand = play(to_third_round(table(2), 2), "p1 lk 2", "p1 rb 100", "p2 cc 100", "p2 rb 200", "p1 f")
        assert hand.result and hand.result.net == (-200, 200)


class TestBlindBetting:
    """Blind betting - vakon hívás."""

    def test_the_last_matcher_of_a_blind_bet_must_raise_and_may_not_fold(self):
        hand = play(to_third_round(table(3), 2, 3), "p1 rb 100", "p2 cc 100", "p3 lk 2", "p3 cc 100")
        assert (hand.actor, verbs(hand)) == ("p3", ["rb"])
        for line in ("p3 st", "p3 f"):
            with pytest.raises(VerbNotLegal):
                hand.apply(line)

    def test_a_seen_raise_ends_blind_betting(self):
        hand = play(to_third_round(table(2), 2), "p1 rb 100", "p2 lk 2", "p2 cc 100", "p2 rb 100")
        assert verbs(hand) == ["lk", "cc", "f"]  # p1 is still blind but can no longer raise blind
        play(hand, "p1 cc 100")
        assert verbs(hand) == ["lk", "rb", "st"]
        play(hand, "p1 rb 100", "p2 cc 100")  # an unseen raise is no blind bet any more
        assert verbs(hand) == ["rb", "st"]

    def test_a_blind_raise_compels_another(self):
        hand = play(to_third_round(table(2), 2), "p1 rb 100", "p2 cc 100", "p2 rb 100", "p1 cc 100")
        assert verbs(hand) == ["lk", "rb"]

    def test_the_last_matcher_may_look_before_the_compulsory_raise(self):
        hand = play(to_third_round(table(2), 2), "p1 rb 100", "p2 cc 100", "p2 lk 2", "p2 rb 100", "p1 cc 100")
        assert "st" in verbs(hand)

    def test_a_blind_bet_that_everyone_folds_needs_no_raise(self):
        hand = play(to_third_round(table(3), 2, 3), "p1 rb 100", "p2 f", "p3 f")
        assert hand.result and hand.result.winner == 1

    def test_if_the_last_seat_folds_the_last_who_matched_must_raise(self):
        hand = play(to_third_round(table(3), 2, 3), "p1 rb 100", "p2 lk 2", "p2 cc 100", "p3 f")
        assert (hand.actor, verbs(hand)) == ("p2", ["rb"])

    def test_a_blind_seat_may_raise_a_blind_bet_in_mid_order_and_all_answer_again(self):
        hand = play(to_third_round(table(4), 2, 3, 4), "p1 rb 100", "p2 lk 2", "p2 cc 100")
        assert verbs(hand) == ["lk", "cc", "f", "br"]
        assert amounts(hand, "br") == (100, 200)
        play(hand, "p3 br 200")
        assert hand.stakes == (200, 200, 400, 100)
        assert hand.actor == "p4"
        assert amounts(hand, "cc") == (300, 300)
        play(hand, "p4 cc 300", "p1 cc 200")
        assert amounts(hand, "cc") == (200, 200)  # p2 had matched before and answers again
        play(hand, "p2 cc 200")
        assert verbs(hand) == ["rb"]

    def test_a_seat_that_has_seen_its_cards_may_not_raise_in_mid_order(self):
        hand = play(to_third_round(table(3), 2, 3), "p1 rb 100", "p2 lk 2")
        with pytest.raises(VerbNotLegal):
            hand.apply("p2 br 100")

    def test_a_blind_seat_may_not_raise_a_seen_bet_in_mid_order(self):
        hand = play(to_third_round(table(3), 2, 3), "p1 lk 2", "p1 rb 100")
        with pytest.raises(VerbNotLegal):
            hand.apply("p2 br 100")

    def test_a_seat_with_three_cards_seen_is_not_blind_but_does_not_end_blind_betting(self):
        """Only a bettor who has looked at all four cards ends it."""
        hand = play(table(2), "p1 po 100", "p2 cc 100", "p1 rb 100", "p2 cc 100")
        play(hand, "p2 ks 100 p1", "p1 lk 1", "p1 cc 100", "p2 k")
        play(hand, "p1 rb 100")
        assert verbs(hand) == ["lk", "cc", "f"]
        play(hand, "p2 cc 100")
        assert verbs(hand) == ["lk", "rb", "st"]
        play(hand, "p2 rb 100", "p1 cc 100")
        assert "st" not in verbs(hand)

    def test_paying_charges_unseen_keeps_the_option_to_bet_blind(self):
        hand = play(table(2), "p1 po 100", "p2 cc 100", "p1 rb 100", "p2 cc 100")
        play(hand, "p2 ks 100 p1", "p1 cc 100", "p2 ks 100 p1", "p1 cc 100", "p1 k", "p1 rb 100", "p2 cc 100")
        assert verbs(hand) == ["lk", "rb"]

    def test_looking_is_at_all_unseen_cards_and_once(self):
        hand = to_third_round(table(2), 2)
        for number in (1, 3):
            with pytest.raises(WrongCount):
                hand.apply(f"p1 lk {number}")
        hand.apply("p1 lk 2")
        with pytest.raises(VerbNotLegal):
            hand.apply("p1 lk 2")


class TestShowdown:
    """The Showdown."""

    def test_the_best_hand_wins_the_pot(self):
        deck = stacked("Kl8b", "Ah7l", "Xb7b", "Kh9a")
        hand = play(to_third_round(table(2, deck=deck), 2), "p1 lk 2", "p1 rb 100", "p2 cc 100", "p2 lk 2", "p2 st")
        assert hand.log[-2:] == ("p1 sm Kl8bXb7b", "p2 sm Ah7lKh9a")
        assert hand.result and hand.result.net == (200, -200)

    def test_equal_combinations_go_to_the_seat_shown_first_and_the_pot_is_not_split(self):
        """Players, Cards and Ranking: A-A-8-7 and A-A-K-K in mixed suits are equal."""
        deck = stacked("AaAl", "AbAh", "8b7h", "KaKl")
        hand = play(to_third_round(table(2, deck=deck), 2), "p1 lk 2", "p1 rb 100", "p2 cc 100", "p2 lk 2", "p2 st")
        assert hand.result and (hand.result.net, hand.result.winner) == ((200, -200), 1)

    def test_the_active_seats_show_in_play_order_no_matter_who_bet(self):
        hand = to_third_round(table(4), 3, 4)
        play(hand, "p1 k", "p3 lk 2", "p3 rb 100", "p4 cc 100", "p1 cc 100", "p1 st")
        assert [line.split()[0] for line in hand.log[-3:]] == ["p1", "p3", "p4"]


class TestShortStacks:
    """The text is silent on seats that cannot pay: no bet may exceed what every active seat can match."""

    def test_the_poorest_active_seat_caps_the_bet(self):
        hand = to_third_round(table(3, stacks=(10_000, 10_000, 250)), 2, 3)
        assert amounts(hand, "rb") == (100, 100)  # 150 left, in steps of a vizi
        with pytest.raises(AmountOutOfRange):
            hand.apply("p1 rb 200")

    def test_a_seat_that_folded_caps_nothing(self):
        hand = to_third_round(table(3, stacks=(10_000, 10_000, 100)), 2)
        assert amounts(hand, "rb") == (100, 200)

    def test_what_others_still_owe_counts_against_the_cap_of_a_blind_raise(self):
        hand = play(to_third_round(table(3, stacks=(10_000, 10_000, 400)), 2, 3), "p1 rb 200")
        assert amounts(hand, "br") == (100, 100)

    def test_without_room_for_a_vizi_there_is_no_bet_and_no_charge(self):
        hand = play(table(2, stacks=(150, 10_000)), "p1 po 100", "p2 cc 100")
        assert verbs(hand) == ["k"]
        charged = play(table(2, stacks=(200, 10_000)), "p1 po 100", "p2 cc 100", "p1 rb 100", "p2 cc 100")
        assert verbs(charged) == ["k"]

    def test_a_compulsory_raise_that_nobody_could_match_is_waived(self):
        hand = play(to_third_round(table(2, stacks=(200, 10_000)), 2), "p1 rb 100", "p2 cc 100")
        assert verbs(hand) == ["lk", "st"]
        assert play(hand, "p2 st").over

    def test_where_nobody_can_bet_nobody_checks_and_the_cards_are_shown(self):
        deck = stacked("Kl8b", "Ah7l", "Xb7b", "Kh9a")
        hand = to_third_round(table(2, stacks=(10_000, 199), deck=deck), 2)  # 99 left are no vizi
        assert hand.log[-2:] == ("p1 sm Kl8bXb7b", "p2 sm Ah7lKh9a")
        assert hand.result and (hand.result.ending, hand.result.net) == ("showdown", (100, -100))
        assert to_third_round(table(2, stacks=(10_000, 200)), 2).phase == "open"

    def test_a_cap_on_raises_or_a_table_s_maximum_leaves_the_first_bet(self):
        hand = to_third_round(table(2, opt={"raise_cap": 1, "table_max": 100}), 2)
        assert amounts(hand, "rb") == (100, 100)

    def test_a_step_beyond_the_stacks_leaves_nobody_a_bet(self):
        opt: dict[str, object] = {"majzli_max": 300}
        hand = play(table(2, opt=opt, stacks=(10_000, 500)), "p1 mj ??", "p2 in", "p1 rv 300", "p1 k")
        assert hand.result and hand.result.ending == "showdown"  # 200 left are no vizi of this deal
