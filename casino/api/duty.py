"""Gaming duty: booked, paid by a return, and lowered where a booking was too high."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import POSTING
from casino.api.http.operations import (
    CAGE_SUPERVISION,
    Amount,
    Reason,
    StrictInput,
    StrictInteger,
    StrictPattern,
    WriteOperation,
    documented,
)
from casino.api.parts import minor_units
from casino.api.tables import ReceiptOut
from casino.cage import duty
from casino.core.write import Answer, Command
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


urls = [
    path("duty", BookDuty.as_view()),
    path("duty/payments", PayDuty.as_view()),
    path("duty/lowerings", LowerDuty.as_view()),
]
