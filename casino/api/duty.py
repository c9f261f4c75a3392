"""Gaming duty: its rates, booked, paid by a return, and lowered where a booking was too high."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.cage import POSTING
from casino.api.http.operations import (
    CAGE_SUPERVISION,
    Amount,
    Reading,
    Reason,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictPattern,
    StrictText,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.parts import minor_units
from casino.api.tables import ReceiptOut
from casino.cage import duty
from casino.cage import duty_rates as rates
from casino.core.commands import Answer, Command
from casino.houses import duty_rates
from casino.houses.duty_rates import DEDUCTED
from casino.houses.models import DutyBase
from casino.staff.models import CODE, Role

TAG = "office"


#: A month by its year and number.
_MONTH = r"^\d{4}-(0[1-9]|1[0-2])\Z"


class DutyOut(serializers.Serializer[Any]):
    """The duty that was booked, and the total that is payable now, in minor units."""

    amount = serializers.IntegerField()
    reason = serializers.CharField()
    payable = serializers.IntegerField()
    for_month = serializers.CharField(allow_null=True, help_text="The month on whose take it falls; null: not named.")
    due_on = serializers.DateField(allow_null=True, help_text="Until when it has to be paid; null: not named.")
    audit = ReceiptOut()


@documented(
    "bookDuty",
    summary="Book gaming duty that falls due",
    answers=DutyOut,
    status=201,
    tag=TAG,
    refuses=["period_not_open", "account_off"],
)
class BookDuty(WriteOperation):
    """The duty becomes payable, once a manager has approved it (`approval_required`). No If-Match: duty has no
    version."""

    roles = (Role.CAGE_SUPERVISOR,)
    approvable = True
    versioned = False

    @extend_schema_serializer(component_name="BookDutyInput")
    class Input(StrictInput):
        """How much, and for what."""

        amount = Amount()
        reason = Reason()
        for_month = StrictPattern(_MONTH, required=False, help_text="The month on whose take it falls, `2026-11`.")
        due_on = serializers.DateField(required=False, help_text="Until when it has to be paid.")

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Book."""
        return duty.due(command=command, **data)


class DutyPaidOut(serializers.Serializer[Any]):
    """Duty that was paid, and what is payable after it."""

    amount = minor_units("What was paid")
    return_number = serializers.CharField(help_text="Number of the return.")
    payable = minor_units("Duty that is payable now")
    for_month = serializers.CharField(allow_null=True, help_text="The month whose duty it is; null: not named.")
    audit = ReceiptOut()


@documented(
    "payDuty", summary="Pay duty by a return", answers=DutyPaidOut, status=201, tag=TAG, refuses=[*POSTING]
)  # fmt: skip
class PayDuty(WriteOperation):
    """Duty is paid from the bank, once a manager has approved it (`approval_required`); not more than is payable. No
    If-Match: duty has no version."""

    roles = CAGE_SUPERVISION
    approvable = True
    versioned = False

    @extend_schema_serializer(component_name="PayDutyInput")
    class Input(StrictInput):
        """How much, and by which return."""

        amount = Amount()
        return_number = StrictPattern(CODE, help_text="Number of the return.")
        for_month = StrictPattern(_MONTH, required=False, help_text="The month whose duty it is, `2026-11`.")

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Pay."""
        return duty.pay(command=command, **data)


class DutyLoweredOut(serializers.Serializer[Any]):
    """What of a booking was taken back, and what is payable after it."""

    entry = serializers.IntegerField(help_text="Number of the booking in the house's audit chain.")
    amount = minor_units("What was taken back")
    reason = serializers.CharField(help_text="Why it was too high.")
    payable = minor_units("Duty that is payable now")
    audit = ReceiptOut()


@documented(
    "lowerDuty",
    summary="Lower a booking of duty that was too high",
    answers=DutyLoweredOut,
    status=201,
    tag=TAG,
    refuses=["not_found", "lowered_too_far", *POSTING],
)
class LowerDuty(WriteOperation):
    """The booking is named by `entry`, the `seq` of its receipt. It may be lowered in parts, in all by what was booked;
    not below what is payable. A manager approves it (`approval_required`). No If-Match: duty has no version."""

    roles = CAGE_SUPERVISION
    approvable = True
    versioned = False

    @extend_schema_serializer(component_name="LowerDutyInput")
    class Input(StrictInput):
        """Which booking, by how much, and why."""

        entry = StrictInteger(min_value=1, help_text="Number of the booking in the house's audit chain.")
        amount = Amount()
        reason = Reason()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Lower."""
        return duty.lower(command=command, **data)


