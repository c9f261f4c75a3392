"""Rufmariasch with a real pack: cards that the log names, and cards that nobody but their seat knows."""

from __future__ import annotations

from random import Random

import pytest

from engine.kernel.cards import UNKNOWN
from engine.kernel.hand import Hand
from engine.registry import start
from tests.engine.blind import few_unknown, many_unknown
from tests.engine.deals import lines_on_offer, refused, said, say, table

GAME = "rufmariasch"
OPTIONS: tuple[dict[str, object], ...] = ({}, {"call_own_card": False}, {"two_calls": True, "call_own_card": False})
HIDDEN = UNKNOWN * 4


def dealt(first: tuple[str, ...], rest: tuple[str, ...], call: str, opt: dict[str, object] | None = None) -> Hand:
    """A deal without a deck, ``????????`` for packets that are not given."""
    hand = start(table(GAME, opt))
    for packets, following in ((first, f"p1 cl {call}"), (rest, "")):
        for seat in (1, 2, 3, 4):
            hand.apply(f"d dh p{seat} {packets[seat - 1] if seat <= len(packets) else HIDDEN}")
        if following:
            hand.apply(following)
    return hand


@pytest.mark.some_now(3)
@pytest.mark.parametrize("opt", OPTIONS, ids=str)
def test_what_is_on_offer_is_what_some_deal_of_the_unknown_cards_allows(opt: dict[str, object]):
    """Exactly: with a few unknown cards at every line, with unknown hands near the end."""
    random = Random(str(opt))
    assert sum(few_unknown(GAME, opt, 4, random) for _ in range(8)) > 60
    assert sum(many_unknown(GAME, opt, 4, random) for _ in range(6)) > 35


def test_a_pair_may_be_melded_out_of_cards_that_nobody_knows():
    hand = dealt(("AaXaKaOa",), (), "7b")
    assert said(hand, "ml", "p1") == "KaOa KlOl KbOb KhOh"
    assert said(hand, "ml", "p2") == "KlOl KbOb KhOh"
    refused(hand, "p2 ml KaOa", "card_mismatch")
    say(hand, "p2 ml KlOl; p2 ml KbOb")
    assert sorted(hand.held(2)) == sorted(("Kl", "Ol", "Kb", "Ob", *[UNKNOWN] * 4))
    refused(hand, "p3 ml KlOl", "card_mismatch")
    say(hand, "p1 pl Ka; p2 pl Ob")
    refused(hand, "p2 ml KbOb", "verb_not_legal")
    refused(hand, "p3 pl Kb", "card_already_dealt", card="Kb")


def test_a_meld_needs_two_places():
    hand = dealt(("AaXaKaUa", "Al9l8lUl"), ("9a8a7a??", "7l9b8b7b"), "7h")
    assert said(hand, "ml", "p1") == "KaOa"
    refused(hand, "p1 ml KbOb", "card_mismatch")


def test_a_seat_that_did_not_head_the_trick_has_no_card_that_does():
    hand = say(dealt(("KlXaKaOa",), (), "7b"), "p1 pl Kl; p2 pl 9l")
    assert hand.phase == "first_trick"
    say(hand, "p3 pl 8l; p4 pl 7l; p1 pl Aa")
    # p2 to p4 have neither the ace nor the ten of leaves, so p1 holds both.
    assert {"p1 pl Al", "p1 pl Xl"} <= lines_on_offer(say(hand, "p2 pl 7a; p3 pl 8a; p4 pl 9a"))
    assert not {f"p{seat} pl Al" for seat in (2, 3, 4)} & lines_on_offer(say(hand, "p1 pl Xa"))
    refused(hand, "p2 pl Al", "card_mismatch")


def test_a_called_card_is_none_of_the_first_four_where_own_cards_are_ruled_out():
    opt: dict[str, object] = {"call_own_card": False}
    hand = dealt((), ("7l8l9lUl",), "Ah", opt)
    assert "p1 pl Ah" not in lines_on_offer(hand)
    refused(hand, "p1 pl Ah", "card_mismatch")
    assert "p1 pl Ah" in lines_on_offer(dealt((), ("7l8l9lUl",), "Ah"))
    assert "p1 pl Ah" in lines_on_offer(dealt((), ("7l8l9l??",), "Ah", opt))
    assert "p1 pl Ah" in lines_on_offer(dealt((), ("7l8l9lAh",), "Ah", opt))


def test_the_last_packet_must_leave_a_place_for_the_called_card():
    first = (HIDDEN, "7l8l9lUl", "7b8b9bUb", "7h8h9hUh")
    rest = ("AaXaKaOa", "AlXlKlOl", "AbXbKbOb", "XhKhOhUa")
    hand = start(table(GAME, {"call_own_card": False}))
    for line in (*(f"d dh p{seat} {first[seat - 1]}" for seat in (1, 2, 3, 4)), "p1 cl Ah"):
        hand.apply(line)
    for seat in (1, 2, 3):
        hand.apply(f"d dh p{seat} {rest[seat - 1]}")
    refused(hand, f"d dh p4 {rest[3]}", "card_mismatch")
    for others in ("XhKhOhAh", "XhKhOh??"):
        assert say(hand.copy(), f"d dh p4 {others}").actor == "p1"


def test_the_clock_names_no_card_that_nobody_knows():
    hand = dealt((), (), "7b")
    assert hand.automatic() is None
    hand.apply("p1 au")
    assert hand.pending == "pl"
    refused(hand, "p2 ml KlOl", "verb_not_legal")
    say(hand, "p1 pl Kh")
    assert hand.actor == "p2"


def test_what_a_seat_may_do_does_not_tell_which_cards_the_house_knows_elsewhere():
    one, two = dealt(("????????"[:8], "AlXlKlOl"), (), "7b"), dealt(("????????"[:8], "AhXhKhOh"), (), "7b")
    for viewer in (1, 3, 4, "public"):
        assert one.view(viewer) == two.view(viewer)
    assert one.view(2) != two.view(2)
