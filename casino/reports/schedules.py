"""Schedules of reports and packages: what is sent where and when, in dated versions; and what of it is due.

Each period (a gaming day, a date, a month) falls due once for a schedule, whatever becomes of its version; a worker
that was away makes up for it. The run of a report is made on behalf of the person who set the schedule. A version whose
setter or approver may read the report no more stops.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Max

from casino.audit.events.reports import ReportRequested, ScheduleFired, ScheduleSet, ScheduleStopped
from casino.audit.services import Actor
from casino.core import locks, moments, once_live, write
from casino.core.commands import Answer, Command
from casino.core.errors import NotFound, Unprocessable
from casino.core.sql import database_time
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import days, identity
from casino.houses.control_points import ControlPoints
from casino.houses.days import Day
from casino.houses.models import ClockTimestamp, House
from casino.reports import destinations, readers, runs
from casino.reports.alarms_of_counts import Sign
from casino.reports.frame import registry
from casino.reports.frame.filters import DAYS, FROM_DAY
from casino.reports.frame.head import utc
from casino.reports.frame.report import Format, Report, Sensitivity
from casino.reports.models import Cadence, Delivery, DeliveryState, ReportRun, ReportSchedule
from casino.reports.readers import PACKAGE
from casino.reports.render.style import style_of

#: Days and months that a schedule makes up for after workers were away.
MADE_UP_DAYS, MADE_UP_MONTHS = 31, 12
_SCHEDULES = OfHouse(lock=locks.lock_reports, office=True)
#: Filters that a schedule does not hold: the days are those of the period that falls due.
_DAYS = tuple(one.name for one in DAYS)
#: Whom a report may name that is sent: what names persons is read in the house.
_SENT = (Sensitivity.NO_PERSON, Sensitivity.STAFF, Sensitivity.PLAYERS)


def put(
    *, command: Command, name: str, what: str, cadence: str, time_of_day: str, formats: Sequence[str],
    filters: Mapping[str, str], to: Sequence[str], valid_from: datetime | None, reason: str,
) -> Answer:  # fmt: skip
    """Set a schedule: its next version, in force at once or from a moment on. `off` ends it, and withdraws what was not
    sent yet.

    Raises NotFound for an unknown report, Unprocessable schedule_in_the_past, schedule_cadence, schedule_report,
    report_format, report_filter, unknown_destination, Forbidden schedule_reader where who sets it, or has approved it,
    may not read what is sent, Conflict approval_required once the house is live.
    """

    def change(house: House, work: Work) -> Outcome:
        _require_not_past(valid_from)
        chosen, wanted = _formats(what, formats), _checked(house, what, filters)
        _require_cadence(what, cadence)
        if cadence != Cadence.OFF:
            readers.require_reader(command.context.staff, what, wanted)
        known = destinations.names(house.code)
        if unknown := sorted(set(to) - set(known)):
            raise Unprocessable(
                f"No such destination is set up: {', '.join(unknown)}.", code="unknown_destination", choices=known
            )
        readers.require_approval(house, work, what=what, cadence=cadence, filters=wanted)
        last = ReportSchedule.objects.filter(house=house, name=name).aggregate(last=Max("number"))["last"] or 0
        row = ReportSchedule.objects.create(
            house=house, name=name, number=last + 1, valid_from=valid_from or ClockTimestamp(), what=what,
            cadence=cadence, time_of_day="" if cadence == Cadence.DAY_CLOSE else time_of_day, formats=chosen,
            filters=wanted, destinations=list(dict.fromkeys(to)), set_by=command.context.staff,
            approval=command.approval if once_live.is_live(house) else None,
        )  # fmt: skip
        row.refresh_from_db()
        withdrawn = _withdraw(house, name) if cadence == Cadence.OFF else []
        event = ScheduleSet(
            schedule=name, number=row.number, valid_from=moments.utc(row.valid_from), what=what, cadence=cadence,
            time_of_day=row.time_of_day, formats=row.formats, filters=row.filters,
            destinations=row.destinations, withdrawn=withdrawn, reason=reason,
        )  # fmt: skip
        return Outcome(event, describe(row), 201, version=row.number)

    return write.write(command, _SCHEDULES, change)


def _require_not_past(valid_from: datetime | None) -> None:
    if valid_from is not None and valid_from <= database_time():
        raise Unprocessable(
            "A schedule begins at a moment to come; leave valid_from out to begin at once.",
            code="schedule_in_the_past",
            valid_from=valid_from.isoformat(),
        )


def _formats(what: str, formats: Sequence[str]) -> list[str]:
    """The formats that are made; none for the package, which has its own."""
    if what == PACKAGE:
        return []
    report = registry.get(what)
    if report.sensitivity is Sensitivity.SEALED:
        raise NotFound(f"There is no report {what}.")
    if report.sensitivity not in _SENT:
        raise Unprocessable(f"Report {what} is not sent: it names persons.", code="schedule_report")
    for one in formats:
        if one not in report.formats:
            choices = [*map(str, report.formats)]
            raise Unprocessable(f"Report {what} has no format {one}.", code="report_format", choices=choices)
    return list(dict.fromkeys(formats)) or [str(Format.PDF)]


def _checked(house: House, what: str, filters: Mapping[str, str]) -> dict[str, str]:
    """The filters, as a run would have them; the days are those of each period. Raises Unprocessable report_filter."""
    of_period = [name for name in filters if name in _DAYS]
    if of_period:
        raise runs.bad_filter(of_period[0], "The days of a schedule are those of its periods: leave them out.")
    if what != PACKAGE:
        return runs.checked(house, registry.get(what), filters)
    for name in filters:
        raise runs.bad_filter(name, "The package of a day has no filters.")
    return {}


def _require_cadence(what: str, cadence: str) -> None:
    if what == PACKAGE and cadence not in (Cadence.DAY_CLOSE, Cadence.OFF):
        raise Unprocessable(
            "The package of a day is sent when the day is closed.", code="schedule_cadence",
            choices=[str(Cadence.DAY_CLOSE), str(Cadence.OFF)],
        )  # fmt: skip


def _withdraw(house: House, name: str) -> list[int]:
    waiting = Delivery.objects.filter(house=house, schedule=name, state=DeliveryState.WAITING)
    numbers = sorted(waiting.values_list("number", flat=True))
    waiting.update(state=DeliveryState.WITHDRAWN, ended_at=ClockTimestamp())
    return numbers


def describe(row: ReportSchedule) -> dict[str, Any]:
    """A version as answers have it."""
    return {
        "schedule": row.name,
        "number": row.number,
        "valid_from": utc(row.valid_from),
        "what": row.what,
        "cadence": row.cadence,
        "time_of_day": row.time_of_day,
        "formats": row.formats,
        "filters": row.filters,
        "destinations": row.destinations,
        "set_by": row.set_by.login,
        "approval": row.approval,
        "stopped": row.stopped,
        "stopped_at": None if row.stopped_at is None else utc(row.stopped_at),
    }


def described(found: Delivery) -> dict[str, Any]:
    """A delivery as answers have it."""
    return {
        "delivery": found.number,
        "schedule": found.schedule,
        "number": found.version,
        "period": found.period,
        "destination": found.destination,
        "run": found.run,
        "state": found.state,
        "attempts": found.attempts,
        "problem": found.problem,
        "created_at": utc(found.created_at),
        "next_at": utc(found.next_at) if found.state == DeliveryState.WAITING else None,
        "ended_at": None if found.ended_at is None else utc(found.ended_at),
    }


# --- What is due -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Due:
    """A period of a schedule that has not been sent: its name, and the gaming days from the first to the last."""

    schedule: ReportSchedule
    period: str
    first: str
    last: str


def in_force(house: House, now: datetime) -> list[ReportSchedule]:
    """The version of every schedule that has begun last."""
    rows = ReportSchedule.objects.filter(house=house, valid_from__lte=now).select_related("set_by")
    return list(rows.order_by("name", "-valid_from", "-number").distinct("name"))


def due(house: House, now: datetime) -> Iterator[Due]:
    """Every period that is due and has not fallen due before, of what has not stopped."""
    every = days.days(house)
    for row in in_force(house, now):
        if row.stopped_at is not None:
            continue
        done = set(Delivery.objects.filter(house=house, schedule=row.name).values_list("period", flat=True))
        for period, first, last in _periods(house, row, now, every):
            if period not in done:
                yield Due(row, period, first, last)


def _periods(house: House, row: ReportSchedule, now: datetime, every: Sequence[Day]) -> Iterator[tuple[str, str, str]]:
    zone = ZoneInfo(house.time_zone)
    if row.cadence == Cadence.DAY_CLOSE:
        for day in every:
            if day.closed_at is not None and day.closed_at >= row.valid_from:
                yield day.name, day.name, day.name
    elif row.cadence == Cadence.DAILY:
        yield from _days_of(row, now, zone, every) if _has_days(row) else _dates_of(row, now, zone)
    elif row.cadence == Cadence.MONTHLY:
        on = now.astimezone(zone).date().replace(day=1)
        for _ in range(MADE_UP_MONTHS):
            month = (on - timedelta(days=1)).isoformat()[:7]
            of_month = [day for day in every if day.name.startswith(month)]
            # A month is whole when its last day is closed, which may be after the moment at which it would fall due.
            whole = of_month and all(day.closed_at is not None for day in of_month)
            if whole and row.valid_from <= _moment(on, row.time_of_day, zone) <= now:
                yield month, of_month[0].name, of_month[-1].name
            on = (on - timedelta(days=1)).replace(day=1)


def _has_days(row: ReportSchedule) -> bool:
    return any(one.name == FROM_DAY.name for one in registry.get(row.what).filters)


def _days_of(
    row: ReportSchedule, now: datetime, zone: ZoneInfo, every: Sequence[Day]
) -> Iterator[tuple[str, str, str]]:  # fmt: skip
    """Every gaming day at the first moment after its close: two that were closed in between, and none twice."""
    for day in every:
        if day.closed_at is None:
            continue
        on = day.closed_at.astimezone(zone).date()
        moment = _moment(on, row.time_of_day, zone)
        if moment < day.closed_at:
            moment = _moment(on + timedelta(days=1), row.time_of_day, zone)
        if row.valid_from <= moment <= now and moment > now - timedelta(days=MADE_UP_DAYS):
            yield day.name, day.name, day.name


def _dates_of(row: ReportSchedule, now: datetime, zone: ZoneInfo) -> Iterator[tuple[str, str, str]]:
    """Every date, of what has no days and shows what is so then."""
    today = now.astimezone(zone).date()
    for back in range(MADE_UP_DAYS, -1, -1):
        on = today - timedelta(days=back)
        if row.valid_from <= _moment(on, row.time_of_day, zone) <= now:
            yield on.isoformat(), on.isoformat(), on.isoformat()


def _moment(on: date, time_of_day: str, zone: ZoneInfo) -> datetime:
    return datetime.combine(on, time.fromisoformat(time_of_day), zone)


def fire(house: House, one: Due) -> list[int]:
    """Let a period fall due, unless it has meanwhile, or the schedule must stop: ask for the run, and note what is to
    be sent where; returns the numbers of the deliveries."""

    def operation() -> list[int]:
        locks.lock_reports(house.id)
        row = one.schedule
        if readers.lost(row) is not None:
            return []
        if Delivery.objects.filter(house=house, schedule=row.name, period=one.period).exists():
            return []
        work = Work(house, Actor.system("clock:schedules"))
        run = None if row.what == PACKAGE else _request(house, one)
        last = Delivery.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
        made = [
            Delivery(
                house=house, number=number, schedule=row.name, version=row.number, period=one.period, destination=name,
                run=None if run is None else run.number,
            )
            for number, name in enumerate(row.destinations, last + 1)
        ]  # fmt: skip
        Delivery.objects.bulk_create(made)
        fired = ScheduleFired(
            schedule=row.name, number=row.number, period=one.period, run=None if run is None else run.number,
            deliveries={str(each.number): each.destination for each in made},
        )  # fmt: skip
        if run is not None:
            _record_request(house, one, run)
        work.record(chain=house.chain, event=fired)
        return [each.number for each in made]

    return locks.in_transaction(operation)


def _request(house: House, one: Due) -> ReportRun:
    report, row = registry.get(one.schedule.what), one.schedule
    last = ReportRun.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
    run = ReportRun.objects.create(
        house=house, number=last + 1, report=report.id, report_version=report.version, filters=_filters(report, one),
        group_by="", formats=row.formats,
        style=style_of(identity.language(house), None, None), repeats=None, requested_by=row.set_by, as_of=None,
        copy=runs.first_copy(row.formats),
    )  # fmt: skip
    run.refresh_from_db()
    return run


def _record_request(house: House, one: Due, run: ReportRun) -> None:
    work = Work(house, Actor.system("clock:schedules"))
    work.enqueue(task=runs.TASK, subject=str(run.number))
    event = ReportRequested(
        run=run.number, report=run.report, report_version=run.report_version, filters=run.filters, group_by="",
        formats=run.formats, style=run.style, behalf=one.schedule.set_by.login, copy=run.copy,
        sensitivity=str(registry.get(run.report).sensitivity),
    )  # fmt: skip
    work.record(chain=house.chain, event=event)


def _filters(report: Report, one: Due) -> dict[str, str]:
    """What the schedule asks for, in the days of its period where the report has days."""
    days_of = dict(zip(_DAYS, (one.first, one.last), strict=True))
    filters: dict[str, str] = one.schedule.filters
    return filters | {each.name: days_of[each.name] for each in report.filters if each.name in days_of}


def fire_due(house: House) -> int:
    """Stop what must not run, and let everything that is due fall due; returns how many periods did."""
    stop_lost(house)
    return sum(bool(fire(house, one)) for one in list(due(house, database_time())))


# --- What stops ------------------------------------------------------------------------------------------------------


def stop_lost(house: House) -> int:
    """Stop every schedule in force that who has set or approved it may read no more, and withdraw what it has not sent
    yet; returns how many stopped."""
    rows = in_force(house, database_time())
    running = [row for row in rows if row.stopped_at is None and row.cadence != Cadence.OFF]
    return sum(_stop(house, row) for row in running if readers.lost(row) is not None)


def _stop(house: House, row: ReportSchedule) -> bool:
    """Stop one, unless it has meanwhile, or its people may read it again."""

    def operation() -> bool:
        locks.lock_reports(house.id)
        why = readers.lost(row)
        going = ReportSchedule.objects.filter(id=row.pk, stopped_at=None)
        if why is None or not going.update(stopped=why, stopped_at=ClockTimestamp()):
            return False
        event = ScheduleStopped(
            schedule=row.name, number=row.number, problem=str(why), withdrawn=_withdraw(house, row.name)
        )
        Work(house, Actor.system("clock:schedules")).record(chain=house.chain, event=event)
        return True

    return locks.in_transaction(operation)


def stopped(house: House, _points: ControlPoints, now: datetime) -> Iterator[Sign]:
    """Schedules whose version in force has stopped, until another one is set."""
    for row in in_force(house, now):
        if row.stopped_at is not None:
            yield Sign(f"schedule {row.name}", row.stopped_at)
