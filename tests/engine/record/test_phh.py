"""Hands as poker hand histories: valid TOML, PHH's fields true to the hand, and nothing lost."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from typing import Any

import pytest

from engine.errors import EngineError, MalformedRecord, UnreadableRecord
from engine.record.format import parse_record
from engine.record.phh import phh_of, record_of_phh
from engine.record.replay import replay
from tests.engine.record.test_records import SAMPLE, fields, with_state
from tests.engine.support import DEMO, evening, extra, faerbeln
from tests.engine.test_cli import run


def exported(line: str) -> dict[str, Any]:
    """The fields of the file that a record gives."""
    return tomllib.loads(phh_of(parse_record(line)))


def test_every_recorded_hand_comes_back_as_it_was():
    for record in (*evening(), *extra(), *faerbeln()):
        assert record_of_phh(phh_of(record)) == record, record.hand


def test_what_a_reader_of_phh_finds_in_the_sample():
    found = exported(SAMPLE)
    assert {key: value for key, value in found.items() if not key.startswith("_")} == {
        "variant": "_ferbli",
        "antes": [0, 0, 0, 0],
        "blinds_or_straddles": [100, 0, 0, 0],
        "min_bet": 100,
        "starting_stacks": [20000, 15000, 9000, 30000],
        "actions": [
            "d dh p1 Kl8b", "d dh p2 Ah7l", "d dh p3 XlOb", "d dh p4 Aa9a", "p2 cc", "p3 f", "p4 cc",
            "p1 cbr 300", "p2 cc", "p4 cc", "p4 cbr 700 # p4 ks 400 p1", "d dh p1 Xb7b", "# p1 lk 2", "p1 cc",
            "p2 f", "d dh p4 KhOl", "p1 cc", "# p4 lk 2", "p4 cbr 800", "p1 cc", "p1 cc # p1 st",
            "p1 sm Kl8bXb7b", "p4 sm Aa9aKhOl",
        ],
        "hand": "T07-000123",
        "players": ["u81", "u12", "u40", "u33"],
        "finishing_stacks": [21800, 14700, 9000, 28500],
        "winnings": [3300, 0, 0, 0],
    }  # fmt: skip


def test_every_key_of_the_record_has_a_field_of_its_own():
    for record, line in zip(extra(), (DEMO / "extra.jsonl").read_text().splitlines(), strict=True):
        own = {key[1:]: value for key, value in tomllib.loads(phh_of(record)).items() if key.startswith("_")}
        assert own == json.loads(line)


def test_a_raise_is_shown_as_the_whole_stake_of_the_round():
    """PHH raises to an amount, our lines raise by one: redone here from the lines' own amounts."""
    for record in (*evening(), *extra()):
        staked, level, before, shown = [0] * 10, 0, "", []
        for line in record.acts:
            actor, verb, *rest = line.split(" ")
            if verb == "dh" and before not in ("dh", "ks", "po"):
                staked, level = [0] * 10, 0
            elif verb in ("po", "cc", "rb", "br", "ks"):
                seat, amount = int(actor[1]), int(rest[0])
                paid = amount if verb in ("po", "cc") else level - staked[seat] + amount
                staked[seat] += paid
                level = max(level, staked[seat])
                if verb not in ("po", "cc"):
                    shown.append(f"{actor} cbr {staked[seat]}")
            before = verb
        actions = tomllib.loads(phh_of(record))["actions"]
        assert [action.split(" # ")[0] for action in actions if " cbr " in action] == shown, record.hand


def test_stacks_and_winnings_are_the_hands():
    for record in (*evening(), *faerbeln()):
        found = tomllib.loads(phh_of(record))
        hand = replay(record).hand
        assert hand and tuple(found["finishing_stacks"]) == hand.stacks
        awards = sum(move.amount for move in hand.moves if move.why == "award")
        assert sum(found["winnings"]) == awards


def test_forced_stakes_of_faerbeln_are_antes_and_a_blind():
    found = tomllib.loads(phh_of(faerbeln()[0]))
    assert (found["antes"], found["blinds_or_straddles"]) == ([200, 200, 200], [500, 0, 0])
    assert (found["small_bet"], found["big_bet"], "min_bet" in found) == (500, 500, False)
    opt = faerbeln()[0].opt | {"round2_unit": "upper"}
    assert tomllib.loads(phh_of(dataclasses.replace(faerbeln()[0], opt=opt)))["big_bet"] == 1000


