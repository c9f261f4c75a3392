"""Schedules of reports and of packages, and what they have sent."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    ReadOperation,
    Reason,
    StrictChoice,
    StrictInput,
    StrictPattern,
    StrictText,
    WriteOperation,
    context_of,
    documented,
    known_parameters,
)
from casino.api.parts import number_of
from casino.api.tables import ReceiptOut
from casino.core.commands import Answer, Command
from casino.reports import destinations, schedules
from casino.reports.frame.report import Format
from casino.reports.models import Cadence, Delivery, DeliveryState, ReportSchedule
from casino.reports.readers import SETTERS, Lost
from casino.staff.models import Role

TAG = "report runs"
#: Who may know what is sent where.
_KNOW = (Role.ADMIN, Role.MANAGER, Role.AUDITOR, Role.COMPLIANCE)
_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}\Z"


class ScheduleOut(serializers.Serializer[Any]):
    """A version of a schedule."""

    schedule = serializers.CharField(help_text="Name of the schedule.")
    number = serializers.IntegerField(help_text="Number of the version at its name, from 1.")
    valid_from = serializers.DateTimeField(help_text="From when on it is in force, until a later one begins.")
    what = serializers.CharField(help_text="Id of a report, or `package`: the package of a gaming day.")
    cadence = serializers.ChoiceField(choices=Cadence.choices, help_text="When it falls due.")
    time_of_day = serializers.CharField(help_text="From which time of the house's zone on; empty: by the day's close.")
    formats = serializers.ListField(
        child=serializers.ChoiceField(choices=[one.value for one in Format]), help_text="Formats of its files."
    )
    filters = serializers.DictField(
        child=serializers.CharField(), help_text="What its runs ask for, beside the days of the period."
    )
    destinations = serializers.ListField(child=serializers.CharField(), help_text="Names of destinations.")
    set_by = serializers.CharField(help_text="Login of the person who proposed it.")
    approval = serializers.IntegerField(
        allow_null=True, help_text="Number of the approval; null where none was needed."
    )
    stopped = serializers.ChoiceField(
        choices=[*Lost], allow_blank=True, help_text="Why it does not run any more; empty: it has not stopped."
    )
    stopped_at = serializers.DateTimeField(allow_null=True, help_text="When it stopped; null: it has not.")


class ScheduleSetOut(ScheduleOut):
    """The version that was added."""

    audit = ReceiptOut()


class ScheduleList(serializers.Serializer[Any]):
    """Schedules and destinations."""

    schedules = ScheduleOut(many=True, help_text="Every version, by name and beginning.")
    destinations = serializers.ListField(
        child=serializers.CharField(), help_text="Names of the destinations that the operator has set up."
    )


class DeliveryOut(serializers.Serializer[Any]):
    """Files on their way to one destination."""

    delivery = number_of("the delivery, from 1")
    schedule = serializers.CharField(help_text="Name of the schedule.")
    number = serializers.IntegerField(help_text="Number of the version of the schedule.")
    period = serializers.CharField(help_text="The gaming day, date or month that it is for.")
    destination = serializers.CharField(help_text="Name of the destination.")
    run = serializers.IntegerField(allow_null=True, help_text="The run whose files are sent; null: the day's package.")
    state = serializers.ChoiceField(choices=DeliveryState.choices, help_text="Whether they have arrived.")
    attempts = number_of("attempts so far")
    problem = serializers.CharField(help_text="Stable code of why the last attempt failed; empty if it did not.")
    created_at = serializers.DateTimeField(help_text="When it fell due.")
    next_at = serializers.DateTimeField(allow_null=True, help_text="When it is tried next; null if it has ended.")
    ended_at = serializers.DateTimeField(allow_null=True, help_text="When it arrived, failed or was withdrawn.")


class DeliveryRow(DeliveryOut):
    """A delivery in a list."""

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """The same members as everywhere."""
        return schedules.described(instance)


@documented(
    "setReportSchedule",
    summary="Set a schedule of a report",
    answers=ScheduleSetOut,
    status=201,
    tag=TAG,
    refuses=[
        "not_found", "schedule_in_the_past", "schedule_cadence", "schedule_report", "report_format",
        "report_filter", "unknown_destination", "schedule_reader",
    ],
)  # fmt: skip
class SetSchedule(WriteOperation):
    """What is sent where, and when: a report of the gaming day that was closed (`day_close`), of the last closed one on
    every date (`daily`), of the month before (`monthly`), or the day's package. A new version takes the place of the
    one before from its beginning on; `off` ends the schedule, and withdraws what was not sent yet. `filters` are those
    of a run, and are checked now as a run's are; `from` and `until` are the period's. Reports that name persons are not
    sent. Who sets it, and who approves it, must be able to read what is sent, and it stops when one of them may not any
    more (`stopped`); ending it takes no such right. Needs no If-Match: no version is edited."""

    @extend_schema_serializer(component_name="ReportScheduleInput")
    class Input(StrictInput):
        """What is sent, when, in which formats, where to."""

        what = StrictText(max_length=40, help_text="Id of a report, or `package`.")
        cadence = StrictChoice(choices=Cadence.choices, help_text="When it falls due.")
        time_of_day = StrictPattern(
            r"^([01][0-9]|2[0-3]):[0-5][0-9]\Z",
            default="07:00",
            help_text="From which time of the house's zone on it is due, if it does not follow the day's close.",
        )
        formats = serializers.ListField(
            child=StrictChoice(choices=[one.value for one in Format]),
            default=list,
            max_length=len(Format),
            help_text="Formats of the files, `pdf` where none is named; the package has its own.",
        )
        filters = serializers.DictField(
            child=StrictText(max_length=60), default=dict, help_text="Values by name of the filter, without days."
        )
        destinations = serializers.ListField(
            child=StrictPattern(_NAME), min_length=1, max_length=10, help_text="Names of destinations."
        )
        valid_from = serializers.DateTimeField(
            required=False, help_text="From when on, with its time zone; at once where it is left out."
        )
        reason = Reason()

    sensitive = False
    roles = SETTERS
    approvable = True
    versioned = False
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Set."""
        return schedules.put(
            command=command,
            name=path["schedule"],
            what=data["what"],
            cadence=data["cadence"],
            time_of_day=data["time_of_day"],
            formats=data["formats"],
            filters=data["filters"],
            to=data["destinations"],
            valid_from=data.get("valid_from"),
            reason=data["reason"],
        )


