"""Who sees what of Barbu, and hands that are copied, pickled and compared in the middle of a deal."""

from __future__ import annotations

import copy
import json
import pickle
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from engine.errors import EngineError
from engine.kernel.events import HandEnded, Played, Spoke
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup, Viewer
from engine.play import random_line
from engine.registry import resume, start
from tests.engine.tricks.barbu_kit import (
    cards,
    first_cards,
    pack_with,
    play,
    play_out,
    record_of,
    recorded,
    shuffled,
    state_of,
    table,
    to_play,
    undoubled,
)
from tests.model.barbu_random import random_record

VIEWERS: tuple[Viewer, ...] = ("public", 1, 2, 3, 4)


def stopped(seed: int) -> Hand:
    """A random deal that stops somewhere, any option being possible; some are over."""
    random = Random(f"views {seed}")
    record = record_of(random_record(random, physical=0))
    return resume(record.setup(), record.acts[: random.randint(4, len(record.acts))])


def text(hand: Hand, viewer: Viewer) -> bytes:
    """The view as bytes."""
    return json.dumps([hand.view(viewer), hand.places(viewer)]).encode()


def unseen(hand: Hand, viewer: Viewer) -> list[int]:
    """The places of the deck whose cards the viewer has not seen."""
    known = {place for _, place in hand.places(viewer)}
    return [place for place in range(52) if place not in known]


def swapped(setup: Setup, one: int, other: int) -> Setup:
    """The set-up with two cards of its deck in each other's place."""
    deck = list(setup.deck or ())
    deck[one], deck[other] = deck[other], deck[one]
    return setup._replace(deck=tuple(deck))


def same_lines(hand: Hand, setup: Setup) -> Hand | None:
    """The hand again with another deck, if its lines and what everybody can disclose of the turn still stand."""
    deck = setup.deck or ()
    acts = [f"d dh p{at + 1} {''.join(deck[13 * at : 13 * at + 13])}" for at in range(4)]
    try:
        twin = resume(setup, [*acts, *hand.log[4:]])
    except EngineError:
        return None
    return twin if twin.actor == hand.actor else None


@pytest.mark.parametrize("viewer", VIEWERS)
def test_cards_that_a_viewer_has_not_seen_may_lie_anywhere(viewer: Viewer):
    """Every view is the same to the byte when unseen cards change places, as long as the log stands."""
    changed = 0
    for seed in range(24):
        hand = stopped(seed)
        random = Random(seed)
        setup, places, wanted = hand.setup, unseen(hand, viewer), text(hand, viewer)
        for _ in range(40):
            if len(places) < 2:
                break
            twin = same_lines(hand, swapped(setup, *random.sample(places, 2)))
            if twin is not None:
                assert text(twin, viewer) == wanted
                assert viewer == "public" or twin.information(viewer) == hand.information(viewer)  # type: ignore[arg-type]
                setup = twin.setup
                changed += 1
    assert changed > 200


def test_a_viewer_sees_what_is_its_own_or_has_been_played():
    for seed in range(30):
        hand = stopped(seed)
        deck = hand.setup.deck or ()
        played = {line.split()[2] for line in hand.log if " pl " in line}
        for viewer in VIEWERS:
            seen = {deck[place] for _, place in hand.places(viewer)}
            own = set(hand.cards_of(viewer)) if isinstance(viewer, int) else set()
            assert seen == played | own
            shown = "".join(hand.view(viewer)["log"])  # type: ignore[arg-type]
            assert all(card in shown for card in seen)
            assert all(card not in json.dumps(hand.view(viewer)) for card in set(deck) - seen)


def test_only_the_seat_on_turn_is_disclosed_which_cards_it_may_play():
    hand = to_play("queens", p1="2c 3d", p2="4c")
    [own], [other], [public] = hand.legal_for(1), hand.legal_for(2), hand.legal_for("public")
    assert "2c" in own.as_dict()["cards"]  # type: ignore[operator]
    assert other.as_dict() == public.as_dict() == {"actor": "p1", "verb": "pl", "count": 1}


