"""Soft counts: the cashier counts a table's boxes, the floor signs as witness at the same terminal."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.cage import DrawerOut
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_THE_CAGE,
    OVERSIGHT,
    Amount,
    Pieces,
    StrictInput,
    StrictText,
    WriteOperation,
    documented,
    problems,
)
from casino.core.write import Answer, Command
from casino.staff.models import Role
from casino.transfers import counting, selectors
from casino.transfers.models import CountState, SoftCount

TAG = "soft counts"


@extend_schema_serializer(component_name="WitnessCountInput")
class _Counted(StrictInput):
    """Cash in minor units and chips by denomination."""

    cash = Amount(min_value=0)
    pieces = Pieces(required=True)


@extend_schema_serializer(component_name="SoftCountInput")
class _CountedAt(_Counted):
    """What was found in the boxes of a table."""

    table = StrictText(max_length=32)


@documented("countBoxes", summary="Count a table's drop box and tax box", answers=DrawerOut, status=201, tag=TAG)
class CountBoxes(WriteOperation):
    """Write a count down."""

    roles = AT_THE_CAGE
    input = _CountedAt

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Count."""
        return counting.count(
            command=command,
            code=path["drawer"],
            table_code=data["table"],
            cash=data["cash"],
            pieces=data["pieces"],
        )


@documented("confirmCount", summary="Sign a soft count as its witness; the floor", answers=DrawerOut, tag=TAG)
class ConfirmCount(WriteOperation):
    """Confirm."""

    roles = (Role.FLOOR,)
    input = _Counted

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Confirm."""
        return counting.confirm(
            command=command, code=path["drawer"], count_id=path["count"], cash=data["cash"], pieces=data["pieces"]
        )


@documented("voidCount", summary="Void a soft count", answers=DrawerOut, tag=TAG)
class VoidCount(WriteOperation):
    """Void; the boxes are counted again."""

    roles = (*AT_THE_CAGE, Role.FLOOR)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Void."""
        return counting.void(command=command, code=path["drawer"], count_id=path["count"])


class SoftCountList(CursorList):
    """All soft counts with what they found over or short, oldest first."""

    sensitive = True
    roles = (*OVERSIGHT, Role.FLOOR)

    @extend_schema_serializer(component_name="SoftCountListRow")
    class Row(serializers.Serializer[Any]):
        """A soft count; what was expected, and the variances, once nobody counts any more."""

        soft_count = serializers.IntegerField()
        table = serializers.CharField()
        drawer = serializers.CharField()
        state = serializers.ChoiceField(choices=CountState.choices)
        cash = serializers.IntegerField()
        pieces = serializers.JSONField()
        value = serializers.IntegerField()
        counted_by = serializers.CharField()
        ended_by = serializers.CharField(allow_null=True)
        expected_cash = serializers.IntegerField(required=False)
        expected_pieces = serializers.JSONField(required=False)
        cash_variance = serializers.IntegerField(required=False)
        chip_variance = serializers.IntegerField(required=False)

        def to_representation(self, instance: SoftCount) -> dict[str, Any]:
            """As it was counted."""
            return selectors.describe_count(instance, revealed=instance.state == CountState.CONFIRMED)

    model = SoftCount
    serializer_class = Row
    filters = {"table": "table__code", "drawer": "drawer__code", "state": "state"}

    def rows(self) -> Any:
        """With what a row names."""
        return super().rows().select_related("table", "drawer", "counted_by", "ended_by")

    @extend_schema(
        operation_id="listSoftCounts",
        summary="List soft counts",
        tags=[TAG],
        responses={200: Row(many=True), **problems(401, 403, 404)},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A page of soft counts."""
        return super().get(request, *args, **kwargs)
