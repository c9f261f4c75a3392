"""Counts of a table's tray: the dealer counts, and the floor as the witness, at the table's console."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import CHIPS, POSTING
from casino.api.http.lists import CursorList
from casino.api.http.operations import SEES_BOOKS, Pieces, StrictChoice, StrictInput, WriteOperation, documented
from casino.api.parts import EventPart, TrayCountPart, chip_pieces
from casino.api.tables import TableOut
from casino.core.commands import Answer, Command
from casino.staff.models import Role
from casino.transfers import selectors, tray_counts
from casino.transfers.models import Purpose, TrayCount, TrayCountState, TrayException

TAG = "count room"
_BETWEEN_HANDS = ("table_playing", "table_settling", "table_disputed")


@extend_schema_serializer(component_name="WitnessTrayInput")
class _Witnessed(StrictInput):
    """Chips in the tray, by denomination."""

    pieces = Pieces(required=True)


@extend_schema_serializer(component_name="CountTrayInput")
class _Counted(_Witnessed):
    """Chips in the tray, and when they are counted."""

    purpose = StrictChoice(choices=Purpose.choices)


class TrayCountEvent(EventPart):
    """The result for a count of the tray."""

    tray_count = TrayCountPart(help_text="The count as it is now.")
    pieces = chip_pieces("What this person has counted")


class TrayCountOut(TableOut):
    """The table, and the count."""

    last_event = TrayCountEvent()  # type: ignore[assignment]  # more precise than that of any table


@documented(
    "countTray", summary="Count a tray", answers=TrayCountOut, status=201, tag=TAG, refuses=[*_BETWEEN_HANDS, *CHIPS]
)
class CountTray(WriteOperation):
    """The dealer counts the tray: as opener, as closer, at a change of boxes, or at any other time between hands. What
    is expected is not shown. A count that waits for its witness is replaced."""

    roles = (Role.DEALER,)
    input = _Counted

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Count."""
        purpose = Purpose(data["purpose"])
        return tray_counts.count(command=command, code=path["table"], purpose=purpose, pieces=data["pieces"])


@documented(
    "witnessTrayCount",
    summary="Count a tray as the witness",
    answers=TrayCountOut,
    tag=TAG,
    refuses=[
        "tray_count_confirmed", "tray_count_differed", "tray_count_replaced", "tray_moved", "four_eyes",
        *_BETWEEN_HANDS, *CHIPS, *POSTING,
    ],
)  # fmt: skip
class WitnessTray(WriteOperation):
    """The floor counts the tray without being shown the dealer's count. If both are the same, what is over or short is
    posted at the table; an opener that differs from what the last closer left is an exception. If not, the answer says
    that they differ, and both count again."""

    roles = (Role.FLOOR,)
    input = _Witnessed

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Witness."""
        return tray_counts.witness(command=command, code=path["table"], serial=path["count"], pieces=data["pieces"])


@documented("listTrayCounts", summary="List counts of trays", tag=TAG)
class TrayCountList(CursorList):
    """Counts of trays with their variances; `from` and `until` select by the time of the first count, `exception` finds
    openers that differ from what the closer left."""

    sensitive = True
    roles = (*SEES_BOOKS, Role.SURVEILLANCE, Role.FLOOR)

    @extend_schema_serializer(component_name="TrayCountListRow")
    class Row(TrayCountPart):
        """A count of a tray in a list."""

        counted_at = serializers.DateTimeField(help_text="When the dealer counted.")
        ended_at = serializers.DateTimeField(allow_null=True)

        def to_representation(self, instance: TrayCount) -> dict[str, Any]:
            """The count with its times."""
            times = {"counted_at": instance.counted_at, "ended_at": instance.ended_at}
            return selectors.describe_tray_count(instance) | times

    model = TrayCount
    serializer_class = Row
    filters = {"table": "table__code", "purpose": "purpose", "state": "state", "exception": "exception"}
    choices = {
        "purpose": Purpose.values,
        "state": TrayCountState.values,
        "exception": [value for value in TrayException.values if value],
    }
    time = "counted_at"

    def rows(self) -> Any:
        """With what a row names."""
        return super().rows().select_related("table", "counted_by", "witnessed_by")


urls = [
    path("tables/<slug:table>/tray-counts", CountTray.as_view()),
    path("tables/<slug:table>/tray-counts/<int:count>/witness", WitnessTray.as_view()),
    path("tray-counts", TrayCountList.as_view()),
]
