"""`pN au` in every registered game: the clock ran out for seat N, and the next line is its automatic act."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest

from engine.errors import NotYourTurn, VerbNotLegal
from engine.kernel.hand import Hand
from engine.kernel.legal import Range
from engine.play import random_line
from engine.registry import start, supply
from tests.engine.any_game import GAMES, after, everything, points
from tests.engine.chance import GAMES as VYING
from tests.engine.chance import Players, random_setup


def timed_points(game: str, share: float) -> Iterator[tuple[Hand, Hand]]:
    """Hands with a seat to act for which there is an automatic act, each with a copy for which the clock has just run
    out."""
    for hand, _ in points(game, share):
        if hand.timed:
            timed = hand.copy()
            timed.apply(f"{hand.actor} au")
            yield hand, timed


@pytest.mark.parametrize("game", GAMES)
def test_the_clock_runs_out_for_the_seat_to_act_and_for_nobody_else(game: str):
    for hand, _ in points(game, 0.3):
        before = everything(hand)
        for seat in range(1, hand.setup.seats + 1):
            line = f"p{seat} au"
            if hand.timed and hand.actor == f"p{seat}":
                timed = after(hand, line)
                assert timed is not None and timed.pending is not None and timed.actor == hand.actor
                assert after(timed, line) is None  # once is enough
            else:
                with pytest.raises(NotYourTurn if hand.timed or hand.actor == "d" else (NotYourTurn, VerbNotLegal)):
                    hand.apply(line)
        assert everything(hand) == before and hand.pending is None
        assert not any(offer.verb == "au" for offer in hand.legal())


@pytest.mark.parametrize("game", GAMES)
def test_an_aside_leaves_the_turn_where_it_is(game: str):
    """A time to act runs on through it: the same seat is to act, in the same phase."""
    for hand, line in points(game):
        if hand._state.GRAMMAR.declared(hand._state.GRAMMAR.parse(line)).aside:
            said = hand.copy()
            said.apply(line)
            assert (said.actor, said.phase) == (hand.actor, hand.phase), line


@pytest.mark.parametrize("game", GAMES)
def test_nothing_may_follow_but_the_automatic_act(game: str):
    for hand, timed in timed_points(game, 0.3):
        act = hand.automatic()
        assert act is not None and act.split(" ")[:2] == [hand.actor, timed.pending]
        assert [line for offer in timed.legal() for line in offer.lines()] == [act] and timed.automatic() == act
        before = everything(timed)
        others = {line for offer in hand.legal() for line in islice(offer.lines(), 5)} - {act}
        others |= {f"p{seat} au" for seat in range(1, hand.setup.seats + 1)} | {f"d dh {hand.actor} ??"}
        for line in others:
            with pytest.raises(VerbNotLegal):
                timed.apply(line)
        assert everything(timed) == before


@pytest.mark.parametrize("game", GAMES)
def test_the_automatic_act_is_the_act_itself(game: str):
    """But for the line that says why, the hand goes on as if the seat had said it."""
    for hand, timed in timed_points(game, 0.3):
        act = hand.automatic()
        assert act is not None
        said = hand.copy()
        assert timed.apply(act)[-1:] == said.apply(act)[-1:]
        assert timed.log == (*hand.log, f"{hand.actor} au", act) and timed.pending is None
        assert (timed.phase, timed.actor, timed.stacks, timed.moves) == (
            said.phase,
            said.actor,
            said.stacks,
            said.moves,
        )
        assert timed.legal() == said.legal() and timed.result == said.result


@pytest.mark.parametrize("game", GAMES)
def test_that_the_clock_ran_out_is_seen_by_all_and_shows_no_card(game: str):
    for hand, timed in timed_points(game, 0.15):
        for viewer in (*range(1, hand.setup.seats + 1), "public"):
            view, before = timed.view(viewer), hand.view(viewer)
            assert view["log"] == [*before["log"], f"{hand.actor} au"]  # type: ignore[misc]
            assert view["seats"] == before["seats"]
        mine = json.dumps(timed.view(int(hand.actor[1:]))["legal"])  # type: ignore[index]
        assert f'"{timed.pending}"' in mine


@pytest.mark.parametrize("game", GAMES)
def test_a_hand_can_be_played_by_the_clock_alone(game: str):
    """Nobody ever acts: the hand ends all the same. What has no clock, some line does."""
    for hand, _ in points(game, 0.03):
        alone = hand.copy()
        while not alone.over:
            line = alone.forced()
            if line is None and (chance := alone.chance()):
                line = chance.line(Random(len(alone.log)))
            for said in (line,) if line else alone.late() or (random_line(alone, Random(len(alone.log))),):
                alone.apply(said)
                supply(alone, lambda cards, number: cards)
        assert alone.result is not None


ORDER = ("k", "st", "f", "cu")
"""Check or go on where that is possible, else give up; a hand is laid open rather than money staked."""


def expected(hand: Hand) -> str | None:
    """The automatic act of a vying game, from its offers alone: the first of ORDER, or the least amount, or the first
    cards in dealing order; a look only where nothing else is on offer. None where it would name what nobody knows."""
    offers = {offer.verb: offer for offer in sorted(hand.legal(), key=lambda offer: offer.verb == "lk")}
    verb = next((verb for verb in ORDER if verb in offers), next(iter(offers)))
    offer, words = offers[verb], [str(hand.actor), verb]
    for argument in offer.arguments:
        if isinstance(argument, Range):
            words.append(str(argument.low))
        elif (first := next(argument.texts(), None)) is not None:
            words.append(first)
        else:
            return None
    return " ".join(words)


@pytest.mark.some_now(2)
@pytest.mark.parametrize("game", VYING)
def test_the_acts_of_the_vying_games(game: str):
    """With every option now and then; every kind of act is met."""
    acts: Counter[str] = Counter()
    for number in range(30):
        random = Random(number)
        hand, players = start(random_setup(game, random)), Players(random)
        while not hand.over:
            if hand.actor != "d":
                act = hand.automatic()
                assert act == expected(hand), hand.log
                acts[hand.legal()[0].verb if act is None else act.split(" ")[1]] += 1
            players.play_on(hand)
    wanted = {"ferbli": {"k", "f", "st", "po", "cu", "rb", "up", "sm", "mj", "rv"}, "faerbeln": {"k", "f", "po", "sm"}}
    assert wanted[game] <= acts.keys()
