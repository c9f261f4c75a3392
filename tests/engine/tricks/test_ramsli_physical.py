"""Ramsli with a real pack: cards that the log names, and cards that nobody but their seat knows."""

from __future__ import annotations

import json
from random import Random

import pytest

from engine.kernel.cards import TELL32, UNKNOWN, split_cards
from engine.kernel.hand import Hand
from engine.kernel.legal import Legal, Pick, Rows, Some
from engine.record.format import format_record, parse_record, record_from, record_of
from engine.record.replay import replay
from engine.registry import start
from tests.engine.deals import say
from tests.engine.tricks.ramsli_tables import IDS, records, refused, setup


def table(*hands: str, seats: int = 3, kitty: int = 0, trump: str = "7b") -> Hand:
    """A hand without a deck whose dealer has turned up a card and looked; ``??`` for hands that are not given."""
    hand = start(setup(seats, deck=None, kitty=kitty))
    given = [hands[seat] if seat < len(hands) else UNKNOWN * 4 for seat in range(seats)]
    hand.apply(f"p{seats} po 400")
    for seat, cards in enumerate(given, 1):
        hand.apply(f"d dh p{seat} {cards[:4]}")
    say(hand, f"p{seats} cl top; d up {trump}")
    for seat, cards in enumerate(given, 1):
        hand.apply(f"d dh p{seat} {cards[4:]}")
    return say(hand, f"p{seats} lk 4")


def drawing(*hands: str, trump: str = "7b") -> Hand:
    """A muss at p1's turn to draw."""
    return say(table(*hands, trump=trump), "p3 ps; p1 ps; p2 ps")


@pytest.mark.parametrize("number", range(0, 40, 5))
def test_a_log_that_names_its_cards_needs_no_deck(number: int):
    record = {key: value for key, value in records()[number].items() if key != "deck"}
    outcome = replay(record_from(record))
    assert outcome.ok, outcome.error


def test_any_free_card_may_be_turned_up_but_it_must_be_named():
    hand = start(setup(deck=None))
    hand.apply("p3 po 400")
    say(hand, "d dh p1 AaKa; d dh p2 ????; d dh p3 ??Kl; p3 cl bottom")
    assert hand.forced() is None and hand.legal()[0].as_dict() == {"actor": "d", "verb": "up", "count": 1}
    for line, code in (
        ("d up ??", "card_unknown"), ("d up Aa", "card_already_dealt"), ("d up 1a", "card_not_in_pack"),
        ("d up p1 7b", "wrong_target"), ("d dh p1 7b", "verb_not_legal"),
    ):  # fmt: skip
        refused(hand, line, code)
    chance = hand.chance()
    assert chance and (chance.target, chance.verb, chance.outcomes) == (0, "up", 29)
    assert hand.apply("d up 7b") and hand.view(1)["lying"] == "7b" and hand.view(3)["talon"] == 25
    assert "bottom" not in hand.view(3)


def test_unknown_cards_may_be_laid_away_named_or_not():
    """``??`` may be any card of the hand: which of those that were known are left is not known then."""
    hand = drawing("??KaOb??")
    assert hand.automatic() == "p1 ps"
    refused(hand, "p1 ds ??Ka", "malformed_action")
    refused(hand, "p1 ds 7b", "card_already_dealt")
    refused(hand, "p1 ds AaOlUl", "card_mismatch")
    named = say(hand.copy(), "p1 ds KaXh??")
    assert named.held(1) == (UNKNOWN,)
    say(named, "d dh p1 ??????")
    for card in ("Xh", "Ka", "Ob"):
        refused(named, f"p2 ds {card}", "card_already_dealt")
    say(hand, "p1 ds ????; d dh p1 Aa??")
    assert hand.held(1) == (UNKNOWN, UNKNOWN, "Aa", UNKNOWN)
    refused(hand, "p2 ds Ka", "card_already_dealt")


def playing(*hands: str, away: str, drawn: str) -> Hand:
    """A muss in which p1 has laid away and drawn these cards, and leads."""
    return say(drawing(*hands), f"p1 ds {away}; d dh p1 {drawn}; p2 ps; p3 ps")


