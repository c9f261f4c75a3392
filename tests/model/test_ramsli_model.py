"""The referee of Ramsli itself: recorded deals, results that differ, records that no deal can have."""

from __future__ import annotations

import doctest
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.model import ramsli
from tests.model.ramsli import RESULTS, Referee, judge
from tests.model.ramsli_play import random_record

SAMPLE = Path(__file__).parent / "data" / "ramsli.jsonl"
RECORDS = [json.loads(line) for line in SAMPLE.read_text().splitlines()]
EXAMPLE = RECORDS[0]  # the page's own record


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["hand"])
def test_recorded_deals_have_the_recorded_results(record: dict[str, Any]) -> None:
    verdict = judge({key: value for key, value in record.items() if key not in RESULTS})
    assert verdict.ok, verdict
    found = {"net": verdict.net, "tax": 0, "carry_out": verdict.carry_out, "series_out": verdict.series_out}
    assert found == {key: record[key] for key in RESULTS}


def test_a_result_that_differs_stands_behind_the_log() -> None:
    for key, value in (("net", [0, 0, 0]), ("tax", 100), ("carry_out", 0), ("series_out", {})):
        assert judge(EXAMPLE | {key: value}).index == len(EXAMPLE["acts"])


def test_a_log_that_goes_on_or_stops_is_refused_there() -> None:
    acts = EXAMPLE["acts"]
    assert judge(EXAMPLE | {"acts": [*acts, "p1 ps"]}).index == len(acts)
    assert judge(EXAMPLE | {"acts": acts[:-1]}).index == len(acts) - 1
    assert judge(EXAMPLE | {"acts": acts[1:]}).index == 0


def test_the_clock_may_run_out_once_and_the_automatic_act_follows() -> None:
    referee = Referee(EXAMPLE)
    assert referee.accepts("p3 au") and referee.lines() == {"p3 po 400"}
    assert not referee.accepts("p3 au") and referee.accepts("p3 po 400")


def test_no_money_is_made_or_lost() -> None:
    endings: Counter[str] = Counter()
    for number in range(300):
        record = random_record(Random(f"model/{number}"), physical=number % 3 == 0)
        assert judge(record).ok
        assert sum(record["net"]) + record["carry_out"] == record["carry"] == sum(record["series"].values())
        assert record["carry_out"] == sum(record["series_out"].values())
        endings["played" if any(" pl " in line for line in record["acts"]) else "not"] += 1
    assert min(endings.values()) > 20


def test_the_example_of_the_module() -> None:
    assert doctest.testmod(ramsli).failed == 0
