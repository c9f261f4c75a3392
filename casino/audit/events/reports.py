"""Reports that people have made into files."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from casino.audit.events.fields import JsonObject, Reason
from casino.audit.events.registry import ApprovedEvent, AuditEvent, event

Run = Annotated[int, "number of the run, from 1"]


@event("report.requested", chain="house")
class ReportRequested(AuditEvent):
    """Somebody asked for a report."""

    run: Run
    report: Annotated[str, "id of the report"]
    report_version: Annotated[int, "version of the report"]
    filters: Annotated[Mapping[str, str], "what was asked for"]
    group_by: Annotated[str, "the column that is summed by; empty: none"]
    formats: Annotated[Sequence[str], "formats of the files"]
    style: Annotated[Mapping[str, str], "how files are written: `separator`, `decimal`, `language`"]
    repeats: Annotated[int | None, "number of the run whose moment is repeated; absent: it has its own"] = None
    copy: Annotated[int, "which paper of one moment it is; 1 is the original, 0: no format of it is printed"]
    sensitivity: Annotated[str, "class of the report: `P0` no person, `P1` staff, `P2` players, `P3` persons"]
    behalf: Annotated[str | None, "login of the person who set the schedule; absent: the actor asked"] = None


@event("report.made", chain="house")
class ReportMade(AuditEvent):
    """The files of a report were made."""

    run: Run
    as_of: Annotated[
        JsonObject, "`transaction` and `event` (`chain`, `seq`) up to which it knows everything, `checkpoint`, `at`"
    ]
    row_count: Annotated[int, "rows of all sections"]
    equalities: Annotated[Sequence[JsonObject], "`equality`, `one`, `other`, `type` (money, pieces, count), `holds`"]
    files: Annotated[Sequence[JsonObject], "`name`, `size` (bytes), `sha256` (hexadecimal)"]


@event("report.failed", chain="house")
class ReportFailed(AuditEvent):
    """A report could not be made; nothing of it is kept."""

    run: Run
    failure: Annotated[str, "stable code of why"]


@event("report.cancelled", chain="house")
class ReportCancelled(AuditEvent):
    """Somebody cancelled a run that was not made yet."""

    run: Run


Schedule = Annotated[str, "name of the schedule"]
Number = Annotated[int, "number of the delivery, from 1"]
Attempt = Annotated[int, "number of the attempt, from 1"]
Destination = Annotated[str, "name of the destination"]


@event("report.schedule_set", chain="house")
class ScheduleSet(ApprovedEvent):
    """What is sent where, and when, was set from a moment on; what was set before is kept."""

    schedule: Schedule
    number: Annotated[int, "number of the version at its name, from 1"]
    valid_from: Annotated[str, "from when on it is in force, ISO 8601, UTC"]
    what: Annotated[str, "id of a report, or `package`"]
    cadence: Annotated[str, "`day_close`, `daily`, `monthly` or `off`"]
    time_of_day: Annotated[str, "from which time of the house's zone on; empty: it follows the day's close"]
    formats: Annotated[Sequence[str], "formats of the files"]
    filters: Annotated[Mapping[str, str], "values by name of the filter, without the days, which are the period's"]
    destinations: Annotated[Sequence[str], "names of destinations"]
    withdrawn: Annotated[Sequence[int], "numbers of deliveries that are not sent any more, because it has ended"]
    reason: Reason


@event("report.schedule_stopped", chain="house")
class ScheduleStopped(AuditEvent):
    """A schedule stopped: who has set or approved it may not read any more what it sends."""

    schedule: Schedule
    number: Annotated[int, "number of the version that was in force"]
    problem: Annotated[str, "`setter_left`, `setter_may_not_read`, `approver_left` or `approver_may_not_read`"]
    withdrawn: Annotated[Sequence[int], "numbers of deliveries that are not sent any more"]


@event("report.schedule_fired", chain="house")
class ScheduleFired(AuditEvent):
    """A period of a schedule fell due, and files are to be sent."""

    schedule: Schedule
    number: Annotated[int, "number of the version"]
    period: Annotated[str, "the gaming day, date or month"]
    run: Annotated[int | None, "number of the run that makes the files; absent: the package of the day is sent"] = None
    deliveries: Annotated[Mapping[str, str], "names of destinations by the number of the delivery"]


@event("report.delivered", chain="house")
class DeliverySent(AuditEvent):
    """A destination has taken files."""

    delivery: Number
    attempt: Attempt
    destination: Destination
    files: Annotated[Sequence[JsonObject], "`name`, `size` (bytes), `sha256` (hexadecimal)"]


@event("report.delivery_failed", chain="house")
class DeliveryFailed(AuditEvent):
    """An attempt to send files failed. It is tried again, unless the files will never be made."""

    delivery: Number
    attempt: Attempt
    destination: Destination
    problem: Annotated[str, "stable code of why"]
