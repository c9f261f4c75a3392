"""Backups and drills, as far as they are noted for this installation."""

import time
from collections.abc import Iterator

from django.conf import settings

from casino.doctor.findings import Finding, Level, ok
from casino.metrics.backups import read

PART = "backups"
#: Seconds after which the last good backup, and the last good drill, is too old; the alerts have the same.
BACKUP_OLD, DRILL_OLD = 26 * 3600.0, 8 * 86400.0
_PAGE = "See docs/how-to/back-up.md."


def backups() -> Iterator[Finding]:
    """Each repository has a backup of today, and the newest backup was restored and verified this week."""
    folder = settings.CASINO_BACKUP_RECORDS
    if folder is None:
        yield Finding(
            PART,
            Level.NOTE,
            "no_backup_records",
            "CASINO_BACKUP_RECORDS is not set: nothing is known of backups.",
            _PAGE,
        )
        return
    try:
        noted = read(folder)
    except OSError as error:
        yield Finding(
            PART, Level.WARNING, "backup_records_unreadable", f"The records of backups cannot be read: {error}",
            "Give this user the right to, or let the next backup write them.",
        )  # fmt: skip
        return
    for repository, at in (noted.backups or {"1": 0.0}).items():
        if _age(at) > BACKUP_OLD:
            words = f"The last good backup in repository {repository} {_when(at)}."
            yield Finding(PART, Level.WARNING, "backup_old", words, f"journalctl -u cukassza-backup. {_PAGE}")
        else:
            yield ok(PART, f"repository {repository} has a backup that {_when(at)}")
    if noted.problems:
        words = f"The last restore drill failed: {noted.problems[0]}"
        yield Finding(PART, Level.WARNING, "restore_drill_failed", words, _PAGE)
    if _age(noted.drilled) > DRILL_OLD:
        words = f"The last good restore drill {_when(noted.drilled)}."
        yield Finding(PART, Level.WARNING, "restore_drill_old", words, f"python -m deploy.backups drill. {_PAGE}")
    elif not noted.problems:
        yield ok(PART, f"a restore drill {_when(noted.drilled)}")


def _age(at: float) -> float:
    return time.time() - at


def _when(at: float) -> str:
    return f"ended well {_age(at) / 3600:.1f} hours ago" if at else "was never made"
