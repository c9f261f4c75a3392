"""Färbeln section by section: what the text says, and what the record page makes of it."""

from __future__ import annotations

import pytest

from engine.errors import (
    AmountOutOfRange,
    CardAlreadyDealt,
    CardMismatch,
    CardNotInPack,
    CardUnknown,
    EngineError,
    HandIsOver,
    MalformedSetup,
    NotYourTurn,
    StackTooShort,
    VerbNotLegal,
    WrongCount,
)
from engine.kernel.events import HandEnded, Spoke, TurnedUp
from engine.kernel.hand import Hand
from engine.kernel.purse import HOUSE, POT, Move, Why
from tests.engine.support import amounts, forty_one, frozen, play, stacked, verbs

DECK = stacked("Kl8b", "Ah7l", "XlOb", "Xb7b", "KhOl", "9a9l")
"""p1 holds three bells worth 25, p2 two hearts worth 21, p3 two leaves worth 19."""
UP = ("p1 up Xb8b", "p2 up AhKh", "p3 up 9a9l")


def antes(seats: int = 3) -> list[str]:
    """Every ante, then forehand's stake."""
    return [*(f"p{seat} po 200" for seat in range(1, seats + 1)), "p1 po 500"]


def dealt(seats: int = 3, **what: object) -> Hand:
    """A hand in its first round."""
    return play(forty_one(seats, **{"deck": DECK, **what}), *antes(seats))  # type: ignore[arg-type]


def second(**what: object) -> Hand:
    """Three seats, no raise so far, cards turned up: forehand opens the second round."""
    return play(dealt(**what), "p2 cc 500", "p3 cc 500", "p1 k", *UP)


def refused(hand: Hand, line: str, error: type[EngineError]) -> EngineError:
    """A wrong line raises ``error`` and changes nothing."""
    before = frozen(hand)
    with pytest.raises(error) as refusal:
        hand.apply(line)
    assert frozen(hand) == before
    return refusal.value


class TestGeneral:
    """General: three to seven people."""

    @pytest.mark.parametrize("seats", [1, 2, 8])
    def test_fewer_than_three_or_more_than_seven_cannot_play(self, seats: int):
        with pytest.raises(MalformedSetup):
            forty_one(seats)

    @pytest.mark.parametrize("seats", [3, 7])
    def test_three_to_seven_can(self, seats: int):
        assert forty_one(seats).actor == "p1"

    def test_nothing_is_carried_in(self):
        with pytest.raises(MalformedSetup) as refusal:
            forty_one(carry=1)
        assert refusal.value.expected == {"carry": 0}


class TestAnte:
    """Ante: each player places one, forehand also stakes the lower limit."""

    def test_every_seat_in_order_then_forehand_again(self):
        hand = forty_one(4)
        refused(hand, "p2 po 200", NotYourTurn)
        refused(hand, "p1 po 500", AmountOutOfRange)
        for line in antes(4)[:-1]:
            hand.apply(line)
        assert hand.actor == "p1" and amounts(hand, "po") == (500, 500)
        hand.apply("p1 po 500")
        assert hand.stakes == (700, 200, 200, 200) and hand.actor == "d"

    def test_a_stack_must_hold_ante_and_forehands_stake(self):
        with pytest.raises(StackTooShort) as refusal:
            forty_one(stacks=(700, 699, 700))
        assert refusal.value.expected == {"seat": 2, "min": 700}
        assert forty_one(stacks=(700, 700, 700)).actor == "p1"


