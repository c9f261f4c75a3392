"""A worker makes a run of a report: its moment, one pass over the rows, files in parts, one event.

The outbox says what is to be made, and a broker may say so several times. A worker therefore takes a run for itself for
some seconds, and longer with every step; one that dies leaves it to the next, which begins again with the same moment.
"""

import logging
import tempfile
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.db import DatabaseError, InterfaceError
from django.db.models import QuerySet

from casino.audit.events.reports import ReportFailed, ReportMade
from casino.audit.services import Actor
from casino.core import leases, locks, outbox, patience
from casino.core.languages import speaking
from casino.core.leases import Ended
from casino.core.work import Work
from casino.houses.models import ClockTimestamp, House, OutboxMessage
from casino.reports import runs
from casino.reports.frame import as_of, registry
from casino.reports.frame.head import Head
from casino.reports.frame.language import in_words
from casino.reports.frame.report import AsOf, Format, Scope
from casino.reports.frame.trail import opened_days
from casino.reports.models import ReportFile, ReportPart, ReportRun, RunState
from casino.reports.render.base import File, Produced, produce
from casino.reports.render.formats import writers
from casino.reports.render.style import Style

log = logging.getLogger(__name__)

#: For how long a worker has a run for itself after each step.
LEASE = timedelta(seconds=30)
#: Bytes of a part.
PART = 1 << 20
#: How often a run is sent again that fails for no reason of the database.
TRIES = 3
#: Codes of runs that failed.
CHANGED, TOOK_TOO_LONG, GIVEN_UP = "report_changed", "took_too_long", "given_up"


class ReportBroken(Exception):
    """A report that cannot be made, whatever is tried; `code` is kept with its run."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def work_off(message_id: int) -> str:
    """Make the run that an outbox message names; returns its state. Safe to call any number of times."""
    message = OutboxMessage.objects.select_related("house").get(id=message_id)
    house = message.house
    run = runs.find(house, int(message.subject))
    if run.state != RunState.WAITING:
        outbox.done(message_id)
        return str(run.state)
    if not leases.take(_waiting(run), LEASE, row_count=0):
        return "taken"
    try:
        with tempfile.TemporaryDirectory(prefix="report-") as folder:
            return _make(message_id, house, run, Path(folder))
    except Ended:
        return str(runs.find(house, run.number).state)
    except ReportBroken as broken:
        return _fail(message_id, house, run, broken.code)
    except SoftTimeLimitExceeded:
        return _fail(message_id, house, run, TOOK_TOO_LONG)
    except (DatabaseError, InterfaceError, patience.Busy):
        leases.leave(_waiting(run))
        raise
    except Exception:
        # Perhaps a disk that was full; the same again and again is an error of the report.
        if message.deliveries < TRIES:
            leases.leave(_waiting(run))
            raise
        log.exception("run %s of house %s is given up", run.number, house.code)
        return _fail(message_id, house, run, GIVEN_UP)


def _waiting(run: ReportRun) -> QuerySet[ReportRun]:
    return ReportRun.objects.filter(id=run.pk, state=RunState.WAITING)


def _step(run: ReportRun) -> Callable[[int], None]:
    """What notes the progress of a run, keeps it, and ends it where it was cancelled."""
    return lambda row_count: leases.keep(_waiting(run), LEASE, row_count=row_count)


def _make(message_id: int, house: House, run: ReportRun, folder: Path) -> str:
    report = registry.reports().get(run.report)
    if report is None or report.version != run.report_version:
        raise ReportBroken(CHANGED)
    moment = _moment(house, run)
    scope = Scope(house, moment, run.filters)
    with speaking(run.style["language"]):
        report = in_words(report)
    head = Head(
        report=report, house=house.code, house_name=house.name, currency=house.currency,
        exponent=house.currency_exponent, zone=house.time_zone, filters=run.filters, group_by=run.group_by or None,
        requested_by=run.requested_by.login, requested_at=run.requested_at, as_of=moment,
        copy=run.copy,
        days=opened_days(scope) if {"from", "until"} & run.filters.keys() else None,
    )  # fmt: skip
    style = Style.of(run.style, exponent=house.currency_exponent, zone=house.time_zone)
    with speaking(run.style["language"]):
        made = produce(report, scope, head, writers(map(Format, run.formats), folder, head, style), _step(run))
    return _keep(message_id, house, run, made, moment.as_json())


def _moment(house: House, run: ReportRun) -> AsOf:
    """The moment of a run, which is taken once and kept."""
    if run.as_of is None:
        run.as_of = as_of.now(house).as_json()
        if not ReportRun.objects.filter(id=run.pk, state=RunState.WAITING).update(as_of=run.as_of):
            raise Ended
    return as_of.kept(house, run.as_of)


def _keep(message_id: int, house: House, run: ReportRun, made: Produced, moment: Mapping[str, Any]) -> str:
    """Keep the files with their event, unless the run has ended meanwhile."""
    equalities = [one.as_json() for one in made.equalities]

    def operation() -> str:
        locks.lock_reports(house.id)
        row_count = sum(sums.row_count for sums in made.results.values())
        kept = ReportRun.objects.filter(id=run.pk, state=RunState.WAITING).update(
            state=RunState.MADE, ended_at=ClockTimestamp(), equalities=equalities, row_count=row_count
        )
        if not kept:
            raise Ended
        for file in made.files:
            _store(house, run, file)
        work = Work(house, Actor.system(f"outbox:{message_id}"))
        work.also(outbox.DONE, [message_id])
        event = ReportMade(
            run=run.number, as_of=moment, row_count=row_count, equalities=equalities,
            files=[file.as_json() for file in made.files],
        )  # fmt: skip
        work.record(chain=house.chain, event=event)
        return str(RunState.MADE)

    return locks.in_transaction(operation)


def _store(house: House, run: ReportRun, file: File) -> None:
    row = ReportFile.objects.create(house=house, run=run, name=file.path.name, size=file.size, sha256=file.sha256)
    with file.path.open("rb") as content:
        number = 0
        while part := content.read(PART):
            ReportPart.objects.create(house=house, file=row, number=number, content=part)
            number += 1


def _fail(message_id: int, house: House, run: ReportRun, code: str) -> str:
    """Note that a run cannot be made."""

    def operation() -> str:
        locks.lock_reports(house.id)
        failed = ReportRun.objects.filter(id=run.pk, state=RunState.WAITING).update(
            state=RunState.FAILED, ended_at=ClockTimestamp(), failure=code
        )
        if not failed:
            raise Ended
        work = Work(house, Actor.system(f"outbox:{message_id}"))
        work.also(outbox.DONE, [message_id])
        work.record(chain=house.chain, event=ReportFailed(run=run.number, failure=code))
        return str(RunState.FAILED)

    return locks.in_transaction(operation)
