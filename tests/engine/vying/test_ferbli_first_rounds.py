"""Ferbli up to the end of charging, section by section of the rules text."""

from __future__ import annotations

import pytest

from engine.errors import AmountOutOfRange, VerbNotLegal, WrongTarget
from engine.kernel.events import Looked
from engine.kernel.hand import Hand
from engine.kernel.purse import CARRY, POT, Move, Why
from tests.engine.support import amounts, play, refused, stacked, table, verbs


def seen(hand: Hand, seat: int) -> list[str]:
    """The seat's cards as it knows them."""
    return hand.view(seat)["seats"][seat - 1]["cards"]  # type: ignore[index, no-any-return]


def besszer(seats: int, by: int, **setup: object) -> object:
    """Everyone is in, p1 raises by ``by`` and all match."""
    hand = table(seats, **setup)  # type: ignore[arg-type]
    callers = range(2, seats + 1)
    play(hand, "p1 po 100", *(f"p{seat} cc 100" for seat in callers))
    return play(hand, f"p1 rb {by}", *(f"p{seat} cc {by}" for seat in callers))


class TestFirstRound:
    """First round of betting - the vizi and the cukassza."""

    def test_the_first_player_pays_the_vizi_before_the_deal_and_never_drops_out(self):
        hand = table(2)
        assert [(offer.verb, offer.min, offer.max) for offer in hand.legal()] == [("po", 100, 100)]
        play(hand, "p1 po 100", "p2 cc 100")
        assert (hand.actor, verbs(hand)) == ("p1", ["k", "rb"])

    def test_the_others_match_or_drop_out_in_play_order(self):
        hand = play(table(3), "p1 po 100")
        assert (hand.actor, verbs(hand)) == ("p2", ["cc", "f"])
        assert play(hand, "p2 f").actor == "p3"

    @pytest.mark.parametrize(("seats", "callers", "goes_on"), [
        (2, 1, True), (4, 1, True), (4, 0, False), (5, 1, False), (5, 2, True), (7, 1, False), (7, 2, True),
    ])  # fmt: skip
    def test_two_of_up_to_four_or_three_of_more_are_needed(self, seats: int, callers: int, goes_on: bool):
        hand = play(table(seats), "p1 po 100")
        for seat in range(2, seats + 1):
            play(hand, f"p{seat} cc 100" if seat <= callers + 1 else f"p{seat} f")
        assert hand.over is not goes_on

    def test_too_few_everyone_without_a_vizi_in_pays_one_and_the_pot_stays(self):
        hand = play(table(5, carry=300), "p1 po 100", "p2 f", "p3 cc 100", "p4 f")
        events = hand.apply("p5 f")
        assert [event for event in events if isinstance(event, Move)] == [
            Move(2, POT, 100, Why.PENALTY),
            Move(4, POT, 100, Why.PENALTY),
            Move(5, POT, 100, Why.PENALTY),
            Move(POT, CARRY, 800, Why.CARRY_OUT),
        ]
        assert hand.result and hand.result.net == (-100,) * 5
        assert (hand.result.carry_out, hand.result.tax, hand.result.winner) == (800, 0, 0)

    def test_money_carried_in_lies_in_the_pot_from_the_start(self):
        hand = table(2, carry=400)
        assert (hand.pot, hand.opening_events) == (400, (Move(CARRY, POT, 400, Why.CARRY_IN),))


