"""The catalogue of reports, and runs that make files of them."""

from typing import Any

from django.http import StreamingHttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.negotiation import AsItIs
from casino.api.http.operations import (
    ReadOperation,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictText,
    WriteOperation,
    context_of,
    documented,
    known_parameters,
    signed_in,
)
from casino.api.parts import number_of
from casino.api.tables import ReceiptOut
from casino.core.commands import Answer, Command
from casino.core.languages import ENGLISH, NAMES
from casino.reports import runs
from casino.reports.frame import registry
from casino.reports.frame.report import SUMMED, FilterKind, Format, Report, Retention, Sensitivity
from casino.reports.models import ReportRun, RunState
from casino.reports.render.style import DECIMALS, SEPARATORS, style_of
from casino.staff.models import Role

TAG = "report runs"
#: Everybody who may read some report; each report names its own.
READERS_OF_SOME = tuple(sorted({role for report in registry.reports().values() for role in report.roles}, key=str))
CSV, PDF = "text/csv", "application/pdf"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
SVG = "image/svg+xml"
_FILE_TYPES = {"json": "application/json", "csv": CSV, "xlsx": XLSX, "pdf": PDF, "svg": SVG}


class ReportFilter(serializers.Serializer[Any]):
    """A filter of a report."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=[kind.value for kind in FilterKind], help_text="What it takes.")
    text = serializers.CharField(help_text="What it does.")
    required = serializers.BooleanField(help_text="Whether every run names it.")  # type: ignore[assignment]
    choices = serializers.ListField(child=serializers.CharField(), help_text="Its values, if they are few.")


class ReportColumn(serializers.Serializer[Any]):
    """A column of a section."""

    name = serializers.CharField()
    title = serializers.CharField(help_text="Its title for people.")
    type = serializers.CharField(
        help_text="`money` (minor units), `pieces`, `count`, `decimal` (millionths), `text`, `ref`, `time` and others."
    )


class ReportSection(serializers.Serializer[Any]):
    """A section of a report: one table."""

    section = serializers.CharField(help_text="Its name in files.")
    title = serializers.CharField(help_text="Its title for people.")
    columns = ReportColumn(many=True, help_text="In the order of the files.")
    groups = serializers.ListField(child=serializers.CharField(), help_text="Columns by which it can be summed.")


class ReportChart(serializers.Serializer[Any]):
    """A chart of a report."""

    chart = serializers.CharField(help_text="Its name in files.")
    title = serializers.CharField(help_text="Its title for people.")
    section = serializers.CharField(help_text="The section of which it is drawn.")


class ReportOut(serializers.Serializer[Any]):
    """A report of the catalogue."""

    report = serializers.CharField(help_text="Its id.")
    number = serializers.CharField(help_text="Its place in the catalogue.")
    version = number_of("the version of its columns")
    title = serializers.CharField(help_text="Its title for people.")
    text = serializers.CharField(help_text="What it shows.")
    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices), help_text="Who may read it.")
    sensitivity = serializers.ChoiceField(choices=[one.value for one in Sensitivity], help_text="Whom it names.")
    retention = serializers.ChoiceField(choices=[one.value for one in Retention], help_text="How long files are kept.")
    formats = serializers.ListField(
        child=serializers.ChoiceField(choices=[one.value for one in Format]), help_text="Formats of its files."
    )
    filters = ReportFilter(many=True, help_text="What a run may ask for.")
    charts = ReportChart(many=True, help_text="What is drawn of it, in JSON, PDF and SVG.")
    sections = ReportSection(many=True, help_text="Its tables.")


class ReportList(serializers.Serializer[Any]):
    """Reports that the person may read."""

    reports = ReportOut(many=True, help_text="In the order of the catalogue.")


@documented("listReports", summary="List the reports that you may read", answers=ReportList, tag=TAG)
class Reports(ReadOperation):
    """What can be asked for with `POST reports/{report}/runs`: reports with their filters, columns and formats."""

    sensitive = False
    roles = READERS_OF_SOME

    def get(self, request: Request) -> Response:
        """The catalogue."""
        known_parameters(request)
        held = set(signed_in(request)[0].roles)
        found = [described(report) for report in registry.reports().values() if held & set(report.roles)]
        return Response({"reports": found})


def described(report: Report) -> dict[str, Any]:
    """A report as the catalogue shows it."""
    return {
        "report": report.id,
        "number": report.number,
        "version": report.version,
        "title": report.title,
        "text": report.text,
        "roles": [str(role) for role in report.roles],
        "sensitivity": str(report.sensitivity),
        "retention": str(report.retention),
        "formats": [str(one) for one in report.formats],
        "filters": [
            {
                "name": one.name,
                "kind": str(one.kind),
                "text": one.text,
                "required": one.required,
                "choices": list(one.choices),
            }
            for one in report.filters
        ],
        "charts": [{"chart": one.name, "title": one.title, "section": one.section} for one in report.charts],
        "sections": [
            {
                "section": section.name,
                "title": section.title,
                "columns": [
                    {"name": column.name, "title": column.title, "type": str(column.type)} for column in section.columns
                ],
                "groups": list(section.sums_by()),
            }
            for section in report.sections
        ],
    }


class RunCheckpoint(serializers.Serializer[Any]):
    """A checkpoint of the house's audit log."""

    epoch = serializers.IntegerField()
    size = number_of("events that it covers")
    root = serializers.CharField(help_text="Root of the log, hexadecimal.")  # type: ignore[assignment]


