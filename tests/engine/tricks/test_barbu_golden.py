"""What is on record of Barbu: deals to read through, and counts of how many ways there are to play an ending."""

from __future__ import annotations

import pytest

from engine.tricks.barbu import BarbuState
from tests.engine.barbu_scenarios import ENDINGS, SCENARIOS, Scenario, count, text_of
from tests.engine.goldens import GOLDEN, counts_on_record


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_deal_reads_as_it_did(scenario: Scenario):
    kept = (GOLDEN / "barbu" / f"{scenario.name}.txt").read_text()
    assert text_of(scenario) == kept, "python -m tests.engine.barbu_scenarios --write, and read the difference"


def test_every_file_has_its_deal():
    assert {path.stem for path in (GOLDEN / "barbu").glob("*.txt")} == {scenario.name for scenario in SCENARIOS}


def test_the_deals_pass_through_every_phase_and_contract():
    rows = [row.split() for scenario in SCENARIOS for row in text_of(scenario).splitlines() if row]
    assert {row[0] for row in rows} >= set(BarbuState.HANDLERS) - {"over"}
    called = {row[3] for row in rows if row[2:3] == ["cl"]}
    assert called == {"notricks", "queens", "lasttwo", "hearts", "king", "trumps", "dominoes", "ravage"}


@pytest.mark.some_now(3)
@pytest.mark.parametrize("name", ENDINGS)
def test_as_many_ways_to_play_as_there_were(name: str):
    assert count(name, ENDINGS[name]) == counts_on_record("barbu")[name], "python -m tests.engine.barbu_scenarios"


def test_every_count_has_its_tree():
    assert list(counts_on_record("barbu")) == list(ENDINGS)