class TestBesszer:
    """Second round of betting: the first player's raise."""

    def test_no_besszer_deals_the_second_batch_and_nobody_else_may_raise(self):
        hand = play(table(3), "p1 po 100", "p2 cc 100", "p3 cc 100", "p1 k")
        assert (hand.actor, verbs(hand)) == ("p1", ["lk", "k", "rb"])

    def test_it_is_one_or_two_vizi_even_when_money_was_carried_in(self):
        hand = play(table(2, carry=5000), "p1 po 100", "p2 cc 100")
        assert amounts(hand, "rb") == (100, 200)
        for amount in (0, 50, 150, 300):
            with pytest.raises(AmountOutOfRange) as refusal:
                hand.apply(f"p1 rb {amount}")
            assert refusal.value.expected == {"min": 100, "max": 200, "step": 100}

    def test_the_others_match_it_or_fold_and_cannot_raise(self):
        hand = play(table(3), "p1 po 100", "p2 cc 100", "p3 cc 100", "p1 rb 200")
        assert (verbs(hand), amounts(hand, "cc")) == (["cc", "f"], (200, 200))
        with pytest.raises(VerbNotLegal):
            hand.apply("p2 rb 200")
        with pytest.raises(VerbNotLegal):
            hand.apply("p2 lk 2")

    def test_if_all_fold_the_first_player_takes_the_pot_and_the_unmatched_raise_back(self):
        hand = play(table(3, carry=300), "p1 po 100", "p2 cc 100", "p3 cc 100", "p1 rb 200", "p2 f")
        events = hand.apply("p3 f")
        assert Move(POT, 1, 200, Why.RETURNED) in events
        assert Move(POT, 1, 600, Why.AWARD) in events
        assert hand.result and hand.result.net == (500, -100, -100)

    def test_who_folds_a_besszer_owes_nothing_more_if_all_check_later(self):
        hand = play(table(3), "p1 po 100", "p2 cc 100", "p3 cc 100", "p1 rb 100", "p2 f", "p3 cc 100", "p3 k")
        play(hand, "p1 k", "p3 k")
        assert hand.result and hand.result.net == (-200, -100, -200)
        assert hand.result.carry_out == 500


class TestCharging:
    """Second round of betting: kóstáltatás."""

    def test_the_last_player_charges_the_first_up_to_twice_the_besszer(self):
        hand = besszer(4, 200)
        assert (hand.actor, verbs(hand)) == ("p4", ["k", "ks"])
        [charge] = [offer for offer in hand.legal() if offer.verb == "ks"]
        assert (charge.min, charge.max, charge.target, charge.count) == (100, 400, 1, 2)

    def test_the_last_player_is_the_last_who_matched(self):
        hand = play(table(4), "p1 po 100", "p2 cc 100", "p3 cc 100", "p4 cc 100")
        play(hand, "p1 rb 100", "p2 cc 100", "p3 cc 100", "p4 f")
        assert hand.actor == "p3"

    def test_three_seats_can_be_charged_4_8_and_16(self):
        hand = besszer(5, 200)
        for charge, target in ((400, 1), (800, 2), (1600, 3)):
            assert amounts(hand, "ks") == (100, charge)
            play(hand, f"p5 ks {charge} p{target}")
            order = [*range(target, 5), *range(1, target)]
            for seat in order:
                assert hand.actor == f"p{seat}"
                play(hand, f"p{seat} cc {charge}")
        # p4 is the trace-horse: one card
        [charge] = [offer for offer in hand.legal() if offer.verb == "ks"]
        assert (charge.target, charge.count, charge.max) == (4, 1, 3200)

    def test_the_sequence_starts_at_the_first_player_and_does_not_skip(self):
        hand = besszer(4, 100)
        with pytest.raises(WrongTarget):
            hand.apply("p4 ks 100 p2")

    def test_the_stake_goes_in_first_then_the_cards_then_the_charged_seat_answers(self):
        hand = besszer(4, 100)
        hand.apply("p4 ks 200 p1")
        assert (hand.pot, hand.actor) == (1000, "d")
        play(hand)
        assert (hand.actor, verbs(hand)) == ("p1", ["lk", "cc", "f"])

    def test_only_the_charged_seat_may_look(self):
        hand = play(besszer(4, 100), "p4 ks 200 p1", "p1 cc 200")
        assert verbs(hand) == ["cc", "f"]
        play(hand, "p2 cc 200", "p3 cc 200", "p4 ks 200 p2", "p2 lk 2", "p2 cc 200", "p3 cc 200")
        assert (hand.actor, verbs(hand)) == ("p1", ["cc", "f"])  # p1 has two unseen cards and may not look
        with pytest.raises(VerbNotLegal):
            hand.apply("p1 lk 2")

    def test_a_charge_declined_ends_charging_and_the_rest_is_dealt_free(self):
        hand = play(besszer(4, 100), "p4 ks 200 p1", "p1 f", "p2 cc 200", "p3 cc 200", "p4 k")
        assert (hand.actor, verbs(hand)) == ("p2", ["lk", "k", "rb"])
        assert [len(seat["cards"]) for seat in hand.view("public")["seats"]] == [4, 4, 4, 4]

    def test_whether_or_not_the_charge_was_paid_the_next_can_be_charged(self):
        hand = play(besszer(4, 100), "p4 ks 200 p1", "p1 f", "p2 cc 200", "p3 cc 200")
        [charge] = [offer for offer in hand.legal() if offer.verb == "ks"]
        assert charge.target == 2

    def test_only_the_last_player_left_wins_at_once_and_gets_the_charge_back(self):
        hand = play(besszer(3, 100), "p3 ks 200 p1", "p1 f", "p2 f")
        assert hand.result and hand.result.net == (-200, -200, 400)

    def test_cards_charged_to_a_seat_that_folds_stay_hidden_and_out_of_the_deck(self):
        deck = stacked("Kl8b", "Ah7l", "XlOb", "KaKb")
        hand = play(besszer(3, 100, deck=deck), "p3 ks 100 p1", "p1 lk 2", "p1 f", "p2 cc 100", "p3 k")
        assert hand.view("public")["seats"][0]["cards"] == ["??"] * 4
        dealt = [card for seat in hand.view("auditor")["seats"] for card in seat["cards"]]
        assert {"Ka", "Kb"} <= set(dealt) and len(set(dealt)) == len(dealt) == 12