class RunEvent(serializers.Serializer[Any]):
    """An event, as the trail names it."""

    chain = serializers.CharField(help_text="Its chain.")
    seq = serializers.IntegerField(help_text="Its number in the chain.")


class RunMoment(serializers.Serializer[Any]):
    """What a run knows."""

    transaction = serializers.IntegerField(help_text="The last ledger transaction; 0: there was none.")
    event = RunEvent(allow_null=True, help_text="The last event; null: there was none.")
    checkpoint = RunCheckpoint(allow_null=True, help_text="The newest checkpoint then; null: there was none.")
    at = serializers.DateTimeField(help_text="When that was.")


class RunEquality(serializers.Serializer[Any]):
    """Two sums that must be equal."""

    equality = serializers.CharField(help_text="What must be equal.")
    one = serializers.IntegerField(help_text="One sum; money in minor units.")
    other = serializers.IntegerField(help_text="The other sum.")
    type = serializers.ChoiceField(
        choices=[one.value for one in SUMMED], required=False,
        help_text="What they are sums of: money, pieces of chips, anything else. Absent in runs of older versions.",
    )  # fmt: skip
    holds = serializers.BooleanField(help_text="Whether they are equal.")


class RunFile(serializers.Serializer[Any]):
    """A file of a run."""

    name = serializers.CharField()
    size = number_of("bytes")
    sha256 = serializers.CharField(help_text="SHA-256 of the file, hexadecimal.")


class RunStyle(serializers.Serializer[Any]):
    """How files are written."""

    separator = serializers.ChoiceField(choices=list(SEPARATORS), help_text="Between the columns of a CSV file.")
    decimal = serializers.ChoiceField(choices=list(DECIMALS), help_text="Decimal mark in CSV and PDF.")
    language = serializers.ChoiceField(choices=list(NAMES), help_text="Language of titles and words, ISO 639-1.")


class RunOut(serializers.Serializer[Any]):
    """A run of a report."""

    run = number_of("the run, from 1")
    version = serializers.IntegerField()
    report = serializers.CharField()
    report_version = number_of("the version of the report's columns")
    filters = serializers.DictField(child=serializers.CharField(), help_text="What was asked for.")
    group_by = serializers.CharField(help_text="The column, `week` or `month` that is summed by; empty: none.")
    formats = serializers.ListField(
        child=serializers.ChoiceField(choices=[one.value for one in Format]), help_text="Formats of its files."
    )
    style = RunStyle(help_text="How the files are written.")  # type: ignore[assignment]
    repeats = serializers.IntegerField(allow_null=True, help_text="The run whose moment is repeated; null: none.")
    copy = number_of("the paper of this moment; 1 is the original, 0: nothing of it is printed")
    sensitivity = serializers.ChoiceField(choices=[one.value for one in Sensitivity], help_text="Whom it names.")
    requested_by = serializers.CharField(help_text="Login of the person who asked for it.")
    requested_at = serializers.DateTimeField(help_text="When it was asked for.")
    state = serializers.ChoiceField(choices=RunState.choices, help_text="Whether it waits, was made or has ended.")
    as_of = RunMoment(allow_null=True, help_text="What it knows; null until a worker has begun.")
    row_count = number_of("rows so far")
    equalities = RunEquality(many=True, allow_null=True, help_text="What must be equal; null while it is not made.")
    failure = serializers.CharField(
        help_text="Why it failed: `report_changed` (its columns are others now), `took_too_long`, `given_up` (it "
        "failed several times; the server's log says how); empty if it did not."
    )
    ended_at = serializers.DateTimeField(allow_null=True, help_text="When it was made, failed or cancelled.")
    files = RunFile(many=True, help_text="Its files, by name; they are the manifest.")


class RunChangedOut(RunOut):
    """A run that was asked for or cancelled."""

    audit = ReceiptOut()


class RunRow(RunOut):
    """A run in a list."""

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """The same members as in the other answers."""
        return runs.describe(instance)


