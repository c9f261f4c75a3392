"""Pacal: the rules text section by section, the record that describes its log, options and refusals."""

from __future__ import annotations

import pytest

from engine.errors import EngineError
from engine.kernel.events import Opened, Played, TurnedUp
from engine.kernel.hand import Hand
from engine.registry import game_info, start
from tests.engine.shedding.shedding_kit import IDS, deal, deck_of, example, play, refused, setup

ROWS = deck_of("AaKaObAlKl", "UaOaXa9a8a", "AbKbUbXb9b", "AhKhOhUhXh", "7a", "7b", "9h8h7h", "8l7l")
"""p1 has acorns, bells and leaves, p2 five acorns, p3 five bells, p4 five hearts; 7a is the top card."""


def table(*lines: str, deck: tuple[str, ...] = ROWS, trumps: str = "albh", **more: object) -> Hand:
    """A deal whose trumps are known already, p1's acorns and so on, with the stack begun."""
    return deal("pacal", 4, *lines, deck=deck, trumps=trumps, **more)


def test_the_example_line_by_line():
    """Indices as the description of the log has them."""
    record = example("pacal", "P2-000001")
    ids = tuple(record["seats"])
    hand = start(setup("pacal", opt=record["opt"])._replace(series=record["series"], ids=ids, deck=None))
    phases = {4: "turn_up", 7: "open", 8: "beat", 9: "second", 10: "deal", 23: "beat", 24: "lead", 42: "second"}
    for at, line in enumerate(record["acts"]):
        assert hand.phase == phases.get(at, hand.phase), at
        if at == 43:
            assert hand.view("public")["talon"] == 0 and hand.view("public")["seats"][0]["out"]  # type: ignore[index]
        if at == 53:
            assert hand.actor == "p3" and hand.view(1)["top"] == "9h" and hand.view(1)["stack"] == 1
        hand.apply(line)
    assert hand.result and hand.result.ending == "lost" and dict(hand.result.series) == record["series_out"]


def test_nobody_has_seen_a_card_before_the_stack_begins():
    """Text, "The Deal": face down, so that no player can see them."""
    hand = deal("pacal", 4, deck=ROWS)
    assert hand.phase == "turn_up" and hand.actors == ("p1",)
    for viewer in (1, 2, "public"):
        view = hand.view(viewer)
        assert view["seats"][0]["cards"] == ["??"] * 5 and view["log"][0] == "d dh p1 ??????????"  # type: ignore[index]
        assert view["legal"] == [{"actor": "p1", "verb": "up", "count": 1, "places": ((0,), (1,), (2,), (3,), (4,))}]
    assert hand.places(1) == ()
    play(hand, "p1 up Ob")
    for viewer in (1, 3, "public"):
        assert hand.view(viewer)["seats"][0]["cards"] == ["??", "??", "Ob", "??", "??"]  # type: ignore[index]
        assert hand.places(viewer) == ((0, 2),)
    play(hand, "p2 up Ua; p3 up Xb; p3 up Ub; p3 up Kb; p3 up Ab; p3 up 9b; p3 ts l")
    view = hand.view(1)
    assert hand.log[-1] == "d up 7a" and view["seats"][0]["cards"] == ["Aa", "Ka", "Ob", "Al", "Kl"]  # type: ignore[index]
    assert view["log"][:2] == ["d dh p1 AaKaObAlKl", "d dh p2 ??????????"]  # type: ignore[index]
    assert [seat["trump"] for seat in view["seats"]] == ["b", "a", "l", "h"]  # type: ignore[attr-defined]
    assert (0, 20) in hand.places("public")


def test_cards_are_turned_up_until_one_is_of_a_new_suit():
    """Text, "The Deal": a seen suit is passed over, and the seat stops at the first new one."""
    hand = deal("pacal", 4, "p1 up Aa", deck=ROWS)
    assert hand.actor == "p2"
    refused(hand, "p2 up Aa", "card_already_dealt")
    refused(hand, "p2 up Ka", "card_mismatch")
    play(hand, "p2 up Oa")
    assert hand.actor == "p2"
    refused(hand, "p2 up Oa", "card_already_dealt")
    refused(hand, "p2 ts b", "verb_not_legal")
    refused(hand, "p3 up Ab", "not_your_turn")


