"""What a seat may know of a deal of Ramsli: permutations of what it has not seen, the dealer's shut hand, the bottom
card, the seven that was not exchanged, places in the pack."""

from __future__ import annotations

import json
import pickle
from random import Random

import pytest

from engine.errors import EngineError
from engine.kernel.cards import UNKNOWN, split_cards
from engine.kernel.hand import Hand
from engine.kernel.setup import Viewer
from engine.play import random_line
from engine.registry import start
from tests.engine.deals import say, shuffled
from tests.engine.tricks.ramsli_tables import deal, finish, rows, setup, to_knock

SEVEN = rows("7bKaObUb", "AlKlOlUl", "AhKhXbXh", trump="Ab", then="9b8b9h8h9l8l")
PLAIN = rows("9bKaObUb", "AlKlOlUl", "AhKhXbXh", trump="Ab", then="7b8b9h8h9l8l")
"""The same but for p1's seven of bells."""


def seen_by(hand: Hand, viewer: Viewer) -> set[str]:
    """Cards that the viewer has seen, by the log and the rules alone: what lay open, its own, and as the dealer the
    bottom card, but its own hand only once it has looked at it."""
    dealer = hand.setup.seats
    looked = any(line.startswith((f"p{dealer} lk", f"p{dealer} kn ")) for line in hand.log)
    found: set[str] = set()
    for line in hand.log:
        words = line.split(" ")
        mine = words[1] == "dh" and words[2] == f"p{viewer}" and (viewer != dealer or looked)
        if words[1] in ("up", "pl", "ex") or (words[1] == "kn" and len(words) == 3) or mine:
            found |= set(split_cards(words[-1]))
    if viewer == dealer and hand.log and hand.setup.deck:
        found.add(hand.setup.deck[-1])
    return found


def exchanged(hand: Hand, viewer: Viewer, random: Random) -> Hand | None:
    """The same deal with cards that the viewer has not seen exchanged; None if no way was found. Others must have had
    the right to play as they did, so not every exchange will do."""
    assert hand.setup.deck
    seen = seen_by(hand, viewer)
    hidden = [card for card in hand.setup.deck if card not in seen]
    for attempt in range(60):
        swap = dict(zip(hidden, random.sample(hidden, len(hidden)), strict=True))
        if attempt >= 20 and len(hidden) > 1:
            one, other = random.sample(hidden, 2)
            swap = {one: other, other: one}
        other_hand = start(hand.setup._replace(deck=tuple(swap.get(card, card) for card in hand.setup.deck)))
        try:
            for line in hand.log:
                other_hand.advance(swapped(line, swap))
        except EngineError:
            continue
        if (other_hand.phase, other_hand.actor, other_hand.pending) == (hand.phase, hand.actor, hand.pending):
            return other_hand
    return None


def swapped(line: str, swap: dict[str, str]) -> str:
    """The line after the exchange: only cards that lie face down change, and stand in the order of the pack where they
    are laid away."""
    *words, last = line.split(" ")
    if words[1:2] in (["dh"], ["ds"]):
        cards = [swap.get(card, card) for card in split_cards(last)]
        if words[1] == "ds":
            cards.sort(key=lambda card: ("albh".index(card[1]), "AKOUX987".index(card[0])))
        last = "".join(cards)
    return " ".join([*words, last])


@pytest.mark.some_now(3)
@pytest.mark.parametrize("number", range(24))
def test_exchanging_unseen_cards_leaves_every_view_byte_identical(number: int):
    random, compared, steps = Random(f"views {number}"), 0, 0
    seats = random.randint(2, 6)
    hand = start(setup(seats, deck=shuffled(random), kitty=random.choice((0, 4, 8))))
    while True:
        for viewer in (random.randint(1, seats), seats, "public"):
            steps += 1
            other = exchanged(hand, viewer, random)
            if other is not None:
                assert json.dumps(other.view(viewer)) == json.dumps(hand.view(viewer)), (viewer, hand.log)
                assert other.places(viewer) == hand.places(viewer)
                if viewer != "public":
                    assert other.information(int(viewer)) == hand.information(int(viewer))
                compared += 1
            require_sealed(hand, viewer)
        if hand.over:
            break
        late = hand.actor != "d" and hand.pending is None and random.random() < 0.1
        hand.advance(f"{hand.actor} au" if late else random_line(hand, random))
    assert compared > 0.8 * steps


def require_sealed(hand: Hand, viewer: Viewer) -> None:
    """Nothing in the view, nor in what its places lead to, is a card that the viewer has not seen."""
    seen, deck = seen_by(hand, viewer), hand.setup.deck or ()
    view = hand.view(viewer)
    named = {part for part in json.dumps(view).split('"') if part in deck}
    logged = {
        card
        for line in view["log"]  # type: ignore[attr-defined]
        if line.split(" ")[1] in ("dh", "ds", "up", "pl", "ex", "kn") and len(line.split(" ")[-1]) % 2 == 0
        for card in split_cards(line.split(" ")[-1])
        if card in deck
    }
    assert named | logged <= seen
    assert {deck[place] for _, place in hand.places(viewer)} <= seen


def cards_of(hand: Hand, seat: int, viewer: Viewer) -> list[str]:
    return hand.view(viewer)["seats"][seat - 1]["cards"]  # type: ignore[index, no-any-return]


