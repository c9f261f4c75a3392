"""Deals of Esel, Pacal and Old Maid on record: to read through, and counts of how many ways there are to play one."""

from __future__ import annotations

import pytest

from engine.registry import game_info
from tests.engine.goldens import GOLDEN, Scenario, counts_on_record
from tests.engine.shedding_scenarios import COUNTS, SCENARIOS, count, text_of

AGAIN = "python -m tests.engine.shedding_scenarios --write, and read the difference"
ENDINGS = {"esel": {"shouted", "false_shout", "void"}, "pacal": {"lost", "void"}, "old_maid": {"lost", "void"}}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_deal_reads_as_it_did(scenario: Scenario):
    assert text_of(scenario) == (GOLDEN / scenario.setup.game / f"{scenario.name}.txt").read_text(), AGAIN


def test_every_file_has_its_deal():
    files = {(path.parent.name, path.stem) for game in COUNTS for path in (GOLDEN / game).glob("*.txt")}
    assert files == {(scenario.setup.game, scenario.name) for scenario in SCENARIOS}


@pytest.mark.parametrize("game", COUNTS)
def test_the_deals_pass_through_every_phase_and_end_in_every_way(game: str):
    texts = [text_of(scenario) for scenario in SCENARIOS if scenario.setup.game == game]
    rows = [row.split() for text in texts for row in text.splitlines() if row]
    begin = game_info(game).begin
    handlers = begin(next(one.setup for one in SCENARIOS if one.setup.game == game), _rules(game)).HANDLERS
    assert {row[0] for row in rows} >= set(handlers) - {"over"}
    assert {row[1] for row in rows if row[0] == "ending"} == ENDINGS[game]


def _rules(game: str) -> object:
    info = game_info(game)
    return info.rules.parse(dict(info.example), 4)


@pytest.mark.parametrize(("game", "name"), [(game, name) for game, counts in COUNTS.items() for name in counts])
def test_as_many_ways_to_play_as_there_were(game: str, name: str):
    assert count(COUNTS[game][name]) == counts_on_record(game)[name], AGAIN