def test_a_card_that_may_have_been_laid_away_may_be_played_by_its_seat_alone():
    hand = playing("KaOb????", away="????", drawn="????")
    for line in ("p1 pl Ka", "p1 pl Ob", "p1 pl Xh"):
        hand.copy().apply(line)
    refused(hand, "p1 pl 7b", "card_already_dealt")
    say(hand, "p1 pl Xh")
    for card in ("Ka", "Ob"):
        refused(hand, f"p2 pl {card}", "card_already_dealt")


def test_no_more_known_cards_are_gone_than_were_laid_away_unnamed():
    """Of three known cards one was laid away at the most: two of the four that are played must be among them."""
    hand = playing("KaOaUa??", away="??", drawn="??")
    say(hand, "p1 pl Ka; p2 pl Xa; p3 pl 9a; p1 pl Xh; p2 pl 9h; p3 pl 8h; p1 pl Kh; p2 pl Xl; p3 pl 9l")
    refused(hand, "p1 pl Ah", "card_mismatch")
    assert [*hand.legal()[0].lines()] == ["p1 pl Oa", "p1 pl Ua"]
    sure = playing("KaOaUaAa", away="Aa", drawn="??")
    assert sure.held(1) == ("Ka", "Oa", "Ua", UNKNOWN)


def test_a_whole_hand_that_is_laid_away_unnamed_is_gone():
    hand = say(drawing("KaOa????"), "p1 ds ????????; d dh p1 ????????; d up p1 Ah; p1 ds ??; p2 ps; p3 ps")
    refused(hand, "p1 pl Ka", "card_already_dealt")
    hand.copy().apply("p1 pl Ah")
    hand.copy().apply("p1 pl Xh")


def test_what_may_be_laid_away_of_an_unknown_hand_is_offered_in_full():
    hand = drawing("??KaOb??")
    [offer] = [offer for offer in hand.legal() if offer.verb == "ds"]
    lines = list(offer.lines())
    assert len(lines) == len(set(lines)) and all(offer.contains(line) for line in lines[::50])
    assert {"p1 ds ??", "p1 ds Ka", "p1 ds KaOb????", "p1 ds AaKa", "p1 ds KaXh??", "p1 ds ??????"} <= set(lines)
    assert not {"p1 ds ??Ka", "p1 ds 7b", "p1 ds AaOlUl"} & set(lines)
    for line in lines[::60]:
        hand.copy().apply(line)
    assert offer.as_dict() == {"actor": "p1", "verb": "ds", "cards": ["Ka", "Ob"], "count": 4, "least": 1}


def test_the_seven_may_be_exchanged_by_every_seat_that_may_hold_it():
    hand = drawing("??KaObUb", "7hXhXlXa", trump="Ab")
    assert [offer.verb for offer in hand.legal()] == ["ex", "ds", "cl", "ps"]
    twin = say(hand.copy(), "p1 ex 7b")
    assert twin.held(1) == ("Ka", "Ob", "Ub", "Ab") and twin.view(2)["lying"] == "7b"
    say(hand, "p1 ps")
    refused(hand, "p2 ex 7b", "card_mismatch")


def test_a_seat_is_not_shown_that_the_seven_lies_elsewhere():
    one = drawing("??KaObUb", "7bXhXlXa", trump="Ab")
    two = drawing("??KaObUb", "9bXhXlXa", trump="Ab")
    assert json.dumps(one.view(1)) == json.dumps(two.view(1))
    refused(one, "p1 ex 7b", "card_already_dealt")


def test_what_a_seat_has_shown_to_be_without_is_kept():
    """A seat that neither follows suit nor trumps has no card of either."""
    hand = say(drawing("AaKaOaUa"), "p1 ps; p2 ps; p3 ps; p1 pl Aa")
    refused(hand, "p2 pl Ka", "card_already_dealt")
    refused(hand, "p2 pl 7b", "card_already_dealt")  # the trump card lies there
    say(hand, "p2 pl Ah; p3 pl 9a; p1 pl Ka")
    refused(hand, "p2 pl Xa", "card_mismatch")
    refused(hand, "p2 pl Xb", "card_mismatch")
    say(hand, "p2 pl Kh; p3 pl Xb")
    assert hand.actor == "p3"