class DutyBand(StrictInput):
    """A band: what lies above an amount, up to the start of the next one, bears its rate."""

    above = Amount(min_value=0, help_text="Where it begins, in minor units; the first one at 0.")
    rate = StrictInteger(min_value=0, max_value=duty_rates.WHOLE, help_text="Hundredths of a percent: 3000 is 30 %.")


class DutyDeduction(StrictInput):
    """What is taken off the base each month: a fixed amount, or a figure of the report A5."""

    name = StrictText(max_length=80, help_text="What the law calls it.")
    amount = Amount(min_value=0, required=False, help_text="So much each month, in minor units.")
    figure = StrictChoice(
        choices=DEDUCTED, required=False, help_text="What the month has of it: `bonus` (5100) or `goodwill` (5230)."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that it is the one or the other."""
        if ("amount" in attrs) == ("figure" in attrs):
            raise serializers.ValidationError("A deduction has an amount or a figure.")
        return attrs


class DutyRatesPart(serializers.Serializer[Any]):
    """A version of the rates."""

    number = serializers.IntegerField(help_text="Its number, from 1.")
    valid_from = serializers.CharField(help_text="The first month to which it applies, `2026-11`.")
    tax_code = serializers.CharField(help_text="What the authority calls the duty.")
    base = serializers.ChoiceField(choices=DutyBase.choices, help_text="On what it falls.")
    deductions = DutyDeduction(many=True, help_text="What is taken off the base each month.")
    bands = DutyBand(many=True, help_text="The bands, in their order.")
    set_at = serializers.DateTimeField(help_text="When it was stated.")
    set_by = serializers.CharField(help_text="Login of the person who stated it.")
    approval = serializers.IntegerField(
        allow_null=True, help_text="Number of the approval; null where none was needed."
    )


class DutyRatesOut(serializers.Serializer[Any]):
    """Every version of the rates, the newest first."""

    rates = DutyRatesPart(many=True, help_text="The versions.")


class DutyRatesSetOut(DutyRatesOut):
    """The versions from now on."""

    audit = ReceiptOut()


@documented("readDutyRates", summary="Read the rates of gaming duty", answers=DutyRatesOut, tag=TAG, method="get")
@documented(
    "setDutyRates", summary="Set the rates of gaming duty", answers=DutyRatesSetOut, status=201, tag=TAG, method="post",
    refuses=["no_change", "duty_month_booked"],
)  # fmt: skip
class RatesOfDuty(WriteOperation, Reading):
    """The gaming duty by law, from a month on: on what it falls, what is deducted, at which rates. A month is taxed at
    the version that begins with it or last before it; the report A28 (`duty-return`) has the duty by it. A month on
    which duty was booked keeps its version (`duty_month_booked`). Once the house is live, a manager approves it
    (`approval_required`). No If-Match: versions are only added."""

    @extend_schema_serializer(component_name="SetDutyRatesInput")
    class Input(StrictInput):
        """All of it, and why."""

        valid_from = StrictPattern(_MONTH, help_text="The first month to which it applies, `2026-11`.")
        tax_code = StrictPattern(CODE, help_text="What the authority calls the duty.")
        base = StrictChoice(choices=DutyBase.choices, help_text="On what it falls.")
        deductions = serializers.ListField(
            child=DutyDeduction(), max_length=20, required=False, help_text="What is taken off the base each month."
        )
        bands = serializers.ListField(
            child=DutyBand(), min_length=1, max_length=20, help_text="The bands, in their order."
        )
        reason = Reason()

        def validate_bands(self, bands: list[dict[str, int]]) -> list[dict[str, int]]:
            """Check that they rise from 0."""
            starts = [band["above"] for band in bands]
            if starts[0] != 0 or starts != sorted(set(starts)):
                raise serializers.ValidationError("The first band begins at 0, each one above the one before.")
            return bands

    sensitive = False
    roles = (Role.ADMIN,)
    readers = (Role.ADMIN, Role.AUDITOR, Role.CAGE_SUPERVISOR, Role.MANAGER)
    approvable = True
    versioned = False
    input = Input

    def get(self, request: Request) -> Response:
        """The versions."""
        return Response(duty_rates.describe(context_of(request).house))

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Set."""
        return rates.change(command=command, **{"deductions": []} | data)


urls = [
    path("duty/rates", RatesOfDuty.as_view()),
    path("duty", BookDuty.as_view()),
    path("duty/payments", PayDuty.as_view()),
    path("duty/lowerings", LowerDuty.as_view()),
]
