"""``python -m engine`` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.registry import game_info
from engine.vying.majzli import majzli_commitment
from tests.engine.record.test_records import SAMPLE
from tests.engine.support import DEMO

ROOT = Path(__file__).parents[2]


def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run one command of the engine."""
    return subprocess.run(
        [sys.executable, "-m", "engine", *arguments],
        cwd=ROOT,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )


def answers(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    """One JSON object a line of output."""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_rank_prints_one_object_a_hand():
    done = run("rank", "ferbli", "Kl8bXb7b", "Aa9aKhOl")
    assert done.returncode == 0
    assert answers(done)[0] == {
        "cards": "Kl8bXb7b",
        "category": "three-card ferbli",
        "points": 25,
        "key": 325,
        "text": "three-card ferbli, 25 in bells",
    }
    higher, lower = (answer["key"] for answer in answers(done))
    assert higher > lower  # type: ignore[operator]


def test_rank_knows_wild_cards_and_grigare():
    wild = run("rank", "ferbli", "--wild", "Oa,Xh", "OaKlXl9l")
    general = run("rank", "ferbli", "--grigare", "general", "7h8b9lXa")
    small = run("rank", "ferbli", "--grigare", "kis_nagy", "7a8l9bXh")
    stands_in = ("--grigare", "general", "--grigare-wild", "substitute")
    needed = run("rank", "ferbli", "--wild", "Oa", *stands_in, "7h8b9lOa")
    found = [answers(done)[0] for done in (wild, general, small, needed)]
    assert [(rank["category"], rank["points"], rank["key"]) for rank in found] == [
        ("banda", 40, 540), ("grigáré", 34, 504), ("kis grigáré", 34, 800), ("grigáré", 34, 504),
    ]  # fmt: skip


@pytest.mark.long
def test_equity_counts_deals():
    best = run("equity", "ferbli", "AaAlAbAh", "--opponents", "1", "--dead", "7a7l7b7h")
    assert answers(best) == [{"wins": 10_626, "losses": 0, "total": 10_626, "share": "1"}]
    tied = run("equity", "faerbeln", "AcKcQcJc", "--opponents", "2", "--before", "1", "--dead", "AdKdQdJd")
    other = run("equity", "ferbli", "KlKbKh7a", "--opponents", "1", "--wild", "Oa", "--grigare", "general")
    for done in (tied, other):
        (found,) = answers(done)
        assert found["wins"] + found["losses"] == found["total"]  # type: ignore[operator]


@pytest.mark.parametrize("arguments", [
    ("rank", "ferbli", "Kl8b"),
    ("rank", "ferbli", "Kl8bXbXb"),
    ("rank", "ferbli", "Kl8bXb?"),
    ("rank", "poker", "Kl8bXb7b"),
    ("rank", "ferbli", "--wild", "Oa,Oa", "Kl8bXb7b"),
    ("rank", "ferbli", "--wild", "Oc", "Kl8bXb7b"),
    ("rank", "ferbli", "--wild", "??", "Kl8bXb7b"),
    ("rank", "faerbeln", "--wild", "Oa", "Kl8bXb7b"),
    ("rank", "faerbeln", "--grigare", "general", "Kl8bXb7b"),
    ("rank", "faerbeln", "--grigare-wild", "substitute", "Kl8bXb7b"),
    ("rank", "ferbli", "Kl8bXb7b", "Kl"),
    ("equity", "ferbli", "Kl8bXb7b"),
    ("equity", "ferbli", "Kl8bXb7b", "--opponents", "7"),
    ("equity", "ferbli", "Kl8bXb7b", "--opponents", "2", "--before", "3"),
    ("equity", "ferbli", "Kl8bXb7b", "--opponents", "2", "--dead", "Kl"),
    ("equity", "ferbli", "Kl8bXb", "--opponents", "2"),
    ("equity", "poker", "Kl8bXb7b", "--opponents", "2"),
    ("equity", "faerbeln", "Kl8bXb7b", "--opponents", "2", "--wild", "Oa"),
    ("replay", "no-such-file.jsonl"),
    ("replay", "."),
    ("play", "poker"),
    ("play", "ferbli", "--seats", "8"),
    ("play", "ferbli", "--seats", "0"),
    ("play", "ferbli", "--opt", "vizi"),
    ("play", "ferbli", "--opt", "vizi=many"),
    ("play", "ferbli", "--opt", "vizi=NaN"),
    ("play", "ferbli", "--opt", "vizi=" + "[" * 2000),
    ("play", "ferbli", "--opt", "vizi=" + "[" * 900 + "]" * 900),
    ("play", "ferbli", "--seats", "9999999999"),
    ("play", "ferbli", "--seed", "\udcff"),
    ("play", "ferbli", "--opt", "combined_rounds=true"),
    ("play", "ferbli", "--opt", "tax_bps=500"),
    ("play", "ferbli", "--stack", "99"),
    ("play", "faerbeln", "--seats", "2"),
    ("play", "faerbeln", "--seats", "8"),
    ("play", "faerbeln", "--stack", "699"),
    ("play", "faerbeln", "--opt", "pack=italian"),
    ("play", "faerbeln", "--opt", "short_stack=must_fold"),
    ("rank", "faerbeln", "AcKcQcJa"),
    ("games", "--verbs", "poker"),
    ("shuffle",),
    (),
])  # fmt: skip
def test_unusable_input_exits_2_and_says_why(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]):
    """In this process: starting one for each takes longer than all of them."""
    try:
        status: int | str | None = main(arguments)
    except SystemExit as left:
        status = left.code
    said = capsys.readouterr()
    assert (status, said.out) == (2, "")
    assert said.err


