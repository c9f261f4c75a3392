"""Gaming days: opened and closed by the floor, read by whoever answers for them."""

from datetime import date
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    IN_CHARGE,
    OVERSIGHT,
    ReadOperation,
    StrictInput,
    StrictPattern,
    WriteOperation,
    context_of,
    documented,
    problems,
    signed_in,
)
from casino.core.write import Answer, Command
from casino.days import services
from casino.reports import days as reports
from casino.staff.models import Role

TAG = "days"
MAY_READ = (*OVERSIGHT, Role.FLOOR)


class _Total(serializers.Serializer[Any]):
    """Debits and credits of one commodity."""

    debit = serializers.IntegerField()
    credit = serializers.IntegerField()


class DayOut(serializers.Serializer[Any]):
    """A gaming day; `snapshot` is the id of its closing snapshot, `totals` the snapshot's by commodity."""

    day = serializers.CharField()
    version = serializers.IntegerField()
    opened_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    snapshot = serializers.IntegerField(allow_null=True)
    totals = serializers.DictField(child=_Total(), required=False)
    audit = serializers.JSONField(required=False)


class _Date(StrictPattern):
    """An ISO date."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}\Z", **kwargs)

    def run_validators(self, value: Any) -> None:
        """Its form, and that there is such a day. Raises ValidationError."""
        super().run_validators(value)
        try:
            date.fromisoformat(value)
        except ValueError as error:
            raise serializers.ValidationError(f"There is no such date: {error}.") from error


class _DayRow(DayOut):
    """A gaming day in a list."""

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """The day as everywhere."""
        return reports.of_row(instance).as_json()


@documented("openDay", summary="Open a gaming day", answers=DayOut, status=201, tag=TAG)
class Days(WriteOperation, CursorList):
    """The gaming days, the first one first, and opening one. No If-Match: the day does not exist yet."""

    sensitive = False

    @extend_schema_serializer(component_name="OpenDayInput")
    class Input(StrictInput):
        """The date on which the day begins."""

        day = _Date()

    roles = IN_CHARGE
    readers = MAY_READ
    versioned = False
    input = Input
    serializer_class = _DayRow

    def rows(self) -> Any:
        """The days of the house."""
        return reports.rows(signed_in(self.request)[0].house)

    @extend_schema(
        operation_id="listDays",
        summary="List gaming days",
        tags=[TAG],
        request=None,
        responses={200: DayOut(many=True), **problems(400, 401, 403, 404)},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A page of days."""
        return self.list(request, *args, **kwargs)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Open."""
        return services.open_day(command=command, name=data["day"])


@documented("closeDay", summary="Close a gaming day", answers=DayOut, tag=TAG)
class CloseDay(WriteOperation):
    """Close, for good."""

    roles = IN_CHARGE

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Close."""
        return services.close_day(command=command, name=path["day"])


class DayDetail(ReadOperation):
    """One day with its turnover and, once it is closed, its trial balance."""

    sensitive = True
    roles = MAY_READ

    @extend_schema(
        operation_id="readDay",
        summary="Read a gaming day's turnover and closing balance",
        tags=[TAG],
        responses={200: OpenApiTypes.OBJECT, **problems(401, 403, 404)},
    )
    def get(self, request: Request, day: str) -> Response:
        """The day."""
        found, body = reports.report(context_of(request).house, day)
        return Response(body, headers={"ETag": f'"{found.version}"'})