def test_the_dealer_takes_the_trump_card_into_an_unknown_hand():
    hand = start(setup(2, deck=None, kitty=4))
    say(hand, "p2 po 400; d dh p1 ????; d dh p2 ????; p2 cl top; d up Ab; d dh p1 ????; d dh p2 ????; p2 kn Ab")
    assert hand.automatic() is None and hand.held(2) == (*(UNKNOWN,) * 4, "Ab")
    refused(hand, "p1 ds ??", "not_your_turn")
    say(hand, "p2 ds ??; p1 in; p2 ps; p1 ps; p2 pl Ab")
    refused(hand, "p1 pl Ab", "card_already_dealt")


def masked(line: str, random: Random, share: float) -> str:
    """The line with some of the cards that are dealt or laid away unknown, those last where the order matters."""
    words = line.split(" ")
    if words[1] not in ("dh", "ds"):
        return line
    cards = [UNKNOWN if random.random() < share else card for card in split_cards(words[-1])]
    if words[1] == "ds":
        cards.sort(key=UNKNOWN.__eq__)
    return " ".join([*words[:-1], "".join(cards)])


def some_text(offer: Legal, random: Random) -> str:
    """A line of the offer; of cards that may be laid away only few are named."""
    words = [offer.actor, offer.verb]
    for argument in offer.arguments:
        if isinstance(argument, Some):
            known = [card for card in argument.pool if card not in argument.free]
            held = [*known, *(UNKNOWN,) * argument.blind]
            size = random.randint(argument.least, argument.most)
            places = sorted(random.sample(range(len(held)), size))
            words.append("".join(held[place] for place in places))
        else:
            words.append(random.choice(list(argument.texts())))
    return " ".join(words)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("number", range(25))
def test_random_deals_with_unknown_cards_come_to_an_end(share: float, number: int):
    random = Random(f"{number}/{share}")
    seats = random.randint(2, 6)
    hand = start(setup(seats, deck=None, kitty=random.choice((0, 4, 8)), unit=1, level=0))
    while not hand.over:
        chance = hand.chance()
        if chance is not None:
            line = masked(chance.line(random), random, share)
        else:
            weights = [{"kn": 1, "in": 6}.get(offer.verb, 3) for offer in hand.legal()]
            line = some_text(random.choices(hand.legal(), weights)[0], random)
        for viewer in (1, seats, "public"):
            json.dumps(hand.view(viewer))
        hand.apply(line)
    assert hand.result and sum(hand.result.net) + hand.result.carry_out == hand.setup.carry
    record = record_of(hand, hand_id="p-1", rules_id="ramsli/1", seats=IDS[:seats], opt=dict(hand.setup.opt))
    assert replay(record).ok and parse_record(format_record(record)) == record


def test_some_cards_of_a_hand():
    domain = Some(1, 2, ("Aa", "Ka", "7a"))
    assert list(domain.texts()) == ["Aa", "Ka", "7a", "AaKa", "Aa7a", "Ka7a"] and all(
        map(domain.accepts, domain.texts())
    )
    assert not any(map(domain.accepts, ("", "KaAa", "AaAa", "AaKa7a", "??", "Aa??", "Ah", "A")))
    blind = Some(1, 2, ("Aa", "Ka", "7a"), 1, frozenset(("Ka", "7a")), 2)
    assert list(blind.texts()) == ["Aa", "Ka", "7a", "??", "AaKa", "Aa7a", "Aa??", "Ka??", "7a??", "????"]
    assert all(map(blind.accepts, blind.texts())) and not any(map(blind.accepts, ("Ka7a", "??Aa", "??????")))
    assert Legal("p1", "ds", (blind,)).only("p1 ds Aa??") == Legal("p1", "ds", (Rows(("Aa??",)),))
    hidden = Pick(4, least=1)
    assert hidden.accepts("AaKa") and not hidden.accepts("") and hidden.as_dict() == {"count": 4, "least": 1}
    assert set(TELL32.cards) >= set(domain.pool)