def test_a_process_exits_as_it_says():
    done = run("shuffle")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr and "Traceback" not in done.stderr


def test_replay_of_the_evening():
    done = run("replay", str(DEMO / "evening.jsonl"))
    assert done.returncode == 0
    assert len(answers(done)) == 320 and all(answer["ok"] for answer in answers(done))
    assert set(answers(done)[0]) == {"hand", "ok", "net", "tax", "bonus", "carry_out", "series_out", "state"}


def test_replay_from_standard_input_computes_what_the_record_lacks():
    [answer] = answers(run("replay", "-", text=SAMPLE + "\n"))
    assert (answer["hand"], answer["net"]) == ("T07-000123", [1800, -300, 0, -1500])
    assert len(str(answer["state"])) == 64


def test_a_wrong_record_exits_1_and_the_others_are_still_replayed():
    wrong = SAMPLE.replace('"p2 f",', "")
    done = run("replay", "-", text=f"{SAMPLE}\n{wrong}\n{SAMPLE}\n")
    good, bad, again = answers(done)
    assert done.returncode == 1 and good == again
    assert bad["ok"] is False and bad["hand"] == "T07-000123"
    error = bad["error"]
    assert isinstance(error, dict)
    assert (error["code"], error["index"]) == ("not_your_turn", 15) and error["message"]


@pytest.mark.parametrize(("text", "status", "code"), [
    ("nonsense\n", 2, "unreadable_record"),
    ("\n", 2, "unreadable_record"),
    (SAMPLE.replace('"carry":0', '"carry":0,"carry":0'), 1, "malformed_record"),
    (SAMPLE.replace('"carry":0', '"carry":false'), 1, "malformed_record"),
    (SAMPLE[:-1] + ',"tax":7}', 1, "derived_mismatch"),
])  # fmt: skip
def test_what_is_wrong_with_a_line(text: str, status: int, code: str):
    done = run("replay", "-", text=text)
    [answer] = answers(done)
    assert done.returncode == status
    assert answer["ok"] is False and answer["error"]["code"] == code  # type: ignore[index]


def test_no_depth_of_nesting_breaks_off_a_replay():
    """Reading and writing JSON give up at different depths: try all around them, a good record after each."""
    deep = ["[" * depth + "]" * depth for depth in range(950, 1000)]
    bad = [SAMPLE.replace('"vizi":100', f'"vizi":{value}') for value in deep]
    bad += [SAMPLE.replace('"T07-000123"', value) for value in deep]
    done = run("replay", "-", text="".join(f"{line}\n{SAMPLE}\n" for line in bad))
    assert done.stderr == ""
    assert [answer["ok"] for answer in answers(done)] == [False, True] * len(bad)


