"""The demo's evening: what it plays, how a console cuts a log into requests, and how it speaks of every verb."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from casino.api.dealer import NEEDS, as_line
from deploy.demo import evening
from deploy.demo.dealer import MOST_ACTIONS, NONCE, as_action, choose, gestures, majzli_commitment
from deploy.demo.evening import EveningError, RecordedTable
from engine.record.format import parse_record
from engine.record.replay import replay

EVENING = evening.read(None)
ALL_LINES = sorted({line for table in EVENING.values() for hand in table.hands for line in hand["acts"]})


def test_the_default_evening_has_both_games_and_the_variations() -> None:
    assert {code: len(table.hands) for code, table in EVENING.items()} == {
        "T1": 85, "T2": 86, "T3": 84, "T4": 84, "V1": 30, "V2": 30, "F1": 60,
    }  # fmt: skip
    assert {table.game for table in EVENING.values()} == {"ferbli", "faerbeln"}
    assert any("decks" in hand for hand in EVENING["V2"].hands)
    assert any(hand.get("series") == {"failed": 2} for hand in EVENING["V2"].hands)
    assert any(sum(net > 0 for net in hand["net"]) > 1 for hand in EVENING["V1"].hands)
    assert any(any(hand.get("bonus", [])) for hand in EVENING["F1"].hands)
    verbs = {line.split()[1] for line in ALL_LINES}
    assert verbs >= set(NEEDS) | {"f", "k", "st", "in"}


def test_every_recorded_hand_of_the_variations_stands() -> None:
    for line in (evening.HERE / "variants.jsonl").read_text().splitlines():
        assert replay(parse_record(line)).ok


def test_a_log_cut_into_requests_is_the_log() -> None:
    for table in EVENING.values():
        for hand in table.hands:
            cut = gestures(hand["acts"])
            assert [line for gesture in cut for line in gesture] == hand["acts"]
            assert max(map(len, cut)) <= MOST_ACTIONS


def test_every_line_goes_through_the_api_and_back() -> None:
    lines = [*ALL_LINES, f"p1 mj {'a' * 64}", f"p1 rv 300 {'0' * 32}", "p2 cu KlXaKhOb"]
    assert [as_line(as_action(line)) for line in lines] == lines


def test_a_largest_bet_is_told_from_the_records() -> None:
    hands: list[dict[str, Any]] = [{"acts": ["p1 mj ??", f"p1 rv 200 {'9' * 32}", "p1 rb 700", "p2 lk 2"]}]
    assert RecordedTable("T1", "ferbli", {"vizi": 100, "majzli_max": 300}, hands).table_max == 700
    assert RecordedTable("T1", "ferbli", {"vizi": 100, "majzli_max": 900}, hands).table_max == 900
    assert RecordedTable("T1", "ferbli", {"vizi": 100, "table_max": 5_000}, hands).table_max == 5_000
    assert RecordedTable("T1", "ferbli", {"vizi": 100}, [{"acts": []}]).table_max == 100


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "no hand in it"),
        ("{", "is not a chr/1 record"),
        ('{"hand": "T1-1", "game": "ferbli", "opt": {}}', "seats, stacks missing"),
    ],
)
def test_an_evening_that_cannot_be_read_says_where(tmp_path: Path, content: str, expected: str) -> None:
    path = tmp_path / "evening.jsonl"
    path.write_text(content)
    with pytest.raises(EveningError, match=expected):
        evening.read(path)


def test_a_table_does_not_change_its_game_between_hands(tmp_path: Path) -> None:
    first, second = EVENING["T1"].hands[0], EVENING["F1"].hands[0] | {"hand": "T1-000002"}
    path = tmp_path / "evening.jsonl"
    path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    with pytest.raises(EveningError, match=r"evening\.jsonl:2"):
        evening.read(path)


def test_a_console_that_knows_no_card_chooses_among_what_is_offered() -> None:
    legal = [{"actor": "p1", "verb": "ks", "min": 100, "max": 400, "step": 100, "target": "p2", "count": 1}]
    action = choose(legal, random.Random(1), 100)
    assert action["amount"] in range(100, 500, 100)
    assert set(action) == {"actor", "verb", "amount", "target"}
    up = {"actor": "p1", "verb": "up", "count": 2}
    assert len(choose([up], random.Random(1), 100)["places"]) == 2
    assert choose([up | {"places": [[2, 3]]}], random.Random(1), 100)["places"] == [2, 3]
    look = {"actor": "p1", "verb": "lk", "count": 2, "min": 1, "max": 2, "step": 1}
    assert choose([look], random.Random(1), 100) == {"actor": "p1", "verb": "lk", "count": 2}
    assert choose([{"actor": "p1", "verb": "cu", "count": 4}], random.Random(1), 100)["cards"] == "????????"
    held = choose([{"actor": "p1", "verb": "mj"}], random.Random(1), 300)
    assert held["commitment"] == majzli_commitment(300, NONCE)
    opened = choose([{"actor": "p1", "verb": "rv", "min": 100, "max": 500, "step": 100}], random.Random(1), 300)
    assert (opened["amount"], opened["nonce"]) == (300, NONCE.hex())
