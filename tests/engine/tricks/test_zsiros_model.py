"""Zsíros beside its independent referee: recorded deals, spoilt logs, and every line of random deals.

The referee (:mod:`tests.model.zsiros`) shares no code with the engine. Cards that nobody knows (``??``) are not its
business.
"""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest

from engine.kernel.cards import TELL32, UNKNOWN
from engine.play import Sitting, play_evening
from engine.record.format import format_record, parse_object, parse_record, record_from
from engine.record.replay import replay
from engine.registry import game_info, start
from tests.engine.deals import accepted, first_fault, lines_on_offer, spoilt_logs
from tests.engine.tricks.zsiros_tables import CALLS, SAYINGS, example, records
from tests.model.zsiros import Referee, judge
from tests.model.zsiros_header import case_of
from tests.model.zsiros_play import random_record


@pytest.mark.parametrize("record", records(), ids=lambda record: record["hand"])
def test_recorded_deals_replay_to_the_same(record: dict[str, Any]):
    outcome = replay(record_from(copy.deepcopy(record)))
    assert outcome.ok and outcome.hand and outcome.hand.result, outcome.error
    result = outcome.hand.result
    assert list(result.net) == record["net"] and dict(result.series) == record["series_out"]
    assert (result.tax, result.carry_out, any(result.bonus)) == (0, 0, False)


def test_a_result_that_differs_is_refused():
    for key, value in (("net", [100, -100, 100, -100]), ("tax", 1), ("carry_out", 1), ("series_out", {})):
        record = example() | {key: value}
        assert first_fault(record) == judge(record).index == len(record["acts"])
    for key in ("order", "deals", "score", "games"):
        record = example()
        record["series_out"][key] = record["series"][key] if key != "order" else record["seats"]
        assert first_fault(record) == len(record["acts"])


@pytest.mark.some_now(5)
@pytest.mark.parametrize("record", records()[::3], ids=lambda record: record["hand"])
def test_spoilt_logs_are_refused_where_the_referee_refuses_them(record: dict[str, Any]):
    refused = 0
    for acts in spoilt_logs(record["acts"], Random(record["hand"]), 0.2, sayings=SAYINGS):
        spoilt = {**record, "acts": acts}
        found, expected = first_fault(spoilt), judge(spoilt)
        assert found == expected.index, (acts, expected.reason)
        refused += found is not None
    assert refused > 100


def test_a_log_cut_short_is_refused_at_its_end():
    record = example()
    for end in range(len(record["acts"])):
        assert first_fault({**record, "acts": record["acts"][:end]}) == end


HEADERS: tuple[dict[str, Any], ...] = (
    {"opt": {}}, {"opt": {"stake": 100, "players": 2}}, {"opt": {"stake": 100, "target": 6}},
    {"opt": {"stake": 10**9}}, {"series": {}}, {"carry": 100}, {"dealer": 3}, {"stacks": [5999500] * 3},
    {"stacks": [299] + [5999500] * 3}, {"seats": ["z11", "z12", "z13", "z14"]}, {"seats": ["z12", "z14", "z13", "z11"]},
    {"deck": "Oa7h"}, {"rules": "zsiros/2"}, {"game": "ferbli"}, {"hand": ""},
)  # fmt: skip


@pytest.mark.parametrize("changed", HEADERS, ids=str)
def test_a_fault_before_the_log_is_one_for_both(changed: dict[str, Any]):
    record = example() | changed
    assert first_fault(record) == judge(record).index == -1


def follow(record: dict[str, Any], random: Random) -> int:
    """Play the record's lines; at every step all that is on offer is what the referee takes, and nothing else is
    accepted. Returns how many lines were compared."""
    hand = start(record_from(copy.deepcopy(record)).setup())
    referee, compared = Referee(case_of(record)), 0
    for line in record["acts"]:
        if hand.actor != "d" or "deck" in record:
            expected = referee.lines()
            assert lines_on_offer(hand) == expected, (hand.log, lines_on_offer(hand) ^ expected)
            compared += len(expected)
            for other in random.sample(EVERYTHING, 12):
                assert accepted(hand, other) == (other in expected), (hand.log, other)
        assert referee.accepts(line)
        hand.advance(line)
    assert hand.over and not referee.lines()
    return compared


EVERYTHING = [f"p{seat} pl {card}" for seat in range(1, 5) for card in (*TELL32.cards, UNKNOWN)]
EVERYTHING += [f"p{seat} {said}" for seat in range(1, 5) for said in ("ps", "au", *(f"cl {word}" for word in CALLS))]
EVERYTHING += [f"d dh p{seat} {cards}" for seat in range(1, 5) for cards in ("Aa", "7hXl", "AaKaOaUa", "??")]


@pytest.mark.parametrize("number", range(40))
def test_random_deals_of_the_model_line_by_line(number: int):
    random = Random(number)
    record = random_record(random, physical=number % 4 == 3, calls=0.2, clock=0.1)
    assert first_fault(record) is None
    assert follow(record, random) > 100


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize(
    "opt",
    [
        {},
        {"target": 10, "draw_mode": "single"},
        {"deal_model": "preassigned"},
        {"deal_model": "preassigned", "draw_mode": "single", "calls": "off", "stake": 0},
    ],
)
def test_random_evenings_of_the_engine_are_good_to_the_referee(seats: int, opt: dict[str, object]):
    """Records of an evening, each going on from the one before; the referee says the same of all of them."""
    options = {"stake": 50} | opt | ({"players": 2} if seats == 2 else {})
    before: dict[str, Any] | None = None
    for record in play_evening(Sitting("zsiros", options, seats, 10_000, 150), hands=25, seed=str(opt)):
        line = format_record(record)
        fields = parse_object(line)
        verdict = judge(fields)
        assert verdict.ok, verdict
        assert list(verdict.net or ()) == fields["net"] and verdict.series_out == fields["series_out"]
        assert parse_record(line) == record
        if before is not None:
            assert (
                fields["series"] == before["series_out"]
                and fields["seats"] == before["seats"][1:] + before["seats"][:1]
            )
        before = fields
    assert before and sum(before["series_out"]["games"]) > 0


def test_an_evening_counts_points_and_games_by_chairs():
    """The score sheet kept beside the records: who won is read off the net result alone."""
    score, games = {"s1": 0, "s2": 0}, {"s1": 0, "s2": 0}
    for record in play_evening(Sitting("zsiros", {"stake": 10}, 4, 10_000, 30), hands=60, seed="sheet"):
        assert record.net
        side = "s1" if record.net[record.seats.index("s1")] > 0 else "s2"
        score[side] += max(record.net) // 10
        if score[side] >= 5:
            games[side] += 1
            score = {"s1": 0, "s2": 0}
        assert record.series_out == {
            "order": ["s1", "s2", "s3", "s4"], "deals": record.seats[0],
            "score": list(score.values()), "games": list(games.values()),
        }  # fmt: skip
    assert sum(games.values()) > 3


def test_the_first_record_of_a_table_begins_with_nothing():
    game = game_info("zsiros")
    ids = ("k", "l", "m", "n")
    series = game.new_series(ids, game.rules.parse({"stake": 1}, 4))
    assert series == {"order": list(ids), "deals": "n", "score": [0, 0], "games": [0, 0]}
    assert game.next_seats(4, series, series) == (1, 2, 3, 0)
