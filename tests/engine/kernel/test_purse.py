"""Money in every registered game: moves are all that happens to it, and each is of a kind that is declared."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.kernel.hand import Hand
from engine.kernel.purse import BANK, CARRY, HOUSE, KITTY, POT, Move, Why, place_kind
from engine.registry import game_info
from tests.engine.any_game import GAMES, after, points

KINDS = {
    Why.CARRY_IN: {("carry", "pot"), ("carry", "kitty")},
    Why.STAKE: {("seat", "pot"), ("seat", "kitty")},
    Why.PENALTY: {("seat", "pot"), ("seat", "kitty")},
    Why.RETURNED: {("pot", "seat")},
    Why.AWARD: {("pot", "seat")},
    Why.TAX: {("pot", "house")},
    Why.CARRY_OUT: {("pot", "carry"), ("kitty", "carry")},
    Why.BONUS: {("house", "seat")},
    Why.POINTS: {("seat", "seat")},
    Why.SHARE: {("kitty", "seat")},
    Why.BANKED: {("kitty", "bank")},
    Why.TOPPED_UP: {("bank", "kitty")},
}
"""Why money moves -> kinds of its sources and targets, as the docstrings of :class:`Why` say."""


def balances(hand: Hand) -> Counter[int]:
    """What lies at each place, from stacks and carry at the start and the moves since; a bank stays where it is."""
    found: Counter[int] = Counter(dict(enumerate(hand.setup.stacks, 1)))
    found[BANK] = int(str(hand.setup.series.get("bank", 0)))
    found[CARRY] = hand.setup.carry - found[BANK]
    for move in hand.moves:
        found[move.source] -= move.amount
        found[move.target] += move.amount
    return found


@pytest.mark.parametrize("game", GAMES)
def test_the_moves_come_to_the_stacks_the_pot_and_the_result(game: str):
    for hand, line in points(game):
        done = after(hand, line)
        assert done is not None
        found = balances(done)
        assert tuple(found[seat] for seat in range(1, done.setup.seats + 1)) == done.stacks
        assert (found[POT] + found[KITTY], found[BANK], done.moved) == (done.pot, done.bank, len(done.moves))
        if done.result is not None:
            result = done.result
            before = done.setup.stacks
            assert result.net == tuple(now - was for now, was in zip(done.stacks, before, strict=True))
            assert found[HOUSE] == result.tax - sum(result.bonus) and found[CARRY] + found[BANK] == result.carry_out
            assert found[POT] == found[KITTY] == 0


@pytest.mark.parametrize("game", GAMES)
def test_every_move_is_of_a_declared_kind_between_places_of_the_game(game: str):
    places = {"seat", "house"} | game_info(game).policy.zones
    met = set()
    for hand, line in points(game):
        done = after(hand, line)
        for move in done.moves if done is not None and done.over else ():
            source, target, why = move.key
            assert (source, target) in KINDS[move.why] and why == move.why.value and move.amount > 0
            assert {place_kind(move.source), place_kind(move.target)} <= places
            met |= {place_kind(move.source), place_kind(move.target)}
    assert game_info(game).policy.zones <= met


@pytest.mark.parametrize("game", GAMES)
def test_a_line_that_is_applied_returns_the_moves_that_it_made(game: str):
    for hand, line in points(game, 0.5):
        done = hand.copy()
        events = done.apply(line)
        assert tuple(event for event in events if isinstance(event, Move)) == done.moves[hand.moved :]


@pytest.mark.parametrize("game", GAMES)
def test_no_stack_is_ever_negative(game: str):
    for hand, line in points(game):
        done = after(hand, line)
        assert done is not None and min(done.stacks) >= 0 and done.pot >= 0


def test_every_reason_has_its_kind():
    assert set(KINDS) == set(Why)