@documented(
    "runReport",
    summary="Ask for files of a report",
    answers=RunChangedOut,
    status=202,
    tag=TAG,
    refuses=[
        "not_found", "report_filter", "report_group", "report_format", "report_style", "report_other",
    ],
)  # fmt: skip
class RunReport(WriteOperation):
    """A worker makes the files; `GET report-runs/{run}` shows how far it is. With `repeats` the report is made as of
    the moment of an earlier run, from the same rows, however much was booked since. Needs no If-Match: the run does not
    exist yet."""

    @extend_schema_serializer(component_name="RunReportInput")
    class Input(StrictInput):
        """What is asked for."""

        filters = serializers.DictField(
            child=StrictText(max_length=60), default=dict, help_text="Values by name of the filter."
        )
        group_by = StrictText(
            max_length=40,
            allow_blank=True,
            default="",
            help_text="A column to sum by, or `week` or `month` of the gaming day.",
        )
        formats = serializers.ListField(
            child=StrictChoice(choices=[one.value for one in Format]),
            min_length=1,
            max_length=len(Format),
            help_text="Formats of its files.",
        )
        language = StrictChoice(
            choices=list(NAMES), default=ENGLISH, help_text="Language of titles and words, ISO 639-1."
        )
        separator = StrictChoice(
            choices=list(SEPARATORS), default=None, allow_null=True,
            help_text="Between the columns of a CSV file; absent: `semicolon` where the decimal mark is a comma.",
        )  # fmt: skip
        decimal = StrictChoice(
            choices=list(DECIMALS), default=None, allow_null=True,
            help_text="Decimal mark in CSV and PDF; absent: as the language writes it.",
        )  # fmt: skip
        repeats = StrictInteger(
            min_value=1, max_value=10**9, default=None, allow_null=True, help_text="A run whose moment is repeated."
        )

    roles = READERS_OF_SOME
    versioned = False
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Ask for it."""
        return runs.request(
            command=command,
            name=path["report"],
            filters=data["filters"],
            group_by=data["group_by"],
            formats=list(dict.fromkeys(data["formats"])),
            style=style_of(data["language"], data["separator"], data["decimal"]),
            repeats=data["repeats"],
        )


@documented("listReportRuns", summary="List runs of reports", tag=TAG)
class Runs(CursorList):
    """The runs of the reports that you may read, with their files. `from` and `until` select by the time at which they
    were asked for."""

    sensitive = True
    roles = READERS_OF_SOME
    model = ReportRun
    serializer_class = RunRow
    filters = {"report": "report", "state": "state"}
    choices = {"state": tuple(RunState.values)}
    time = "requested_at"

    def rows(self) -> Any:
        """Only of reports that the person may read."""
        person = signed_in(self.request)[0]
        return runs.visible(person.house, person)


@documented(
    "readReportRun", summary="Read a run of a report", answers=RunOut, tag=TAG, refuses=["not_found"], etag=True
)
class RunDetail(ReadOperation):
    """How far it is, what must be equal in it and whether it is, and its files with their SHA-256."""

    sensitive = True
    roles = READERS_OF_SOME

    def get(self, request: Request, run: int) -> Response:
        """The run."""
        known_parameters(request)
        by = context_of(request)
        found = runs.readable(by.house, by.staff, run)
        return Response(runs.describe(found), headers={"ETag": f'"{found.version}"'})


@documented(
    "cancelReportRun",
    summary="Cancel a run of a report",
    answers=RunChangedOut,
    tag=TAG,
    refuses=["not_found", "report_run_ended"],
)
class CancelRun(WriteOperation):
    """A run that is not made yet ends, and nothing of it is kept."""

    roles = READERS_OF_SOME

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Cancel."""
        return runs.cancel(command=command, number=path["run"])


@documented(
    "readReportFile",
    summary="Download a file of a report",
    answers={(200, kind): OpenApiTypes.BINARY for kind in _FILE_TYPES.values()},
    tag=TAG,
    refuses=["not_found", "report_not_made", "file_deleted"],
)
class RunFileContent(ReadOperation):
    """The file, as it was made. Whether you may read the report is checked again. The header File-SHA256 has what
    the event `report.made` records."""

    sensitive = True
    roles = READERS_OF_SOME
    content_negotiation_class = AsItIs

    def get(self, request: Request, run: int, name: str) -> StreamingHttpResponse:
        """The file."""
        known_parameters(request)
        by = context_of(request)
        file, content = runs.file_of(by.house, by.staff, run, name)
        kind = _FILE_TYPES[name.rpartition(".")[2]]
        return StreamingHttpResponse(
            content,
            content_type=kind,
            headers={
                "Content-Disposition": f'attachment; filename="{by.house.code}-{run}-{name}"',
                "Content-Length": str(file.size),
                "File-SHA256": file.sha256,
                "Cache-Control": "private, max-age=31536000, immutable",
            },
        )


urls = [
    path("reports", Reports.as_view()),
    path("reports/<slug:report>/runs", RunReport.as_view()),
    path("report-runs", Runs.as_view()),
    path("report-runs/<int:run>", RunDetail.as_view()),
    path("report-runs/<int:run>/cancel", CancelRun.as_view()),
    path("report-runs/<int:run>/files/<str:name>", RunFileContent.as_view()),
]
