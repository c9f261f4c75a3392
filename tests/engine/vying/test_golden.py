"""What is on record: hands to read through, and counts of how many ways there are to play a small table."""

from __future__ import annotations

import pytest

from engine.registry import start
from engine.vying.ferbli import FerbliState
from tests.engine import perft, playthrough
from tests.engine.scenarios import SCENARIOS, Scenario


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_hand_reads_as_it_did(scenario: Scenario):
    kept = (playthrough.GOLDEN / f"{scenario.name}.txt").read_text()
    assert playthrough.text_of(scenario) == kept, "python -m tests.engine.playthrough --write, and read the difference"


def test_every_file_has_its_hand():
    assert {path.stem for path in playthrough.GOLDEN.glob("*.txt")} == {scenario.name for scenario in SCENARIOS}


def test_the_hands_pass_through_every_phase_of_ferbli():
    phases = set()
    for scenario in SCENARIOS:
        hand = start(scenario.setup)
        if scenario.setup.game == "ferbli":
            rows = playthrough.text_of(scenario).splitlines()
            phases |= {row.split()[0] for row in rows if row and row.split()[0] in FerbliState.HANDLERS}
            assert hand.actor
    assert phases == set(FerbliState.HANDLERS) - {"over"}


@pytest.mark.some_now(3)
@pytest.mark.parametrize("name", perft.TABLES)
def test_as_many_ways_to_play_as_there_were(name: str):
    table = perft.TABLES[name]
    assert perft.count(table, table.depth) == perft.golden()["test"][name], "python -m tests.engine.perft"


def test_the_counts_of_whole_games_go_on_from_those_of_the_test():
    kept = perft.golden()
    assert list(kept["test"]) == list(kept["soak"]) == list(perft.TABLES)
    for name, table in perft.TABLES.items():
        assert kept["soak"][name]["open"][-1] == 0  # type: ignore[index]
        for key in ("open", "over"):
            assert kept["soak"][name][key][: table.depth] == kept["test"][name][key]  # type: ignore[index]
