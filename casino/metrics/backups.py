"""What `python -m deploy.backups` has noted of backups and drills, in the folder `CASINO_BACKUP_RECORDS`."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from casino.core.measured import Metric
from casino.metrics import declared

BACKUP, DRILL = "backup.json", "restore-drill.json"


class RecordsUnreadable(OSError):
    """A record is none."""


@dataclass(frozen=True, slots=True)
class Noted:
    """Seconds since 1970, 0 for never; what the last drill has found, where it was not good."""

    #: The last good backup by repository.
    backups: dict[str, float]
    drilled: float
    problems: list[str]


def read(folder: Path) -> Noted:
    """What is noted now. Raises OSError."""
    backup, drill = (_record(folder / name) for name in (BACKUP, DRILL))
    try:
        backups = {number: float(one["good_at"]) for number, one in backup.get("repositories", {}).items()}
        problems = [] if drill.get("ok", True) else [str(one) for one in drill["problems"]]
        return Noted(backups, float(drill.get("good_at", 0.0)), problems)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RecordsUnreadable(f"the records in {folder} are none: {error!r}") from error


def last_drill(folder: Path) -> dict[str, Any]:
    """The report of the last drill, as it was noted; empty where there was none. Raises OSError."""
    return _record(folder / DRILL)


def samples(noted: Noted) -> Iterator[tuple[Metric, tuple[str, ...], float]]:
    """The metrics; a repository of which nothing is known is the first, without a backup."""
    for repository, at in (noted.backups or {"1": 0.0}).items():
        yield declared.BACKED_UP, (repository,), at
    yield declared.DRILLED, (), noted.drilled
    yield declared.DRILL_FAILED, (), float(bool(noted.problems))


def _record(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise RecordsUnreadable(f"{file} is no record: {error}") from error
    if not isinstance(found, dict):
        raise RecordsUnreadable(f"{file} is no record")
    return found
