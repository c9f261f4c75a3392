"""Restore the newest backup into a cluster of its own, up to the last WAL that was archived, and verify what is there.

Nothing of the live house is changed: the cluster archives nothing, is reached over a socket in a folder of ours, and
its processes have no key that signs, no broker, and copies of the checkpoints outside.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import psycopg

from deploy.backups import cluster as clusters
from deploy.backups.cluster import Restored
from deploy.backups.pgbackrest import BackupError, Information, PgBackRest
from deploy.processes import CHECKOUT, PRIVATE

#: What a database that ends before its checkpoints outside cannot but show. Anything else is a fault.
OF_A_CUT = frozenset({"log_cut_off", "checkpoint_missing", "log_behind"})
#: Seconds that may be lost, by default: those after which the alert on WAL that is not archived has called somebody.
MOST_LOST = 180.0
#: What the commands that verify must not find in their environment, beside what is private.
_WITHHELD = PRIVATE | {"CELERY_BROKER_URL", "CASINO_BACKUP_RECORDS", "CASINO_METRICS_DIR", "CASINO_METRICS_TOKEN_FILE"}
#: Origin and size at the head of a checkpoint.
_NOTE = re.compile(r"^[^\n]+/([1-9][0-9]*)\n([0-9]+)\n[^\n]+\n\n\u2014 ", re.MULTILINE)
_SIZES = """
SELECT DISTINCT ON (house.id) house.code || '-' || substr(house.id::text, 1, 8), log.epoch, log.size
FROM audit_log log JOIN houses_house house ON house.id = log.house_id ORDER BY house.id, log.epoch DESC
"""


@dataclass
class Report:
    """What a drill did and found; durations in seconds, times in seconds since 1970."""

    backup: str = ""
    backup_age: float = 0.0
    #: The last archived segment when the drill began, and the one in which recovery ended, by name.
    archived: str = ""
    recovered_to: str = ""
    #: When the last transaction that was recovered was committed; 0 where nothing was committed after the backup.
    last_commit: float = 0.0
    #: From that until the newest checkpoint outside that the database does not have; 0 where it has all.
    cut_off_seconds: float = 0.0
    cut_off_leaves: int = 0
    steps: dict[str, float] = field(default_factory=dict)
    houses: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """The backup can be relied on."""
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {"ok": self.ok, **self.__dict__}

    def lines(self) -> Iterator[str]:
        """For people."""
        yield f"backup {self.backup}, {self.backup_age / 3600:.1f} h old; archived up to {self.archived}"
        until = datetime.fromtimestamp(self.last_commit, UTC).isoformat(timespec="milliseconds")
        yield f"recovered to {self.recovered_to}, the last commit at {until if self.last_commit else 'none'}"
        cut = f"{self.cut_off_leaves} leaves of logs, written in {self.cut_off_seconds:.1f} s"
        yield f"cut off, because it was not archived yet: {cut if self.cut_off_leaves else 'nothing'}"
        for house in self.houses:
            yield f"house {house['house']}: {house['hand_count']} hands, {house['event_count']} events verified"
        yield from (f"{seconds:8.1f} s  {name}" for name, seconds in self.steps.items())
        yield from (f"PROBLEM: {problem}" for problem in self.problems)
        yield "the backup can be restored" if self.ok else "THE BACKUP CANNOT BE RELIED ON"

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Take the time of a step."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.steps[name] = round(time.monotonic() - began, 3)


@dataclass(frozen=True)
class Outside:
    """Copies of the checkpoints outside: how far each log has come there, and when its file was last written."""

    folders: list[Path]
    ends: dict[str, tuple[int, int, float]]


def copied(folders: Sequence[Path], where: Path) -> Outside:
    """Copy every folder's files, which only the copies' reader may read. Raises BackupError where there are none."""
    copies: list[Path] = []
    ends: dict[str, tuple[int, int, float]] = {}
    for number, folder in enumerate(folders, 1):
        copy = where / str(number)
        copy.mkdir(parents=True)
        copies.append(copy)
        for file in sorted(folder.glob("*.checkpoints")):
            # The key first: a file of notes never lacks it.
            shutil.copyfile(file.with_suffix(".vkey"), copy / file.with_suffix(".vkey").name)
            written = file.stat().st_mtime
            shutil.copyfile(file, copy / file.name)
            epoch, size = _end(copy / file.name)
            if (epoch, size) > ends.get(file.stem, (0, 0, 0.0))[:2]:
                ends[file.stem] = (epoch, size, written)
        for file in copy.iterdir():
            file.chmod(0o400)
    if not ends:
        raise BackupError(f"there is no checkpoint in {', '.join(map(str, folders)) or 'no folder'}")
    return Outside(copies, ends)


def _end(file: Path) -> tuple[int, int]:
    """Epoch and size of the last checkpoint in a file; zeros where there is none."""
    found = _NOTE.findall(file.read_text(encoding="utf-8"))
    return (int(found[-1][0]), int(found[-1][1])) if found else (0, 0)


@dataclass(frozen=True)
class Drill:
    """One drill in an empty folder; `environ` has the settings of the application's processes, and names no file."""

    pgbackrest: PgBackRest
    programs: Path
    folder: Path
    environ: Mapping[str, str]
    most_lost: float = MOST_LOST

    def run(self) -> Report:
        """Do it; what does not hold is a problem of the report. Raises BackupError for what cannot be tried."""
        report = Report()
        with report.step("look at the repositories"):
            information = self.pgbackrest.information()
            report.backup, report.archived = information.newest.label, max(information.archived.values(), default="")
            report.backup_age = time.time() - information.newest.ended
        with report.step("copy the checkpoints outside"):
            folders = [Path(one) for one in self.environ.get("CASINO_CHECKPOINT_DIR", "").split(os.pathsep) if one]
            outside = copied(folders, self.folder / "checkpoints")
        restored = clusters.made(self.folder, self.programs, self.pgbackrest.account)
        try:
            self._restore(information, restored, report)
            self._examine(restored, outside, report)
        finally:
            clusters.thrown_away(restored)
        return report

    def _restore(self, information: Information, restored: Restored, report: Report) -> None:
        newest = information.newest
        with report.step("restore"):
            options = ("--type=default", "--archive-mode=off", f"--repo={newest.repository}", f"--set={newest.label}")
            self.pgbackrest.restore(restored.data, self.folder, options)
        with report.step("recover"):
            login, _, password = self._application()
            settings = clusters.APART | clusters.FLEETING
            restored.start(settings, passwords_of=login if password else "")

    def _examine(self, restored: Restored, outside: Outside, report: Report) -> None:
        login, database, password = self._application()
        url = restored.url(login, database, password)
        with report.step("logins and the end of recovery"):
            try:
                with psycopg.connect(url, autocommit=True) as connection:
                    self._ended(restored, connection, report)
                    self._cut_off(connection, outside, report)
            except psycopg.Error as error:
                report.problems.append(f"{login} cannot use the restored database: {' '.join(str(error).split())}")
                return
        with report.step("verify every house"):
            self._verify(url, outside, report)

    def _application(self) -> tuple[str, str, str]:
        """Login, database and password of the application."""
        parts = urlsplit(self.environ["DATABASE_URL"])
        return unquote(parts.username or "casino_app"), unquote(parts.path[1:]), unquote(parts.password or "")

    def _ended(self, restored: Restored, connection: psycopg.Connection[Any], report: Report) -> None:
        """Recovery has gone through all that was archived, and the cluster keeps to itself."""
        [(archiving, size, last)] = connection.execute(
            "SELECT current_setting('archive_mode'), pg_size_bytes(current_setting('wal_segment_size')), "
            "extract(epoch FROM pg_last_xact_replay_timestamp())::float8"
        ).fetchall()
        if archiving != "off":
            report.problems.append("the restored cluster would archive into the live house's repositories")
        report.last_commit = last or 0.0
        end = restored.ended()
        number = clusters.segment_of(end.lsn, size)
        each = 0x1_0000_0000 // size
        report.recovered_to = f"{end.timeline:08X}{number // each:08X}{number % each:08X}"
        if report.archived and number < clusters.number_of(report.archived, size):
            report.problems.append(f"recovery ended at {report.recovered_to}, and {report.archived} was archived")

    def _cut_off(self, connection: psycopg.Connection[Any], outside: Outside, report: Report) -> None:
        """What the files outside have and the database has not is no older than what may be lost."""
        there = {label: (epoch, size) for label, epoch, size in connection.execute(_SIZES).fetchall()}
        for label, (epoch, size, written) in outside.ends.items():
            known = there.get(label, (0, 0))
            if (epoch, size) <= known:
                continue
            report.cut_off_leaves += size - (known[1] if known[0] == epoch else 0)
            lost = written - report.last_commit if report.last_commit else report.backup_age
            report.cut_off_seconds = max(report.cut_off_seconds, round(lost, 3))
        if report.cut_off_seconds > self.most_lost:
            report.problems.append(
                f"{report.cut_off_seconds:.0f} s are cut off, and {self.most_lost:.0f} s may be: is WAL archived?"
            )

    def _verify(self, url: str, outside: Outside, report: Report) -> None:
        """Every house, against the copies: hands, trail, log, books."""
        command = [sys.executable, str(CHECKOUT / "manage.py"), "verify_house"]
        environ = {name: value for name, value in self.environ.items() if name not in _WITHHELD} | {
            "DATABASE_URL": url,
            "CASINO_CHECKPOINT_DIR": os.pathsep.join(map(str, outside.folders)),
            "CASINO_VAR": str(self.folder / "var"),
            "REDIS_URL": f"unix://{self.folder / 'no-broker.sock'}",
        }
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, cwd=CHECKOUT)
        try:
            found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        except ValueError:
            found = []
        if not found or done.returncode not in (0, 1):
            said = " ".join(done.stderr.split())
            report.problems.append(f"verify_house ended with {done.returncode}: {said[-400:]}")
        for one in found:
            report.houses.append({name: one[name] for name in ("house", "hand_count", "event_count")})
            report.problems += _wrong(one)


def _wrong(found: dict[str, Any]) -> Iterator[str]:
    """What a cut does not explain of what `verify_house` has found."""
    for name in ("hand_findings", "book_findings", "custody_findings"):
        if found[name]:
            yield f"house {found['house']}: {len(found[name])} {name}: {str(found[name])[:200]}"
    others = {code: count for code, count in found["audit_findings_by_code"].items() if code not in OF_A_CUT}
    if others:
        yield f"house {found['house']}: audit findings that a cut does not explain: {others}"
