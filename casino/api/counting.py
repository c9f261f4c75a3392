"""Boxes of tables: swapped at the table, brought to the count room, counted there by two, received by a third."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import CHIPS, POSTING
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_TABLES,
    Amount,
    Pieces,
    Reason,
    StrictChoice,
    StrictInput,
    StrictPattern,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.parts import BoxPart, EventPart, TrayCountPart, chip_pieces
from casino.api.tables import ReceiptOut, TableOut
from casino.core.commands import Answer, Command
from casino.staff.models import CODE, Role
from casino.transfers import boxes, counting, selectors
from casino.transfers.models import Box, BoxKind, BoxState

TAG = "count room"
#: What is painted on a box, and the number of a seal.
NUMBER = SEAL = CODE
_STATES = tuple(f"box_{state}" for state in BoxState)


@extend_schema_serializer(component_name="SwapBoxInput")
class _Swapped(StrictInput):
    """The box that is put on the table; the seal of the one that is taken off, if there is one; what the dealer has
    counted in the tray with it, by denomination."""

    kind = StrictChoice(choices=BoxKind.choices)
    number = StrictPattern(NUMBER)
    seal = StrictPattern(SEAL, required=False)
    tray = Pieces()


@extend_schema_serializer(component_name="BringBoxInput")
class _Brought(StrictInput):
    """The number of the seal as it is read."""

    seal = StrictPattern(SEAL)


@extend_schema_serializer(component_name="BoxCountInput")
class _Counted(StrictInput):
    """Cash in minor units and chips by denomination."""

    cash = Amount(min_value=0)
    pieces = Pieces(required=True)


@extend_schema_serializer(component_name="DecideCountInput")
class _Decided(_Counted):
    """What was in the box, why the supervisor says so, and who of surveillance watches."""

    reason = Reason()
    observer = StrictText(max_length=64)


class BoxEvent(EventPart):
    """The result for a box."""

    box = BoxPart(help_text="The box that is on the table now.")
    taken = BoxPart(required=False, help_text="The box that was taken off.")
    tray_count = TrayCountPart(required=False, help_text="The count of the tray, which waits for its witness.")
    pieces = chip_pieces("What the dealer has counted in the tray", required=False)
    counted = serializers.IntegerField(
        required=False,
        help_text="The count of the tray (`tray_count`) made with a box before, which serves for this one.",
    )


class BoxSwapOut(TableOut):
    """The table, and its boxes."""

    last_event = BoxEvent()  # type: ignore[assignment]  # more precise than that of any table


class BoxOut(serializers.Serializer[Any]):
    """A box after a write in the count room."""

    box = BoxPart(help_text="The box as it is now.")
    audit = ReceiptOut()


class BoxCountOut(BoxOut):
    """A box after a count."""

    differs = serializers.BooleanField(
        help_text="Whether this count and the other one of the round differ: both count again."
    )


_MAY_READ = (Role.AUDITOR, Role.MANAGER, Role.SURVEILLANCE, Role.COUNT, Role.CAGE_SUPERVISOR, Role.FLOOR)


@documented(
    "swapBox",
    summary="Put a box on a table",
    answers=BoxSwapOut,
    status=201,
    tag=TAG,
    refuses=[
        "table_playing", "table_settling", "table_disputed", "box_in_use", "seal_missing", "seal_without_box", *_STATES,
        "tray_count_required", *CHIPS,
    ],
)  # fmt: skip
class SwapBox(WriteOperation):
    """An empty box is put on the table. One of its kind that is there is taken off at the same time, sealed with the
    seal that the body names (`seal_missing`). With `tray` the dealer has counted the tray at the same time (anybody
    else: `forbidden`); that count waits for its witness, as one of `countTray` with the purpose `box_change`. Where the
    house wants it (`box_change_count_required` of its control points), a box is taken off only with such a count
    (`tray_count_required`): with its own, or with one made for a box before, if no chip of the tray has moved since.
    Not during a hand."""

    roles = AT_TABLES
    input = _Swapped

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Swap."""
        return boxes.swap(
            command=command,
            code=path["table"],
            kind=BoxKind(data["kind"]),
            number=data["number"],
            seal=data.get("seal"),
            tray=data.get("tray"),
        )