def test_a_closed_standard_input_is_unusable():
    command = f"{sys.executable} -m engine replay - <&-"
    done = subprocess.run(["/bin/sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_an_empty_input_is_unusable():
    done = run("replay", "-")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.long
def test_play_writes_records_that_replay_and_repeats_itself():
    arguments = ("play", "ferbli", "--seats", "5", "--hands", "40", "--seed", "9", "--opt", "tax_bps=500")
    arguments += ("--opt", "tax_cap=500", "--opt", "vizi=50", "--stack", "1000")
    played = run(*arguments)
    assert played.returncode == 0
    records = answers(played)
    assert len(records) == 40
    assert all({"deck", "net", "tax", "carry_out", "state"} <= set(record) for record in records)
    assert run(*arguments).stdout == played.stdout
    assert run(*arguments, "--seed", "10").stdout != played.stdout
    replayed = run("replay", "-", text=played.stdout)
    assert replayed.returncode == 0 and len(answers(replayed)) == 40


@pytest.mark.some_now(2)
@pytest.mark.parametrize("pack", ["tell", "french"])
def test_play_and_replay_of_faerbeln(pack: str):
    played = run("play", "faerbeln", "--seats", "4", "--hands", "30", "--opt", f"pack={pack}", "--opt", "bonus41=5000")
    records = answers(played)
    assert len(records) == 30 and all(record["carry_out"] == 0 for record in records)
    assert {record["opt"]["pack"] for record in records} == {pack}  # type: ignore[index]
    replayed = run("replay", "-", text=played.stdout)
    assert replayed.returncode == 0 and len(answers(replayed)) == 30


def test_rank_of_faerbeln_knows_both_packs():
    one, other = answers(run("rank", "faerbeln", "AaKaOaXa", "AsKsQsTs"))
    assert (one["category"], one["points"]) == ("four-card flush", 41)
    assert one["key"] == other["key"] and other["text"] == "four-card flush, 41 in spades"


def test_games_and_their_verbs():
    assert run("games").stdout.splitlines() == [
        "ferbli\tferbli/1\t2 to 7 seats\ttell32",
        "faerbeln\tfaerbeln/1\t3 to 7 seats\ttell32 or french32",
        "barbu\tbarbu/1\t4 seats\tfrench52",
        "zsiros\tzsiros/1\t2 or 4 seats\ttell32",
        "siebner_schuster\tsiebner_schuster/1\t2 or 4 seats\ttell32 or french32",
        "rufmariasch\trufmariasch/1\t4 seats\ttell32",
        "preferansz\tpreferansz/1\t3 seats\ttell32",
        "ramsli\tramsli/1\t2 to 6 seats\ttell32",
        "esel\tesel/1\t4 seats\ttell32",
        "pacal\tpacal/1\t4 seats\ttell32",
        "old_maid\told_maid/1\t2 to 6 seats\ttell32",
    ]
    verbs = [line.split("\t")[0] for line in run("games", "--verbs", "faerbeln").stdout.splitlines()]
    assert verbs == ["po", "dh", "cc", "f", "k", "rb", "up", "sm"]
    listed = [line.split("\t")[0] for line in run("games", "--verbs", "ferbli").stdout.splitlines()]
    assert listed == ["po", "mj", "dh", "cc", "in", "rv", "f", "k", "rb", "ks", "lk", "up", "br", "st", "cu", "sm"]


@pytest.mark.parametrize("game", ["ferbli", "faerbeln"])
def test_every_option_is_listed_with_its_values_its_default_and_its_sentence(game: str):
    rows = [line.split("\t") for line in run("games", "--options", game).stdout.splitlines()]
    assert [row[0] for row in rows] == [field.name for field in fields(game_info(game).rules)]
    assert all(len(row) == 4 and all(row) for row in rows)
    by_name = {row[0]: row for row in rows}
    assert by_name["short_stack"][1:3] == ["cap_bet | side_pot", 'default "cap_bet"']
    assert by_name["vizi" if game == "ferbli" else "ante"][2] == "must be set"


@pytest.mark.long
def test_play_of_every_option_that_gives_a_seat_more_to_say():
    """A seat left alone may show a 41; a vizi is held in the fist; a hand is laid open and dealt against."""
    for arguments in (
        ("faerbeln", "--opt", "bonus41_for=uncontested"),
        ("ferbli", "--opt", "cuhhol=true", "--opt", "majzli_max=300", "--opt", "show_two=true"),
    ):
        played = run("play", *arguments, "--hands", "60")
        assert (played.returncode, len(answers(played))) == (0, 60), played.stderr
        assert run("replay", "-", text=played.stdout).returncode == 0


def test_a_fist_is_committed_to_on_the_command_line():
    found = answers(run("fist", "200", "00" * 16))
    assert found == [{"vizi": 200, "commitment": majzli_commitment(200, bytes(16))}]
