"""The engine's Barbu held against the model of ``tests/model``: results, every line on offer, and spoilt logs."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from engine.errors import EngineError
from engine.kernel.cards import FRENCH52
from engine.kernel.hand import Hand
from engine.record.format import format_record, parse_record
from engine.record.replay import replay
from engine.registry import start
from engine.tricks.barbu import CALLS
from tests.engine.tricks.barbu_kit import record_of, recorded, state_of
from tests.model.barbu import judge, offered
from tests.model.barbu_random import random_record, spoilt

SAMPLE = recorded("barbu_sample.jsonl") + recorded("barbu_seed_sheet.jsonl")


@pytest.mark.parametrize("fields", SAMPLE, ids=lambda fields: fields["hand"])
def test_recorded_deals_replay_to_the_recorded_result(fields: dict[str, Any]):
    record = record_of(fields)
    outcome = replay(record)
    assert outcome.ok, outcome.error
    assert outcome.hand and outcome.hand.result
    assert (list(outcome.hand.result.net), outcome.hand.result.series) == (fields["net"], fields["series_out"])
    assert parse_record(format_record(record)) == record


def test_random_deals_of_the_model_have_the_models_result():
    for seed in range(150):
        fields = random_record(Random(seed))
        outcome = replay(record_of(fields))
        assert outcome.ok, (seed, outcome.error)


@pytest.mark.some_now(4)
@pytest.mark.parametrize("seed", range(30))
def test_every_line_that_the_model_offers_and_no_other(seed: int):
    """Both ways, move by move, the clock's lines included; what is on offer is accepted, what is not is refused."""
    fields = random_record(Random(f"offers {seed}"))
    record = record_of(fields)
    hand = start(record.setup())
    random = Random(seed)
    for line, wanted in zip(record.acts, offered(fields), strict=False):
        if hand.actor == "d" and record.deck is None:
            hand.apply(line)
            continue
        assert lines_of(hand) == wanted
        for other in random.sample(sorted(wanted), min(len(wanted), 3)):
            hand.copy().apply(other)
        for other in random.sample(EVERY_LINE, 60):
            assert accepted(hand, other) == (other in wanted), other
        hand.apply(line)
    assert hand.over


def lines_of(hand: Hand) -> set[str]:
    """The lines on offer, and that of the clock."""
    clock = {f"{hand.actor} au"} if hand.actor != "d" and hand.pending is None else set()
    return clock | {line for offer in hand.legal() for line in offer.lines()}


def accepted(hand: Hand, line: str) -> bool:
    """Whether a copy takes the line; a refusal leaves no trace."""
    twin = hand.copy()
    try:
        twin.apply(line)
    except EngineError:
        assert state_of(twin) == state_of(hand)
        return False
    return True


NAMED = ("p1", "p2", "p3", "p4", "p1 p2", "p1 p3", "p2 p4", "p1 p2 p3", "p2 p3 p4", "p1 p3 p4")
EVERY_LINE = [
    f"p{seat} {said}"
    for seat in range(1, 5)
    for said in (
        *(f"pl {card}" for card in FRENCH52.cards), *(f"cl {call}" for call in CALLS), "ps", "ps", "au",
        *(f"dbl {names}" for names in NAMED), *(f"rdbl {names}" for names in NAMED),
    )
]  # fmt: skip


def test_spoilt_logs_are_refused_where_the_model_refuses_them():
    for seed in range(60):
        random = Random(f"spoilt {seed}")
        for fields in spoilt(random_record(random), random, 8):
            verdict = judge(fields)
            assert first_fault(fields) == (None if verdict.ok else verdict.index), (seed, fields["acts"])


def first_fault(fields: dict[str, Any]) -> int | None:
    """The index of the first wrong line, -1 for the head, one past the end for the result; None if all is well."""
    try:
        outcome = replay(record_of(fields))
    except EngineError:
        return -1
    if outcome.ok:
        return None
    if outcome.index is not None:
        return outcome.index
    return -1 if outcome.hand is None else len(fields["acts"])


@pytest.mark.parametrize("key", ["net", "tax", "carry_out", "series_out"])
def test_a_derived_key_that_disagrees_is_refused(key: str):
    fields = dict(SAMPLE[0])
    changed = {"net": [0, 0, 0, 0], "tax": 1, "carry_out": 1, "series_out": fields["series"]}
    outcome = replay(record_of(fields | {key: changed[key]}))
    assert outcome.error and outcome.error.code == "derived_mismatch"
    assert outcome.error.expected["key"] == key


def test_a_log_that_ends_early_or_late_is_refused():
    fields = dict(SAMPLE[0])
    acts = fields["acts"]
    short = replay(record_of(fields | {"acts": acts[:-1]}))
    assert (short.index, short.error and short.error.code) == (len(acts) - 1, "log_incomplete")
    late = replay(record_of(fields | {"acts": [*acts, "p1 pl Ac"]}))
    assert (late.index, late.error and late.error.code) == (len(acts), "hand_is_over")
