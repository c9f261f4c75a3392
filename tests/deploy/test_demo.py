"""The demo's evening: what it plays, how a console cuts a log into requests, and how it speaks of every verb."""

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import engine
from deploy.demo import evening, story
from deploy.demo.evening import EveningError, RecordedTable
from deploy.demo.seed import agreed, largest_amount
from deploy.demo.words import MOST_ACTIONS, NONCE, commitment
from engine.record.format import parse_record
from engine.record.replay import replay
from engine.vying.majzli import majzli_commitment
from tests.words import WORDS

EVENING = evening.read(None)
FILES = sorted(evening.HERE.glob("*.jsonl"))
FERBLI = WORDS["ferbli"]


def test_the_default_evening_has_every_game_and_the_variations() -> None:
    assert {code: len(table.hands) for code, table in EVENING.items()} == {
        "T2": 12, "T4": 10, "V1": 6, "V2": 6, "F1": 6, "Z1": 6, "B1": 5,
        "S1": 5, "R1": 4, "P1": 6, "K1": 7, "E1": 4, "L1": 3, "M1": 3,
    }  # fmt: skip
    assert {table.game for table in EVENING.values()} == set(engine.game_names())
    assert any("decks" in hand for hand in EVENING["V2"].hands)
    assert any(hand.get("series") == {"failed": 2} for hand in EVENING["V2"].hands)
    assert any(sum(net > 0 for net in hand["net"]) > 1 for hand in EVENING["V1"].hands)
    assert any(any(hand.get("bonus", [])) for hand in EVENING["F1"].hands)
    lines = {(table.game, line) for table in EVENING.values() for hand in table.hands for line in hand["acts"]}
    spoken = {(game, line.split()[1]) for game, line in lines}
    assert spoken == {(name, verb) for name in dict(spoken) for verb in engine.game_info(name).verbs}


class Lists:
    """The lists of a house as an auditor's terminal pages them; what is not named is empty."""

    def __init__(self, **lists: list[dict[str, Any]]) -> None:
        self.lists = lists

    def pages(self, path: str) -> list[dict[str, Any]]:
        """All rows."""
        return self.lists.get(path.replace("-", "_"), [])


#: What the lists have of an evening on which everything happened.
HAPPENED: dict[str, list[dict[str, Any]]] = {
    "tray_counts": [{"table": "T1", "purpose": "opener", "state": "confirmed"}],
    "approvals": [{"operation": name, "state": "used"} for name in ("sendFill", "ruleOnHand")],
    "transfers": [{"kind": "fill", "state": "received"}],
    "hands": [{"hand": "T1-000007", "state": "ruled"}],
}


def test_the_report_demands_each_story() -> None:
    slip = {"movements": [{"kind": "cage.corrected", "count": 2}]}
    assert all(story.found(Lists(**HAPPENED), ["T1"], "T1-000007", slip).values())
    # Each list that lacks something is missed by one of the checks.
    for name in HAPPENED:
        without = story.found(Lists(**HAPPENED | {name: []}), ["T1"], "T1-000007", slip)
        assert list(without.values()).count(False) >= 1, name
    found = story.found(Lists(**HAPPENED), ["T1", "T2"], "T1-000007", {"movements": []})
    assert list(found.values()) == [False, True, False, True]


def test_the_hands_of_a_table_follow_each_other() -> None:
    for table in EVENING.values():
        first, info = table.hands[0], engine.game_info(table.game)
        rules = info.rules.parse(first["opt"], len(first["seats"]))
        begins = info.new_series(tuple(first["seats"]), rules)
        assert (first["carry"], first.get("series", {})) == (0, json.loads(json.dumps(dict(begins))))
        for before, after in pairwise(table.hands):
            assert before["carry_out"] == after["carry"]
            assert before.get("series_out", after.get("series")) == after.get("series")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_recorded_hand_stands_and_goes_through_the_api_and_back(path: Path) -> None:
    for record in path.read_text().splitlines():
        assert replay(parse_record(record)).ok
        hand = json.loads(record)
        words, grammar = WORDS[hand["game"]], engine.game_info(hand["game"]).grammar
        cut = words.gestures(hand["acts"])
        assert [grammar.compose(words.as_action(line)) for gesture in cut for line in gesture] == hand["acts"]
        assert max(map(len, cut)) <= MOST_ACTIONS