class TestFirstRound:
    """First round: two cards, then from forehand's left hold the stake, raise by the lower limit, or fold."""

    def test_it_begins_at_forehands_left(self):
        hand = dealt()
        assert hand.actor == "p2" and verbs(hand) == ["cc", "f", "rb"]
        assert amounts(hand, "cc") == amounts(hand, "rb") == (500, 500)
        assert [len(hand.cards_of(seat)) for seat in (1, 2, 3)] == [2, 2, 2]

    def test_a_raise_pays_what_is_owed_and_one_unit(self):
        hand = play(dealt(), "p2 rb 500")
        assert hand.stakes == (700, 1200, 200)
        assert amounts(hand, "cc") == (1000, 1000)
        refused(hand, "p3 rb 1000", AmountOutOfRange)
        refused(hand, "p3 cc 500", AmountOutOfRange)
        refused(hand, "p3 k", VerbNotLegal)

    def test_a_raise_is_answered_by_all_others_and_its_maker_is_not_asked_again(self):
        hand = play(dealt(), "p2 cc 500", "p3 rb 500", "p1 cc 500", "p2 cc 500")
        assert verbs(hand) == ["up"]

    def test_at_most_three_raises(self):
        hand = play(dealt(), "p2 rb 500", "p3 rb 500", "p1 rb 500")
        assert verbs(hand) == ["cc", "f"]
        refused(hand, "p2 rb 500", VerbNotLegal)

    def test_forehand_may_raise_its_own_stake_when_all_have_called(self):
        hand = play(dealt(), "p2 cc 500", "p3 cc 500")
        assert hand.actor == "p1" and verbs(hand) == ["f", "k", "rb"]
        refused(hand, "p1 cc 0", VerbNotLegal)
        play(hand, "p1 rb 500")
        assert hand.actor == "p2" and amounts(hand, "cc") == (500, 500)

    def test_who_folds_is_out_of_this_deal(self):
        hand = play(dealt(), "p2 f", "p3 cc 500", "p1 k")
        assert [len(hand.cards_of(seat)) for seat in (1, 2, 3)] == [4, 2, 4]
        assert hand.actor == "p1"

    def test_forehand_left_alone_takes_the_antes_taxed_and_its_stake_back_untaxed(self):
        hand = play(dealt(), "p2 f")
        events = hand.apply("p3 f")
        assert events[1:] == (
            Move(POT, 1, 500, Why.RETURNED),
            Move(POT, 1, 570, Why.AWARD),
            Move(POT, HOUSE, 30, Why.TAX),
            HandEnded("uncontested", 1),
        )
        assert hand.result and hand.result.net == (370, -200, -200)


