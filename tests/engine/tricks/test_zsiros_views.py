"""What a seat may know of a deal of Zsíros, and hands as values: copies, pickles, equality."""

from __future__ import annotations

import copy
import json
import pickle
from random import Random

import pytest

from engine.errors import EngineError
from engine.kernel.cards import UNKNOWN, split_cards
from engine.kernel.hand import Hand
from engine.kernel.setup import Viewer
from engine.play import random_line
from engine.registry import resume, start
from tests.engine.deals import auto, deck_of, say, shuffled
from tests.engine.tricks.zsiros_tables import IDS, deal, setup, sheet

OPTIONS: tuple[dict[str, object], ...] = (
    {},
    {"draw_mode": "single"},
    {"deal_model": "preassigned"},
    {"deal_model": "preassigned", "draw_mode": "single"},
)


def seen_by(hand: Hand, viewer: Viewer) -> set[str]:
    """Cards that the viewer has seen, by the log alone: those played, and those dealt to it."""
    found = set()
    for line in hand.log:
        words = line.split(" ")
        if words[1] == "pl" or words[2:3] == [f"p{viewer}"]:
            found |= set(split_cards(words[-1]))
    return found - {UNKNOWN}


def exchanged(hand: Hand, viewer: Viewer, random: Random) -> Hand | None:
    """The same deal with the cards that the viewer has not seen exchanged; None if no way was found. The same
    seats must be asked, so not every exchange is possible; then only two cards change places."""
    assert hand.setup.deck
    seen = seen_by(hand, viewer)
    hidden = [card for card in hand.setup.deck if card not in seen]
    for attempt in range(40):
        swap = dict(zip(hidden, random.sample(hidden, len(hidden)), strict=True))
        if attempt >= 10 and len(hidden) > 1:
            one, other = random.sample(hidden, 2)
            swap = {one: other, other: one}
        deck = tuple(swap.get(card, card) for card in hand.setup.deck)
        try:
            other_hand = resume(hand.setup._replace(deck=deck), [swapped(line, swap) for line in hand.log])
        except EngineError:
            continue
        if (other_hand.phase, other_hand.actor, other_hand.pending) == (hand.phase, hand.actor, hand.pending):
            return other_hand
    return None


def swapped(line: str, swap: dict[str, str]) -> str:
    """The line after the exchange: cards that are dealt change, cards that were played are no part of it."""
    *words, last = line.split(" ")
    if words[:2] == ["d", "dh"]:
        last = "".join(swap.get(card, card) for card in split_cards(last))
    return " ".join([*words, last])


@pytest.mark.some_now(3)
@pytest.mark.parametrize("opt", OPTIONS, ids=str)
@pytest.mark.parametrize("number", range(4))
def test_exchanging_unseen_cards_leaves_every_view_byte_identical(opt: dict[str, object], number: int):
    random, compared, steps = Random(f"{opt}/{number}"), 0, 0
    seats = random.choice((2, 4))
    hand = start(setup(seats, opt=opt, deck=shuffled(random)))
    while True:
        for viewer in (random.randint(1, seats), "public"):
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
        hand.advance(f"{hand.actor} au" if can_run_out(hand, random) else random_line(hand, random))
    assert compared > 0.95 * steps


def can_run_out(hand: Hand, random: Random) -> bool:
    return hand.actor != "d" and hand.pending is None and random.random() < 0.1


def require_sealed(hand: Hand, viewer: Viewer) -> None:
    """Nothing in the view, nor in what its places lead to, is a card that the viewer has not seen."""
    seen = seen_by(hand, viewer)
    deck = hand.setup.deck or ()
    named = {part for part in json.dumps(hand.view(viewer)).split('"') if part in deck}
    assert named | logged(hand, viewer) - {UNKNOWN} <= seen
    assert {deck[place] for _, place in hand.places(viewer)} <= seen


def logged(hand: Hand, viewer: Viewer) -> set[str]:
    """Cards in the log as the viewer sees it."""
    lines = hand.view(viewer)["log"]
    assert isinstance(lines, list)
    return {card for line in lines if line.split(" ")[1] in ("dh", "pl") for card in split_cards(line.split(" ")[-1])}


