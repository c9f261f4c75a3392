"""Ramsli beside its independent model: recorded deals, spoilt logs, and every line of random deals."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest

from engine.kernel.cards import TELL32, UNKNOWN
from engine.play import Sitting, play_evening
from engine.record.format import format_record, parse_object, parse_record, record_from
from engine.record.replay import replay
from engine.registry import start
from tests.engine.deals import accepted, first_fault, lines_on_offer, spoilt_logs
from tests.engine.tricks.ramsli_tables import altered_lines, example, records
from tests.model.ramsli import Referee, judge
from tests.model.ramsli_play import random_record


@pytest.mark.parametrize("record", records(), ids=lambda record: record["hand"])
def test_recorded_deals_replay_to_the_same(record: dict[str, Any]):
    outcome = replay(record_from(copy.deepcopy(record)))
    assert outcome.ok and outcome.hand and outcome.hand.result, outcome.error
    result = outcome.hand.result
    assert list(result.net) == record["net"] and dict(result.series) == record["series_out"]
    assert (result.tax, result.carry_out, any(result.bonus)) == (0, record["carry_out"], False)
    assert sum(result.net) + result.carry_out == record["carry"] and judge(record).ok


def test_the_sample_has_what_is_rare():
    logs = [" | ".join(record["acts"]) for record in records()]
    for wanted in (" ex 7", " cl up", " cl bottom", " kn ", " in", " lk 4"):
        assert any(wanted in log for log in logs), wanted
    assert {len(record["seats"]) for record in records()} == {2, 3, 4, 5, 6}
    assert any(" kn" not in log and " pl " not in log for log in logs), "a deal that has failed"


def test_a_result_that_differs_is_refused():
    good = example()
    for key, value in (("net", [0, 0, 0]), ("tax", 1), ("carry_out", 5600), ("series_out", good["series"])):
        record = good | {key: value}
        assert first_fault(record) == judge(record).index == len(good["acts"])


@pytest.mark.parametrize("record", records()[::4], ids=lambda record: record["hand"])
def test_spoilt_logs_are_refused_where_the_model_refuses_them(record: dict[str, Any]):
    refused = 0
    for acts in spoilt_logs(record["acts"], Random(record["hand"]), 0.12, altered=altered_lines):
        spoilt = {**record, "acts": acts}
        found, expected = first_fault(spoilt), judge(spoilt)
        assert found == expected.index, (acts, expected.reason)
        refused += found is not None
    assert refused > 10


def test_a_log_cut_short_is_refused_at_its_end():
    record = example()
    for end in range(len(record["acts"])):
        assert first_fault({**record, "acts": record["acts"][:end]}) == end


HEADERS: tuple[dict[str, Any], ...] = (
    {"opt": {}}, {"opt": {"unit": 100}}, {"opt": {"bank_level": 16}}, {"opt": {"unit": 0, "bank_level": 16}},
    {"opt": {"unit": 100, "bank_level": 18}}, {"opt": {"unit": 100, "bank_level": -4}},
    {"opt": {"unit": 100, "bank_level": 16, "x": 1}}, {"opt": {"unit": 100, "bank_level": 0}},
    {"opt": {"unit": 100, "bank_level": 20}}, {"opt": {"unit": 100, "bank_level": 12}},
    {"opt": {"unit": 300, "bank_level": 16}}, {"opt": {"unit": True, "bank_level": 16}},
    {"series": {}}, {"series": {"kitty": 1600}}, {"series": {"kitty": 1600, "bank": 800, "x": 0}},
    {"series": {"kitty": 1600, "bank": 400}}, {"series": {"kitty": 800, "bank": 1600}},
    {"series": {"kitty": 2400, "bank": 0}}, {"series": {"kitty": "1600", "bank": 800}},
    {"series": {"kitty": 1600, "bank": -800}, "carry": 800}, {"series": {"kitty": 1700, "bank": 700}},
    {"carry": 0}, {"carry": 1600}, {"dealer": 2}, {"stacks": [9999600, 10003200]},
    {"stacks": [9999600, 3599, 9994800]}, {"deck": "OaKa"}, {"rules": "ramsli/2"}, {"seats": ["a", "b", "b"]},
)  # fmt: skip


@pytest.mark.parametrize("changed", HEADERS, ids=str)
def test_a_fault_before_the_log_is_one_for_both(changed: dict[str, Any]):
    record = example() | changed
    assert first_fault(record) == judge(record).index == -1


def test_a_stack_that_covers_the_worst_loss_will_do():
    record = example() | {"stacks": [3600, 3600, 3600]}
    assert first_fault(record) is judge(record).index is None


def near(record: dict[str, Any], random: Random) -> list[str]:
    """Lines of all kinds, few of which can follow anywhere."""
    seats = range(1, len(record["seats"]) + 1)
    said = ["ps", "au", "kn", "in", "cl top", "cl bottom", "cl up", "lk 4", f"po {4 * record['opt']['unit']}"]
    said += [
        f"{verb} {card}" for verb in ("pl", "ds", "ex", "kn") for card in (*random.sample(TELL32.cards, 3), UNKNOWN)
    ]
    return [f"p{random.choice(seats)} {line}" for line in random.sample(said, 10)]


def follow(record: dict[str, Any], random: Random) -> int:
    """Play the record's lines; at every step all that is on offer is what the model takes, and nothing else is
    accepted. Returns how many lines were compared."""
    hand = start(record_from(copy.deepcopy(record)).setup())
    referee, compared = Referee(record), 0
    for line in record["acts"]:
        expected = referee.lines()
        if expected is not None:
            assert lines_on_offer(hand) == expected, (hand.log, lines_on_offer(hand) ^ expected)
            compared += len(expected)
            for other in near(record, random):
                assert accepted(hand, other) == (other in expected), (hand.log, other)
        assert referee.accepts(line)
        hand.advance(line)
    assert hand.over and not referee.lines()
    return compared


@pytest.mark.parametrize("number", range(40))
def test_random_deals_of_the_model_line_by_line(number: int):
    compared = 0
    for part in range(3):
        random = Random(f"{number}/{part}")
        record = random_record(random, physical=number % 4 == 3, clock=0.1)
        assert first_fault(record) is None
        compared += follow(record, random)
    assert compared > 60


def test_many_random_deals_of_the_model_replay():
    for number in range(1500):
        assert first_fault(random_record(Random(number))) is None, number


def test_random_deals_spoilt_at_random():
    for number in range(120):
        random = Random(f"spoilt/{number}")
        record = random_record(random, physical=number % 5 == 0)
        for acts in spoilt_logs(record["acts"], random, 0.01, altered=altered_lines):
            if "deck" not in record and any(UNKNOWN in line for line in acts):
                continue  # cards that nobody knows are not the model's business
            spoilt = {**record, "acts": acts}
            assert first_fault(spoilt) == judge(spoilt).index, (number, acts)


@pytest.mark.parametrize("seats", range(2, 7))
@pytest.mark.parametrize("level", [0, 4, 16])
def test_random_evenings_of_the_engine_are_good_to_the_model(seats: int, level: int):
    """Records of an evening, each going on from the one before; the model says the same of all of them."""
    before: dict[str, Any] | None = None
    table = Sitting("ramsli", {"unit": 5, "bank_level": level}, seats, 10**12, 0)
    for record in play_evening(table, hands=20, seed=f"{seats}/{level}"):
        line = format_record(record)
        fields = parse_object(line)
        verdict = judge(fields)
        assert verdict.ok, verdict
        assert verdict.net == fields["net"] and verdict.series_out == fields["series_out"]
        assert parse_record(line) == record
        if before is not None:
            assert fields["series"] == before["series_out"] and fields["carry"] == before["carry_out"]
            assert fields["seats"] == before["seats"][1:] + before["seats"][:1]
        before = fields
