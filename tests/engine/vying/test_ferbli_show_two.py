"""Ferbli, "Variations": two cards shown after a besszer (option ``show_two``)."""

from __future__ import annotations

import pytest

from engine.errors import EngineError
from engine.kernel.events import TurnedUp
from engine.kernel.hand import Hand
from tests.engine.support import play, refused, stacked, table, to_third_round, verbs

OPT: dict[str, object] = {"show_two": True}
DECK = stacked("Kl8b", "Ah7l", "XlOb", "Xb7b", "KhOl", "9a9l")
"""Of three seats: p1 holds Kl 8b Xb 7b, p2 Ah 7l Kh Ol, p3 Xl Ob 9a 9l."""


def besszer(seats: int = 3, **setup: object) -> Hand:
    """p1 has raised by one vizi and all have matched; the last seat may charge."""
    opt = OPT | setup.pop("opt", {})  # type: ignore[operator]
    hand = table(seats, opt=opt, **{"deck": DECK, **setup})  # type: ignore[arg-type]
    play(hand, "p1 po 100", *(f"p{seat} cc 100" for seat in range(2, seats + 1)), "p1 rb 100")
    return play(hand, *(f"p{seat} cc 100" for seat in range(2, seats + 1)))


def uncharged(seats: int = 3, **setup: object) -> Hand:
    """As above, nobody is charged: everyone has four cards and p1 turns up first."""
    return play(besszer(seats, **setup), f"p{seats} k")


def places(hand: Hand) -> object:
    """Which pairs of places the seat may turn up; None is any."""
    [offer] = [offer for offer in hand.legal() if offer.verb == "up"]
    return offer.places


def up_of(hand: Hand, viewer: int | str) -> list[list[str]]:
    """The cards turned up by each seat, as the viewer sees them."""
    return [seat["up"] for seat in hand.view(viewer)["seats"]]  # type: ignore[index, attr-defined]


class TestWho:
    """Everyone shows two of four when there is a besszer."""

    def test_without_a_besszer_nobody_does(self):
        hand = to_third_round(table(3, opt=OPT), 2, 3)
        assert verbs(hand) == ["lk", "k", "rb"]

    def test_every_active_seat_in_play_order_before_the_third_round(self):
        hand = play(besszer(4, deck=stacked()), "p4 ks 100 p1", "p1 cc 100", "p2 f", "p3 cc 100", "p4 k")
        for seat in (1, 3, 4):
            assert (hand.actor, verbs(hand)) == (f"p{seat}", ["lk", "up"])
            hand.apply(f"p{seat} up {''.join(hand.cards_of(seat)[:2])}")
        assert (hand.actor, verbs(hand)) == ("p1", ["lk", "k", "rb"])

    def test_a_table_that_does_not_play_so_turns_nothing_up(self):
        hand = play(besszer(opt={"show_two": False}), "p3 k")
        assert verbs(hand) == ["lk", "k", "rb"]
        assert "up" not in hand.view(1)["seats"][0]  # type: ignore[index]

    def test_if_all_others_drop_out_nothing_is_shown(self):
        hand = play(table(2, opt=OPT), "p1 po 100", "p2 cc 100", "p1 rb 100", "p2 f")
        assert hand.result and hand.result.ending == "uncontested"