@documented(
    "bringBox", summary="Take a box into the count room", answers=BoxOut, tag=TAG, refuses=[*_STATES, "four_eyes"]
)
class BringBox(WriteOperation):
    """A person of the count team, who has not taken the box off its table (`four_eyes`), reads its seal. A seal that
    differs is recorded. No If-Match: boxes have no version."""

    roles = (Role.COUNT,)
    versioned = False
    input = _Brought

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Bring."""
        return boxes.bring(command=command, serial=path["box"], seal=data["seal"])


@documented(
    "countBox",
    summary="Count a box",
    answers=BoxCountOut,
    status=201,
    tag=TAG,
    refuses=[*_STATES, "supervisor_needed", "four_eyes", *CHIPS],
)
class CountBox(WriteOperation):
    """Two people of the count team count the box one after the other (`four_eyes`). Neither is shown the other's count
    nor what is expected; if the two differ, the answer says only that, and both count again. After three times a
    supervisor decides (`supervisor_needed`). No If-Match: boxes have no version."""

    roles = (Role.COUNT,)
    versioned = False
    input = _Counted

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Count."""
        return counting.count(command=command, serial=path["box"], cash=data["cash"], pieces=data["pieces"])


@documented(
    "decideCount",
    summary="Decide on counts that differ",
    answers=BoxOut,
    tag=TAG,
    refuses=[*_STATES, "recount_needed", "four_eyes", "unknown_observer", *CHIPS],
)
class DecideCount(WriteOperation):
    """After three pairs of counts that differ, a supervisor who has not counted (`four_eyes`) says what was in the box,
    and why, while `observer` watches for surveillance (`unknown_observer`). No If-Match: boxes have no version."""

    roles = (Role.CAGE_SUPERVISOR, Role.MANAGER)
    versioned = False
    input = _Decided

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Decide."""
        return counting.decide(command=command, serial=path["box"], **data)


@documented(
    "receiveBox",
    summary="Receive the contents of a counted box",
    answers=BoxOut,
    tag=TAG,
    refuses=[*_STATES, "four_eyes", *POSTING],
)
class ReceiveBox(WriteOperation):
    """Cash and chips go into the vault, and the variance is posted by table. The receiver has neither counted the box,
    nor decided on it, nor taken it off its table (`four_eyes`). No If-Match: boxes have no version."""

    roles = (Role.CAGE_SUPERVISOR,)
    versioned = False

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Receive."""
        return counting.receive(command=command, serial=path["box"])


@documented("listBoxes", summary="List boxes", tag=TAG)
class BoxList(CursorList):
    """Boxes of tables with what was counted in them; `from` and `until` select by the time when they were put on their
    table."""

    sensitive = True
    roles = _MAY_READ

    @extend_schema_serializer(component_name="BoxListRow")
    class Row(BoxPart):
        """A box in a list."""

        put_at = serializers.DateTimeField(help_text="When it was put on its table.")
        taken_at = serializers.DateTimeField(allow_null=True, help_text="When it was taken off; null before that.")
        brought_at = serializers.DateTimeField(allow_null=True, help_text="When it came to the count room, or null.")
        received_at = serializers.DateTimeField(allow_null=True, help_text="When its contents were received, or null.")

        def to_representation(self, instance: Box) -> dict[str, Any]:
            """The box with its times."""
            return selectors.describe_box(instance) | selectors.box_times(instance)

    model = Box
    serializer_class = Row
    filters = {"table": "table__code", "kind": "kind", "state": "state"}
    choices = {"kind": BoxKind.values, "state": BoxState.values}
    time = "put_at"

    def rows(self) -> Any:
        """With what a row names."""
        persons = ("put_by", "taken_by", "brought_by", "decided_by", "observer", "received_by")
        return super().rows().select_related("table", *persons)


urls = [
    path("tables/<slug:table>/boxes", SwapBox.as_view()),
    path("boxes", BoxList.as_view()),
    path("boxes/<int:box>/bring", BringBox.as_view()),
    path("boxes/<int:box>/counts", CountBox.as_view()),
    path("boxes/<int:box>/decide", DecideCount.as_view()),
    path("boxes/<int:box>/receive", ReceiveBox.as_view()),
]
