"""Deals of Siebner Schuster, Rufmariasch and Preferánsz on record: to read through, and counts of how many ways there
are to play one."""

from __future__ import annotations

import pytest

from engine.registry import start
from tests.engine.goldens import GOLDEN, Scenario, counts_on_record
from tests.engine.trick_scenarios import ENDINGS, GAMES, SCENARIOS, count, text_of

AGAIN = "python -m tests.engine.trick_scenarios --write, and read the difference"
EVERY = [(game, scenario) for game in GAMES for scenario in SCENARIOS[game]]


@pytest.mark.parametrize(("game", "scenario"), EVERY, ids=lambda one: getattr(one, "name", one))
def test_a_deal_reads_as_it_did(game: str, scenario: Scenario):
    assert text_of(scenario) == (GOLDEN / game / f"{scenario.name}.txt").read_text(), AGAIN


@pytest.mark.parametrize("game", GAMES)
def test_every_file_has_its_deal(game: str):
    files = {path.stem for path in (GOLDEN / game).glob("*.txt")}
    assert files == {scenario.name for scenario in SCENARIOS[game]}
    assert list(counts_on_record(game)) == list(ENDINGS[game])


@pytest.mark.parametrize("game", GAMES)
def test_the_deals_pass_through_every_phase_and_say_every_verb(game: str):
    rows = [row.split() for scenario in SCENARIOS[game] for row in text_of(scenario).splitlines() if row]
    state = type(start(SCENARIOS[game][0].setup)._state)
    assert {row[0] for row in rows} >= set(state.HANDLERS) - {"over"}
    assert {row[2] for row in rows if len(row) > 2} >= set(state.OFFERS)


@pytest.mark.some_now(3)
@pytest.mark.parametrize(("game", "name"), [(game, name) for game in GAMES for name in ENDINGS[game]])
def test_as_many_ways_to_play_as_there_were(game: str, name: str):
    assert count(game, name) == counts_on_record(game)[name], AGAIN
