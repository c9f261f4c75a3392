"""Runs of reports: asked for, cancelled, found. A worker makes them (`making.py`).

A run repeats another one's moment where it names that run: then it has the same rows, and its files the same bytes but
for their head.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from django.db.models import Max, Q, QuerySet

from casino.audit.events.reports import ReportCancelled, ReportRequested
from casino.core import locks, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, Forbidden, Gone, NotFound, Unprocessable
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House, OutboxMessage
from casino.reports.frame import places, registry
from casino.reports.frame.filters import AREA, DRAWER, PLACE, TABLE
from casino.reports.frame.head import utc
from casino.reports.frame.report import COUNTED, FIGURES, Filter, FilterKind, Format, Report
from casino.reports.models import ReportFile, ReportPart, ReportRun, RunState
from casino.staff.credentials import role_for
from casino.staff.models import Staff

#: The task that makes a run, asked for in the outbox.
TASK = "reports.make_run"
#: Seconds after which making a run is interrupted, and ended.
SOFT_LIMIT, HARD_LIMIT = 600, 630
#: Formats that are printed.
PAPER = (Format.PDF, Format.SLIP)
_RUNS = OfHouse(lock=locks.lock_reports, office=True)
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}\Z")
#: Filters that name something which the house must have.
_PLACES: Mapping[Filter, Callable[[House], list[str]]] = {
    TABLE: places.tables, AREA: places.areas, DRAWER: places.drawers, PLACE: places.places,
}  # fmt: skip
_LOGIN = re.compile(r"[A-Za-z0-9@.+_-]{1,150}\Z")


def request(
    *, command: Command, name: str, filters: Mapping[str, str], group_by: str, formats: Sequence[str],
    style: Mapping[str, str], repeats: int | None,
) -> Answer:  # fmt: skip
    """Ask for a report. Raises NotFound for an unknown report or run, Forbidden for a role that may not read it,
    Unprocessable report_filter, report_group, report_format or report_style, Conflict report_other for a run of another
    report or one that has no moment."""

    def change(house: House, work: Work) -> Outcome:
        report = registry.get(name)
        role_for(command.context.staff, report.roles)
        found = blind_figures(command.context.staff, report, checked(house, report, filters))
        _require_form(report, group_by, formats, style)
        last = ReportRun.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
        run = ReportRun.objects.create(
            house=house, number=last + 1, report=report.id, report_version=report.version, filters=found,
            group_by=group_by, formats=list(formats), style=dict(style), repeats=repeats,
            requested_by=command.context.staff, as_of=None if repeats is None else _moment_of(house, report, repeats),
            copy=_copy(house, repeats, found, group_by, formats),
        )  # fmt: skip
        run.refresh_from_db()
        work.enqueue(task=TASK, subject=str(run.number))
        event = ReportRequested(
            run=run.number, report=report.id, report_version=report.version, filters=found, group_by=group_by,
            formats=list(formats), style=dict(style), repeats=repeats, copy=run.copy,
            sensitivity=str(report.sensitivity),
        )  # fmt: skip
        return Outcome(event, describe(run), 202, version=run.version)

    return write.write(command, _RUNS, change)


def cancel(*, command: Command, number: int) -> Answer:
    """Cancel a run that is not made yet. Raises NotFound, Conflict report_run_ended."""

    def change(house: House, work: Work) -> Outcome:
        run = readable(house, command.context.staff, number)
        command.require_version(run.version)
        if run.state != RunState.WAITING:
            raise Conflict(f"Run {number} is {run.state}.", code="report_run_ended", state=run.state)
        ReportRun.objects.filter(id=run.pk).update(state=RunState.CANCELLED, ended_at=ClockTimestamp())
        OutboxMessage.objects.filter(house=house, task=TASK, subject=str(number)).update(done_at=ClockTimestamp())
        run.refresh_from_db()
        return Outcome(ReportCancelled(run=number), describe(run), version=run.version)

    return write.write(command, _RUNS, change)


def checked(house: House, report: Report, filters: Mapping[str, str]) -> dict[str, str]:
    """The filters of a run, by name. Raises Unprocessable report_filter."""
    known = {one.name: one for one in report.filters}
    for name in filters:
        if name not in known:
            raise bad_filter(name, f"Report {report.id} has no filter {name}.", tuple(known))
    for one in report.filters:
        if one.required and one.name not in filters:
            raise bad_filter(one.name, f"Report {report.id} needs the filter {one.name}: {one.text}")
    for name, value in filters.items():
        _require_value(house, known[name], value)
    if filters.get("from", "") > filters.get("until", "9"):
        raise bad_filter("until", "The last gaming day is before the first one.")
    return dict(filters)


def blind_figures(staff: Staff, report: Report, filters: dict[str, str]) -> dict[str, str]:
    """The filters of a run for somebody: for who must not know what is still to be counted, without those figures,
    whatever was asked for."""
    return filters | {FIGURES.name: COUNTED} if _is_blind(staff, report) else filters


def _is_blind(staff: Staff, report: Report) -> bool:
    """Whether a person may read a report only in a role that must not know what is still to be counted. Who holds
    another one besides must not either: a person counts in one of the roles."""
    return bool(set(report.blind_roles) & set(staff.roles))


def _require_value(house: House, declared: Filter, value: str) -> None:
    if declared.kind is FilterKind.DAY and not _is_date(value):
        raise bad_filter(declared.name, f"{declared.name} is a date, as 2026-11-24.")
    if declared in _PLACES and value not in (choices := _PLACES[declared](house)):
        raise bad_filter(declared.name, f"This house has no {declared.name} {value}.", choices)
    if declared.kind is FilterKind.CHOICE and value not in declared.choices:
        raise bad_filter(declared.name, f"{declared.name} is one of {', '.join(declared.choices)}.", declared.choices)
    if declared.kind is FilterKind.CODE and not _CODE.match(value):
        raise bad_filter(declared.name, f"{declared.name} is a name of at most 40 letters, digits, dots and hyphens.")
    if declared.kind is FilterKind.PERSON and not _LOGIN.match(value):
        raise bad_filter(declared.name, f"{declared.name} is a login.")
    if declared.kind is FilterKind.TIME and not _is_moment(value):
        raise bad_filter(declared.name, f"{declared.name} is a moment with its offset, as 2026-11-24T22:00:00+01:00.")
    if declared.kind is FilterKind.AMOUNT and not re.fullmatch(r"[0-9]{1,15}", value, re.ASCII):
        raise bad_filter(declared.name, f"{declared.name} is an amount in minor units.")


def _is_moment(value: str) -> bool:
    """Whether it is a moment of ISO 8601 that says from which zone it is."""
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_date(value: str) -> bool:
    """Whether a gaming day may have this name. Nothing need have been played then: a month may begin on a holiday."""
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def bad_filter(name: str, detail: str, choices: Sequence[str] = ()) -> Unprocessable:
    """What is wrong with a filter: its name, why, and what it takes."""
    return Unprocessable(detail, code="report_filter", filter=name, choices=list(choices))


def _require_form(report: Report, group_by: str, formats: Sequence[str], style: Mapping[str, str]) -> None:
    if group_by and group_by not in report.groups():
        raise Unprocessable(
            f"Report {report.id} is not summed by {group_by}.", code="report_group", choices=list(report.groups())
        )
    for one in formats:
        if one not in report.formats:
            raise Unprocessable(
                f"Report {report.id} has no format {one}.", code="report_format", choices=[*map(str, report.formats)]
            )
    if style["separator"] == "comma" and style["decimal"] == "comma" and Format.CSV in formats:
        raise Unprocessable("Separator and decimal mark of a CSV file must differ.", code="report_style")


def first_copy(formats: Iterable[str]) -> int:
    """Which paper a run is that repeats no other one: the original; 0 where it makes none."""
    return int(any(one in PAPER for one in formats))


def _copy(
    house: House, repeats: int | None, filters: Mapping[str, str], group_by: str, formats: Sequence[str]
) -> int:  # fmt: skip
    """Which paper of one moment a run is: one more than runs of this moment before, with the same filters, that were
    asked for paper."""
    if repeats is None or not first_copy(formats):
        return first_copy(formats)
    family = {_original(house, repeats)}
    papers = 0
    repeating = ReportRun.objects.filter(house=house, report=find(house, repeats).report, number__gte=min(family))
    for run in repeating.order_by("number"):
        if run.number in family or run.repeats in family:
            family.add(run.number)
            papers += int(run.copy > 0 and (run.filters, run.group_by) == (filters, group_by))
    return papers + 1


def _original(house: House, number: int) -> int:
    """The run whose moment this one repeats, itself where it has one of its own."""
    run = find(house, number)
    return number if run.repeats is None else _original(house, run.repeats)


def _moment_of(house: House, report: Report, number: int) -> dict[str, Any]:
    """The moment that a run has. Raises NotFound, Conflict report_other."""
    other = find(house, number)
    if other.report != report.id or other.as_of is None:
        raise Conflict(
            f"Run {number} is of {other.report}" + ("." if other.as_of else " and has no moment yet."),
            code="report_other",
            report=other.report,
        )
    found: dict[str, Any] = other.as_of
    return found


def find(house: House, number: int) -> ReportRun:
    """One run. Raises NotFound."""
    found = ReportRun.objects.filter(house=house, number=number).select_related("requested_by").first()
    if found is None:
        raise NotFound(f"This house has no run {number} of a report.")
    return found


def readable(house: House, staff: Staff, number: int) -> ReportRun:
    """One run, if this person may read its report now, and all that is in it. Raises NotFound, Forbidden."""
    run = find(house, number)
    report = registry.get(run.report)
    role_for(staff, report.roles)
    if _is_blind(staff, report) and run.filters.get(FIGURES.name) != COUNTED:
        raise Forbidden(f"Run {number} has figures that you may have to count without knowing them.")
    return run


def visible(house: House, staff: Staff) -> QuerySet[ReportRun]:
    """The runs of reports that a person may read."""
    held = set(staff.roles)
    allowed = [report for report in registry.reports().values() if held & set(report.roles)]
    seen = Q(report__in=[report.id for report in allowed if not _is_blind(staff, report)])
    blind = [report.id for report in allowed if _is_blind(staff, report)]
    seen |= Q(report__in=blind, **{f"filters__{FIGURES.name}": COUNTED})
    return ReportRun.objects.filter(seen, house=house).select_related("requested_by")


def file_of(house: House, staff: Staff, number: int, name: str) -> tuple[ReportFile, Iterator[bytes]]:
    """A file of a run, and its bytes in stretches, if this person may read the report now. Raises NotFound,
    Forbidden, Conflict report_not_made while there is none, Gone file_deleted."""
    run = readable(house, staff, number)
    if run.state != RunState.MADE:
        raise Conflict(f"Run {number} is {run.state}.", code="report_not_made", state=run.state)
    found = run.files.filter(name=name).first()
    if found is None:
        raise NotFound(f"Run {number} has no file {name}.")
    if found.size and not ReportPart.objects.filter(file=found).exists():
        raise Gone(f"File {name} of run {number} was deleted, as it need not be kept.", code="file_deleted")
    return found, content_of(found)


def content_of(file: ReportFile) -> Iterator[bytes]:
    """Read part by part: no more than one is in memory."""
    parts = ReportPart.objects.filter(file=file)
    for number in range(parts.count()):
        yield bytes(parts.values_list("content", flat=True).get(number=number))


def describe(run: ReportRun) -> dict[str, Any]:
    """A run as answers have it."""
    return {
        "run": run.number,
        "version": run.version,
        "report": run.report,
        "report_version": run.report_version,
        "filters": run.filters,
        "group_by": run.group_by,
        "formats": run.formats,
        "style": run.style,
        "repeats": run.repeats,
        "copy": run.copy,
        "sensitivity": str(registry.get(run.report).sensitivity),
        "requested_by": run.requested_by.login,
        "requested_at": utc(run.requested_at),
        "state": run.state,
        "as_of": run.as_of,
        "row_count": run.row_count,
        "equalities": run.equalities,
        "failure": run.failure,
        "ended_at": None if run.ended_at is None else utc(run.ended_at),
        "files": [{"name": one.name, "size": one.size, "sha256": one.sha256} for one in run.files.order_by("name")],
    }
