"""Gaming days: the floor opens and closes them; floor, auditor and administrator read them."""

from datetime import date
from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
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
    signed_in,
)
from casino.api.parts import Sides, SnapshotFinding, TrialBalance, minor_units, number_of
from casino.api.tables import ReceiptOut
from casino.core.write import Answer, Command
from casino.days import services
from casino.reports import days as reports
from casino.staff.models import Role

TAG = "days"
MAY_READ = (*OVERSIGHT, Role.FLOOR)


class DayOut(serializers.Serializer[Any]):
    """A gaming day; `snapshot` is the id of its closing snapshot."""

    day = serializers.CharField()
    version = serializers.IntegerField(help_text="1 while the day is open, then 2.")
    opened_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    snapshot = serializers.IntegerField(allow_null=True)


class DayOpenedOut(DayOut):
    """The day that was opened."""

    audit = ReceiptOut()


class DayClosedOut(DayOut):
    """The day that was closed."""

    totals = serializers.DictField(child=Sides(), help_text="Totals of the closing snapshot by commodity.")
    audit = ReceiptOut()


class Turnover(serializers.Serializer[Any]):
    """What a day turned over, in minor units."""

    handle = serializers.IntegerField()
    tax = serializers.IntegerField()
    bonus = serializers.IntegerField()
    buy_ins = minor_units("Cash taken for chips; null where it is withheld", allow_null=True)
    cash_outs = minor_units("Cash paid for chips; null where it is withheld", allow_null=True)
    hand_count = number_of("hands that were settled in the day")


class AccountTurnover(serializers.Serializer[Any]):
    """What one kind of account turned over in one commodity; chips in pieces."""

    commodity = serializers.CharField()
    number = serializers.CharField(help_text="Number of the account in the chart of accounts.")
    kind = serializers.CharField(help_text="Name of the account in the chart of accounts.")
    debit = serializers.IntegerField()
    credit = serializers.IntegerField()
    entry_count = number_of("entries of the day")


class TableTurnover(serializers.Serializer[Any]):
    """What one table turned over, in minor units."""

    table = serializers.CharField()
    hand_count = number_of("hands that were settled in the day")
    handle = serializers.IntegerField()
    tax = serializers.IntegerField()
    bonus = serializers.IntegerField()
    buy_ins = minor_units("Cash taken for chips")


class DrawerTurnover(serializers.Serializer[Any]):
    """What one drawer turned over, in minor units."""

    drawer = serializers.CharField()
    buy_ins = minor_units("Cash taken for chips")
    cash_outs = minor_units("Cash paid for chips")


class DayReportOut(DayOut):
    """A gaming day with its turnover, and its trial balance once it is closed. While a drawer is open, the floor does
    not see the figures from which its contents follow: a drawer is counted without knowing them."""

    currency = serializers.CharField()
    turnover = Turnover(help_text="Of the whole house.")
    accounts = AccountTurnover(
        many=True, allow_null=True, help_text="By commodity and number of the account; null where it is withheld."
    )
    tables = TableTurnover(many=True, help_text="By code of the table.")
    drawers = DrawerTurnover(many=True, allow_null=True, help_text="By code of the drawer; null where it is withheld.")
    trial_balance = TrialBalance(
        allow_null=True, help_text="Of the closing snapshot; null while the day is open, and where it is withheld."
    )
    snapshot_findings = SnapshotFinding(
        many=True, allow_null=True, help_text="Where the snapshot differs from the entries; null while the day is open."
    )


class _Date(StrictPattern):
    """An ISO date."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}\Z", **kwargs)

    def run_validators(self, value: Any) -> None:
        """Check the form, and that the date exists. Raises ValidationError."""
        super().run_validators(value)
        try:
            date.fromisoformat(value)
        except ValueError as error:
            raise serializers.ValidationError(f"There is no such date: {error}.") from error


class _DayRow(DayOut):
    """A gaming day in a list."""

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """The same members as in the other answers."""
        return reports.of_row(instance).as_json()


@documented("listDays", summary="List gaming days", tag=TAG, method="get")
@documented(
    "openDay",
    summary="Open a gaming day",
    answers=DayOpenedOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=["day_exists", "day_not_later", "day_too_early"],
)
class Days(WriteOperation, CursorList):
    """Gaming days follow each other by date. From the first one on, every posting goes into the newest open day.
    Opening a day needs no If-Match: the day does not exist yet. In the list, `from` and `until` select by the time of
    opening."""

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
    filters = {"state": "closed_at__isnull"}
    choices = {"state": ("open", "closed")}
    time = "opened_at"

    def rows(self) -> Any:
        """The days of the house."""
        return reports.rows(signed_in(self.request)[0].house)

    def lookup(self, name: str, value: str) -> dict[str, Any]:
        """Open days have no end yet."""
        return {self.filters[name]: value == "open"}

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Open."""
        return services.open_day(command=command, name=data["day"])


@documented(
    "closeDay",
    summary="Close a gaming day",
    answers=DayClosedOut,
    tag=TAG,
    refuses=["day_closed", "earlier_day_open", "hands_unsettled"],
)
class CloseDay(WriteOperation):
    """A closed day takes no more postings and cannot be opened again. A snapshot keeps the balance of every account.
    Refused while a hand of the day is not settled (`hands_unsettled`) or an earlier day is open."""

    roles = IN_CHARGE

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Close."""
        return services.close_day(command=command, name=path["day"])


@documented(
    "readDay",
    summary="Read a gaming day's turnover and closing balance",
    answers=DayReportOut,
    tag=TAG,
    refuses=["not_found"],
    etag=True,
)
class DayDetail(ReadOperation):
    """Turnover by account, table and drawer. Once the day is closed, also its trial balance, and whether the snapshot
    still agrees with the entries."""

    sensitive = True
    roles = MAY_READ

    def get(self, request: Request, day: str) -> Response:
        """The day."""
        by = context_of(request)
        found, body = reports.report(by.house, day, blind=by.role not in OVERSIGHT)
        return Response(body, headers={"ETag": f'"{found.version}"'})


urls = [
    path("days", Days.as_view()),
    path("days/<slug:day>", DayDetail.as_view()),
    path("days/<slug:day>/close", CloseDay.as_view()),
]