class TestWhich:
    """Who has made the besszer or a charge shows the first two cards dealt or the second two, others any two."""

    def test_the_seat_of_the_besszer_shows_its_first_two_or_its_second_two(self):
        hand = play(uncharged(), "p1 lk 2")
        assert places(hand) == ((0, 1), (2, 3))
        for cards in ("KlXb", "8b7b", "XbKl", "Kl7b"):
            refused(hand, f"p1 up {cards}", "card_mismatch", places=[[0, 1], [2, 3]])
        hand.apply("p1 up Xb7b")
        assert hand.actor == "p2"

    def test_others_show_any_two(self):
        for pair in ("Ah7l", "AhKh", "7lOl", "OlKh", "OlAh"):
            hand = play(uncharged(), "p1 up Kl8b", "p2 lk 2")
            assert places(hand) is None
            hand.apply(f"p2 up {pair}")
            assert hand.actor == "p3"

    def test_either_order_of_the_two_cards_will_do(self):
        assert play(uncharged(), "p1 up 8bKl").actor == "p2"

    def test_a_seat_that_has_charged_shows_its_first_two_or_its_second_two(self):
        hand = play(besszer(), "p3 ks 100 p1", "p1 cc 100", "p2 cc 100", "p3 k", "p1 up Kl8b", "p2 up Ah7l", "p3 lk 2")
        first, _, third, fourth = hand.cards_of(3)
        assert places(hand) == ((0, 1), (2, 3))
        refused(hand, f"p3 up {first}{third}", "card_mismatch")
        play(hand, f"p3 up {third}{fourth}")
        assert hand.actor == "p1"

    def test_a_trace_horse_that_has_charged_back_does_so_too(self):
        hand = play(besszer(), "p3 ks 100 p1", "p1 cc 100", "p2 cc 100")
        for charge in ("p3 ks 100 p2",) * 2:
            play(hand, charge, "p2 lk 1", "p2 cc 100", "p1 cc 100")
        play(hand, "p2 ks 100 p3", "p3 lk 1", "p3 cc 100", "p1 cc 100", "p2 k", "p1 up Kl8b")
        assert (hand.actor, places(hand)) == ("p2", ((0, 1), (2, 3)))

    def test_only_cards_that_were_looked_at(self):
        hand = play(uncharged(), "p1 up Kl8b")
        assert places(hand) == ((0, 1),)
        refused(hand, "p2 up KhOl", "card_mismatch", places=[[0, 1]])
        refused(hand, "p2 up AhKh", "card_mismatch", places=[[0, 1]])
        hand.apply("p2 up Ah7l")

    def test_three_cards_seen_are_three_to_choose_from(self):
        hand = besszer(2, deck=stacked("Kl8b", "Ah7l", "Xb", "7bKh", "Ol"))
        play(hand, "p2 ks 100 p1", "p1 lk 1", "p1 cc 100", "p2 k")
        assert places(hand) == ((0, 1),)  # p1 made the besszer: of its second two it has seen one only
        other = besszer(3, deck=stacked("Kl8b", "Ah7l", "XlOb"))
        play(other, "p3 ks 100 p1", "p1 cc 100", "p2 cc 100", "p3 ks 100 p2", "p2 lk 1", "p2 cc 100", "p1 cc 100")
        play(other, "p3 k", "p1 up Kl8b")
        assert places(other) == ((0, 1), (0, 2), (1, 2))

    def test_the_third_card_unseen_and_the_fourth_seen_are_three_to_choose_from(self):
        hand = besszer(3, deck=stacked("Kl8b", "Ah7l", "XlOb"))
        play(hand, "p3 ks 100 p1", "p1 cc 100", "p2 cc 100")
        for look in ((), ("p2 lk 1",)):
            play(hand, "p3 ks 100 p2", *look, "p2 cc 100", "p1 cc 100")
        play(hand, "p2 k", "p1 up Kl8b")
        assert places(hand) == ((0, 1), (0, 3), (1, 3))
        _, _, third, fourth = hand.cards_of(2)
        refused(hand, f"p2 up Ah{third}", "card_mismatch")
        play(hand, f"p2 up Ah{fourth}", "p3 up XlOb")
        assert hand.phase == "open"

    @pytest.mark.parametrize(("line", "code"), [
        ("p1 up Kl", "wrong_count"),
        ("p1 up Kl8bXb", "wrong_count"),
        ("p1 up Kl??", "card_unknown"),
        ("p1 up KlKl", "card_already_dealt"),
        ("p1 up KlAh", "card_mismatch"),
        ("p1 up KlQs", "card_not_in_pack"),
        ("p2 up Ah7l", "not_your_turn"),
        ("p1 k", "verb_not_legal"),
        ("p1 lk 1", "wrong_count"),
    ])  # fmt: skip
    def test_what_is_refused(self, line: str, code: str):
        refused(uncharged(), line, code)


