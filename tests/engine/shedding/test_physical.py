"""Esel, Pacal and Old Maid with a real pack: cards that the log names, and cards that nobody but their seat knows."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from engine.kernel.cards import TELL32, UNKNOWN, split_cards
from engine.kernel.hand import Hand
from engine.play import random_line
from engine.record.format import format_record, parse_record, record_from, record_of
from engine.record.replay import replay
from engine.registry import game_info, start
from tests.engine.deals import accepted
from tests.engine.shedding.shedding_kit import IDS, OPTIONS, REFEREES, play, records, refused, setup

GAMES = tuple(REFEREES)
FULL = {"esel": 8, "pacal": 5, "old_maid": 5}


def table(game: str, *hands: str, seats: int = 4, removed: str = UNKNOWN, **more: Any) -> Hand:
    """A hand without a deck, the first cards as given, ``??`` for hands that are not."""
    hand = start(setup(game, seats, deck=None, **more))
    if game == "old_maid":
        hand.apply(f"d rm {removed}")
    for seat in range(1, seats + 1):
        hand.apply(f"d dh p{seat} {hands[seat - 1] if seat <= len(hands) else UNKNOWN * FULL[game]}")
    return hand


@pytest.mark.parametrize("game", GAMES)
def test_a_log_that_names_its_cards_needs_no_deck(game: str):
    for number in range(0, 40, 5):
        record = {key: value for key, value in records(game)[number].items() if key != "deck"}
        outcome = replay(record_from(record))
        assert outcome.ok, outcome.error


@pytest.mark.parametrize("game", GAMES)
def test_any_free_cards_may_be_dealt_and_no_others(game: str):
    hand = start(setup(game, deck=None))
    if game == "old_maid":
        assert hand.legal()[0].contains("d rm ??") and not hand.legal()[0].contains("d rm Ub")
        refused(hand, "d rm Ub", "card_mismatch")
        play(hand, "d rm Uh")
    size, rest = FULL[game], "AlKlOlXl9l8lKhKb"
    row = rest[: 2 * size]
    play(hand, f"d dh p1 {'AaKaOaXa9a8a7aAb'[: 2 * size]}")
    refused(hand, f"d dh p2 Aa{row[2:]}", "card_already_dealt")
    refused(hand, f"d dh p2 {row[2:]}{row[2:4]}", "card_already_dealt")
    refused(hand, f"d dh p2 {row[2:]}", "wrong_count")
    refused(hand, f"d dh p3 {row}", "wrong_target")
    refused(hand, f"d dh p2 1a{row[2:]}", "card_not_in_pack")
    play(hand, f"d dh p2 ??{row[2:]}")
    assert hand.forced() is None and hand.held(2)[0] == UNKNOWN


# -- Esel ------------------------------------------------------------------------------------------------------------


def test_a_card_may_be_given_that_only_two_seats_have_seen():
    hand = table("esel", "AaKa??????????7h")
    refused(hand, "p1 gv 1l", "card_not_in_pack")
    assert hand.automatic() is None
    for line in ("p1 gv Aa", "p1 gv ??", "p1 gv Xb"):
        assert accepted(hand, line) and hand.legal()[0].contains(line)
    play(hand, "p1 gv ??; p2 gv Xb")
    assert hand.held(1).count(UNKNOWN) == 4 and hand.held(3)[-1] == "Xb"
    refused(hand, "p3 gv Aa", "card_already_dealt")
    known = table("esel", "AaKaOaUaXa9a8a7h")
    refused(known, "p1 gv ??", "card_unknown")
    refused(known, "p1 gv 7a", "card_mismatch")


def test_who_shouts_names_what_the_house_does_not_know():
    hand = table("esel", "??KaOaUaXa9a8a7h")
    play(hand, "p1 gv 7h")
    refused(hand, "p1 sh", "card_unknown")
    refused(hand, "p1 sh ??", "card_unknown")
    refused(hand, "p1 sh AaAl", "wrong_count")
    refused(hand, "p1 sh Ka", "card_already_dealt")
    assert hand.late() == () and hand.legal()[1].contains("p1 sh Aa") and not hand.legal()[1].contains("p1 sh Ka")
    false = play(hand.copy(), "p1 sh Aa")
    assert false.result and false.result.ending == "false_shout"  # 7h was no acorn
    assert false.view(3)["seats"][0]["cards"] == ["Aa", "Ka", "Oa", "Ua", "Xa", "9a", "8a"]  # type: ignore[index]


def test_an_unknown_eighth_card_is_the_missing_one_unless_that_lies_elsewhere():
    play(hand := table("esel", "KaOaUaXa9a8a7a??"), "p1 gv ??; p1 sh")
    assert hand.phase == "shout" and hand.late() == ()
    refused(hand, "p2 sh Aa", "verb_not_legal")
    play(hand, "p3 sh; p2 sh")
    assert hand.result and hand.result.net[3] == -300
    play(other := table("esel", "KaOaUaXa9a8a7a??", "Aa" + UNKNOWN * 7), "p1 gv ??; p1 sh")
    assert other.result and other.result.ending == "false_shout"


# -- Pacal -----------------------------------------------------------------------------------------------------------


def test_cards_are_turned_up_and_played_out_of_hands_that_nobody_knows():
    hand = table("pacal")
    assert hand.automatic() is None and hand.forced() is None
    refused(hand, "p1 up ??", "card_unknown")
    play(hand, "p1 up Aa; p2 up Ka")
    refused(hand, "p2 up Ka", "card_already_dealt")
    refused(hand, "p2 up Aa", "card_already_dealt")
    play(hand, "p2 up Al; p3 up Ab")
    assert hand.phase == "open" and hand.chance() and hand.chance().pool[0] == "Oa"  # type: ignore[union-attr]
    refused(hand, "d up Ka", "card_already_dealt")
    refused(hand, "d up ??", "card_unknown")
    play(hand, "d up 9a")
    assert hand.held(2).count(UNKNOWN) == 3 and hand.view(2)["seats"][1]["cards"][:2] == ["Ka", "Al"]  # type: ignore[index]


def test_a_trump_shows_what_a_hand_does_not_hold():
    """Text, "If he cannot beat it": an unknown card of the seat that has trumped is no higher one of that suit; one
    that is drawn later may be."""
    hand = play(table("pacal", trumps="albh"), "d up Kb")
    refused(hand.copy(), "p1 pl Ob", "verb_not_legal")
    assert accepted(hand, "p1 pl Ab") and accepted(hand, "p1 pl 7a")
    play(hand, "p1 pl 7a")
    refused(hand, "p1 pl Ab", "card_mismatch")
    assert not hand.legal()[0].contains("p1 pl Ab") and hand.legal()[0].contains("p1 pl Ob")
    play(hand, "p1 pl 8a; d dh p1 ??; p2 ps; p3 pl Xb")
    play(hand, "d dh p3 ??; p4 pl Ob; p4 pl 7b; d dh p4 ??")
    assert accepted(hand, "p1 pl Ab") and accepted(hand, "p1 pl 9b")
    play(hand, "p1 pl Ab")
    assert hand.held(1) == (UNKNOWN,) * 3
    known = play(table("pacal", "Ab????????", trumps="albh"), "d up Kb")
    refused(known, "p1 pl 7a", "verb_not_legal")
    assert known.automatic() == "p1 ps"


# -- Old Maid --------------------------------------------------------------------------------------------------------


def test_a_hand_that_nobody_knows_may_have_pairs_or_not():
    hand = table("old_maid", seats=3)
    assert (hand.actors, hand.timed, hand.late()) == (("p1", "d"), False, ())
    offers = {offer.verb: offer for offer in hand.legal()}
    assert set(offers) == {"ds", "fn"} and offers["fn"].contains(f"d fn p3 {UNKNOWN * 5}")
    for line in ("p1 ds AaAl", "p1 ds AlAh", "p1 ds AaAlKbKh", "p1 ds 7a7l7b7h"):
        assert offers["ds"].contains(line) and accepted(hand, line)
    for line in (
        "p1 ds AlAa",
        "p1 ds AaKa",
        "p1 ds KaKlAaAl",
        "p1 ds UaUb",
        "p1 ds AaAlKaKl9a9l",
        "p1 ds ????",
        "p1 ds Aa",
    ):
        assert not offers["ds"].contains(line)
        refused(hand, line, "card_mismatch")
    refused(hand, "p2 ds AaAl", "not_your_turn")
    refused(hand, f"d fn p2 {UNKNOWN * 5}", "wrong_target")
    play(hand, "p1 ds AlAh")
    assert hand.actors == ("d",) and hand.held(1) == (UNKNOWN,) * 3
    play(hand, f"d fn p3 {UNKNOWN * 5}; p1 dr 2")
    assert hand.held(1) == (UNKNOWN,) * 4 and hand.held(3) == (UNKNOWN,) * 4
    refused(hand, "d dh p3 Al", "card_already_dealt")
    play(hand, "d dh p3 ??")
    assert hand.actors == ("p1", "p2", "d")  # a pair that was drawn, p2's pairs, or p2 draws
    for line in ("p1 ds KaKl", "p2 ds KaKl", f"d fn p1 {UNKNOWN * 4}"):
        assert accepted(hand, line)
    refused(hand, "p3 ds KaKl", "not_your_turn")
    refused(hand, f"d fn p3 {UNKNOWN * 4}", "wrong_target")


def test_named_cards_of_a_hand_go_out_and_unknown_ones_may_join_them():
    hand = table("old_maid", "AaAb7h????", seats=3)
    assert hand.actors == ("p1",) and hand.forced() is None
    for line in ("p1 ds AaAb", "p1 ds AaAl", "p1 ds AaAlAbAh", "p1 ds AaAb7b7h", "p1 ds AaAb7a7l", "p1 ds AaAbKaKl"):
        assert accepted(hand, line), line
    for line in ("p1 ds AbAh", "p1 ds 7a7h", "p1 ds AaAhKaKl", "p1 ds AaAbKaKlOaOl"):
        refused(hand, line, "card_mismatch")
    play(hand, "p1 ds AaAl")
    assert hand.held(1) == ("Ab", "7h", UNKNOWN)


def test_a_fan_names_what_is_known_and_may_name_more():
    hand = table("old_maid", "AaKaOaXa9a", "8a??Kl??7l", seats=2)
    for cards in ("8a??Kl??7l", "????8a7lKl", "7lKl8aAbAh"):
        assert accepted(hand, f"d fn p2 {cards}"), cards
    for cards in ("8a??Kl????", "AaAb8a7lKl", "8a8aKl??7l", "8a??Kl??7l??"):
        assert not accepted(hand, f"d fn p2 {cards}"), cards
    play(hand, "d fn p2 7lKl8aAbAh; p1 dr 4")
    assert hand.held(1)[-1] == "Ab" and hand.held(2) == ("8a", "Kl", "Ah", "7l")


def test_of_three_unters_one_is_out_of_play():
    hand = start(setup("old_maid", 2, deck=None))
    play(hand, "d rm ??")
    refused(hand, "d dh p1 UaUlUhAaKa", "card_already_dealt")
    play(hand, "d dh p1 UaUlXhAaKa")
    refused(hand, "d dh p2 UhAlKlOlXl", "card_already_dealt")
    assert hand.chance() and "Uh" not in hand.chance().pool  # type: ignore[union-attr]


def test_in_the_last_turn_nobody_asks_whether_an_unknown_hand_has_a_pair():
    opt = {"discard": "draw", "max_turns": 1}
    hand = table("old_maid", "AaKaOaXa9a", seats=2, opt=opt)
    play(hand, f"d fn p2 {UNKNOWN * 5}; p1 dr 1; d dh p2 ??")
    assert hand.result and hand.result.ending == "void"


# -- all of them -----------------------------------------------------------------------------------------------------


def masked_deal(hand: Hand, random: Random, share: float) -> str | None:
    """What the house deals next, some of it unknown; None where it deals nothing."""
    chance = hand.chance()
    if chance is None:
        return None
    *words, cards = chance.line(random).split(" ")
    if words[1] != "dh":
        return " ".join([*words, cards])
    return " ".join([*words, "".join(UNKNOWN if random.random() < share else card for card in split_cards(cards))])


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("game", GAMES)
def test_random_deals_with_unknown_cards_come_to_an_end(game: str, share: float):
    for number in range(8):
        random, info = Random(f"{number}"), game_info(game)
        seats = random.choice(info.seats_allowed or range(2, 7))
        opt = OPTIONS[game][number % len(OPTIONS[game])]
        hand = start(setup(game, seats, deck=None, opt=opt))
        while not hand.over:
            line = masked_deal(hand, random, share) or random_line(hand, random)
            assert sum(offer.contains(line) for offer in hand.legal()) == 1, (line, hand.log)
            hand.apply(line)
        assert hand.result and sum(hand.result.net) == 0
        record = record_of(hand, hand_id="p-1", rules_id=info.rules_id, seats=IDS[:seats], opt=dict(hand.setup.opt))
        assert replay(record).ok and parse_record(format_record(record)) == record


@pytest.mark.parametrize("game", GAMES)
def test_views_do_not_depend_on_which_cards_the_house_knows_elsewhere(game: str):
    """Two deals that differ in a card that the log names in another's hand look alike to everybody else, the choice of
    a seat with unknown cards included."""
    compared = 0
    for number in range(12):
        random, size = Random(number), FULL[game]
        cards = random.sample([card for card in TELL32.cards if card[0] != "U"], 28)
        rows = [UNKNOWN * 2 + "".join(cards[: size - 2]), "".join(cards[size : 2 * size])]
        other = [rows[0], rows[1].replace(cards[size], cards[-1])]
        removed = {"removed": "Uh"} if game == "old_maid" else {}
        one, two = table(game, *rows, **removed), table(game, *other, **removed)
        if (one.phase, one.actors) != (two.phase, two.actors):
            continue
        for viewer in (1, 3, 4, "public"):
            assert json.dumps(one.view(viewer)) == json.dumps(two.view(viewer))
        compared += 1
    assert compared > 5
