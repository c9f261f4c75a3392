"""The report of the last drill of a backup, recorded in the audit trail of the houses: an auditor sees there when a
backup was last restored, what of the house was in it, and what was found."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from casino.audit.events.backups import BackupDrilled
from casino.audit.models import Event
from casino.audit.services import Actor, Receipt, record
from casino.core import canonical, locks, moments
from casino.houses.models import House
from casino.metrics import backups

COMMAND = "record_drill"
#: Problems, and characters of each, that an event has at most; the report has all.
MOST_PROBLEMS, LONGEST = 20, 300


def record_last(folder: Path, house: House) -> Receipt | None:
    """Record the last drill of this folder in a house's chain; None where there was none, or it is recorded already.
    Raises OSError for a record that is none, LogRefused."""
    report = backups.last_drill(folder)
    if not report:
        return None
    event = drilled(report, house.code)

    def operation() -> Receipt | None:
        # One at a time: a drill is recorded once.
        locks.lock_roster(house.id)
        known = Event.objects.filter(house=house, doc__kind=event.KIND, doc__data__tried=event.data["tried"])
        if known.exists():
            return None
        return record(chain=house.chain, house=house, actor=Actor.operator(COMMAND), event=event)

    return locks.in_transaction(operation)


def drilled(report: dict[str, Any], house: str) -> BackupDrilled:
    """What the event says of a report, about one house. Raises RecordsUnreadable."""
    try:
        mine: dict[str, Any] = next((one for one in report.get("houses", []) if one["house"] == house), {})
        tried = float(report["tried_at"])
        return BackupDrilled(
            tried=_moment(tried),
            ok=bool(report["ok"]) and bool(mine),
            backup=report.get("backup") or None,
            backup_age_seconds=round(report["backup_age"]) if report.get("backup") else None,
            recovered_to=report.get("recovered_to") or None,
            last_commit=_moment(report["last_commit"]) if report.get("last_commit") else None,
            cut_off_leaves=int(report.get("cut_off_leaves", 0)),
            cut_off_seconds=round(report.get("cut_off_seconds", 0)),
            hand_count=mine.get("hand_count"),
            event_count=mine.get("event_count"),
            problems=_problems(report, there=bool(mine)),
            report_sha256=canonical.sha256(_whole(report)),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise backups.RecordsUnreadable(f"the record of the drill is none: {error!r}") from error


# --- Parts ----------------------------------------------------------------------------------------------------------


def _problems(report: dict[str, Any], *, there: bool) -> list[str]:
    """What was found; a house that was not in a backup that is good for others is one."""
    found = [str(one)[:LONGEST] for one in report["problems"]]
    if not found and not there:
        found = ["this house was not in the backup"]
    left = len(found) - MOST_PROBLEMS
    return found if left <= 0 else [*found[: MOST_PROBLEMS - 1], f"and {left + 1} more"]


def _moment(seconds: float) -> str:
    return moments.utc(datetime.fromtimestamp(seconds, UTC))


def _whole(value: Any) -> Any:
    """Numbers with fractions as texts: canonical JSON has none."""
    if isinstance(value, dict):
        return {str(name): _whole(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_whole(one) for one in value]
    return repr(value) if isinstance(value, float) else value
