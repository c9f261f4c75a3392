"""Soft counts: the cashier counts a table's boxes, the floor signs as witness at the same terminal."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_A_DRAWER, CHIPS, POSTING
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_THE_CAGE,
    OVERSIGHT,
    Amount,
    Pieces,
    StrictInput,
    StrictText,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.parts import DrawerChanged, EventPart, SoftCountPart
from casino.core.write import Answer, Command
from casino.staff.models import Role
from casino.transfers import counting, selectors
from casino.transfers.models import CountState, SoftCount

TAG = "soft counts"
_STATES = tuple(f"count_{state}" for state in CountState)


@extend_schema_serializer(component_name="WitnessCountInput")
class _Counted(StrictInput):
    """Cash in minor units and chips by denomination."""

    cash = Amount(min_value=0)
    pieces = Pieces(required=True)


@extend_schema_serializer(component_name="SoftCountInput")
class _CountedAt(_Counted):
    """The contents of the boxes of a table."""

    table = StrictText(max_length=32)


class SoftCountEvent(EventPart):
    """The result for a soft count."""

    soft_count = SoftCountPart(help_text="The soft count as it is now.")


class SoftCountOut(DrawerChanged):
    """The drawer, and the soft count."""

    last_event = SoftCountEvent()


@documented(
    "countBoxes",
    summary="Count a table's drop box and tax box",
    answers=SoftCountOut,
    status=201,
    tag=TAG,
    refuses=[*AT_A_DRAWER, "count_under_way", *CHIPS],
)
class CountBoxes(WriteOperation):
    """Record the first count. Nothing moves yet, and the expected values are not shown. Refused while another count of
    the table waits for its witness (`count_under_way`)."""

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


@documented(
    "confirmCount",
    summary="Sign a soft count as its witness",
    answers=SoftCountOut,
    tag=TAG,
    refuses=[*_STATES, *AT_A_DRAWER, "four_eyes", "counts_differ", *CHIPS, *POSTING],
)
class ConfirmCount(WriteOperation):
    """The floor has counted the same: cash goes to the vault, chips to the drawer, and the variance is posted by table.
    Refused if the two counts differ (`counts_differ`), and for the first counter (`four_eyes`)."""

    roles = (Role.FLOOR,)
    input = _Counted

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Confirm."""
        return counting.confirm(
            command=command, code=path["drawer"], count_id=path["count"], cash=data["cash"], pieces=data["pieces"]
        )


@documented("voidCount", summary="Void a soft count", answers=SoftCountOut, tag=TAG, refuses=_STATES)
class VoidCount(WriteOperation):
    """Void a count that was not confirmed; the boxes are counted again."""

    roles = (*AT_THE_CAGE, Role.FLOOR)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Void."""
        return counting.void(command=command, code=path["drawer"], count_id=path["count"])


@documented("listSoftCounts", summary="List soft counts", tag=TAG)
class SoftCountList(CursorList):
    """Soft counts with their variances; `from` and `until` select by the time of the count. A cashier sees only those
    of the drawer of the terminal."""

    sensitive = True
    roles = (*OVERSIGHT, Role.FLOOR, *AT_THE_CAGE)

    @extend_schema_serializer(component_name="SoftCountListRow")
    class Row(SoftCountPart):
        """A soft count in a list."""

        counted_at = serializers.DateTimeField(help_text="When the boxes were counted first.")
        ended_at = serializers.DateTimeField(allow_null=True)

        def to_representation(self, instance: SoftCount) -> dict[str, Any]:
            """The soft count with its times."""
            found = selectors.describe_count(instance, revealed=instance.state == CountState.CONFIRMED)
            return found | {"counted_at": instance.counted_at, "ended_at": instance.ended_at}

    model = SoftCount
    serializer_class = Row
    filters = {"table": "table__code", "drawer": "drawer__code", "state": "state"}
    choices = {"state": CountState.values}
    time = "counted_at"

    def rows(self) -> Any:
        """With related rows; for a cashier only those of the drawer."""
        found = super().rows().select_related("table", "drawer", "counted_by", "ended_by")
        by = context_of(self.request)
        return found.filter(drawer__code=by.terminal.location) if by.role == Role.CASHIER else found


urls = [
    path("drawers/<slug:drawer>/soft-counts", CountBoxes.as_view()),
    path("drawers/<slug:drawer>/soft-counts/<int:count>/confirm", ConfirmCount.as_view()),
    path("drawers/<slug:drawer>/soft-counts/<int:count>/void", VoidCount.as_view()),
    path("soft-counts", SoftCountList.as_view()),
]
