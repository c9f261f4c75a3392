"""Dealers: who deals where, who relieves whom, and who is on a break."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_TABLES,
    StrictChoice,
    StrictInput,
    StrictPattern,
    WriteOperation,
    documented,
    signed_in,
)
from casino.api.tables import TableOut
from casino.core.commands import Answer, Command
from casino.staff.models import LOGIN, Role
from casino.tables import dealers, selectors
from casino.tables.models import DealerTurn, TurnEnd

TAG = "dealer"
#: Who reads where dealers are.
_SEES_DEALERS = (*AT_TABLES, Role.SURVEILLANCE, Role.MANAGER, Role.AUDITOR)
_DURING_A_HAND = ("table_closed", "table_playing", "table_retired")
#: How a turn ends before the table closes.
_ENDS = [choice for choice in TurnEnd.choices if choice[0] != TurnEnd.CLOSED]


@documented(
    "takeOverTable",
    summary="Take over a table as its dealer",
    answers=TableOut,
    tag=TAG,
    refuses=[*_DURING_A_HAND, "no_change", "dealer_differs", "dealer_elsewhere"],
)
class TakeOver(WriteOperation):
    """The dealer who is signed in takes the table over between two hands, and names the dealer who is relieved. From
    then on no other dealer deals there. A dealer has one table at a time."""

    roles = (Role.DEALER,)

    @extend_schema_serializer(component_name="TakeOverInput")
    class Input(StrictInput):
        """The dealer who is relieved, null where the table has none, and where that dealer goes."""

        relieves = StrictPattern(LOGIN, allow_null=True, help_text="Login of the dealer who is relieved; null: nobody.")
        then = StrictChoice(choices=_ENDS, required=False, default=TurnEnd.BREAK.value)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Take over."""
        then = TurnEnd(data["then"])
        return dealers.take_over(command=command, code=path["table"], relieves=data["relieves"], ended_with=then)


@documented(
    "leaveTable",
    summary="Leave a table as its dealer",
    answers=TableOut,
    tag=TAG,
    refuses=[*_DURING_A_HAND, "no_dealer", "not_the_dealer"],
)
class LeaveTable(WriteOperation):
    """The dealer leaves the table between two hands and nobody takes it over; the floor may enter it. Closing the table
    ends the turn of its dealer too."""

    roles = AT_TABLES

    @extend_schema_serializer(component_name="LeaveTableInput")
    class Input(StrictInput):
        """Where the dealer goes."""

        then = StrictChoice(choices=_ENDS)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Leave."""
        return dealers.leave(command=command, code=path["table"], ended_with=TurnEnd(data["then"]))


@documented("listDealers", summary="List the dealers", tag=TAG)
class Dealers(CursorList):
    """Every active dealer: at which table and since when, or how the last turn ended. A dealer whose last turn ended
    with `break` is on a break since then."""

    sensitive = False
    roles = _SEES_DEALERS

    @extend_schema_serializer(component_name="DealerRow")
    class Row(serializers.Serializer[Any]):
        """A dealer in a list."""

        login = serializers.CharField()
        table = serializers.CharField(allow_null=True, help_text="Code of the table; null: at none.")
        began_at = serializers.DateTimeField(
            allow_null=True, help_text="When the newest turn began; null before the first."
        )
        ended_at = serializers.DateTimeField(allow_null=True, help_text="When it ended; null while it lasts.")
        ended_with = serializers.ChoiceField(choices=TurnEnd.choices, allow_null=True, help_text="What it ended with.")

    serializer_class = Row
    filters = {"table": "table", "ended_with": "ended_with"}
    choices = {"ended_with": TurnEnd.values}

    def rows(self) -> Any:
        """With their newest turns."""
        return selectors.dealers(signed_in(self.request)[0].house)


@documented("listDealerTurns", summary="List the turns of dealers", tag=TAG)
class DealerTurns(CursorList):
    """Who dealt where, from when until when, and which hands of the table: number `first_hand` to number `last_hand`;
    `from` and `until` select by when a turn began."""

    sensitive = False
    roles = _SEES_DEALERS

    @extend_schema_serializer(component_name="DealerTurnRow")
    class Row(serializers.ModelSerializer[DealerTurn]):
        """A turn of a dealer in a list."""

        table = serializers.CharField(source="table.code")
        turn = serializers.IntegerField(source="number")
        dealer = serializers.CharField(source="dealer.login", help_text="Login of the dealer.")
        began_at = serializers.DateTimeField(help_text="When the dealer took the table over.")
        first_hand = serializers.IntegerField()
        last_hand = serializers.IntegerField(allow_null=True)
        ended_with = serializers.ChoiceField(choices=TurnEnd.choices, allow_blank=True)

        class Meta:
            model = DealerTurn
            fields = ("table", "turn", "dealer", "began_at", "first_hand", "ended_at", "last_hand", "ended_with")

    model = DealerTurn
    serializer_class = Row
    filters = {"table": "table__code", "dealer": "dealer__login", "ended_with": "ended_with"}
    choices = {"ended_with": TurnEnd.values}
    time = "began_at"

    def rows(self) -> Any:
        """With their tables and dealers."""
        return super().rows().select_related("table", "dealer")


urls = [
    path("tables/<slug:table>/dealer/take-over", TakeOver.as_view()),
    path("tables/<slug:table>/dealer/leave", LeaveTable.as_view()),
    path("dealers", Dealers.as_view()),
    path("dealer-turns", DealerTurns.as_view()),
]
