"""Variances of one count that cancel each other: cash over and chips short, or the reverse."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.http.lists import CursorList
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
from casino.api.parts import login_of, minor_units
from casino.api.tables import ReceiptOut
from casino.cage import variances
from casino.cage.models import VarianceOffset
from casino.core.commands import Answer, Command
from casino.staff.models import CODE, Role

TAG = "office"


@extend_schema_serializer(component_name="OffsetVariancesInput")
class _Offset(StrictInput):
    """The drawer, or nothing for the vault; the number of its shift or of the vault's count; how much, and why."""

    drawer = StrictPattern(CODE, required=False)
    count = StrictInteger(min_value=1)
    amount = Amount()
    reason = Reason()


class OffsetPart(serializers.Serializer[Any]):
    """Variances of one count that were offset against each other."""

    number = serializers.IntegerField(help_text="Its number in the house, from 1 without gaps.")
    drawer = serializers.CharField(allow_null=True, help_text="Code of the drawer; null for the vault.")
    count = serializers.IntegerField(help_text="Number of the shift at its drawer, or of the vault's count.")
    amount = minor_units("How much of the one cancels the other")
    cash_over = serializers.BooleanField(help_text="Whether cash was over and chips were short; else the reverse.")
    reason = serializers.CharField(help_text="What the wrong entry was.")
    offset_by = login_of("has found it")


class OffsetOut(serializers.Serializer[Any]):
    """An offset after the write."""

    offset = OffsetPart(help_text="What was offset.")
    audit = ReceiptOut()


@documented("listVarianceOffsets", summary="List variances that were offset", tag=TAG, method="get")
@documented(
    "offsetVariances",
    summary="Offset a cash variance against a chip variance of the same count",
    answers=OffsetOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=[
        "not_found", "drawer_not_closed", "vault_count_counting", "vault_count_counted", "offset_too_large",
        "period_not_open",
    ],
)  # fmt: skip
class VarianceOffsets(WriteOperation, CursorList):
    """Cash over and chips short of one count, or the reverse, that were one wrong entry found after the close. A
    manager offsets them, as far as they cancel, when another manager or an auditor has approved it
    (`approval_required`); the count stays as it was signed, and its slip says how much is explained. No If-Match: there
    is no version."""

    @extend_schema_serializer(component_name="VarianceOffsetListRow")
    class Row(OffsetPart):
        """An offset in a list."""

        offset_at = serializers.DateTimeField(help_text="When it was posted.")

        def to_representation(self, instance: VarianceOffset) -> dict[str, Any]:
            """The offset with its time."""
            return variances.describe(instance) | {"offset_at": instance.offset_at}

    sensitive = True
    roles = (Role.MANAGER,)
    readers = (*CAGE_SUPERVISION, Role.SURVEILLANCE, Role.AUDITOR)
    approvable = True
    versioned = False
    input = _Offset
    model = VarianceOffset
    serializer_class = Row
    filters = {"drawer": "drawer__code"}
    time = "offset_at"

    def rows(self) -> Any:
        """With what a row names."""
        return super().rows().select_related("drawer", "offset_by")

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Offset."""
        return variances.offset(command=command, **({"drawer": None} | data))


urls = [path("variance-offsets", VarianceOffsets.as_view())]
