"""Rufmariasch, sentence by sentence. Section names are those of the rules text."""

from __future__ import annotations

import doctest
import json
from random import Random
from typing import Any

import pytest

from engine.kernel.cards import TELL32
from engine.kernel.events import Dealt, HandEnded, Played, Spoke, TurnedUp
from engine.kernel.hand import Hand
from engine.kernel.purse import Move, Why
from engine.kernel.rules import describe
from engine.registry import game_info, start
from engine.tricks import masks, scores
from engine.tricks.rufmariasch import RufmariaschState
from tests.engine.deals import (
    auto,
    deck_of,
    lines_on_offer,
    not_started,
    refused,
    run_forced,
    said,
    say,
    shuffled,
    table,
)  # fmt: skip
from tests.engine.unseen import exchanged, replayed, require_alike, watch

GAME = "rufmariasch"
FIRST = ("AaXaKaOa", "AlXlKlOl", "AbXbKbOb", "AhXhKhOh")
REST = ("Ua9a8a7a", "Ul9l8l7l", "Ub9b8b7b", "Uh9h8h7h")
"""Each seat has a suit, and with it a meld."""


def deal(*rows: str, opt: dict[str, object] | None = None, **what: Any) -> Hand:
    """A deal of a deck that begins with these cards: four a seat, four more a seat."""
    return run_forced(start(table(GAME, opt, deck=deck_of(*rows), **what)))


def hands(*rows: str, **what: Any) -> Hand:
    """A deal that gives the seats these eight cards each, and the last one what is left."""
    left = "".join(card for card in TELL32.cards if not any(card in row for row in rows))
    whole = (*rows, left)
    return deal(*(row[:8] for row in whole), *(row[8:] for row in whole), **what)


def view(hand: Hand) -> dict[str, Any]:
    return hand.view("public")


# Players, The Deal


def test_four_cards_the_call_and_four_more():
    hand = start(table(GAME, deck=TELL32.cards))
    for seat in (1, 2, 3, 4):
        cards = "".join(TELL32.cards[4 * seat - 4 : 4 * seat])
        assert hand.apply(f"d dh p{seat} {cards}") == (Dealt(seat, 4),)
    assert (hand.phase, hand.actor) == ("call", "p1")
    assert hand.apply("p1 cl Ab") == (Spoke(1, "cl", "Ab"),)
    assert (hand.phase, hand.actor, hand.forced()) == ("deal", "d", "d dh p1 AbKbObUb")
    run_forced(hand)
    assert (hand.phase, hand.actor) == ("first_trick", "p1")
    assert [len(hand.held(seat)) for seat in (1, 2, 3, 4)] == [8] * 4


# The Call


def test_any_card_may_be_called_its_suit_is_trumps():
    hand = deal(*FIRST, *REST)
    assert said(hand, "cl").split() == list(TELL32.cards)
    assert hand.automatic() == "p1 cl Aa"
    say(hand, "p1 cl 7b")
    assert (view(hand)["called"], view(hand)["trump"], view(hand)["partner"]) == ("7b", "b", None)


def test_where_own_cards_are_ruled_out_it_is_none_of_the_first_four():
    hand = deal(*FIRST, *REST, opt={"call_own_card": False})
    assert said(hand, "cl").split() == [card for card in TELL32.cards if card not in ("Aa", "Xa", "Ka", "Oa")]
    refused(hand, "p1 cl Ka", "verb_not_legal", phase="call", verbs=["cl"])
    assert hand.automatic() == "p1 cl Ua"
    say(hand, "p1 cl Ua")
    assert hand.phase == "first_trick"  # it is among the second four: p1 is alone


@pytest.mark.parametrize("viewer", [2, 4, "public"])
def test_what_may_be_called_shows_the_others_no_card(viewer: int | str):
    """Neither before the clock has run out nor after."""
    for opt in ({"call_own_card": False}, {"call_own_card": False, "two_calls": True, "must_differ": True}):
        hand = deal(*FIRST, *REST, opt=opt)
        other = deal("7h8h9hUh", "AlXlKlOl", "AbXbKbOb", "AhXhKhOh", opt=opt)
        for _ in range(2):
            assert hand.view(viewer)["legal"] == other.view(viewer)["legal"]
            assert hand.view(1)["legal"] != other.view(1)["legal"]
            hand.apply("p1 au") if hand.pending is None else None
            other.apply("p1 au") if other.pending is None else None