@pytest.mark.parametrize(
    ("game", "line", "expected"),
    [
        ("ferbli", "p4 ks 400 p1", {"amount": 400, "target": "p1"}),
        ("ferbli", "p2 lk 2", {"count": 2}),
        ("ferbli", f"p1 mj {'a' * 64}", {"commitment": "a" * 64}),
        ("ferbli", f"p1 rv 300 {'0' * 32}", {"amount": 300, "nonce": "0" * 32}),
        ("ferbli", "p1 rv 300", {"amount": 300}),
        ("ferbli", "p2 cu KlXaKhOb", {"cards": "KlXaKhOb"}),
        ("ferbli", "d dh p3 ??7a", {"target": "p3", "cards": "??7a"}),
        ("zsiros", "p3 cl ne_uss", {"word": "ne_uss"}),
        ("barbu", "p1 cl trumps c", {"contract": "trumps c"}),
        ("barbu", "p1 cl dominoes", {"contract": "dominoes"}),
        ("barbu", "p4 dbl p1 p3", {"targets": ["p1", "p3"]}),
        ("barbu", "p4 pl Th", {"cards": "Th"}),
        ("ferbli", "p3 au", {}),
    ],
)
def test_a_line_is_an_action_by_its_declaration(game: str, line: str, expected: dict[str, Any]) -> None:
    actor, verb = line.split()[:2]
    assert WORDS[game].as_action(line) == {"actor": actor, "verb": verb, **expected}


@pytest.mark.parametrize("line", ["", "p1", "p1 xx", "p1 ks 400", "d po 100", "p1 po 100 p2", "p0 f"])
def test_what_is_no_line_is_refused(line: str) -> None:
    with pytest.raises(EveningError, match="is no line of ferbli"):
        FERBLI.as_action(line)


def test_a_console_sends_at_once_what_goes_by_itself() -> None:
    acts = ["p1 po 100", "p2 po 100", "d dh p1 ????", "p1 lk 1", "p1 rb 100", "p2 rb 200", "p1 cc 100", "p2 k", "p1 k"]
    cut = [["p1 po 100", "p2 po 100", "d dh p1 ????"], ["p1 lk 1", "p1 rb 100"], ["p2 rb 200"], ["p1 cc 100"], acts[7:]]
    assert FERBLI.gestures(acts) == cut


def test_a_console_sends_a_trick_at_once_with_the_cards_that_are_drawn_after_it() -> None:
    trick = ["p4 pl Kl", "p1 pl 7l", "p2 pl 8l", "p3 pl Ua", "d dh p4 Xa", "d dh p1 9a"]
    acts = ["d dh p1 ????", "d dh p2 ????", *trick, "p4 ps", "p1 cl uss", "p4 pl Xa"]
    assert WORDS["zsiros"].gestures(acts) == [acts[:2], trick, *([line] for line in acts[8:])]


def test_the_largest_amount_of_the_records_is_money() -> None:
    hands: list[dict[str, Any]] = [{"acts": ["p1 mj ??", f"p1 rv 200 {'9' * 32}", "p1 rb 700", "p2 lk 2"]}]
    assert largest_amount(RecordedTable("T1", "ferbli", {}, hands), FERBLI) == 700
    assert largest_amount(RecordedTable("T1", "ferbli", {}, [{"acts": ["p2 lk 2"]}]), FERBLI) == 0


def test_a_house_says_what_records_leave_out() -> None:
    ferbli, zsiros = (engine.game_info(name).as_dict() for name in ("ferbli", "zsiros"))
    hands: list[dict[str, Any]] = [{"acts": ["p1 rb 700"], "seats": ["a", "b"]}]
    for options, expected in (
        ({"vizi": 100, "majzli_max": 300}, {"table_max": 700, "tax_bps": 0}),
        ({"vizi": 100, "majzli_max": 900}, {"table_max": 900, "tax_bps": 0}),
        ({"vizi": 100, "table_max": 5_000, "tax_bps": 100, "tax_cap": 9}, {"table_max": 5_000, "tax_bps": 100}),
    ):
        assert agreed(RecordedTable("T1", "ferbli", options, hands), ferbli) == options | expected
    trick = [{"acts": ["p1 pl Kl"], "seats": list("abcd")}]
    assert agreed(RecordedTable("Z1", "zsiros", {"stake": 100}, trick), zsiros) == {"stake": 100}


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
    first, second = EVENING["T2"].hands[0], EVENING["F1"].hands[0] | {"hand": "T2-000002"}
    path = tmp_path / "evening.jsonl"
    path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    with pytest.raises(EveningError, match=r"evening\.jsonl:2"):
        evening.read(path)


def first_choice(game: str, actor: str, verb: str, seed: int = 1, **takes: Any) -> dict[str, Any]:
    """What a console takes first of an offer with these fields."""
    hand = {"actor": "p1", "legal_actions": [{"actor": actor, "verb": verb, "takes": takes}]}
    return next(WORDS[game].choices(hand, random.Random(seed)))


