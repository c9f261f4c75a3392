"""pgBackRest, as this project runs it: backups into every repository, and a restore that touches nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.embedded.account import Account

#: Seconds that a backup or a restore may take.
LONGEST = 6 * 3600.0
#: Seconds after which a full backup, and after which a differential one, is due.
FULL_EVERY, DIFFERENTIAL_EVERY = 7 * 86400.0, 86400.0
#: Seconds by which a timer may come early.
EARLY = 1800.0


class BackupError(Exception):
    """An expected problem; the message is one line for a person."""

    code = "backup_error"


class BackupFailed(BackupError):
    """pgBackRest has failed, and says why."""

    code = "backup_failed"


class NoBackup(BackupError):
    """There is no backup to restore."""

    code = "no_backup"


@dataclass(frozen=True)
class Backup:
    """One that ended well; times in seconds since 1970."""

    repository: int
    label: str
    kind: str
    began: float
    ended: float


@dataclass(frozen=True)
class Information:
    """What the repositories have."""

    backups: list[Backup]
    #: The last segment of WAL by repository; the highest name, so that of the newest timeline.
    archived: dict[int, str]
    #: The major version of the database.
    version: str

    def of(self, repository: int) -> list[Backup]:
        """The backups in one repository, the oldest first."""
        return [one for one in self.backups if one.repository == repository]

    @property
    def newest(self) -> Backup:
        """The last that ended, wherever it is. Raises NoBackup."""
        if not self.backups:
            raise NoBackup("no repository has a backup that ended well")
        return max(self.backups, key=lambda one: one.ended)


@dataclass(frozen=True)
class PgBackRest:
    """The program with its configuration: a folder with `pgbackrest.conf` and `conf.d`."""

    program: Path
    configuration: Path
    stanza: str
    account: Account

    def run(self, command: str, *options: str, seconds: float = LONGEST) -> str:
        """What a command prints. Raises BackupFailed."""
        words = [str(self.program), f"--config-path={self.configuration}", f"--stanza={self.stanza}", *options, command]
        done = self.account.run(words, seconds=seconds)
        if done.returncode:
            said = " ".join((done.stderr.strip() or done.stdout.strip()).split())
            raise BackupFailed(f"pgbackrest {command} ended with {done.returncode}: {said[-600:]}")
        return done.stdout

    def information(self) -> Information:
        """What the repositories have now. Raises BackupFailed where one of them cannot be read."""
        found = json.loads(self.run("info", "--output=json", "--log-level-console=error", seconds=300))
        stanza = next((one for one in found if one["name"] == self.stanza), None)
        if stanza is None or not stanza["db"]:
            raise BackupFailed(f"no repository knows the stanza {self.stanza}")
        for repository in stanza["repo"]:
            # 2: it has no backup yet.
            if repository["status"]["code"] not in (0, 2):
                raise BackupFailed(f"repository {repository['key']}: {repository['status']['message']}")
        return _information(stanza)

    def repositories(self) -> list[int]:
        """The numbers of the repositories. Raises BackupFailed."""
        found = json.loads(self.run("info", "--output=json", "--log-level-console=error", seconds=300))
        return sorted(repository["key"] for one in found if one["name"] == self.stanza for repository in one["repo"])

    def back_up(self, kind: str, repository: int) -> None:
        """Make a backup of this kind (`full`, `diff`, `incr`). Raises BackupFailed."""
        self.run("backup", f"--type={kind}", f"--repo={repository}")

    def restore(self, data: Path, work: Path, options: Sequence[str]) -> None:
        """Restore into an empty folder; locks, logs and what waits lie in a folder for work. Raises BackupFailed."""
        places = {"lock": work / "lock", "log": work / "log", "spool": work / "spool"}
        for place in places.values():
            place.mkdir(exist_ok=True)
        own = [f"--{name}-path={place}" for name, place in places.items()]
        self.run("restore", f"--pg1-path={data}", *own, *options)


def _information(stanza: dict[str, Any]) -> Information:
    backups = [
        Backup(
            one["database"]["repo-key"], one["label"], one["type"],
            float(one["timestamp"]["start"]), float(one["timestamp"]["stop"]),
        )
        for one in stanza["backup"]
        if not one["error"]
    ]  # fmt: skip
    archived: dict[int, str] = {}
    for one in stanza["archive"]:
        key, last = one["database"]["repo-key"], one["max"] or ""
        archived[key] = max(archived.get(key, ""), last)
    return Information(backups, archived, stanza["db"][-1]["version"])


def due(backups: Sequence[Backup], now: float) -> str:
    """The kind of backup that one repository is to get now: full weekly, differential daily, else incremental."""
    ages = {
        kind: now - max((one.began for one in backups if one.kind in kinds), default=float("-inf"))
        for kind, kinds in (("full", {"full"}), ("diff", {"full", "diff"}))
    }
    if ages["full"] >= FULL_EVERY - EARLY:
        return "full"
    return "diff" if ages["diff"] >= DIFFERENTIAL_EVERY - EARLY else "incr"
