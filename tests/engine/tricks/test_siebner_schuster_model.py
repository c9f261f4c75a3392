"""The engine's Siebner Schuster held against the model of ``tests/model``."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from engine.kernel.cards import FRENCH32, TELL32, UNKNOWN
from engine.play import Sitting, play_evening
from tests.engine.against_model import Match
from tests.engine.deals import first_fault
from tests.model.siebner_schuster import CALLS, MODEL

MATCH = Match("siebner_schuster", MODEL, (*(f"cl {word}" for word in ("uss", *CALLS)), "vw p3"), "S1-000005")
SAMPLE = MATCH.sample()


@pytest.mark.parametrize("record", SAMPLE, ids=lambda record: record["hand"])
def test_recorded_deals_replay_to_the_same(record: dict[str, Any]):
    MATCH.require_recorded(record)


@pytest.mark.some_now(4)
@pytest.mark.parametrize("first", range(0, 1000, 250))
def test_random_deals_are_good_to_both(first: int):
    MATCH.require_random(range(first, first + 250))


EVERYTHING = [f"p{seat} pl {card}" for seat in range(1, 5) for card in (*TELL32.cards, *FRENCH32.cards[:8], UNKNOWN)]
EVERYTHING += [f"p{seat} {said}" for seat in range(1, 5) for said in ("ps", "au", *(f"cl {word}" for word in CALLS))]
EVERYTHING += [f"d dh p{seat} {cards}" for seat in range(1, 5) for cards in ("Aa", "7hXl", "AaKaOaUa", "??")]
EVERYTHING += [f"d vw {pair}" for pair in ("p1 p3", "p2 p4", "p1 p2", "p3 p1", "p2 p4 p1", "p1")]


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


def test_the_two_looks_stand_once_each_and_in_their_order():
    """After the line that takes the last card, before the next lead; two players have none."""
    record = MATCH.one()
    acts = record["acts"]
    at = acts.index("d vw p1 p3")
    assert acts[at - 1].startswith("d dh ") and acts[at + 1] == "d vw p2 p4"
    for wrong in (acts[:at] + acts[at + 2 :], [*acts[:at], acts[at + 1], acts[at], *acts[at + 2 :]]):
        assert first_fault({**record, "acts": wrong}) == at
    assert first_fault({**record, "acts": [*acts[: at + 1], acts[at + 2], acts[at + 1], *acts[at + 3 :]]}) == at + 1
    assert first_fault({**record, "acts": [*acts[: at + 2], "d vw p1 p3", *acts[at + 2 :]]}) == at + 2
    assert not any(" vw " in line for one in SAMPLE if len(one["seats"]) == 2 for line in one["acts"])


HEADS: tuple[dict[str, Any], ...] = (
    {"opt": {}}, {"opt": {"stake": 10, "players": 2}}, {"opt": {"stake": 10, "target": 0}},
    {"opt": {"stake": 10, "target": 70}}, {"opt": {"stake": 10**9}}, {"opt": {"stake": 10, "pack": "french"}},
    {"opt": {"stake": 10, "calls": "on"}}, {"series": {}}, {"carry": 100}, {"dealer": 3}, {"stacks": [899] * 4},
    {"seats": ["s11", "s12", "s13", "s14"]}, {"deck": "Oa7h"}, {"rules": "zsiros/1"}, {"game": "zsiros"}, {"hand": ""},
)  # fmt: skip


@pytest.mark.parametrize("changed", HEADS, ids=str)
def test_a_fault_before_the_log_is_one_for_both(changed: dict[str, Any]):
    MATCH.require_head_fault(changed)


def test_evenings_go_on_from_record_to_record():
    """The score sheet kept beside the records, off the net results alone: a stake of one is a point."""
    for opt in ({}, {"target": 180}, {"target": 10}):
        score, games = {"s1": 0, "s2": 0}, {"s1": 0, "s2": 0}
        for record in play_evening(
            Sitting("siebner_schuster", {"stake": 1} | opt, 4, 10_000, 90), hands=40, seed=str(opt)
        ):
            assert record.net
            gap = record.net[record.seats.index("s1")]
            score = {"s1": score["s1"] + (90 + gap) // 2, "s2": score["s2"] + (90 - gap) // 2}
            if max(score.values()) >= opt.get("target", 120) and score["s1"] != score["s2"]:
                games[max(score, key=lambda name: score[name])] += 1
                score = {"s1": 0, "s2": 0}
            assert record.series_out == {
                "order": ["s1", "s2", "s3", "s4"], "deals": record.seats[0],
                "score": list(score.values()), "games": list(games.values()),
            }  # fmt: skip
        assert sum(games.values()) > 5