def test_two_calls_a_card_and_a_suit():
    """ "Variant": the suit is called apart; some groups force the two to differ."""
    hand = deal(*FIRST, *REST, opt={"two_calls": True})
    assert len(said(hand, "cl").split()) == 2 * 32 * 4 and hand.automatic() == "p1 cl Aa a"
    refused(hand, "p1 cl Aa", "verb_not_legal")
    say(hand, "p1 cl 7b l")
    assert (view(hand)["called"], view(hand)["trump"]) == ("7b", "l")
    hand = deal(*FIRST, *REST, opt={"two_calls": True, "must_differ": True})
    assert len(said(hand, "cl").split()) == 2 * 32 * 3 and hand.automatic() == "p1 cl Aa l"
    refused(hand, "p1 cl 7b b", "verb_not_legal")
    refused(deal(), "p1 cl 7b l", "verb_not_legal")
    refused(deal(), "p1 cl 7c", "malformed_action")
    refused(deal(), "p2 cl 7b", "not_your_turn", actor="p1")


# Melding


def test_king_and_over_are_melded_by_anybody_until_the_fourth_card():
    hand = say(deal(*FIRST, *REST), "p1 cl 7b")
    assert said(hand, "ml") == "KaOa KlOl KbOb KhOh"
    assert hand.apply("p3 ml KbOb") == (TurnedUp(3, ("Kb", "Ob")),)
    assert (hand.actor, hand.phase, said(hand, "ml")) == ("p1", "first_trick", "KaOa KlOl KhOh")
    refused(hand, "p3 ml KbOb", "verb_not_legal")
    say(hand, "p1 pl 7a; p1 ml KaOa; p2 pl 7l; p3 pl 7b")
    assert [seat["melds"] for seat in view(hand)["seats"]] == [["KaOa"], [], ["KbOb"], []]
    late = say(hand.copy(), "p4 pl 7h")
    assert (late.phase, late.actor, said(late, "ml")) == ("tricks", "p3", "")
    refused(late, "p2 ml KlOl", "not_your_turn")
    refused(late, "p3 ml KbOb", "verb_not_legal")
    say(hand, "p2 ml KlOl")
    assert hand.held(2).count("Kl") == 1  # the cards stay in the hand


def test_a_meld_is_a_pair_in_the_hand_at_that_moment():
    hand = say(deal(*FIRST, *REST), "p1 cl 7b")
    for wrong in ("p2 ml KaOa", "p2 ml OlKl", "p2 ml KlOa", "p2 ml Kl", "p2 ml ????", "p5 ml KlOl"):
        refused(hand, wrong, "card_mismatch")
    say(hand, "p1 pl Ka")
    refused(hand, "p1 ml KaOa", "card_mismatch")


def test_nothing_is_melded_before_all_cards_are_dealt_nor_between_clock_and_act():
    hand = deal(*FIRST, *REST)
    refused(hand, "p1 ml KaOa", "verb_not_legal")
    refused(hand, "p2 ml KlOl", "not_your_turn")
    hand.apply("p1 cl 7b")
    refused(hand, "p1 ml KaOa", "not_your_turn", actor="d")
    run_forced(hand).apply("p1 au")
    refused(hand, "p1 ml KaOa", "verb_not_legal", action="pl")
    refused(hand, "p2 ml KlOl", "verb_not_legal", action="pl")
    assert lines_on_offer(hand) == {"p1 pl Aa"}


def test_a_meld_is_on_offer_to_its_own_seat_only():
    hand = say(deal(*FIRST, *REST), "p1 cl 7b")
    for viewer in (1, 2, 3, 4):
        melds = [offer for offer in hand.view(viewer)["legal"] if offer["verb"] == "ml"]  # type: ignore[attr-defined]
        assert [offer["actor"] for offer in melds] == [f"p{viewer}"]
    assert [offer["verb"] for offer in view(hand)["legal"]] == ["pl"]
    assert hand.actors == ("p1",)


# The Play


