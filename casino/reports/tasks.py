"""What the clock does: continuous checks of chips against money and of snapshots against entries, the daily snapshots,
the ends of holds. A task works on one house; `houses.for_each` sends it for all of them. Every task may run at any
time, and any number of times; what it writes is recorded in the house's chain.
"""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from casino.approvals import services as approvals
from casino.audit import selectors as audit
from casino.audit.events import AuditEvent
from casino.audit.events.house import HoldsExpired, ImbalanceCleared, ImbalanceFound, SnapshotTaken
from casino.audit.services import Actor, record
from casino.cage import announced
from casino.celery import task
from casino.chips.models import Imbalance, ImbalanceKind
from casino.core import outbox, patience
from casino.core.errors import LogRefused
from casino.days import packages
from casino.houses.models import ClockTimestamp, House
from casino.houses.tasks import named
from casino.reports import making, packaging, retention, runs, schedules, selectors, sending, snapshots
from casino.safeguards import reality
from casino.verification import auditing, catalogue
from ledger import holds
from ledger.snapshots import take

log = logging.getLogger(__name__)

#: Seconds after which no further run of pruning begins; a run takes a second or two, a task may take twelve.
PRUNING = 5.0
#: Seconds that an event may be without a checkpoint before somebody has to look.
LOG_BEHIND = auditing.SIGNED_WITHIN.total_seconds()

_WORDS = {
    ImbalanceKind.CUSTODY: "chips and money do not agree",
    ImbalanceKind.SNAPSHOT: "a snapshot and the entries do not agree",
}


@task("reports.check_custody")
def check_custody(house: str) -> bool:
    """Compare chips with money in a house; returns whether they agree.

    Where they do not, it is an error in the log every time, and one open row until a later check finds it in order. The
    database refuses any posting that leads there, so what this finds was written past it.
    """
    return _unless_read_only(named(house), check)


@task("reports.check_snapshots")
def check_snapshots(house: str) -> bool:
    """Compare a house's newest snapshots with the entries since the ones before; returns whether they agree. Recorded
    like chips that differ from money."""
    return _unless_read_only(named(house), check_newest)


@task("reports.check_log")
def check_log() -> int:
    """Name in the server's log every house whose audit log does not grow; returns how many. What no checkpoint covers
    can still be rewritten, and the sequencer, which says when it is late, may be what has stopped."""
    late = audit.behind(LOG_BEHIND)
    for code, seconds in late.items():
        log.error(
            "house %s: its oldest event without a checkpoint is %.0f s old; does the sequencer run?", code, seconds
        )
    return len(late)


@task("reports.record_catalogue")
def record_catalogue(house: str) -> bool:
    """Record the database's catalogue in a house whose trail does not have it yet; returns whether it changed. Objects
    that no migration has made so are named in the server's log every time."""
    found = catalogue.now()
    for difference in found.differences():
        log.error("the database's catalogue: %s %s", difference.subject, difference.detail)
    actor = Actor.system("clock:catalogue")
    return _unless_read_only(named(house), lambda one: catalogue.record_change(one, found, actor))


def _unless_read_only(house: House, work: Callable[[House], bool]) -> bool:
    """What the work on a house says; False in a house that may write nothing because its log was rolled back, which is
    named in the server's log."""
    try:
        return work(house)
    except LogRefused as error:
        log.error("house %s: %s", house.code, error.detail)
        return False


def check(house: House) -> bool:
    """Whether chips and money agree in one house; keeps the answer in its exceptions."""
    return _keep(house, ImbalanceKind.CUSTODY, selectors.custody_problems(house))


def check_newest(house: House) -> bool:
    """Whether the newest snapshots of one house agree with the entries; keeps the answer in its exceptions."""
    return _keep(house, ImbalanceKind.SNAPSHOT, snapshots.newest_problems(house))


def _keep(house: House, kind: ImbalanceKind, problems: dict[str, Any]) -> bool:
    """Keep what a check found in the house's exceptions, or clear what an earlier one had found."""
    with transaction.atomic():
        event = _found(house, kind, problems) if problems else _cleared(house, kind)
        if event is not None:
            record(chain=house.chain, house=house, actor=Actor.system(f"check:{kind}"), event=event)
    if problems:
        log.error("house %s: %s: %s", house.code, _WORDS[kind], problems)
    return not problems


def _found(house: House, kind: ImbalanceKind, problems: dict[str, Any]) -> AuditEvent | None:
    """Write down what was found, unless it is what an earlier check, or another one at this moment, has written."""
    for row in Imbalance.objects.filter(house=house, kind=kind, cleared_at=None):
        changed = Imbalance.objects.filter(id=row.id, found=row.found).exclude(found=problems).update(found=problems)
        return ImbalanceFound(check=str(kind), before=row.found, after=problems) if changed else None
    try:
        with transaction.atomic():
            Imbalance.objects.create(house=house, kind=kind, found=problems)
    except IntegrityError:
        return None
    return ImbalanceFound(check=str(kind), after=problems)


