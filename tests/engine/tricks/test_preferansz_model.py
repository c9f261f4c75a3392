"""The engine's Preferánsz held against the model of ``tests/model``."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from engine.kernel.cards import TELL32, UNKNOWN
from tests.engine.against_model import Match
from tests.model.preferansz import MODEL

SAYINGS = (
    "bd 2", "bd 7", "bd 8", "bd 2 hand", "bd 7 hand", "bd 03", "cl 2", "cl 7", "dbl p1", "dbl p2 p3", "rdbl p2",
    "rdbl p3", "ds AaKa", "ds ????", "up AaKa",
)  # fmt: skip
MATCH = Match("preferansz", MODEL, SAYINGS, "F62-000024")
SAMPLE = MATCH.sample()


@pytest.mark.parametrize("record", SAMPLE, ids=lambda record: record["hand"])
def test_recorded_deals_replay_to_the_same(record: dict[str, Any]):
    MATCH.require_recorded(record)


@pytest.mark.some_now(4)
@pytest.mark.parametrize("first", range(0, 1000, 250))
def test_random_deals_are_good_to_both(first: int):
    MATCH.require_random(range(first, first + 250))


EVERYTHING = [f"p{seat} pl {card}" for seat in range(1, 4) for card in (*TELL32.cards, UNKNOWN)]
EVERYTHING += [f"p{seat} bd {game}{hand}" for seat in range(1, 4) for game in range(1, 9) for hand in ("", " hand")]
EVERYTHING += [f"p{seat} {verb} p{other}" for verb in ("dbl", "rdbl") for seat in range(1, 4) for other in range(1, 4)]
EVERYTHING += [f"p{seat} cl {game}" for seat in range(1, 4) for game in range(1, 9)]
EVERYTHING += [
    f"p{seat} {said}" for seat in range(1, 5) for said in ("ps", "ps", "au", "ds AaKa", "ds KaAa", "ds ????")
]
EVERYTHING += [f"d up {cards}" for cards in ("AaKa", "????", "Aa", "7h8h")] + ["d dh p1 Aa", "p1 dbl p2 p3"]


@pytest.mark.some_now(3)
@pytest.mark.parametrize("number", range(24))
def test_every_line_that_the_model_offers_and_no_other(number: int):
    random = Random(number)
    record = MODEL.random_record(random, physical=number % 4 == 3)
    assert MATCH.follow(record, random, EVERYTHING) > 30


@pytest.mark.parametrize("record", SAMPLE[::5], ids=lambda record: record["hand"])
def test_spoilt_logs_are_refused_where_the_model_refuses_them(record: dict[str, Any]):
    MATCH.require_refused(record, 0.12, 40)


def test_a_log_that_is_not_whole_and_a_result_that_differs_are_refused():
    MATCH.require_whole(MATCH.one())


HEADS: tuple[dict[str, Any], ...] = (
    {"opt": {}}, {"opt": {"unit": 0}}, {"opt": {"unit": True}}, {"opt": {"unit": 100, "early_end": 1}},
    {"opt": {"unit": 10**6}}, {"opt": {"unit": 100, "players": 3}}, {"series": {}}, {"carry": 100}, {"dealer": 2},
    {"stacks": [9599, 10**6, 10**6]}, {"stacks": [10**6] * 4}, {"series": {"score": {"f62a": 0, "f62b": 0}}},
    {"series": {"score": {"f62a": 0, "f62b": 0, "f62c": 1}}}, {"series": {"score": {"f62a": 0, "f62b": 0, "x": 0}}},
    {"seats": ["f62c", "f62a", "f62a"]}, {"deck": "Oa7h"}, {"rules": "zsiros/1"}, {"game": "zsiros"},
)  # fmt: skip


@pytest.mark.parametrize("changed", HEADS, ids=str)
def test_a_fault_before_the_log_is_one_for_both(changed: dict[str, Any]):
    MATCH.require_head_fault(changed)