def test_what_a_seat_and_the_public_see():
    deck = deck_of("AaAlOa7a", "XaXl9a7l", "KaKl8a7b", "AbObUa7h")
    hand = say(deal(deck=deck), "p1 pl Aa; p2 pl Xa; p3 pl 8a; p4 pl 7h")
    mine, public = hand.view(1), hand.view("public")
    assert mine["seats"][0]["cards"] == ["Al", "Oa", "7a"] and mine["seats"][1]["cards"] == [UNKNOWN] * 3  # type: ignore[index]
    assert mine["log"][:2] == ["d dh p1 AaAlOa7a", "d dh p2 ????????"]  # type: ignore[index]
    assert mine["trick"] == public["trick"] == [["p1", "Aa"], ["p2", "Xa"], ["p3", "8a"], ["p4", "7h"]]
    assert {key: public[key] for key in ("leader", "holder", "talon", "tricks", "score", "games")} == {
        "leader": "p1", "holder": "p4", "talon": 16, "tricks": [0, 0], "score": [0, 0], "games": [0, 0],
    }  # fmt: skip
    assert mine["legal"][0] == {"actor": "p1", "verb": "pl", "cards": ["7a", "Al"], "count": 1}  # type: ignore[index]
    assert public["legal"][0] == {"actor": "p1", "verb": "pl", "count": 1}  # type: ignore[index]
    assert [offer["verb"] for offer in public["legal"]] == ["pl", "ps", "cl"]  # type: ignore[attr-defined]
    assert "deck" not in public and hand.view("auditor")["deck"] == list(deck)


def test_taken_tricks_lie_face_down_till_the_end():
    hand = say(deal(), "p1 pl Aa")
    while not hand.over:
        assert "points" not in hand.view("public") and "points" not in hand.view(1)
        say(hand, hand.automatic() or "")
    assert sum(hand.view("public")["points"]) == 80  # type: ignore[call-overload]


def test_the_place_of_a_played_card_would_tell_when_it_was_drawn():
    hand = say(deal(), "p1 pl Aa; p2 pl Xa; p3 pl Al; p4 pl Xl")
    assert hand.places("public") == ()
    assert {place for _, place in hand.places(1)} >= {0, 1, 2, 3}
    assert {place for _, place in auto(hand).places("public")} == set(range(32))


def test_score_and_games_are_by_chairs():
    ids = (*IDS[1:], IDS[0])
    hand = deal(ids=ids, series=sheet(IDS, deals="ann", score=[3, 1], games=[0, 2]))
    say(hand, "p1 pl Aa")
    view = hand.view("public")
    assert (view["score"], view["games"]) == ([3, 1], [0, 2])


@pytest.mark.parametrize("seats", [2, 4])
def test_copies_and_pickles_go_their_own_way(seats: int):
    random = Random(seats)
    for opt in OPTIONS:
        hand = start(setup(seats, opt=opt, deck=shuffled(random)))
        while not hand.over:
            twins = [hand.copy(), copy.deepcopy(hand), pickle.loads(pickle.dumps(hand))]
            for twin in twins:
                assert twin == hand and twin.legal() == hand.legal() and twin.view(1) == hand.view(1)
                assert twin.digest() == hand.digest() and twin.pending == hand.pending
            before = hand.digest(), json.dumps(hand.view("auditor"))
            line = f"{hand.actor} au" if can_run_out(hand, random) else random_line(hand, random)
            for twin in twins:
                twin.apply(line)
                assert twin != hand
            assert (hand.digest(), json.dumps(hand.view("auditor"))) == before
            hand.apply(line)
            assert all(twin == hand and twin.view("auditor") == hand.view("auditor") for twin in twins)


def test_the_digest_goes_by_the_persons_and_by_the_series_they_leave():
    one, other = auto(deal()), auto(deal(ids=("x", "y", "z", "w"), series=sheet(("x", "y", "z", "w"))))
    assert one.log == other.log and one.digest() != other.digest() and one != other
    assert str(one).splitlines()[0] == "zsiros, over"


def test_a_refusal_names_no_card_but_those_of_the_line():
    random = Random(4)
    hand = start(setup(deck=shuffled(random)))
    while not hand.over:
        for card in random.sample(hand.setup.deck or (), 8):
            try:
                hand.copy().advance(f"{hand.actor} pl {card}")
            except EngineError as error:
                said = f"{error.message} {error.expected}".replace(card, "")
                assert not [other for other in hand.setup.deck or () if other in said]
                assert hand.actor == "d" or error.code in ("card_mismatch", "verb_not_legal")
        hand.advance(random_line(hand, random))