class TestSecondRound:
    """Second round: two more cards, two of the four face up, then betting in the manner of the first."""

    def test_two_of_four_are_turned_up_in_seat_order(self):
        hand = play(dealt(), "p2 cc 500", "p3 cc 500", "p1 k")
        assert hand.actor == "p1" and hand.forced() is None
        assert [(offer.verb, offer.count) for offer in hand.legal()] == [("up", 2)]
        refused(hand, "p2 up AhKh", NotYourTurn)
        refused(hand, "p1 up Xb", WrongCount)
        refused(hand, "p1 up Xb8bKl", WrongCount)
        refused(hand, "p1 up XbXb", CardAlreadyDealt)
        refused(hand, "p1 up XbAh", CardMismatch)
        refused(hand, "p1 up Xb2c", CardNotInPack)
        refused(hand, "p1 up Xb??", CardUnknown)
        refused(hand, "p1 k", VerbNotLegal)
        play(hand, *UP)
        assert hand.actor == "p1" and verbs(hand) == ["f", "k", "rb"]

    def test_either_order_of_the_two_cards_will_do(self):
        play(dealt(), "p2 cc 500", "p3 cc 500", "p1 k", "p1 up 8bXb")

    def test_nobody_sees_what_others_turn_up_before_all_have_chosen(self):
        hand = play(dealt(), "p2 cc 500", "p3 cc 500", "p1 k")
        assert hand.apply("p1 up Xb8b") == (Spoke(1, "up"),)
        assert hand.view(2)["log"][-1] == hand.view("public")["log"][-1] == "p1 up ????"
        assert hand.view(1)["log"][-1] == hand.view("auditor")["log"][-1] == "p1 up Xb8b"
        assert hand.view(2)["seats"][0]["up"] == ["??", "??"] and hand.view(1)["seats"][0]["up"] == ["Xb", "8b"]
        assert hand.apply("p2 up AhKh") == (Spoke(2, "up"),)
        assert hand.apply("p3 up 9a9l") == (
            Spoke(3, "up"),
            TurnedUp(1, ("Xb", "8b")),
            TurnedUp(2, ("Ah", "Kh")),
            TurnedUp(3, ("9a", "9l")),
        )
        assert tuple(hand.view("public")["log"][-3:]) == UP
        assert [seat["up"] for seat in hand.view("public")["seats"]] == [["Xb", "8b"], ["Ah", "Kh"], ["9a", "9l"]]

    def test_a_seat_sees_its_own_four_cards_and_of_others_only_those_turned_up(self):
        hand = second()
        seats = hand.view(1)["seats"]
        assert [seat["cards"] for seat in seats] == [["Kl", "8b", "Xb", "7b"], ["??"] * 4, ["??"] * 4]
        assert seats[1]["up"] == ["Ah", "Kh"]
        # When an upturned card was dealt is its owner's secret.
        assert "d dh p2 ????" in hand.view(1)["log"] and "d dh p2 Ah7l" in hand.view(2)["log"]

    @pytest.mark.parametrize("viewer", [1, 3, "public"])
    def test_in_which_round_an_upturned_card_was_dealt_stays_its_owners_secret(self, viewer: int | str):
        """Two of p2's cards change places: one that it turns up, one that it does not."""
        other = stacked("Kl8b", "Ol7l", "XlOb", "Xb7b", "KhAh", "9a9l")
        assert second(deck=other).view(viewer) == second().view(viewer)
        assert second(deck=other).view(2) != second().view(2)

    def test_cards_turned_up_stay_known_when_their_seat_folds_and_the_others_stay_hidden(self):
        hand = play(second(), "p1 rb 500", "p2 f")
        seat = hand.view(3)["seats"][1]
        assert (seat["state"], seat["up"], seat["cards"]) == ("folded", ["Ah", "Kh"], ["??"] * 4)

    def test_the_bottom_card_is_nobodys(self):
        assert second().view("public")["bottom"] is None

    def test_the_opening_bet_is_one_of_three_raises(self):
        hand = play(second(), "p1 k", "p2 rb 500", "p3 rb 500", "p1 rb 500")
        assert verbs(hand) == ["cc", "f"]

    def test_raises_of_the_first_round_do_not_count_in_the_second(self):
        hand = play(dealt(), "p2 rb 500", "p3 rb 500", "p1 rb 500", "p2 cc 1000", "p3 cc 500", *UP)
        assert verbs(hand) == ["f", "k", "rb"]

    def test_the_first_active_seat_opens_where_forehand_has_folded(self):
        hand = play(dealt(), "p2 cc 500", "p3 rb 500", "p1 f", "p2 cc 500")
        assert hand.actor == "p2" and verbs(hand) == ["up"]
        play(hand, "p2 up Ah7l", "p3 up XlOb")
        assert hand.actor == "p2" and verbs(hand) == ["f", "k", "rb"]


class TestShowDown:
    """Show down: the highest hand takes the pot; one that is left alone shows nothing."""

    def test_all_wait_all_show(self):
        hand = play(second(), "p1 k", "p2 k", "p3 k")
        assert hand.log[-3:] == ("p1 sm Kl8bXb7b", "p2 sm Ah7lKhOl", "p3 sm XlOb9a9l")
        assert hand.result and (hand.result.winner, hand.result.ending) == (1, "showdown")
        assert (hand.result.net, hand.result.tax) == ((1295, -700, -700), 105)

    def test_shown_cards_are_those_dealt_in_their_order(self):
        hand = second()
        for line in ("p1 k", "p2 k", "p3 k"):
            hand.apply(line)
        refused(hand, "p2 sm Ah7lKhOl", NotYourTurn)
        refused(hand, "p1 sm 8bKlXb7b", CardMismatch)
        refused(hand, "p1 sm Xb8b", WrongCount)

    def test_all_but_one_drop_out(self):
        hand = play(second(), "p1 rb 500", "p2 f", "p3 f")
        assert hand.result and (hand.result.winner, hand.result.ending) == (1, "uncontested")
        assert not [line for line in hand.log if " sm " in line]
        assert hand.result.net == (1295, -700, -700)
        refused(hand, "p1 sm Kl8bXb7b", HandIsOver)

    def test_the_last_seat_left_wins_without_a_decision_of_its_own(self):
        hand = play(second(), "p1 f", "p2 f")
        assert hand.result and (hand.result.winner, hand.result.ending) == (3, "uncontested")


