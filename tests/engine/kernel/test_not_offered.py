"""What a verb that is not on offer is answered with: its phases, or what it takes besides."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.kernel.grammar import HOUSE
from engine.kernel.hand import Hand
from engine.kernel.setup import AUDITOR, PUBLIC
from engine.play import Sitting, play_evening
from engine.reference import phases
from engine.registry import game_info, start
from tests.engine.any_game import GAMES, points

FOR_A_41 = {"bonus41": 100, "bonus41_for": "uncontested"}
VARIATIONS = (
    ("ferbli", {"vizi": 100, "majzli_max": 300}, 4),
    ("ferbli", {"vizi": 100, "cuhhol": True}, 3),
    ("ferbli", {"vizi": 100, "show_two": True, "force_third_deal": True}, 5),
    ("ferbli", {"vizi": 100, "majzli_max": 200, "cuhhol": True, "show_two": True}, 4),
    ("faerbeln", {"ante": 200, "lower": 500, "round2_unit": "lower", "tax_cap": 700, **FOR_A_41}, 3),
    ("siebner_schuster", {"stake": 10}, 2),
)


@pytest.mark.parametrize("game", GAMES)
def test_every_verb_is_on_offer_or_has_an_answer(game: str):
    info = game_info(game)
    for hand, _ in points(game, 0.5):
        for viewer in (PUBLIC, AUDITOR):
            offered = {(one.actor == "d", one.verb) for one in hand.legal_for(viewer)}
            missing = {(one.by == HOUSE, one.verb): one for one in hand.not_offered(viewer)}
            possible = {verb for verbs in hand.phases.values() for verb in verbs}
            every = {(verb.by == HOUSE, verb.name) for verb in info.grammar.verbs[:-1] if verb.name in possible}
            assert offered.isdisjoint(missing) and offered | missing.keys() == every
            for one in missing.values():
                declared = info.grammar.verb("d" if one.by == HOUSE else "p1", one.verb)
                assert one.in_phase == (hand.phase in one.phases)
                same_name = sum(verb.name == one.verb for verb in info.grammar) > 1
                assert not one.in_phase or declared.only or same_name, (game, hand.phase, one)


@pytest.mark.parametrize("game", GAMES)
def test_every_phase_has_its_verbs_and_its_sentence(game: str):
    assert game_info(game).phases.keys() <= phases(game).keys()
    assert not [text for verb in game_info(game).grammar if (text := verb.only) and text[-1] != "."]


@pytest.mark.parametrize("game", GAMES)
def test_no_phase_comes_that_the_options_leave_out(game: str):
    for hand, _ in points(game):
        assert hand.phase in hand.phases


@pytest.mark.parametrize(("game", "options", "seats"), VARIATIONS)
def test_no_phase_comes_that_a_variation_leaves_out(game: str, options: dict[str, object], seats: int):
    seen, possible = set(), set()
    for hand in hands(game, options, seats):
        assert hand.phase in hand.phases
        seen.add(hand.phase)
        possible |= hand.phases.keys()
    assert len(seen) > len(possible) // 2


def hands(game: str, options: dict[str, object], seats: int) -> Iterator[Hand]:
    info = game_info(game)
    opt = info.resolve(options, seats, ())
    least = info.rules.parse(opt, seats).least_stack
    for record in play_evening(Sitting(game, opt, seats, 40 * least, least), hands=25, seed="phases"):
        hand = start(record.setup())
        for line in record.acts:
            yield hand
            hand.advance(line)


def test_the_answers_are_those_of_the_rules():
    hand = start(next(iter(points("ferbli")))[0].setup)
    missing = {one.verb: one for one in hand.not_offered(PUBLIC)}
    assert missing["ks"].phases == ("charge",) and not missing["ks"].in_phase
    assert "mj" not in missing and "cu" not in missing, "verbs of variations that the table does not play"
    hand.apply("p1 po 100")
    assert "po" in {one.verb for one in hand.not_offered(PUBLIC)}
