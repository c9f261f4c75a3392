"""A hand is replayed by the rules that it was dealt by, whatever today's are."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator

import pytest

from engine import registry as games
from engine.errors import EngineError, UnknownRules
from engine.kernel.setup import Setup
from engine.record.format import parse_record
from engine.record.phh import phh_of
from engine.record.replay import replay
from engine.registry import game_info, rules_version, start

#: Two seats, one point of tax on a pot of 250 that p1 wins: 2.5, so that rounding shows the rules.
RECORD = {
    "v": "chr/1", "game": "ferbli", "rules": "ferbli/1", "hand": "h1", "seats": ["a", "b"], "dealer": 2,
    "opt": {"vizi": 25, "tax_bps": 100, "tax_cap": 1_000}, "stacks": [500, 500], "carry": 200,
    "acts": ["p1 po 25", "d dh p1 Kl8b", "d dh p2 Ah7l", "p2 cc 25", "p1 rb 25", "p2 f"],
}  # fmt: skip


@pytest.fixture
def earlier(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An earlier version of Ferbli's rules."""
    monkeypatch.setitem(games.EARLIER, "ferbli/0", "tests.engine.rules_zero")
    rules_version.cache_clear()
    yield "ferbli/0"
    rules_version.cache_clear()


def tax(rules: str) -> int:
    outcome = replay(parse_record(json.dumps(RECORD | {"rules": rules})))
    assert outcome.ok, outcome.error
    assert outcome.hand is not None and outcome.hand.result is not None
    return outcome.hand.result.tax


def test_a_record_is_replayed_by_the_rules_it_names(earlier: str) -> None:
    assert (tax("ferbli/1"), tax(earlier)) == (2, 3)


def test_the_state_names_its_rules(earlier: str) -> None:
    found = {}
    for rules in ("ferbli/1", earlier):
        outcome = replay(parse_record(json.dumps(RECORD | {"rules": rules})))
        assert outcome.hand is not None
        found[rules] = outcome.hand.digest()
    assert found["ferbli/1"] != found[earlier]
    # A record that names today's rules and holds the state of earlier ones does not stand.
    forged = replay(parse_record(json.dumps(RECORD | {"state": found[earlier]})))
    assert forged.error is not None and forged.error.code == "derived_mismatch"


def test_a_phh_is_written_by_the_rules_of_the_record(earlier: str) -> None:
    winnings = [phh_of(parse_record(json.dumps(RECORD | {"rules": rules}))) for rules in ("ferbli/1", earlier)]
    assert winnings[0] != winnings[1]


def test_without_an_id_a_hand_is_dealt_by_the_rules_of_today(earlier: str) -> None:
    setup = Setup("ferbli", {"vizi": 100}, 2, (500, 500), 0, 2)
    assert start(setup).digest() == start(setup._replace(rules="ferbli/1")).digest()
    assert rules_version("ferbli/1") is game_info("ferbli")
    assert rules_version(earlier).rules_id == earlier


def test_every_game_says_which_option_is_its_stake() -> None:
    """An amount, which a table sets or which has a default: reports sum by it."""
    for game in games.games():
        [stake] = [one for one in dataclasses.fields(game.rules) if one.name == game.rules.STAKE]
        assert stake.metadata["spec"].kind is int, game.name


@pytest.mark.parametrize("rules", ["ferbli/2", "faerbeln/1", "", "ferbli"])
def test_unknown_rules_and_those_of_another_game_are_refused(rules: str) -> None:
    with pytest.raises(UnknownRules) as refusal:
        start(Setup("ferbli", {"vizi": 100}, 2, (500, 500), 0, 2, rules=rules))
    assert refusal.value.code == "unknown_rules"
    assert "ferbli/1" in str(refusal.value.expected["rules"])
    outcome = replay(dataclasses.replace(parse_record(json.dumps(RECORD)), rules=rules))
    assert isinstance(outcome.error, EngineError) and outcome.error.code == "malformed_record"