def test_a_seat_that_finds_no_new_suit_names_one():
    """Text, "The Deal": any trump suit but those of others; the dealer gets the last one."""
    hand = deal("pacal", 4, "p1 up Aa; p2 up Ua; p2 up Oa; p2 up Xa; p2 up 9a", deck=ROWS)
    assert hand.phase == "turn_up" and hand.automatic() == "p2 up 8a"
    play(hand, "p2 up 8a")
    assert hand.phase == "name" and hand.legal()[0].as_dict()["words"] == ["l", "b", "h"]
    refused(hand, "p2 ts a", "verb_not_legal")
    refused(hand, "p2 ts x", "malformed_action")
    assert hand.automatic() == "p2 ts l"
    play(hand, "p2 ts b; p3 up Ab; p3 up Kb; p3 up Ub; p3 up Xb; p3 up 9b; p3 ts h")
    assert [seat["trump"] for seat in hand.view(1)["seats"]] == ["a", "b", "h", "l"]  # type: ignore[attr-defined]


def test_the_automatic_act_before_the_stack_begins_names_a_card_that_nobody_knows():
    hand = deal("pacal", 4, deck=ROWS)
    play(hand, "p1 au")
    assert hand.pending == "up" and [list(offer.lines()) for offer in hand.legal()] == [["p1 up Aa"]]
    assert hand.view(1)["legal"] == [{"actor": "p1", "verb": "up", "count": 1}]
    refused(hand, "p1 up Ka", "verb_not_legal")
    play(hand, "p1 up Aa")
    assert hand.actor == "p2"


def test_trumps_are_kept_for_the_evening():
    """Text, "During the first hand only": later deals begin with the stack, and trumps go by chairs."""
    hand = table()
    assert hand.log[-1] == "d up 7a" and hand.phase == "beat"
    moved = deal("pacal", 4, deck=ROWS, trumps="hlab", order=["dan", "ann", "ben", "cat"])
    assert [seat["trump"] for seat in moved.view(1)["seats"]] == ["l", "a", "b", "h"]  # type: ignore[attr-defined]


def test_a_higher_card_of_the_suit_beats_then_one_more_card_then_one_off_the_pack():
    """Text, "The Play", first to third step."""
    hand = table()
    refused(hand, "p1 pl Ob", "verb_not_legal")
    refused(hand, "p1 pl Ua", "card_mismatch")
    refused(hand, "p1 pl ??", "card_unknown")
    refused(hand, "p2 pl Ua", "not_your_turn")
    play(hand, "p1 pl Ka")
    refused(hand, "p1 ps", "verb_not_legal")
    assert hand.phase == "second" and [offer.verb for offer in hand.legal()] == ["pl"]
    play(hand, "p1 pl Ob")
    assert hand.log[-1] == "d dh p1 7b" and hand.actor == "p2" and hand.view(1)["top"] == "Ob"
    assert hand.view("public")["talon"] == 10 and hand.view("public")["stack"] == 3


def test_a_trump_beats_only_where_the_suit_cannot():
    """Text, "If he cannot beat it this way": a higher card of the suit goes before a trump."""
    hand = table("p1 pl Ka; p1 pl Ob", trumps="ablh")
    refused(hand, "p2 pl Ua", "verb_not_legal")  # bells are p2's trump: only a higher one would do
    assert [list(offer.lines()) for offer in hand.legal()] == [["p2 ps"]]
    free = table("p1 pl Ka; p1 pl Ob", trumps="labh")
    assert list(free.legal()[0].lines()) == [f"p2 pl {card}" for card in ("Oa", "Ua", "Xa", "9a", "8a")]
    for one in (hand, free):  # what is refused for want of a name does not show whether the seat can beat the card
        refused(one, "p2 pl ??", "card_unknown")
    bound = table(trumps="lhba")
    refused(bound, "p1 pl Al", "verb_not_legal")  # Aa and Ka beat 7a in its suit


def test_a_trump_on_a_trump_must_be_higher():
    """Text, "If the up card is one of his own trumps"."""
    hand = table("p1 pl Ka; p1 pl Aa", trumps="lahb")
    assert [list(offer.lines()) for offer in hand.legal()] == [["p2 ps"]]
    refused(hand, "p2 pl Ua", "verb_not_legal")


def test_taking_the_stack_up_is_always_allowed_ends_the_turn_and_draws_nothing():
    """Text, "If the player cannot beat the up card, or if he chooses not to"."""
    hand = table()
    assert hand.automatic() == "p1 ps" and hand.late() == ("p1 au", "p1 ps")
    play(hand, "p1 ps")
    assert hand.held(1) == ("Aa", "Ka", "Ob", "Al", "Kl", "7a") and hand.phase == "lead" and hand.actor == "p2"
    refused(hand, "p2 ps", "verb_not_legal")
    assert hand.automatic() == "p2 pl Oa"
    play(hand, "p2 pl Xa")
    assert hand.log[-2:] == ("p2 pl Xa", "d dh p2 7b") and (hand.actor, hand.phase) == ("p3", "beat")