def test_the_view_of_a_deal_in_play():
    hand = play(table({"settlement": "paper"}), "p1 cl hearts; p2 dbl p1 p4; p3 ps; p4 ps; p1 rdbl p2", "p1 pl Ac")
    view: dict[str, Any] = hand.view(3)
    assert {name: view[name] for name in ("phase", "actor", "declarer", "contract", "trick", "pot")} == {
        "phase": "tricks", "actor": "p2", "declarer": "p1", "contract": "hearts", "trick": [["p1", "Ac"]], "pot": 0,
    }  # fmt: skip
    assert view["seats"][1] == {
        "seat": 2, "stack": 1_000_000, "cards": ["??"] * 13, "doubles": ["p1", "p4"], "tricks": 0, "taken": [],
        "left": ["notricks", "queens", "lasttwo", "hearts", "king", "trumps", "dominoes"], "doubled": 0, "score": 0,
    }  # fmt: skip
    assert view["seats"][2]["cards"] == list(hand.held(3))
    assert "points" not in view and "layout" not in view
    assert "hearts, p2 to act" not in str(hand)
    assert str(hand).startswith("barbu, tricks, p2 to act")


def test_the_view_of_dominoes():
    hands = {"p1": "7c", "p2": "8c 6c", "p3": "7d", "p4": "9c 5c"}
    hand = play(to_play("dominoes 7", **hands), "p1 pl 7c; p2 pl 8c; p3 pl 7d; p4 pl 9c")
    view = hand.view("public")
    assert (view["start"], view["out"]) == ("7", [])
    assert view["layout"] == {"c": ["9c", "8c", "7c"], "d": ["7d"]}
    assert "layout: {'c'" in str(hand)


def test_events_tell_what_was_said_and_played():
    hand = play(table())
    assert hand.apply("p1 cl king") == (Spoke(1, "cl", "king"),)
    assert hand.apply("p2 dbl p1") == (Spoke(2, "dbl"),)
    play(hand, "p3 ps; p4 ps; p1 ps")
    assert hand.apply("p1 pl Ac") == (Played(1, "Ac"),)
    last = first_cards(hand.copy())
    events = resume(last.setup, last.log[:-1]).apply(last.log[-1])
    assert isinstance(events[0], Played) and events[-1] == HandEnded("king", 0)
    assert events[1:-1] == last.moves


def test_a_deal_is_copied_pickled_and_compared_anywhere():
    for seed in range(40):
        hand = stopped(seed)
        for twin in (hand.copy(), copy.deepcopy(hand), pickle.loads(pickle.dumps(hand))):
            assert twin == hand and twin.digest() == hand.digest()
            assert state_of(twin) == state_of(hand)
            assert twin.view("auditor") == hand.view("auditor")
            if hand.over:
                continue
            before = state_of(hand)
            twin.apply(random_line(twin, Random(seed)))
            assert twin != hand and state_of(hand) == before
            assert state_of(play_out(twin, Random(1))) != before and state_of(hand) == before


def test_a_deal_resumes_from_its_log_at_every_line():
    for fields in recorded("barbu_sample.jsonl")[::6]:
        record = record_of(fields)
        hand = start(record.setup())
        for line in record.acts:
            assert state_of(resume(record.setup(), hand.log)) == state_of(hand)
            hand.apply(line)
        assert hand.over


def test_moves_are_those_of_the_events_and_pairwise():
    for seed in range(30):
        record = record_of(random_record(Random(f"moves {seed}")))
        hand = start(record.setup())
        disclosed = [event for line in record.acts for event in hand.apply(line)]
        assert tuple(event for event in disclosed if event in hand.moves) == hand.moves
        pairs = [(move.source, move.target) for move in hand.moves]
        assert len({frozenset(pair) for pair in pairs}) == len(pairs)
        net = [0] * 4
        for move in hand.moves:
            net[move.source - 1] -= move.amount
            net[move.target - 1] += move.amount
        assert tuple(net) == hand.result.net


def test_the_digest_depends_on_who_sat_there():
    one = table()
    series = {name: {f"{who}2": what for who, what in by.items()} for name, by in one.setup.series.items()}
    ids = tuple(f"{who}2" for who in one.setup.ids)
    other = start(one.setup._replace(ids=ids, series=series))
    assert one.digest() != other.digest()
    assert one != other


def test_reading_a_view_changes_nothing():
    hand = play(table(deck=pack_with(p1="2h")), *undoubled("hearts"))
    before = state_of(hand)
    for viewer in (*VIEWERS, "auditor"):
        first, second = hand.view(viewer), hand.view(viewer)
        assert first == second
    assert cards(hand) and state_of(hand) == before
    assert all(one != other for one, other in pairwise([hand.view(1), hand.view(2), hand.view(3)]))
    assert shuffled(Random(1)) != shuffled(Random(2))
