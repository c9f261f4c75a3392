"""Zsíros with a real pack: cards that the log names, and cards that nobody but their seat knows."""

from __future__ import annotations

import json
from random import Random

import pytest

from engine.errors import EngineError
from engine.kernel.cards import TELL32, UNKNOWN, split_cards
from engine.kernel.hand import Hand
from engine.play import random_line
from engine.record.format import format_record, parse_record, record_from, record_of
from engine.record.replay import replay
from engine.registry import start
from tests.engine.deals import lines_on_offer, say, shuffled
from tests.engine.tricks.zsiros_tables import IDS, records, setup


def table(*hands: str, seats: int = 4, opt: dict[str, object] | None = None) -> Hand:
    """A hand without a deck, the first cards as given, ``??`` for hands that are not."""
    hand = start(setup(seats, opt=opt, deck=None))
    for seat in range(1, seats + 1):
        hand.apply(f"d dh p{seat} {hands[seat - 1] if seat <= len(hands) else UNKNOWN * 4}")
    return hand


def refused(hand: Hand, line: str, code: str) -> None:
    before = hand.copy()
    with pytest.raises(EngineError) as refusal:
        hand.apply(line)
    assert refusal.value.code == code, refusal.value.message
    assert hand == before


@pytest.mark.parametrize("number", range(0, 30, 4))
def test_a_log_that_names_its_cards_needs_no_deck(number: int):
    record = {key: value for key, value in records()[number].items() if key != "deck"}
    outcome = replay(record_from(record))
    assert outcome.ok, outcome.error


def test_any_free_cards_may_be_dealt_and_no_others():
    hand = table("AaAlOa7a")
    hand = start(hand.setup)
    assert hand.forced() is None and hand.legal()[0].as_dict()["count"] == 4
    hand.apply("d dh p1 AaAlOa7a")
    refused(hand, "d dh p2 AaXlKaUb", "card_already_dealt")
    refused(hand, "d dh p2 XlXlKaUb", "card_already_dealt")
    refused(hand, "d dh p2 XlKaUb", "wrong_count")
    refused(hand, "d dh p3 XlXaKaUb", "wrong_target")
    refused(hand, "d dh p2 Xl1aKaUb", "card_not_in_pack")
    hand.apply("d dh p2 Xl??Ka??")
    assert hand.view("auditor")["seats"][1]["cards"] == ["Xl", UNKNOWN, "Ka", UNKNOWN]  # type: ignore[index]


def test_whose_cards_lie_ready_is_not_known_without_a_deck():
    hand = table("AaAlOa7a", "XaXl9a7l", opt={"deal_model": "preassigned"}, seats=2)
    say(hand, "p1 pl Oa; p2 pl 9a; d dh p1 Kh; d dh p2 9h")
    assert hand.phase == "lead"


def test_an_unknown_card_may_be_any_that_lies_nowhere_else():
    hand = table("AaAlOa7a", "??Xl9a7l")
    hand.apply("p1 pl Oa")
    refused(hand, "p2 pl Aa", "card_already_dealt")
    refused(hand, "p2 pl Oa", "card_already_dealt")
    refused(hand, "p2 pl ??", "card_unknown")
    refused(hand, "p2 pl 1a", "card_not_in_pack")
    say(hand, "p2 pl Ob; p3 pl Oh; p4 pl Kh")
    assert hand.view("auditor")["seats"][1]["cards"] == ["Xl", "9a", "7l"]  # type: ignore[index]
    refused(hand, "p2 pl Kb", "not_your_turn")


def test_a_known_hand_refuses_every_other_card_alike():
    """Whether somebody else holds the card is not shown."""
    hand = table("AaAlOa7a", "XaXl9a7l")
    for card in ("Xa", "Kb"):
        refused(hand, f"p1 pl {card}", "card_mismatch")