def test_who_draws_with_an_empty_hand_plays_on():
    """Text, "if there are any cards left in the deck": also to a hand that has just become empty."""
    hand = table("p1 pl Aa; p1 pl 8a", deck=deck_of("AaKa8aAlKl", "UaOaXa9aUb", "AbKbObXb9b", "AhKhOhUhXh", "7a"))
    play(hand, "p2 pl Xa; p2 pl 9a; p3 ps; p4 pl Ah; p1 ps; p2 pl Ua; p3 ps; p4 pl Kh")
    assert not hand.over


def test_the_last_one_with_cards_loses_pays_and_deals_next():
    """Text, "Winning the Game", over recorded deals with money."""
    hand = None
    record = example("pacal", "P2-000001")
    table_ = setup("pacal", opt={"forfeit": 70})._replace(series=record["series"], ids=tuple(record["seats"]))
    hand = start(table_._replace(deck=tuple(record["deck"][at : at + 2] for at in range(0, 64, 2))))
    hand.advance_all(record["acts"])
    assert hand.result and hand.result.net == (70, 70, -210, 70) and hand.result.series["deals"] == "p23"
    assert hand.view("public")["seats"][2]["cards"] == ["??"] * len(hand.held(3))  # type: ignore[index]
    assert game_info("pacal").next_seats(4, record["series"], hand.result.series) == (3, 0, 1, 2)


def test_a_deal_that_nobody_ends_is_void_and_keeps_the_trumps():
    hand = deal("pacal", 4, "p1 up Aa; p2 au", deck=ROWS, opt={"max_plies": 3})
    play(hand, "p2 up Oa; p2 up Ua; p2 up Xa; p2 up 9a; p2 up 8a; p2 ts h; p3 up Ab; p1 ps; p2 pl Oa; p3 ps")
    assert hand.result and (hand.result.ending, hand.result.net) == ("void", (0, 0, 0, 0))
    assert hand.result.series == {"order": list(IDS[:4]), "deals": "dan", "lost": [0] * 4, "trumps": "ahbl"}
    drawn = table("p1 ps; p2 pl Oa", opt={"max_plies": 2})
    assert drawn.log[-1] == "d dh p2 7b" and drawn.over  # the card is drawn before the deal is void


def test_events_say_what_lies_face_up():
    hand = deal("pacal", 4, deck=ROWS)
    assert hand.apply("p1 up Aa") == (TurnedUp(1, ("Aa",)),)
    play(hand, "p2 up Oa; p2 up Ua; p2 up Xa; p2 up 9a; p2 up 8a; p2 ts h")
    hand.apply("p3 up Ab")
    assert hand.forced() == "d up 7a" and hand.apply("d up 7a") == (Opened(("7a",)),)
    assert hand.apply("p1 pl Ka") == (Played(1, "Ka"),)


def test_the_house_turns_up_the_next_card_of_its_deck_and_no_other():
    hand = start(setup("pacal", deck=ROWS, trumps="albh"))
    for seat in range(4):
        hand.apply(f"d dh p{seat + 1} {''.join(ROWS[5 * seat : 5 * seat + 5])}")
    refused(hand, "d up 7b", "card_not_from_deck")
    refused(hand, "d up Aa", "card_already_dealt")
    refused(hand, "d up ??", "card_unknown")
    refused(hand, "p1 ps", "not_your_turn")
    hand.apply("d up 7a")
    assert hand.phase == "beat"


def test_options_and_stacks():
    game = game_info("pacal")
    assert game.policy.must_set == ("forfeit",) and game.policy.least_players({}) == 4
    start(setup("pacal", opt={"forfeit": 70}, stacks=(210,) * 4))
    with pytest.raises(EngineError, match="p1 has 209"):
        start(setup("pacal", opt={"forfeit": 70}, stacks=(209, 210, 210, 210)))
    for opt in ({}, {"forfeit": -1}, {"forfeit": 1, "max_plies": 0}, {"forfeit": 1, "max_passes": 5}):
        with pytest.raises(EngineError):
            start(setup("pacal")._replace(opt=opt))
