"""The waiting list: who waits for a seat, and in which order they are called."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_TABLES,
    READERS,
    Reason,
    ReasonInput,
    StrictInput,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.tables import ReceiptOut
from casino.core.commands import Answer, Command
from casino.staff.models import Role
from casino.tables import waiting
from casino.tables.models import Waiting, WaitingEntry

TAG = "dealer"


class _Row(serializers.Serializer[Any]):
    """An entry of the waiting list."""

    ticket = serializers.IntegerField()
    player = serializers.CharField()
    game = serializers.CharField()
    table = serializers.CharField(allow_null=True, help_text="The only table that the player wants; null: any.")
    state = serializers.ChoiceField(choices=Waiting.choices)
    called_to = serializers.CharField(allow_null=True)
    version = serializers.IntegerField()


@extend_schema_serializer(component_name="WaitingEntryOut")
class WaitingOut(_Row):
    """An entry, and the receipt of its change."""

    audit = ReceiptOut()


@documented("listWaiting", summary="List who waits for a seat", tag=TAG, method="get")
@documented(
    "addToWaitingList",
    summary="Put a player on the waiting list",
    answers=WaitingOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=["player_excluded", "already_seated", "already_waiting", "person_forgotten", "table_retired"],
)
class WaitingList(WriteOperation, CursorList):
    """Players who wait for a seat, in the order in which they are called: that of their tickets, which are given one
    after the other. Writing puts a player on the list, for any table of a game or for one table only. No If-Match:
    there is no version yet."""

    @extend_schema_serializer(component_name="AddToWaitingListInput")
    class Input(StrictInput):
        """The player, and either a game or a table."""

        player = StrictText(max_length=32)
        game = StrictText(max_length=32, required=False)
        table = StrictText(max_length=32, required=False, help_text="The only table that the player wants.")

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """Check that it is one of the two."""
            if ("game" in attrs) == ("table" in attrs):
                raise serializers.ValidationError({"game": ["Name a game, or a table."]})
            return attrs

    @extend_schema_serializer(component_name="WaitingEntryRow")
    class Row(_Row):
        """An entry in a list, with its times."""

        added_at = serializers.DateTimeField(help_text="When the player was put on the list.")
        called_at = serializers.DateTimeField(allow_null=True, help_text="When the player was called last.")
        ended_at = serializers.DateTimeField(allow_null=True)

        def to_representation(self, instance: WaitingEntry) -> dict[str, Any]:
            """The same members as in the answers of writes, and the times."""
            times = {name: getattr(instance, name) for name in ("added_at", "called_at", "ended_at")}
            return waiting.describe(instance) | times

    roles = AT_TABLES
    readers = (*AT_TABLES, Role.SURVEILLANCE, Role.MANAGER, Role.AUDITOR)
    sensitive = False
    versioned = False
    input = Input
    model = WaitingEntry
    serializer_class = Row
    filters = {"game": "game", "table": "table__code", "player": "player__ref", "state": "state"}
    choices = {"state": Waiting.values}
    time = "added_at"

    def rows(self) -> Any:
        """With players and tables."""
        return super().rows().select_related("player", "table", "called_to")

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Put on the list."""
        return waiting.add(
            command=command, player_ref=data["player"], game=data.get("game"), table_code=data.get("table")
        )


@documented("displayWaitingList", summary="Display the waiting list", tag=TAG)
class WaitingDisplay(CursorList):
    """The tickets of those who wait or are called, in their order, for a display that everybody in the room sees: it
    names no player."""

    sensitive = False
    roles = READERS

    @extend_schema_serializer(component_name="WaitingDisplayRow")
    class Row(serializers.Serializer[Any]):
        """A ticket on a display."""

        ticket = serializers.IntegerField(source="number")
        game = serializers.CharField()
        table = serializers.CharField(
            source="table.code", default=None, allow_null=True, help_text="The only table that is wanted; null: any."
        )
        state = serializers.ChoiceField(choices=Waiting.choices)
        called_to = serializers.CharField(source="called_to.code", default=None, allow_null=True)

    model = WaitingEntry
    serializer_class = Row
    filters = {"game": "game"}

    def rows(self) -> Any:
        """Those that have not ended, with their tables."""
        return super().rows().filter(state__in=WaitingEntry.OPEN).select_related("table", "called_to")


@documented(
    "callFromWaitingList",
    summary="Call a player from the waiting list",
    answers=WaitingOut,
    tag=TAG,
    refuses=[
        "player_excluded",
        "waiting_ended",
        "other_table",
        "not_first",
        "no_change",
        "table_closed",
        "table_retired",
    ],
)
class CallWaiting(WriteOperation):
    """Offer the player a seat at a table. A player who came earlier and waits for the same table is passed over only
    with a reason (`not_first`). The player sits down there with the ticket (`POST tables/T1/seats`)."""

    roles = (Role.FLOOR,)

    @extend_schema_serializer(component_name="CallFromWaitingListInput")
    class Input(StrictInput):
        """The table; the reason for passing over who came earlier."""

        table = StrictText(max_length=32)
        reason = Reason(required=False)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Call."""
        return waiting.call(command=command, number=path["ticket"], table_code=data["table"], reason=data.get("reason"))


@documented(
    "noShow",
    summary="Enter that a called player did not come",
    answers=WaitingOut,
    tag=TAG,
    refuses=["waiting_ended", "not_called"],
)
class NoShow(WriteOperation):
    """The player was called and did not come; the wait ends."""

    roles = (Role.FLOOR,)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """End the wait."""
        return waiting.no_show(command=command, number=path["ticket"])


@documented(
    "removeFromWaitingList",
    summary="Take a player off the waiting list",
    answers=WaitingOut,
    tag=TAG,
    refuses=["waiting_ended"],
)
class RemoveWaiting(WriteOperation):
    """The player gave up, or may not play; the entry stays on record."""

    roles = (Role.FLOOR,)
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Take off."""
        return waiting.remove(command=command, number=path["ticket"], reason=data["reason"])


urls = [
    path("waiting-list", WaitingList.as_view()),
    path("waiting-list/display", WaitingDisplay.as_view()),
    path("waiting-list/<int:ticket>/call", CallWaiting.as_view()),
    path("waiting-list/<int:ticket>/no-show", NoShow.as_view()),
    path("waiting-list/<int:ticket>/remove", RemoveWaiting.as_view()),
]