class TestTie:
    """Card combinations: of equal hands the nearest to forehand wins."""

    DECK = stacked("7a8l", "KaKl", "ObOh", "9bUh", "7l8h", "9h7b")

    def test_the_nearer_of_two_equal_pairs(self):
        hand = dealt(deck=self.DECK)
        play(hand, "p2 cc 500", "p3 cc 500", "p1 k", "p1 up 7a8l", "p2 up KaKl", "p3 up ObOh", "p1 k", "p2 k", "p3 k")
        assert hand.result and hand.result.winner == 2
        assert hand.result.net == (-700, 1295, -700)


class TestTax:
    """Tax: five per cent of every pot, up to a limit."""

    def test_the_limit(self):
        hand = play(second(opt={"tax_cap": 60}), "p1 k", "p2 k", "p3 k")
        assert hand.result and hand.result.tax == 60

    def test_what_nobody_matched_is_not_taxed(self):
        hand = play(dealt(), "p2 rb 500", "p3 f", "p1 f")
        assert hand.result and hand.result.tax == 80  # of 1,600, not of 2,100

    def test_it_is_rounded_down_to_the_chip(self):
        hand = play(second(opt={"chip": 50}), "p1 k", "p2 k", "p3 k")
        assert hand.result and hand.result.tax == 100

    def test_a_table_may_take_none(self):
        hand = play(second(opt={"tax_bps": 0}), "p1 k", "p2 k", "p3 k")
        assert hand.result and (hand.result.tax, hand.result.net) == (0, (1400, -700, -700))


class TestFortyOne:
    """Card combinations: a special payment from the house for 41 points in one suit."""

    DECK = stacked("AaKa", "XlXb", "AhXh", "OaXa", "9l8l", "KhUh")

    def showdown(self, deck: tuple[str, ...], **opt: object) -> Hand:
        hand = dealt(deck=deck, opt={"bonus41": 10_000, **opt})
        ups = []
        play(hand, "p2 cc 500", "p3 cc 500", "p1 k")
        for seat in (1, 2, 3):
            ups.append(f"p{seat} up {''.join(hand.cards_of(seat)[:2])}")
        return play(hand, *ups)

    def test_every_shown_41_is_paid_by_the_house_no_matter_who_wins(self):
        hand = self.showdown(self.DECK)
        for line in ("p1 k", "p2 k", "p3 k"):
            hand.apply(line)
        hand.apply("p1 sm AaKaOaXa")
        hand.apply("p2 sm XlXb9l8l")
        events = hand.apply("p3 sm AhXhKhUh")
        assert [event for event in events if isinstance(event, Move)] == [
            Move(POT, 1, 1995, Why.AWARD),
            Move(POT, HOUSE, 105, Why.TAX),
            Move(HOUSE, 1, 10_000, Why.BONUS),
            Move(HOUSE, 3, 10_000, Why.BONUS),
        ]
        assert hand.result and hand.result.bonus == (10_000, 0, 10_000)
        assert hand.result.net == (11_295, -700, 9_300)
        assert sum(hand.result.net) == 20_000 - 105

    def test_it_is_not_taxed_and_none_is_paid_where_the_table_pays_none(self):
        hand = play(self.showdown(self.DECK, bonus41=0), "p1 k", "p2 k", "p3 k")
        assert hand.result and hand.result.bonus == (0, 0, 0)
        assert not [move for move in hand.moves if move.why is Why.BONUS]

    def test_a_41_that_folds_or_wins_alone_is_not_paid(self):
        hand = play(self.showdown(self.DECK), "p1 rb 500", "p2 f", "p3 f")
        assert hand.result and (hand.result.winner, hand.result.bonus) == (1, (0, 0, 0))
        hand = play(self.showdown(self.DECK), "p1 rb 500", "p2 cc 500", "p3 f")
        assert hand.result and hand.result.bonus == (10_000, 0, 0)

    @pytest.mark.parametrize(("first", "second_batch"), [("AaAl", "AbAh"), ("KaKl", "KbKh"), ("AaKa", "OaXl")])
    def test_forty_points_or_more_of_another_kind_are_no_41(self, first: str, second_batch: str):
        deck = stacked(first, "9l8l", "7b8h", second_batch, "7l9b", "9h7h")
        hand = play(self.showdown(deck), "p1 k", "p2 k", "p3 k")
        assert hand.result and (hand.result.winner, hand.result.bonus) == (1, (0, 0, 0))

    def test_an_ace_less_flush_of_forty_is_no_41(self):
        hand = play(self.showdown(stacked("KaOa", "9l8l", "7b8h", "UaXa", "7l9b", "9h7h")), "p1 k", "p2 k", "p3 k")
        assert hand.result and (hand.result.winner, hand.result.bonus) == (1, (0, 0, 0))