def test_suit_is_followed_with_a_card_that_heads_the_trick():
    """Ten over king: the ten ranks second."""
    hand = hands("Kl7a8a9aUaOaXaAa", "XlOlKaUb8b9bKbOb", "AlUl8l7hAbXbUhXh")
    say(hand, "p1 cl 7b; p1 pl Kl")
    assert said(hand) == "Xl"
    refused(hand, "p2 pl Ol", "verb_not_legal")
    say(hand, "p2 pl Xl")
    assert said(hand) == "Al"
    hand = hands("Xl7a8a9aUaOaXaAa", "KlOlKaUb8b9bKbOb", "AlUl8l7hAbXbUhXh")
    say(hand, "p1 cl 7b; p1 pl Xl")
    assert said(hand) == "Kl Ol"  # none heads it: any card of the suit


ALL_ACORNS = "Al7a8a9aUaOaXaAa"


def test_a_void_seat_trumps_and_heads_the_trick_if_it_can():
    hand = hands(ALL_ACORNS, "Xb7bKaAhKhOhUhXh", "KbUb9h8h7hAb9b8b")
    say(hand, "p1 cl 7b; p1 pl Al")
    assert said(hand) == "Xb 7b"
    low, high = say(hand.copy(), "p2 pl 7b"), say(hand, "p2 pl Xb")
    assert (said(low), said(high)) == ("Ab Kb Ub 9b 8b", "Ab")
    hand = hands(ALL_ACORNS, "Ab7bKaAhKhOhUhXh", "KbUb9h8h7hXb9b8b")
    say(hand, "p1 cl 7b; p1 pl Al; p2 pl Ab")
    assert said(hand) == "Kb Ub Xb 9b 8b"  # no trump heads it: a lower one all the same


def test_once_a_trick_is_trumped_any_card_of_the_suit_will_do():
    hand = hands("Kl7a8a9aUaOaXaAa", "Xb7bKaAhKhOhUhXh", "AlUl8lAbUb9h8h7h")
    say(hand, "p1 cl 7b; p1 pl Kl; p2 pl 7b")
    assert said(hand) == "Al Ul 8l"


def test_neither_suit_nor_trump_any_card():
    hand = say(deal(*FIRST, *REST), "p1 cl 7b; p1 pl 7a")
    assert said(hand).split() == ["Al", "Kl", "Ol", "Ul", "Xl", "9l", "8l", "7l"]
    assert hand.apply("p2 pl 8l") == (Played(2, "8l"),)
    assert said(hand).split() == ["Ab", "Kb", "Ob", "Ub", "Xb", "9b", "8b", "7b"]


def test_the_winner_leads_to_the_next_of_eight_tricks():
    hand = say(deal(*FIRST, *REST), "p1 cl 7b; p1 pl 7a; p2 pl 7l; p3 pl 7b; p4 pl 7h")
    assert (hand.actor, [seat["tricks"] for seat in view(hand)["seats"]]) == ("p3", [0, 0, 1, 0])
    assert sum(" pl " in line for line in auto(hand).log) == 32


# Scoring


def test_the_example_of_the_log():
    """p3 is the partner; sides 70 to 80: p1 pays p2, p3 pays p4 ten points."""
    deck = "9a7a7lKbOb9lXaKa9hKhXb7hUl8aAhOh8hXhAa7bOaUb9bAlXlOlKlUa8l8bAbUh"
    hand = deal(deck)
    say(hand, "p1 cl Kl; p2 ml KaOa; p1 pl Xh; p3 ml KlOl; p2 pl 9l; p3 pl 7h; p4 pl Uh; p2 pl 9b; p3 pl Xb; p4 pl Ab")
    assert view(hand)["partner"] == "p3"
    say(hand, "p1 pl Kb; p4 pl 8b; p1 pl 7b; p2 pl Ub; p3 pl Xl; p3 pl Kl; p4 pl Ul; p1 pl 7l; p2 pl Al; p2 pl Oa")
    say(hand, "p3 pl Ua; p4 pl 8a; p1 pl Aa; p1 pl 7a; p2 pl Ka; p3 pl Ol; p4 pl 8l; p3 pl 9h; p4 pl Ah; p1 pl 8h")
    say(hand, "p2 pl Xa; p4 pl Oh; p1 pl 9a; p2 pl Ob")
    assert hand.moves == ()
    events = hand.apply("p3 pl Kh")
    assert events[1:] == (Move(1, 2, 100, Why.POINTS), Move(3, 4, 100, Why.POINTS), HandEnded("partners", 2))
    assert view(hand)["points"] == [10, 40, 60, 40]
    assert hand.result and hand.result.series == {"score": {"ann": -10, "ben": 10, "cat": -10, "dan": 10}}


