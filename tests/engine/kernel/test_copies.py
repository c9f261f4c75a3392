"""Hands of every registered game in the middle of play: copied, pickled, compared, printed."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from types import FunctionType, MappingProxyType
from typing import Any

import pytest

from engine.kernel.hand import Hand, table_text
from engine.kernel.state import attributes
from engine.registry import start
from tests.engine.any_game import GAMES, after, everything, points, setups

PLAIN = (int, str, type(None), FunctionType, Enum)


def changeable(value: object) -> bool:
    """Whether the value, or a part of it, can change in place. What a frozen dataclass holds is a value for ever: it is
    looked at all the same, but for mappings, which are handed on and never written to."""
    if isinstance(value, PLAIN):
        return False
    if isinstance(value, tuple | frozenset):
        return any(map(changeable, value))
    if is_dataclass(value):
        return not value.__dataclass_params__.frozen or any(  # type: ignore[attr-defined]
            changeable(part) for field in fields(value) if not isinstance(part := getattr(value, field.name), Mapping)
        )
    return not isinstance(value, MappingProxyType)


@pytest.mark.parametrize("game", GAMES)
def test_what_can_change_in_place_is_declared_fresh_and_nothing_deeper_can(game: str):
    for hand, _ in points(game, 0.3):
        state = hand._state
        kind = type(state)
        assert set(attributes(kind)) >= kind.FRESH
        for name in attributes(kind):
            value = getattr(state, name)
            if name in kind.FRESH:
                parts = [*value.keys(), *value.values()] if isinstance(value, dict) else value
                assert isinstance(value, list | set | dict), name
                assert not any(map(changeable, parts)), (name, value)
            elif name != "result":  # the state of a hand in play; a result is a tuple with the series, written once
                assert not changeable(value), (name, value)


@pytest.mark.parametrize("game", GAMES)
def test_a_copy_shares_nothing_that_can_change(game: str):
    for hand, _ in points(game, 0.3):
        state, twin = hand._state, hand.copy()._state
        for name in attributes(type(state)):
            one, other = getattr(state, name), getattr(twin, name)
            assert one == other and ((one is not other) == (name in type(state).FRESH)), name
        assert twin.verbs is state.verbs or dict(twin.verbs) == dict(state.verbs)


@pytest.mark.parametrize("game", GAMES)
def test_a_copy_goes_its_own_way(game: str):
    for hand, line in points(game, 0.3):
        twin, before = hand.copy(), everything(hand)
        twin.apply(line)
        assert everything(hand) == before and twin != hand
        other = hand.copy()
        other.advance(line)
        assert other == twin and everything(other) == everything(twin)


@pytest.mark.some_now(3)
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda hand: pickle.loads(pickle.dumps(hand))])
def test_however_a_hand_is_made_again_it_is_the_same(game: str, again: Any):
    for hand, line in points(game, 0.2):
        twin = again(hand)
        assert twin == hand and twin is not hand and everything(twin) == everything(hand)
        assert (twin.digest(), twin.legal(), twin.moves) == (hand.digest(), hand.legal(), hand.moves)
        assert all(twin.view(viewer) == hand.view(viewer) for viewer in (1, "public", "auditor"))
        assert after(twin, line) == after(hand, line)


@pytest.mark.parametrize("game", GAMES)
def test_a_hand_whose_clock_has_run_out_is_pickled_with_what_must_follow(game: str):
    tried = 0
    for hand, _ in points(game, 0.1):
        timed = after(hand, f"{hand.actor} au") if hand.actor != "d" else None
        if timed is not None:
            again = pickle.loads(pickle.dumps(timed))
            assert (again.pending, again.legal(), again) == (timed.pending, timed.legal(), timed)
            tried += 1
    assert tried


@pytest.mark.parametrize("game", GAMES)
def test_hands_are_equal_if_set_up_and_played_alike(game: str):
    hands: list[Hand] = []
    for setup, lines in setups(game):
        hand = start(setup)
        hand.advance_all(lines)
        hands.append(hand)
    assert all((one == other) == (one is other) for one in hands for other in hands)
    assert hands[0] != hands[0].log and hands[0] != start(hands[0].setup)
    with pytest.raises(TypeError):
        hash(hands[0])


@pytest.mark.parametrize("game", GAMES)
def test_a_hand_prints_itself_for_people(game: str):
    for hand, line in points(game, 0.2):
        text, done = str(hand), after(hand, line)
        assert text.splitlines()[0].startswith(f"{game}, {hand.phase}") and f"{hand.actor} to act" in text
        for seat in range(1, hand.setup.seats + 1):
            [row] = [row for row in text.splitlines() if row.split()[:1] == [f"p{seat}"]]
            assert str(hand.stacks[seat - 1]) in row.split() and set(hand.held(seat)) <= set(row.split())
        assert game in repr(hand) and f"{len(hand.log)} lines" in repr(hand)
        assert done is not None and (not done.over or f"{done.result.ending}: net " in str(done))  # type: ignore[union-attr]


@pytest.mark.parametrize("game", GAMES)
def test_a_table_printed_for_a_seat_names_no_card_that_its_view_hides(game: str):
    for hand, _ in points(game, 0.1):
        view, rows = hand.view(1), table_text(hand, 1).splitlines()
        for seat in view["seats"]:  # type: ignore[attr-defined]
            [row] = [row for row in rows if row.split()[:1] == [f"p{seat['seat']}"]]
            assert row.split()[2 : 2 + len(seat["cards"])] == seat["cards"]