class TestBlind:
    """A seat may stay blind by showing its first two."""

    def test_who_shows_the_first_two_unseen_cards_aside_can_still_bet_blind(self):
        hand = play(uncharged(), "p1 up Kl8b", "p2 up Ah7l", "p3 lk 2", "p3 up XlOb", "p1 rb 100", "p2 cc 100")
        play(hand, "p3 cc 100")
        assert verbs(hand) == ["rb"]  # a blind bet must be raised

    def test_who_looks_before_it_shows_is_not_blind_any_more(self):
        hand = play(uncharged(), "p1 lk 2", "p1 up Kl8b", "p2 up Ah7l", "p3 up XlOb")
        assert verbs(hand) == ["k", "rb"]
        play(hand, "p1 rb 100", "p2 cc 100", "p3 cc 100")
        assert "st" in verbs(hand)


class TestMasked:
    """All choose at the same time."""

    def test_nobody_sees_what_others_have_chosen_before_all_are_in(self):
        hand = play(uncharged(), "p1 lk 2", "p1 up Xb7b", "p2 up Ah7l")
        for viewer in ("public", 3):
            assert up_of(hand, viewer) == [["??"] * 2, ["??"] * 2, []]
            assert hand.view(viewer)["log"][-2:] == ["p1 up ????", "p2 up ????"]  # type: ignore[index]
        assert up_of(hand, 1) == [["Xb", "7b"], ["??"] * 2, []]
        assert up_of(hand, "auditor")[:2] == [["Xb", "7b"], ["Ah", "7l"]]

    def test_all_are_turned_at_once(self):
        hand = play(uncharged(), "p1 up Kl8b", "p2 up Ah7l")
        shown = [event for event in hand.apply("p3 up XlOb") if isinstance(event, TurnedUp)]
        assert shown == [TurnedUp(1, ("Kl", "8b")), TurnedUp(2, ("Ah", "7l")), TurnedUp(3, ("Xl", "Ob"))]
        assert up_of(hand, "public") == [["Kl", "8b"], ["Ah", "7l"], ["Xl", "Ob"]]

    def test_cards_turned_up_stay_known_when_their_seat_drops_out(self):
        hand = play(uncharged(), "p1 up Kl8b", "p2 up Ah7l", "p3 up XlOb", "p1 lk 2", "p1 rb 100", "p2 f")
        assert up_of(hand, 3)[1] == ["Ah", "7l"]
        assert hand.view(3)["seats"][1]["cards"] == ["??"] * 4  # type: ignore[index]


class TestPhysical:
    """Cards that the engine does not know."""

    def at_up(self) -> Hand:
        hand = table(2, opt=OPT, deck=None)
        for line in ("p1 po 100", "d dh p1 ????", "d dh p2 Ah7l", "p2 cc 100", "p1 rb 100", "p2 cc 100", "p2 k"):
            hand.apply(line)
        for line in ("d dh p1 ????", "d dh p2 ????", "p1 lk 2", "p1 up Kl8b"):
            hand.apply(line)
        return hand

    def test_a_card_turned_up_exists_once(self):
        refused(self.at_up(), "p2 up AhKl", "card_mismatch")
        refused(play(self.at_up(), "p2 lk 2"), "p2 up AhKl", "card_already_dealt")

    def test_the_hand_shown_at_the_end_holds_it_where_it_can_have_lain(self):
        hand = play(self.at_up(), "p2 up Ah7l", "p1 rb 100", "p2 lk 2", "p2 cc 100", "p2 st")
        refused(hand, "p1 sm XbKl7b8b", "card_mismatch")
        refused(hand, "p1 sm KlXb7b9b", "card_mismatch")
        for cards in ("8bKlXb7b", "Xb7bKl8b"):
            trial = play(self.at_up(), "p2 up Ah7l", "p1 rb 100", "p2 lk 2", "p2 cc 100", "p2 st")
            trial.apply(f"p1 sm {cards}")
        with pytest.raises(EngineError):
            hand.apply("p1 sm ????????")