@documented("listReportSchedules", summary="List schedules of reports", answers=ScheduleList, tag=TAG)
class Schedules(ReadOperation):
    """Every version of every schedule, and the destinations that may be named."""

    sensitive = True
    roles = _KNOW

    def get(self, request: Request) -> Response:
        """All of them."""
        known_parameters(request)
        house = context_of(request).house
        rows = ReportSchedule.objects.filter(house=house).select_related("set_by")
        found = [schedules.describe(row) for row in rows.order_by("name", "valid_from", "number")]
        return Response(ScheduleList({"schedules": found, "destinations": destinations.names(house.code)}).data)


@documented("listReportDeliveries", summary="List deliveries of reports", tag=TAG)
class Deliveries(CursorList):
    """What schedules have sent, or are to send. `from` and `until` select by the time at which they fell due."""

    sensitive = True
    roles = _KNOW
    model = Delivery
    serializer_class = DeliveryRow
    filters = {"schedule": "schedule", "state": "state", "destination": "destination"}
    choices = {"state": tuple(DeliveryState.values)}
    time = "created_at"


urls = [
    path("report-schedules", Schedules.as_view()),
    path("report-schedules/<slug:schedule>", SetSchedule.as_view()),
    path("report-deliveries", Deliveries.as_view()),
]