def alone(call: str = "Aa", **what: Any) -> Hand:
    """p1 has all acorns and calls one of them: trumps, and alone."""
    return say(deal(*FIRST, *REST, **what), f"p1 cl {call}")


def test_a_seat_alone_settles_with_each_of_the_others():
    hand = auto(say(alone(), "p1 ml KaOa; p2 ml KlOl"))
    assert view(hand)["points"] == [130, 0, 0, 0] and hand.result  # p2 took no trick: its meld counts nothing
    assert (hand.result.ending, hand.result.winner, hand.result.net) == ("alone", 1, (3900, -1300, -1300, -1300))
    assert [(move.source, move.target, move.amount) for move in hand.moves] == [(seat, 1, 1300) for seat in (2, 3, 4)]


def test_the_worst_loss_is_alone_against_everything():
    """p1 calls a trump of its own and takes no trick; p2 has all four melds."""
    hand = hands("7a8a7l8l7b8b7h8h", "KaOaKlOlKbObKhOh", "AaXaUa9aAhXhUh9h", stack=5700)
    say(hand, "p1 cl 7a; p2 ml KaOa; p2 ml KlOl; p2 ml KbOb; p2 ml KhOh")
    say(hand, "p1 pl 7a; p2 pl Oa; p3 pl Aa; p4 pl 9l; p3 pl Uh; p4 pl Ul; p1 pl 7h; p2 pl Oh")
    assert hand.actor == "p2"
    assert auto(hand).result and view(hand)["points"][0] == 0 and sum(view(hand)["points"]) == 190
    assert hand.result.net == (-5700, 1900, 1900, 1900) and hand.stacks[0] == 0  # type: ignore[union-attr]
    rules = game_info(GAME).rules.parse({"unit": 10}, 4)
    assert game_info(GAME).policy.worst_loss(rules, 4) == rules.least_stack == 5700
    not_started("stack_too_short", table(GAME, stack=5699), seat=1, min=5700)


def test_two_settle_with_two_in_seat_order():
    for seed in range(40):
        hand = auto(run_forced(start(table(GAME, deck=shuffled(Random(seed))))))
        assert hand.result and sum(hand.result.net) == 0
        if hand.result.ending == "partners":
            (one, two), points = hand.moves, view(hand)["points"]
            ours = {1, int(view(hand)["partner"][1:])}
            winners = sorted(ours if sum(points[seat - 1] for seat in ours) * 2 > sum(points) else {1, 2, 3, 4} - ours)
            losers = sorted({1, 2, 3, 4} - set(winners))
            assert [(move.source, move.target) for move in (one, two)] == list(zip(losers, winners, strict=True))


# Nobody knows the partner


def test_the_partner_shows_with_the_called_card():
    hand = say(deal(*FIRST, *REST), "p1 cl 7b; p1 pl 7a; p2 pl 7l")
    assert view(hand)["partner"] is None and hand.view(3)["partner"] is None
    assert view(say(hand, "p3 pl 7b"))["partner"] == "p3"
    assert view(say(deal(*FIRST, *REST), "p1 cl Kb; p3 ml KbOb"))["partner"] == "p3"
    assert view(say(deal(*FIRST, *REST), "p1 cl Ub; p3 ml KbOb"))["partner"] is None
    assert view(say(alone("7a"), "p1 pl 7a"))["partner"] == "p1"


@pytest.mark.parametrize("opt", [{}, {"call_own_card": False}, {"two_calls": True}], ids=str)
@pytest.mark.parametrize("number", range(4))
def test_the_called_card_in_another_hand_changes_nothing_that_is_seen(opt: dict[str, object], number: int):
    """Up to the line that shows it: the called card is exchanged with a card of another hand that the viewer has not
    seen, so that the partner is somebody else, or p1 alone."""
    random, compared = Random(f"{opt}/{number}"), 0
    hand = start(table(GAME, opt, deck=shuffled(random)))
    while not hand.over and view(hand)["partner"] is None:
        called = view(hand)["called"]
        if called and hand.actor != "d":
            for viewer in (1, 2, 3, 4, "public"):
                hidden = [card for card in hand.setup.deck or () if f"p{viewer}" != holder(hand, card) != "out"]
                others = [card for card in hidden if holder(hand, card) != holder(hand, called)]
                if called not in hidden:
                    continue
                for other in random.sample(others, min(4, len(others))):
                    twin = replayed(hand, {called: other, other: called})
                    if twin is not None:
                        require_alike(hand, twin, viewer)
                        compared += 1
        hand.apply(hand.forced() or random.choice(sorted(lines_on_offer(hand) - {f"{hand.actor} au"})))
    assert compared > 4