def test_a_console_that_knows_no_card_fills_in_what_an_offer_takes() -> None:
    amount = {"kind": "amount", "min": 100, "max": 400, "step": 100}
    action = first_choice("ferbli", "p1", "ks", amount=amount, target={"kind": "seat", "choices": ["p2"]})
    assert action["amount"] in range(100, 500, 100) and action["target"] == "p2"
    assert set(action) == {"actor", "verb", "amount", "target"}
    two = {"kind": "places", "least": 2, "most": 2}
    assert len(set(first_choice("ferbli", "p1", "up", places=two | {"among": [0, 1, 2, 3]})["places"])) == 2
    assert first_choice("ferbli", "p1", "up", places=two | {"choices": [[2, 3]]})["places"] == [2, 3]
    shown = {"kind": "cards", "least": 4, "most": 4, "choices": ["????????"]}
    assert first_choice("ferbli", "p1", "cu", cards=shown)["cards"] == "????????"
    assert first_choice("ferbli", "p1", "dh", cards={"kind": "cards", "least": 2, "most": 2})["cards"] == "????"
    assert first_choice("ferbli", "p1", "lk", count={"kind": "number", "min": 2, "max": 2, "step": 1})["count"] == 2
    assert first_choice("zsiros", "p3", "cl", word={"kind": "word", "choices": ["uss"]})["word"] == "uss"


def test_a_console_names_cards_in_the_order_of_the_offer() -> None:
    away = {"kind": "cards", "least": 1, "most": 3, "among": ["Ka", "Ob", "7h"]}
    for seed in range(20):
        named = first_choice("ramsli", "p1", "ds", seed, cards=away)["cards"]
        assert named in ("Ka", "Ob", "7h", "KaOb", "Ka7h", "Ob7h", "KaOb7h")


def test_a_console_names_seats_that_must_be_named_in_their_order() -> None:
    double = {"kind": "seats", "choices": ["p2", "p3", "p4"], "must": [], "least": 1}
    for seed in range(20):
        named = first_choice("barbu", "p1", "dbl", seed, targets=double)["targets"]
        assert named and named == sorted(named) and set(named) <= {"p2", "p3", "p4"}
        assert "p3" in first_choice("barbu", "p1", "dbl", seed, targets=double | {"must": ["p3"]})["targets"]


def test_a_console_does_not_guess_what_a_field_of_another_kind_takes() -> None:
    with pytest.raises(EveningError, match="kind dice"):
        first_choice("ferbli", "p1", "po", amount={"kind": "dice"})


def test_a_game_can_be_played_blindly_where_nobody_chooses_cards_by_what_they_are() -> None:
    assert {name: words.blind for name, words in WORDS.items()} == {
        "ferbli": True, "faerbeln": True, "zsiros": False, "barbu": False, "siebner_schuster": False,
        "rufmariasch": False, "preferansz": False, "ramsli": False, "esel": False, "pacal": False, "old_maid": False,
    }  # fmt: skip


def test_what_a_console_commits_to_is_the_least_and_opened_as_such() -> None:
    assert commitment("majzli-v1", 300, NONCE) == majzli_commitment(300, NONCE)
    may = {"min": 200, "max": 500, "step": 100}
    fist = {"kind": "commitment", "tag": "majzli-v1", "unknown": False} | may
    assert first_choice("ferbli", "p1", "mj", commitment=fist)["commitment"] == majzli_commitment(200, NONCE)
    opened = first_choice("ferbli", "p1", "rv", 3, amount={"kind": "amount"} | may, nonce={"kind": "nonce"})
    assert (opened["amount"], opened["nonce"]) == (200, NONCE.hex())


def test_a_card_is_played_by_the_place_that_is_offered() -> None:
    places = {"kind": "places", "least": 1, "most": 1, "choices": [[2]]}
    assert first_choice("zsiros", "p1", "pl", places=places) == {"actor": "p1", "verb": "pl", "places": [2]}


def test_bare_words_are_rare_and_nothing_is_offered_twice() -> None:
    pay = {"amount": {"kind": "amount", "min": 100, "max": 100, "step": 1}}
    legal = [{"actor": "p1", "verb": "f", "takes": {}}, {"actor": "p1", "verb": "cc", "takes": pay}]
    hand = {"actor": "p1", "legal_actions": legal}
    taken = [next(FERBLI.choices(hand, random.Random(seed)))["verb"] for seed in range(200)]
    assert 20 < taken.count("f") < 60
    assert sorted(action["verb"] for action in FERBLI.choices(hand, random.Random(1))) == ["cc", "f"]
