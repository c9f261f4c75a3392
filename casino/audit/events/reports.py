"""Reports that people have made into files."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from casino.audit.events.fields import JsonObject
from casino.audit.events.registry import AuditEvent, event

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
    style: Annotated[Mapping[str, str], "how files are written: `separator`, `decimal`"]
    repeats: Annotated[int | None, "number of the run whose moment is repeated; absent: it has its own"] = None


@event("report.made", chain="house")
class ReportMade(AuditEvent):
    """The files of a report were made."""

    run: Run
    as_of: Annotated[JsonObject, "`transaction` and `event` up to which it knows everything, `checkpoint`, `at`"]
    row_count: Annotated[int, "rows of all sections"]
    equalities: Annotated[Sequence[JsonObject], "`equality`, `one`, `other`, `holds`"]
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