def holder(hand: Hand, card: str) -> str:
    """The seat that holds the card; ``out`` for one that was seen by all."""
    if any(card in line.split(" ")[2] for line in hand.log if " ml " in line):
        return "out"
    return next((f"p{seat}" for seat in (1, 2, 3, 4) if card in hand.held(seat)), "out")


@pytest.mark.parametrize("opt", [{}, {"call_own_card": False, "two_calls": True, "must_differ": True}], ids=str)
@pytest.mark.parametrize("number", range(4))
def test_exchanging_unseen_cards_leaves_every_view_byte_identical(opt: dict[str, object], number: int):
    found, steps = watch(GAME, opt, 4, number)
    assert found > 0.6 * steps


def test_a_seat_that_has_a_pair_looks_like_one_that_has_none():
    hand = say(deal(*FIRST, *REST), "p1 cl 7b")
    twin = exchanged(hand, 1, Random(1))
    assert twin is not None and said(twin, "ml") != said(hand, "ml")
    assert json.dumps(twin.view(1)) == json.dumps(hand.view(1))


# Tables


@pytest.mark.parametrize(
    ("opt", "code"),
    [
        ({"unit": 0}, "option_out_of_range"), ({"unit": "1"}, "option_out_of_range"),
        ({"call_own_card": 0}, "option_out_of_range"), ({"must_differ": True}, "option_out_of_range"),
        ({"stake": 1}, "unknown_option"),
    ],
)  # fmt: skip
def test_options_that_cannot_be(opt: dict[str, object], code: str):
    not_started(code, table(GAME)._replace(opt={"unit": 10} | opt))


def test_options_are_described_and_the_unit_must_be_set():
    described = {option.name: option for option in describe(game_info(GAME).rules)}
    assert list(described) == ["unit", "call_own_card", "two_calls", "must_differ"]
    assert all('("' in option.meaning for option in described.values())
    not_started("option_missing", table(GAME)._replace(opt={}))
    assert game_info(GAME).policy.as_dict()["must_set"] == ["unit"]


ZERO = {"ann": 0, "ben": 0, "cat": 0, "dan": 0}


@pytest.mark.parametrize(
    "series",
    [
        {}, {"score": None}, {"score": [0, 0, 0, 0]}, {"score": ZERO, "order": []}, {"score": ZERO | {"eve": 0}},
        {"score": {"ann": 0}}, {"score": ZERO | {"ann": 10}}, {"score": ZERO | {"ann": False}},
        {"score": ZERO | {"ann": "0"}}, {"score": ZERO | {"ann": 10**16, "ben": -(10**16)}},
    ],
)  # fmt: skip
def test_a_series_that_cannot_be(series: dict[str, object]):
    not_started("malformed_setup", table(GAME, series=series))


def test_the_same_four_go_on_and_others_start_over():
    info = game_info(GAME)
    rules, left = info.rules.parse({"unit": 1}, 4), {"score": ZERO | {"ann": 20, "dan": -20}}
    assert info.continues(left, ("ben", "cat", "dan", "ann"), rules)
    assert not info.continues(left, ("ben", "cat", "dan", "eve"), rules) and not info.continues({}, ("ann",), rules)
    assert info.next_seats(4, left, left) == (1, 2, 3, 0)
    assert view(deal(series=left))["seats"][0]["score"] == 20


@pytest.mark.parametrize("changed", [{"carry": 1}, {"redeals": (TELL32.cards,)}, {"dealer": 3}, {"seats": 3}])
def test_set_ups_that_cannot_be(changed: dict[str, Any]):
    not_started("malformed_setup", table(GAME)._replace(**changed))


def test_the_vocabulary_is_what_the_phases_know():
    known = {verb for verbs in RufmariaschState.HANDLERS.values() for verb in verbs}
    assert known == set(RufmariaschState.OFFERS) == set(game_info(GAME).verbs)


@pytest.mark.parametrize("module", [masks, scores])
def test_the_examples_in_the_docstrings_run(module: Any):
    result = doctest.testmod(module)
    assert result.attempted and not result.failed
