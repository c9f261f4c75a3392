"""The engine's Rufmariasch held against the model of ``tests/model``."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from engine.kernel.cards import TELL32, UNKNOWN
from tests.engine.against_model import Match
from tests.model.rufmariasch import MODEL

SAYINGS = ("cl Aa", "cl Aa l", "cl 7h", "ml KaOa", "ml KhOh", "ml OlKl", "ml Ka", "ml ????", "pl Aa")
MATCH = Match("rufmariasch", MODEL, SAYINGS, "R8-000002")
SAMPLE = MATCH.sample()


@pytest.mark.parametrize("record", SAMPLE, ids=lambda record: record["hand"])
def test_recorded_deals_replay_to_the_same(record: dict[str, Any]):
    MATCH.require_recorded(record)


@pytest.mark.some_now(4)
@pytest.mark.parametrize("first", range(0, 1000, 250))
def test_random_deals_are_good_to_both(first: int):
    MATCH.require_random(range(first, first + 250))


EVERYTHING = [f"p{seat} pl {card}" for seat in range(1, 5) for card in (*TELL32.cards, UNKNOWN)]
EVERYTHING += [f"p1 cl {card}{suit}" for card in TELL32.cards for suit in ("", " a", " h")]
EVERYTHING += [f"p{seat} ml K{suit}O{suit}" for seat in range(1, 5) for suit in "albh" for _ in range(4)]
EVERYTHING += [f"p{seat} {said}" for seat in range(1, 5) for said in ("ps", "au", "cl Aa", "ml OaKa", "ml KaOl")]
EVERYTHING += [f"d dh p{seat} {cards}" for seat in range(1, 5) for cards in ("Aa", "AaKaOaUa", "????????")]


@pytest.mark.some_now(3)
@pytest.mark.parametrize("number", range(24))
def test_every_line_that_the_model_offers_and_no_other(number: int):
    random = Random(number)
    record = MODEL.random_record(random, physical=number % 4 == 3)
    assert MATCH.follow(record, random, EVERYTHING) > 60


@pytest.mark.parametrize("record", SAMPLE[::6], ids=lambda record: record["hand"])
def test_spoilt_logs_are_refused_where_the_model_refuses_them(record: dict[str, Any]):
    MATCH.require_refused(record, 0.12, 60)


def test_a_log_that_is_not_whole_and_a_result_that_differs_are_refused():
    MATCH.require_whole(MATCH.one())


HEADS: tuple[dict[str, Any], ...] = (
    {"opt": {}}, {"opt": {"unit": 0}}, {"opt": {"unit": True}}, {"opt": {"unit": 10, "call_own_card": 1}},
    {"opt": {"unit": 10, "must_differ": True}}, {"opt": {"unit": 10**6}}, {"opt": {"unit": 10, "players": 4}},
    {"series": {}}, {"carry": 100}, {"dealer": 3}, {"stacks": [5699, 10**6, 10**6, 10**6]}, {"stacks": [10**6] * 3},
    {"series": {"score": {"r8a": 10, "r8b": -10, "r8c": 10}}}, {"series": {"score": [0, 0, 0, 0]}},
    {"series": {"score": {"r8a": 10, "r8b": -10, "r8c": 10, "r8d": 0}}},
    {"series": {"score": {"r8a": 0, "r8b": 0, "r8c": 0, "r8d": False}}},
    {"series": {"score": {"r8a": 0, "r8b": 0, "r8c": 0, "r8d": 0}, "deals": "r8a"}},
    {"seats": ["r8a", "r8b", "r8c", "r8c"]}, {"deck": "Oa7h"}, {"rules": "zsiros/1"}, {"game": "zsiros"},
)  # fmt: skip


@pytest.mark.parametrize("changed", HEADS, ids=str)
def test_a_fault_before_the_log_is_one_for_both(changed: dict[str, Any]):
    MATCH.require_head_fault(changed)
