"""Deals of trick games in the notation after PBN, and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.errors import EngineError, MalformedRecord
from engine.record.format import format_record
from engine.record.notation import lines_of, pbn_of
from engine.registry import start
from tests.engine.any_game import GAMES, records

TRICKS = [game for game in GAMES if "trick" in start(records(game)[0].setup()).view("public")]


@pytest.mark.parametrize("game", TRICKS)
def test_the_log_comes_back(game: str):
    for record in records(game):
        assert lines_of(pbn_of(record)) == record.acts


@pytest.mark.parametrize("game", sorted({*GAMES} - {*TRICKS}))
def test_a_game_without_tricks_has_none(game: str):
    with pytest.raises(MalformedRecord, match="no tricks"):
        pbn_of(records(game)[0])


def test_a_trick_is_a_line_that_begins_with_its_leader():
    text = pbn_of(records("zsiros")[0])
    assert text.startswith('[Game "zsiros"]\n[Rules "zsiros/1"]\n[Deal "R-000001"]\n[Seats "s1 s2"]\n[Options "')
    rows = text.split("[Play]\n")[1].split("[Result")[0].splitlines()
    assert all(row.startswith("p") for row in rows) and "{d dh p" in "".join(rows)


@pytest.mark.parametrize("text", [
    "", "[Game \"x\"]\n", "hello", '[Game "x"]\n[Seats "a b"]\n[Hands "p1:Kl"]\n[Play]\nKl\n',
    '[Game "x"]\n[Seats "a b"]\n[Hands "p1:Kl"]\n[Play]\np1: Kl zz\n',
])  # fmt: skip
def test_what_is_no_deal_is_refused(text: str):
    with pytest.raises(MalformedRecord):
        lines_of(text)


def test_a_record_that_does_not_stand_is_refused():
    record = records("zsiros")[0]
    with pytest.raises(EngineError):
        pbn_of(replace(record, acts=record.acts[:-1]))


def test_the_command_writes_deals(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "deals.jsonl"
    path.write_text("".join(f"{format_record(record)}\n" for record in records("barbu")[:2]))
    assert main(["pbn", str(path)]) == 0
    shown = capsys.readouterr().out
    assert shown == "".join(f"{pbn_of(record)}\n" for record in records("barbu")[:2])
    path.write_text("no record\n")
    assert main(["pbn", str(path)]) == 2