def _cleared(house: House, kind: ImbalanceKind) -> AuditEvent | None:
    for row in Imbalance.objects.filter(house=house, kind=kind, cleared_at=None):
        cleared = Imbalance.objects.filter(id=row.id, cleared_at=None).update(cleared_at=ClockTimestamp())
        return ImbalanceCleared(check=str(kind), before=row.found) if cleared else None
    return None


@task("reports.expire_approvals")
def expire_approvals(house: str) -> bool:
    """Mark a house's approvals whose time has run out; returns whether there were some. Nobody can decide or use them
    before that either."""
    return _unless_read_only(named(house), lambda found: approvals.expire(found) > 0)


@task("reports.expire_holds")
def expire_holds(house: str) -> bool:
    """Mark a house's holds whose time has run out; returns whether there were some. They bind nothing before that
    either."""
    return _unless_read_only(named(house), _expire)


@task("reports.raise_reality_checks")
def raise_reality_checks(house: str) -> bool:
    """Raise a house's reality checks that are due; returns whether there were some."""
    return _unless_read_only(named(house), lambda one: bool(reality.raise_due(one)))


@task(packages.TASK, soft_time_limit=runs.SOFT_LIMIT, time_limit=runs.HARD_LIMIT)
def package_day(house: str, message_id: int) -> str:
    """Make the package of the closed gaming day that an outbox message of a house names; returns its SHA-256. A failure
    keeps its reason with the message, which the sweeper sends again. Raises StrayHint for a message that is not this
    house's, Busy where somebody opens or closes a day."""
    outbox.require_own(house, message_id)
    try:
        return packaging.work_off(message_id)
    except patience.Busy:
        raise
    except Exception as error:
        outbox.failed(message_id, type(error).__name__, str(error))
        raise


@task(runs.TASK, soft_time_limit=runs.SOFT_LIMIT, time_limit=runs.HARD_LIMIT)
def make_run(house: str, message_id: int) -> str:
    """Make the run of a report that an outbox message of a house names; returns its state. A failure keeps its reason
    with the message, which the sweeper sends again. Raises StrayHint for a message that is not this house's."""
    outbox.require_own(house, message_id)
    try:
        return making.work_off(message_id)
    except patience.Busy:
        raise
    except Exception as error:
        outbox.failed(message_id, type(error).__name__, str(error))
        raise


@task("reports.retention")
def delete_what_is_due(house: str) -> bool:
    """Delete a share of what a house need not keep any more, and look for it afterwards; returns whether there was
    something. What is found afterwards is an error in the log, and fails the task."""
    return _unless_read_only(named(house), lambda found: retention.run(found, "clock:retention") is not None)


@task("reports.prune")
def prune(house: str) -> bool:
    """Delete answers and messages that a house need not keep any more, as `delete_what_is_due`, run by run for
    `PRUNING` seconds; returns whether there was something."""

    def work(found: House) -> bool:
        until, runs_made = time.monotonic() + PRUNING, 0
        while retention.prune(found, "clock:prune") is not None:
            runs_made += 1
            if time.monotonic() > until:
                break
        return runs_made > 0

    return _unless_read_only(named(house), work)


@task("reports.run_schedules")
def run_schedules(house: str) -> bool:
    """Let what is due of a house's schedules fall due; returns whether something did."""
    return _unless_read_only(named(house), lambda found: schedules.fire_due(found) > 0)


@task("reports.send_files", soft_time_limit=runs.SOFT_LIMIT, time_limit=runs.HARD_LIMIT)
def send_files(house: str) -> bool:
    """Send what schedules of a house have asked for and is due; returns whether something was tried."""
    return _unless_read_only(named(house), lambda found: bool(sending.send_due(found)))


@task("reports.take_snapshot")
def take_daily_snapshot(house: str) -> bool:
    """Take today's snapshot (UTC) of a house; returns whether there was none yet."""
    name = daily_snapshot(timezone.now().date().isoformat())
    return _unless_read_only(named(house), lambda found: take_snapshot(found, name))


def daily_snapshot(date: str) -> str:
    """The name of a day's snapshot; a gaming day's closing one has another."""
    return f"daily {date}"


def _expire(house: House) -> bool:
    with transaction.atomic():
        keys = holds.expire_holds(house.id)
        if keys:
            announced.expire(house, keys)
            event = HoldsExpired(hold_count=len(keys), holds=keys)
            record(chain=house.chain, house=house, actor=Actor.system("clock:holds"), event=event)
    return bool(keys)


def take_snapshot(house: House, name: str) -> bool:
    """Take a house's snapshot of this name, and record it; whether it was not there yet."""
    with transaction.atomic():
        taken = take(house.id, name)
        if not taken.replayed:
            actor = Actor.system("clock:snapshots")
            record(chain=house.chain, house=house, actor=actor, event=SnapshotTaken(snapshot=name))
    return not taken.replayed