def test_the_dealers_hand_is_shut_to_the_dealer_until_it_looks():
    """Bidding: knocking on the trump card is for those who have not looked."""
    hand = say(deal(deck=SEVEN), "p3 cl top")
    assert cards_of(hand, 3, 3) == [UNKNOWN] * 4 and cards_of(hand, 1, 1) == ["7b", "Ka", "Ob", "Ub"]
    assert hand.view(3)["log"][3] == "d dh p3 ????" and hand.places(3) == ((0, 6), (0, 31))  # type: ignore[index]
    other = hand.copy()
    say(hand, "p3 lk 4")
    assert cards_of(hand, 3, 3) == ["Ah", "Kh", "Xb", "Xh"] and hand.view(3)["log"][3] == "d dh p3 AhKh"  # type: ignore[index]
    say(other, "p3 kn Ab")
    assert cards_of(other, 3, 3) == ["Ah", "Kh", "Xb", "Xh", "Ab"] and cards_of(other, 3, "public") == [UNKNOWN] * 5
    assert "Kh" in json.dumps(other.view(3)["legal"]) and "Kh" not in json.dumps(other.view(1)["legal"])


def test_everybody_sees_that_the_dealer_may_take_the_trump_card():
    hand = say(deal(deck=SEVEN), "p3 cl top")
    for viewer in (1, 2, 3, "public"):
        assert hand.view(viewer)["legal"][0] == {"actor": "p3", "verb": "kn", "cards": ["Ab"], "count": 1}  # type: ignore[index]


def drawing(deck: tuple[str, ...]) -> Hand:
    return say(to_knock(deck=deck), "p3 ps", "p1 ps", "p2 ps")


def test_not_exchanging_the_seven_does_not_show():
    one, two = drawing(SEVEN), drawing(PLAIN)
    for viewer in (2, 3, "public"):
        assert json.dumps(one.view(viewer)) == json.dumps(two.view(viewer))
        assert one.view(viewer)["legal"][0] == {"actor": "p1", "verb": "ex", "count": 1, "if_held": True}  # type: ignore[index]
    assert [offer["verb"] for offer in one.view(1)["legal"]] == ["ex", "ds", "cl", "ps"]  # type: ignore[attr-defined]
    assert [offer["verb"] for offer in two.view(1)["legal"]] == ["ds", "cl", "ps"]  # type: ignore[attr-defined]
    for hand in (one, two):
        say(hand, "p1 ps")
    assert json.dumps(one.view(2)) == json.dumps(two.view(2))
    exchanged_one = say(drawing(SEVEN), "p1 ex 7b")
    assert exchanged_one.view(2)["log"][-1] == "p1 ex 7b"  # type: ignore[index]
    assert [offer["verb"] for offer in exchanged_one.view(2)["legal"]] == ["ds", "cl", "ps"]  # type: ignore[attr-defined]


def test_how_many_cards_are_changed_is_seen_and_which_are_not():
    hand = say(drawing(SEVEN), "p1 ds KaUb")
    assert hand.view("public")["log"][-2:] == ["p1 ds ????", "d dh p1 ????"]  # type: ignore[index]
    assert hand.view(1)["log"][-2:] == ["p1 ds KaUb", "d dh p1 9b8b"]  # type: ignore[index]
    offers = drawing(SEVEN).view(2)["legal"]
    assert offers[1] == {"actor": "p1", "verb": "ds", "count": 4, "least": 1}  # type: ignore[index]


def test_what_was_laid_away_stays_shut_after_the_deal():
    hand = finish(say(drawing(SEVEN), "p1 ds KaUb"))
    places = {place for _, place in hand.places("public")}
    deck = hand.setup.deck or ()
    assert deck.index("Ka") not in places and deck.index("Ub") not in places and deck.index("Ob") in places
    assert {deck.index("Ka"), deck.index("Ub")} <= {place for _, place in hand.places(1)}
    assert places < {place for _, place in hand.places(1)}


def test_hands_of_a_deal_that_was_not_played_stay_shut():
    hand = say(to_knock(deck=SEVEN, kitty=4), "p3 kn", "p1 ps", "p2 ps")
    assert hand.over and cards_of(hand, 3, "public") == [UNKNOWN] * 4
    assert hand.places("public") == ((0, 6),) and len(hand.places(3)) == 6


def test_the_digest_does_not_go_by_persons():
    one, other = finish(deal(deck=SEVEN)), finish(deal(deck=SEVEN, ids=("x", "y", "z")))
    assert one.digest() == other.digest() and pickle.loads(pickle.dumps(one)) == one
    assert finish(deal(deck=PLAIN)).digest() != one.digest()


def test_a_refusal_names_no_card_but_those_of_the_line():
    random = Random(4)
    for number in range(12):
        hand = start(setup(random.randint(2, 6), deck=shuffled(random), kitty=4 * (number % 3)))
        while not hand.over:
            for verb in ("pl", "ds", "ex", "kn"):
                card = random.choice(hand.setup.deck or ())
                try:
                    hand.copy().advance(f"{hand.actor} {verb} {card}")
                except EngineError as error:
                    said = f"{error.message} {error.expected}".replace(card, "")
                    assert not [other for other in hand.setup.deck or () if other in said]
            hand.advance(random_line(hand, random))
