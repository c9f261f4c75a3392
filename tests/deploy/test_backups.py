"""Backups and drills without a server: which backup is due, what pgBackRest says, what is copied, noted and reported.
The drill itself, on real servers, is `make restore-drill`."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from deploy.backups import __main__ as command
from deploy.backups import drill, records
from deploy.backups.cluster import number_of, segment_of
from deploy.backups.pgbackrest import Backup, BackupError, BackupFailed, Information, NoBackup, PgBackRest, due
from deploy.embedded.account import Account
from tests.drill import configuration

HOUR, DAY = 3600.0, 86400.0
#: Bytes of a segment of WAL.
SEGMENT = 16 << 20


def backup(kind: str, began: float, repository: int = 1) -> Backup:
    return Backup(repository, f"{kind}-{began:.0f}", kind, began, began + 60)


@pytest.mark.parametrize(
    ("there", "kind"),
    [
        ([], "full"),
        ([("incr", 0)], "full"),
        ([("full", 6.9 * DAY)], "diff"),
        ([("full", 6.99 * DAY)], "full"),
        ([("full", 2 * DAY), ("incr", HOUR)], "diff"),
        ([("full", 2 * DAY), ("diff", 23 * HOUR)], "incr"),
        ([("full", 2 * DAY), ("diff", 23.6 * HOUR)], "diff"),
        ([("full", HOUR)], "incr"),
    ],
)
def test_a_full_backup_is_due_each_week_and_a_differential_one_each_day(
    there: list[tuple[str, float]], kind: str
) -> None:
    assert due([backup(which, 100 * DAY - age) for which, age in there], 100 * DAY) == kind


# --- What pgBackRest says ---------------------------------------------------------------------------------------------


def stanza(*, code: int = 0) -> dict[str, Any]:
    def made(label: str, kind: str, key: int, stop: int, *, error: bool = False) -> dict[str, Any]:
        return {
            "label": label, "type": kind, "error": error, "database": {"id": 1, "repo-key": key},
            "timestamp": {"start": stop - 10, "stop": stop},
        }  # fmt: skip

    return {
        "name": "cukassza", "db": [{"version": "15", "repo-key": 1}],
        "repo": [{"key": 1, "status": {"code": code, "message": "bad"}}, {"key": 2, "status": {"code": 2}}],
        "archive": [
            {"database": {"repo-key": 1}, "max": "000000010000000100000002"},
            {"database": {"repo-key": 2}, "max": None},
        ],
        "backup": [made("A", "full", 1, 1000), made("B", "incr", 1, 2000), made("C", "incr", 1, 3000, error=True)],
    }  # fmt: skip


def pgbackrest(folder: Path, answer: object, *, code: int = 0) -> PgBackRest:
    """One that says this to everything."""
    program = folder / "pgbackrest"
    (folder / "answer").write_text(json.dumps(answer), encoding="utf-8")
    program.write_text(
        f"#!{sys.executable}\nimport sys\nprint(open({str(folder / 'answer')!r}).read())\n"
        f"print('no such repository', file=sys.stderr)\nsys.exit({code})\n"
    )
    program.chmod(0o755)
    return PgBackRest(program, folder, "cukassza", Account())


def test_what_the_repositories_have(tmp_path: Path) -> None:
    found = pgbackrest(tmp_path, [stanza()]).information()
    assert found.newest.label == "B", "what ended with an error is no backup"
    assert (found.archived, found.version) == ({1: "000000010000000100000002", 2: ""}, "15")
    assert found.of(2) == []
    assert pgbackrest(tmp_path, [stanza()]).repositories() == [1, 2]


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        ([], 0, "no repository knows the stanza cukassza"),
        ([stanza(code=99)], 0, "repository 1: bad"),
        ([], 55, "ended with 55: no such repository"),
    ],
)
def test_a_repository_that_cannot_be_read_is_no_empty_one(
    tmp_path: Path, answer: object, code: int, words: str
) -> None:
    with pytest.raises(BackupFailed, match=words):
        pgbackrest(tmp_path, answer, code=code).information()


def test_without_a_backup_there_is_nothing_to_drill() -> None:
    with pytest.raises(NoBackup):
        _ = Information([], {1: ""}, "15").newest


def test_segments_of_wal_have_numbers() -> None:
    assert number_of("000000010000000100000002", SEGMENT) == 0x102
    assert segment_of(0x1_0200_0000, SEGMENT) == 0x102


# --- Checkpoints outside ----------------------------------------------------------------------------------------------


def notes(*sizes: tuple[int, int]) -> str:
    return "".join(
        f"house.example/H/{epoch}\n{size}\nroot=\n\n\u2014 house.example/H sig=\n\n" for epoch, size in sizes
    )


def folder_with(path: Path, text: str) -> Path:
    path.mkdir()
    (path / "H-01234567.checkpoints").write_text(text, encoding="utf-8")
    (path / "H-01234567.vkey").write_text("key\n", encoding="utf-8")
    return path


def test_checkpoints_are_copied_for_reading_and_the_furthest_counts(tmp_path: Path) -> None:
    folders = [folder_with(tmp_path / "a", notes((1, 5), (1, 9))), folder_with(tmp_path / "b", notes((1, 12), (2, 3)))]
    found = drill.copied(folders, tmp_path / "copies")
    assert found.ends["H-01234567"][:2] == (2, 3)
    for copy, folder in zip(found.folders, folders, strict=True):
        for file in folder.iterdir():
            assert (copy / file.name).read_text() == file.read_text()
            assert stat.S_IMODE((copy / file.name).stat().st_mode) == 0o400
            assert file.stat().st_mode & stat.S_IWUSR, "the live one is as it was"


def test_without_checkpoints_nothing_can_be_drilled(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BackupError, match="no checkpoint"):
        drill.copied([tmp_path / "empty"], tmp_path / "copies")


# --- What a drill makes of what it finds ------------------------------------------------------------------------------


def verified(**found: object) -> dict[str, Any]:
    nothing: dict[str, Any] = {"hand_findings": [], "book_findings": [], "custody_findings": []}
    return {"house": "H", "audit_findings_by_code": {}} | nothing | found


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({}, ""),
        ({"audit_findings_by_code": {"log_cut_off": 1, "checkpoint_missing": 7, "log_behind": 1}}, ""),
        ({"audit_findings_by_code": {"log_cut_off": 1, "chain_broken": 2}}, "does not explain: {'chain_broken': 2}"),
        ({"hand_findings": [{"hand": "T1-4"}]}, "1 hand_findings"),
        ({"book_findings": [{"check": "balance"}]}, "1 book_findings"),
    ],
)
def test_a_cut_explains_a_log_that_is_short_and_nothing_else(found: dict[str, Any], words: str) -> None:
    problems = list(drill._wrong(verified(**found)))
    assert len(problems) == bool(words) and all(words in one for one in problems)


class Answered:
    """A connection whose every statement has these rows."""

    def __init__(self, rows: list[tuple[object, ...]]) -> None:
        self.rows = rows

    def execute(self, _: str) -> Answered:
        return self

    def fetchall(self) -> list[tuple[object, ...]]:
        return self.rows


@pytest.mark.parametrize(
    ("there", "last_commit", "leaves", "seconds", "problem"),
    [
        ((1, 90), 950.0, 10, 50.0, False),
        ((1, 100), 950.0, 0, 0.0, False),
        ((1, 110), 950.0, 0, 0.0, False),
        ((1, 90), 700.0, 10, 300.0, True),
        # Nothing was committed after the backup: its age is what may be lost.
        ((1, 90), 0.0, 10, 7200.0, True),
    ],
)
def test_what_is_cut_off_is_measured_from_the_last_commit(
    tmp_path: Path, there: tuple[int, int], last_commit: float, leaves: int, seconds: float, problem: bool
) -> None:
    one = drill.Drill(pgbackrest(tmp_path, []), tmp_path, tmp_path, {})
    report = drill.Report(last_commit=last_commit, backup_age=7200.0)
    outside = drill.Outside([], {"H-01234567": (1, 100, 1000.0)})
    one._cut_off(Answered([("H-01234567", *there)]), outside, report)  # type: ignore[arg-type]
    assert (report.cut_off_leaves, report.cut_off_seconds) == (leaves, seconds)
    assert report.ok != problem and (not problem or "is WAL archived" in report.problems[0])
    assert list(report.lines())[-1] == ("the backup can be restored" if report.ok else "THE BACKUP CANNOT BE RELIED ON")


# --- Records ----------------------------------------------------------------------------------------------------------


def test_a_drill_that_fails_does_not_forget_when_one_was_good(tmp_path: Path) -> None:
    folder = tmp_path / "records"
    records.keep(folder, records.DRILL, records.of_drill(folder, {"ok": True, "problems": []}, 100.0))
    records.keep(folder, records.DRILL, records.of_drill(folder, {"ok": False, "problems": ["bad"]}, 200.0))
    found = json.loads((folder / records.DRILL).read_text())
    assert (found["good_at"], found["tried_at"], found["ok"]) == (100.0, 200.0, False)
    assert stat.S_IMODE((folder / records.DRILL).stat().st_mode) == 0o644
    assert [file.name for file in folder.iterdir()] == [records.DRILL]


def test_the_last_good_backup_of_each_repository_is_recorded() -> None:
    found = records.of_backups(Information([backup("full", 1.0), backup("incr", 2.0)], {1: "", 2: ""}, "15"))
    assert found == {"repositories": {"1": {"good_at": 62.0, "label": "incr-2", "kind": "incr"}}}


def test_a_drill_that_cannot_be_tried_is_recorded_as_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = pgbackrest(tmp_path, [], code=55).program
    monkeypatch.setenv("DATABASE_URL", "postgresql://casino_app@/casino")
    words = ["--pgbackrest", str(program), "--configuration", str(tmp_path), "--records", str(tmp_path / "records")]
    assert command.main([*words, "drill", "--folder", str(tmp_path)]) == 2
    assert "[backup_failed]" in capsys.readouterr().err
    assert json.loads((tmp_path / "records" / records.DRILL).read_text())["ok"] is False
    assert not list(tmp_path.glob("restore-drill-*")), "nothing is left"


# --- The files --------------------------------------------------------------------------------------------------------


def test_what_the_page_says_of_the_files_is_in_them() -> None:
    text = configuration.PGBACKREST.read_text(encoding="utf-8")
    for line in (
        "repo1-cipher-type=aes-256-cbc", "repo2-cipher-type=aes-256-cbc", "compress-type=zst", "archive-async=y",
        "repo2-type=s3",
    ):  # fmt: skip
        assert f"\n{line}\n" in text
    assert "\narchive-push-queue-max" not in text, "it throws WAL away"
    assert "pass=" not in text and "key" not in {line.partition("=")[0] for line in text.splitlines()}
    settings = configuration.postgresql(Path("/usr/bin/pgbackrest"), Path("/etc/pgbackrest"))
    assert (settings["archive_mode"], settings["archive_timeout"]) == ("on", "60s")
    assert os.fspath(configuration.SECRETS.name) == "secrets.conf"