def test_the_leader_is_asked_as_long_as_the_hand_may_hold_a_matching_card():
    hand = table("??OaOlOb", "AlXl9a7l")
    say(hand, "p1 pl Aa; p2 pl Al; p3 pl Ka; p4 pl Kl")
    assert (hand.actor, hand.phase) == ("d", "deal")  # all that is left is known: it does not match
    hand = table("????OlOb", "AlXl9a7l")
    say(hand, "p1 pl Aa; p2 pl Al; p3 pl Ka; p4 pl Kl")
    assert (hand.actor, hand.phase) == ("p1", "ask")
    offered = {line for line in lines_on_offer(hand) if " pl " in line}
    assert offered == {f"p1 pl {card}" for card in ("Ab", "Ah", "7a", "7b", "7h")}
    refused(hand, "p1 pl Ol", "verb_not_legal")
    refused(hand, "p1 pl Kh", "verb_not_legal")
    refused(hand, "p1 pl 7l", "card_already_dealt")
    say(hand.copy(), "p1 pl 7h; p2 pl Xl; p3 pl Kb; p4 pl Kh")
    assert say(hand, "p1 ps").view("public")["leader"] == "p2"


def test_without_any_matching_card_left_there_is_no_question():
    hand = table("??????Oa", "AlAbAh7l", "7a7b7h9a", "KaKlKbKh")
    say(hand, "p1 pl Aa; p2 pl Ah; p3 pl 9a; p4 pl Ka")
    assert hand.phase == "deal"


def test_the_automatic_act_names_no_card_that_nobody_knows():
    hand = table("????OlOb")
    assert hand.automatic() is None
    hand.apply("p1 au")
    refused(hand, "p2 pl Aa", "verb_not_legal")
    refused(hand, "p3 cl uss", "verb_not_legal")
    hand.apply("p1 pl Kh")
    assert hand.actor == "p2" and hand.pending is None
    asked = table("????OlOb", "KaXl9a7l")
    say(asked, "p1 pl Kh; p2 pl Ka; p3 pl 9b; p4 pl 9h")
    assert asked.automatic() == "p1 ps"


def masked_deal(hand: Hand, random: Random, share: float) -> str:
    """What the house deals next, some of it unknown."""
    chance = hand.chance()
    assert chance
    *words, cards = chance.line(random).split(" ")
    return " ".join([*words, "".join(UNKNOWN if random.random() < share else card for card in split_cards(cards))])


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("number", range(12))
def test_random_deals_with_unknown_cards_come_to_an_end(share: float, number: int):
    random = Random(number)
    seats = random.choice((2, 4))
    hand = start(setup(seats, deck=None, opt={"draw_mode": random.choice(("batch", "single"))}))
    while not hand.over:
        line = masked_deal(hand, random, share) if hand.actor == "d" else random_line(hand, random)
        assert hand.actor == "d" or line in lines_on_offer(hand)
        hand.apply(line)
    played = [line.split(" ")[2] for line in hand.log if " pl " in line]
    assert sorted(played) == sorted(TELL32.cards)
    assert hand.result and sum(hand.result.net) == 0 and sum(hand.view("public")["points"]) == 80  # type: ignore[call-overload]
    record = record_of(hand, hand_id="p-1", rules_id="zsiros/1", seats=IDS[:seats], opt=dict(hand.setup.opt))
    assert replay(record).ok
    assert parse_record(format_record(record)) == record


@pytest.mark.parametrize("number", range(12))
def test_views_do_not_depend_on_which_cards_the_house_knows_elsewhere(number: int):
    """Two deals that differ in a card that the log names in another's hand look alike to everybody else, the choice of
    a seat with unknown cards included."""
    random = Random(number)
    cards = shuffled(random)
    rows = ["".join(cards[at : at + 4]) for at in (0, 4, 8, 12)]
    rows[0] = UNKNOWN * 2 + rows[0][4:]
    other = [row.replace(cards[4], cards[20]) for row in rows]
    one, two = table(*rows), table(*other)
    for viewer in (1, 3, 4, "public"):
        assert json.dumps(one.view(viewer)) == json.dumps(two.view(viewer))
    assert one.view(2) != two.view(2)
    assert one.legal_for(1)[0].as_dict() == {"actor": "p1", "verb": "pl", "count": 1}
