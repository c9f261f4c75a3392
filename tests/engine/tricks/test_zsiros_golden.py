"""Deals of Zsíros on record: to read through, and counts of how many ways there are to play one."""

from __future__ import annotations

import pytest

from engine.tricks.zsiros import SCORES, ZsirosState
from tests.engine import zsiros_scenarios
from tests.engine.goldens import GOLDEN, Scenario, counts_on_record
from tests.engine.zsiros_scenarios import ENDINGS, SCENARIOS

AGAIN = "python -m tests.engine.zsiros_scenarios --write, and read the difference"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_deal_reads_as_it_did(scenario: Scenario):
    assert zsiros_scenarios.text_of(scenario) == (GOLDEN / "zsiros" / f"{scenario.name}.txt").read_text(), AGAIN


def test_every_file_has_its_deal():
    files = {path.stem for path in (GOLDEN / "zsiros").glob("*.txt")}
    assert files == {scenario.name for scenario in SCENARIOS}


def test_the_deals_pass_through_every_phase_and_end_in_every_way():
    rows = [row.split() for scenario in SCENARIOS for row in zsiros_scenarios.text_of(scenario).splitlines() if row]
    assert {row[0] for row in rows} >= set(ZsirosState.HANDLERS) - {"over"}
    assert {row[1].rstrip(",") for row in rows if row[0] == "ending"} == set(SCORES)


@pytest.mark.some_now(2)
@pytest.mark.parametrize("name", list(ENDINGS))
def test_as_many_ways_to_play_as_there_were(name: str):
    assert zsiros_scenarios.count(ENDINGS[name]) == counts_on_record("zsiros")[name], AGAIN