class TestPhysicalMode:
    """No deck: cards become known when they are turned up or shown."""

    def at_up(self, *deals: str) -> Hand:
        """Three seats with the given first and second batches, about to turn cards up."""
        hand = forty_one(deck=None)
        for line in antes():
            hand.apply(line)
        for seat, cards in enumerate(deals[:3], 1):
            hand.apply(f"d dh p{seat} {cards}")
        for line in ("p2 cc 500", "p3 cc 500", "p1 k"):
            hand.apply(line)
        for seat, cards in enumerate(deals[3:], 1):
            hand.apply(f"d dh p{seat} {cards}")
        return hand

    def test_a_card_turned_up_is_named_and_exists_once(self):
        hand = self.at_up("????", "Ah??", "XlOb", "????", "????", "9a9l")
        refused(hand, "p1 up AhKl", CardAlreadyDealt)
        hand.apply("p1 up Kl8b")
        refused(hand, "p2 up KlAh", CardAlreadyDealt)
        hand.apply("p2 up AhKh")
        refused(hand, "p3 up XlUl", CardMismatch)
        hand.apply("p3 up Xl9l")

    def test_a_hand_shown_holds_what_was_turned_up_in_any_place_that_was_unknown(self):
        hand = self.at_up("????", "Ah??", "XlOb", "????", "????", "9a9l")
        for line in ("p1 up Kl8b", "p2 up AhKh", "p3 up Xl9l", "p1 k", "p2 k", "p3 k"):
            hand.apply(line)
        refused(hand, "p1 sm Kl9bXb7b", CardMismatch)
        refused(hand, "p1 sm KlKl8b7b", CardAlreadyDealt)
        refused(hand, "p1 sm KlKh8b7b", CardAlreadyDealt)
        refused(hand, "p1 sm KlAh8b7b", CardAlreadyDealt)
        refused(hand, "p1 sm Kl8b7b??", CardUnknown)
        hand.apply("p1 sm Xb7b8bKl")
        refused(hand, "p2 sm KhAh7lOl", CardMismatch)
        hand.apply("p2 sm Ah7lOlKh")
        hand.apply("p3 sm XlOb9a9l")
        assert hand.result and hand.result.winner == 1

    def test_a_known_card_turned_up_does_not_stand_for_an_unknown_one(self):
        hand = self.at_up("Kl??", "????", "????", "????", "????", "????")
        for line in ("p1 up KlAa", "p2 up Ka7a", "p3 up Xl9l", "p1 k", "p2 k", "p3 k"):
            hand.apply(line)
        refused(hand, "p1 sm KlKlAa7b", CardAlreadyDealt)
        hand.apply("p1 sm Kl7bAa8a")

    def test_an_upturned_card_cannot_be_dealt_or_shown_by_another(self):
        hand = self.at_up("????", "????", "????", "????", "????", "????")
        for line in ("p1 up KlAa", "p2 up Ka7a", "p3 up Xl9l", "p1 k", "p2 k", "p3 k"):
            hand.apply(line)
        refused(hand, "p1 sm KlAaXl8b", CardAlreadyDealt)