def test_two_players_have_their_forced_stakes_in_reverse():
    [record, *_] = [record for record in evening() if len(record.seats) == 2]
    assert tomllib.loads(phh_of(record))["blinds_or_straddles"] == [0, 100]


@pytest.mark.parametrize(("line", "code"), [
    (SAMPLE.replace('"p2 f",', ""), "not_your_turn"),
    (SAMPLE.replace(',"p4 sm Aa9aKhOl"', ""), "log_incomplete"),
    (SAMPLE[:-1] + ',"tax":7}', "derived_mismatch"),
    (fields(opt={}), "option_missing"),
])  # fmt: skip
def test_a_record_that_does_not_stand_is_not_exported(line: str, code: str):
    with pytest.raises(EngineError) as refused:
        phh_of(parse_record(line))
    assert refused.value.code == code


def test_a_file_whose_fields_tell_different_hands_is_refused():
    text = phh_of(with_state(parse_record(SAMPLE)))
    assert record_of_phh('author = "somebody"\n' + text) == with_state(parse_record(SAMPLE))
    for was, other in (('"p3 f", ', ""), ("winnings = [3300", "winnings = [3301"), ('"_ferbli"', '"NT"')):
        with pytest.raises(MalformedRecord):
            record_of_phh(text.replace(was, other, 1))
    for own, code in (("_carry = 0", "derived_mismatch"), ('"p3 f", "p4 cc 100"', "not_your_turn")):
        altered = {"_carry = 0": "_carry = 100", '"p3 f", "p4 cc 100"': '"p4 cc 100"'}[own]
        with pytest.raises(EngineError) as refused:
            record_of_phh(text.replace(own, altered))
        assert refused.value.code == code
    with pytest.raises(MalformedRecord):
        record_of_phh(text.replace("_carry = 0", "_carry = 0.0"))
    with pytest.raises(MalformedRecord):
        record_of_phh(text.replace("_dealer = 4\n", ""))


@pytest.mark.parametrize("text", ["{}", "a", "a = 1\na = 2", "a = " + "[" * 100_000, "a = " + "1" * 5000])
def test_what_is_no_toml_is_unreadable(text: str):
    with pytest.raises(UnreadableRecord):
        record_of_phh(text)


def test_pokerkit_reads_the_file_and_leaves_the_variant_alone():
    pokerkit = pytest.importorskip("pokerkit")
    history = pokerkit.HandHistory.loads(phh_of(parse_record(SAMPLE)))
    assert history.variant == "_ferbli" and history.players == ["u81", "u12", "u40", "u33"]
    assert history.user_defined_fields["_acts"] == json.loads(SAMPLE)["acts"]
    with pytest.raises(KeyError):
        list(history)


class TestCommand:
    """``python -m engine phh``."""

    def test_one_hand_is_a_file_of_its_own(self):
        done = run("phh", "-", text=SAMPLE + "\n")
        assert done.returncode == 0
        assert record_of_phh(done.stdout) == parse_record(SAMPLE)

    def test_several_hands_are_tables_of_one_file(self):
        done = run("phh", str(DEMO / "extra.jsonl"))
        tables = tomllib.loads(done.stdout)
        assert done.returncode == 0 and list(tables) == [str(number) for number in range(1, 20)]
        assert [table["hand"] for table in tables.values()] == [record.hand for record in extra()]

    def test_a_wrong_record_is_left_out_and_named(self):
        wrong = SAMPLE.replace('"p2 f",', "")
        done = run("phh", "-", text=f"{SAMPLE}\n{wrong}\n{SAMPLE}\n")
        assert done.returncode == 1 and list(tomllib.loads(done.stdout)) == ["1", "3"]
        assert done.stderr.startswith("python -m engine: line 2: not_your_turn: ")

    @pytest.mark.parametrize("text", ["", "nonsense\n", "[]\n"])
    def test_unusable_input(self, text: str):
        done = run("phh", "-", text=text)
        assert (done.returncode, done.stdout) == (2, "") and "unreadable_record" in done.stderr