class TestTraceHorse:
    """Second round of betting: the ostorhegyes is charged card by card, and may charge back."""

    def test_heads_up_the_first_player_is_the_trace_horse(self):
        hand = besszer(2, 100)
        [charge] = [offer for offer in hand.legal() if offer.verb == "ks"]
        assert (charge.target, charge.count) == (1, 1)

    def test_third_paid_fourth_free_gives_no_right_to_charge_back(self):
        hand = play(besszer(2, 100), "p2 ks 200 p1", "p1 cc 200", "p2 k")
        assert (hand.actor, verbs(hand)) == ("p1", ["lk", "k", "rb"])

    def test_a_second_charge_may_follow_the_first(self):
        hand = play(besszer(2, 100), "p2 ks 200 p1", "p1 lk 1", "p1 cc 200")
        [charge] = [offer for offer in hand.legal() if offer.verb == "ks"]
        assert (charge.actor, charge.target, charge.count, charge.max) == ("p2", 1, 1, 400)

    def charged_for_the_fourth(self) -> Hand:
        """p1 has paid for its third card unseen and is charged for the fourth."""
        deck = stacked("Kl8b", "Ah7l", "Xb", "7b", "KhOl")
        return play(besszer(2, 100, deck=deck), "p2 ks 100 p1", "p1 cc 100", "p2 ks 100 p1")

    def test_with_the_third_card_unseen_the_charged_one_is_looked_at_alone_or_both_are(self):
        """Charging for one card: the trace-horse may look at the card that it is charged for."""
        hand = self.charged_for_the_fourth()
        [look] = [offer for offer in hand.legal() if offer.verb == "lk"]
        assert (look.count, look.min, look.max, look.step) == (2, 1, 2, 1)
        for line in ("p1 lk 0", "p1 lk 3"):
            refused(hand, line, "wrong_count", count=2, min=1, max=2)
        both = play(self.charged_for_the_fourth(), "p1 lk 2")
        assert (seen(both, 1), verbs(both)) == (["Kl", "8b", "Xb", "7b"], ["cc", "f"])

    def test_the_fourth_card_seen_alone_is_known_to_its_seat_and_the_third_is_not(self):
        hand = self.charged_for_the_fourth()
        assert hand.apply("p1 lk 1") == (Looked(1, 1),)
        assert seen(hand, 1) == ["Kl", "8b", "??", "7b"]
        log = [line for line in hand.view(1)["log"] if "dh p1" in line]
        assert log[1:] == ["d dh p1 ??", "d dh p1 7b"]
        others = hand.view("public")["seats"][0]
        assert (others["cards"], others["unseen"]) == (["??"] * 4, 1)
        assert hand.places(1) == ((0, 0), (0, 1), (0, 5), (0, 31))

    def test_the_third_card_may_follow_at_once_or_in_the_third_round(self):
        hand = play(self.charged_for_the_fourth(), "p1 lk 1")
        [look] = [offer for offer in hand.legal() if offer.verb == "lk"]
        assert (look.count, look.min, look.max, look.step) == (1, None, None, None)
        refused(hand, "p1 lk 2", "wrong_count", count=1)
        at_once = play(hand, "p1 lk 1")
        assert seen(at_once, 1) == ["Kl", "8b", "Xb", "7b"]
        later = play(self.charged_for_the_fourth(), "p1 lk 1", "p1 cc 100", "p1 k")
        assert (later.actor, verbs(later)) == ("p1", ["lk", "k", "rb"])
        refused(later, "p1 lk 2", "wrong_count", count=1)
        play(later, "p1 lk 1")
        assert seen(later, 1) == ["Kl", "8b", "Xb", "7b"]

    def test_a_seat_that_has_seen_the_fourth_card_is_not_blind_nor_ends_blind_betting(self):
        """Blind: first two cards looked at and no other; blind betting ends with a bet of a seat that knows all."""
        hand = play(self.charged_for_the_fourth(), "p1 lk 1", "p1 cc 100", "p1 k", "p1 rb 100", "p2 cc 100")
        assert verbs(hand) == ["lk", "rb", "st"]  # p1's bet was not blind
        play(hand, "p2 rb 100", "p1 cc 100")
        assert verbs(hand) == ["lk", "rb"]  # p2's was, p1's has not ended it

    def test_the_last_player_charged_back_looks_at_its_fourth_card_alone_too(self):
        hand = play(self.charged_for_the_fourth(), "p1 cc 100", "p1 ks 100 p2", "p2 cc 100", "p1 ks 100 p2", "p2 lk 1")
        assert seen(hand, 2) == ["Ah", "7l", "??", "Ol"]

    def test_elsewhere_a_seat_looks_at_all_its_unseen_cards(self):
        charged = play(besszer(3, 100), "p3 ks 200 p1")  # two cards at once
        third = play(besszer(2, 100), "p2 ks 100 p1")
        after = play(besszer(2, 100), "p2 k")
        for hand, count in ((charged, 2), (third, 1), (after, 2)):
            [look] = [offer for offer in hand.legal() if offer.verb == "lk"]
            assert (look.count, look.min) == (count, None)
            for other in {1, 2, 3} - {count}:
                refused(hand, f"p1 lk {other}", "wrong_count", count=count)

    def test_who_paid_both_may_charge_the_last_player_once_or_twice_or_not(self):
        paid = ("p2 ks 100 p1", "p1 cc 100", "p2 ks 100 p1", "p1 cc 100")
        declined = play(besszer(2, 100), *paid, "p1 k")
        assert (declined.actor, verbs(declined)) == ("p1", ["lk", "k", "rb"])
        once = play(besszer(2, 100), *paid, "p1 ks 200 p2", "p2 lk 1", "p2 cc 200", "p1 k")
        assert once.actor == "p1" and "k" in verbs(once)
        twice = play(besszer(2, 100), *paid, "p1 ks 200 p2", "p2 cc 200", "p1 ks 400 p2", "p2 lk 2", "p2 f")
        assert twice.result and twice.result.winner == 1

    def test_the_last_player_folding_leaves_the_others_to_the_third_round(self):
        hand = play(besszer(3, 100), "p3 ks 100 p1", "p1 cc 100", "p2 cc 100")
        for _ in range(2):
            play(hand, "p3 ks 100 p2", "p2 cc 100", "p1 cc 100")
        play(hand, "p2 ks 100 p3", "p3 lk 1", "p3 f")
        assert (hand.actor, verbs(hand)) == ("p1", ["cc", "f"])
        play(hand, "p1 cc 100")
        assert (hand.actor, verbs(hand)) == ("p1", ["lk", "k", "rb"])

    def test_folds_may_make_a_charged_seat_the_trace_horse_then_the_last_player_is_dealt_free(self):
        hand = play(besszer(3, 100), "p3 ks 200 p1", "p1 cc 200", "p2 f")
        assert (hand.actor, verbs(hand)) == ("p1", ["lk", "k", "rb"])

    def test_a_seat_not_charged_yet_becomes_trace_horse_by_folds(self):
        hand = play(besszer(4, 100), "p4 ks 200 p1", "p1 cc 200", "p2 cc 200", "p3 f")
        [charge] = [offer for offer in hand.legal() if offer.verb == "ks"]
        assert (charge.target, charge.count) == (2, 1)

    def test_there_are_at_most_as_many_charges_by_the_last_player_as_active_seats(self):
        hand = besszer(5, 100)
        charges = 0
        while hand.actor == "p5":
            target = next(offer.target for offer in hand.legal() if offer.verb == "ks")
            play(hand, f"p5 ks 100 p{target}")
            charges += 1
            while "cc" in verbs(hand):
                play(hand, f"{hand.actor} cc 100")
        assert (charges, hand.actor) == (5, "p4")
