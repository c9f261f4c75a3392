"""Tables and seats, as dealers and the floor use them."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.operations import (
    AT_TABLES,
    READERS,
    Amount,
    ReadOperation,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictText,
    WriteOperation,
    context_of,
    documented,
    problems,
)
from casino.core.write import Answer, Command
from casino.hands import sessions, terms
from casino.staff.models import Role
from casino.tables import selectors as tables
from casino.tables import services
from casino.tables.models import LEAST_TIME_TO_ACT, MOST_TIME_TO_ACT, ClientSeeds, FeePer, TableState

TAG = "dealer"


class Place(serializers.Serializer[Any]):
    """An event's place in the audit trail."""

    chain = serializers.CharField()
    seq = serializers.IntegerField()
    hash = serializers.CharField()


class SeatOut(serializers.Serializer[Any]):
    """A taken seat; `device`: the player has one of his own, and only that gives the seat's seed."""

    seat = serializers.IntegerField()
    player = serializers.CharField()
    stack = serializers.IntegerField()
    device = serializers.BooleanField()


class SeatFeeOut(serializers.Serializer[Any]):
    """What a player pays the house for a seat, in minor units; 0: nothing."""

    amount = serializers.IntegerField()
    per = serializers.ChoiceField(choices=FeePer.choices)


class TableOut(serializers.Serializer[Any]):
    """A table as its console sees it; amounts in minor units of `currency`."""

    table = serializers.CharField()
    game = serializers.CharField()
    options = serializers.JSONField()
    state = serializers.ChoiceField(choices=TableState.choices)
    version = serializers.IntegerField()
    currency = serializers.CharField()
    seats = SeatOut(many=True)
    seat_count = serializers.IntegerField()
    next_dealer_seat = serializers.IntegerField(allow_null=True)
    hands_dealt = serializers.IntegerField()
    #: Name of the hand whose electronic deal is committed to and not dealt yet.
    prepared_deal = serializers.CharField(allow_null=True)
    cukassza = serializers.IntegerField()
    #: What the seats hold in common beside the pot, in a game that has a bank.
    bank = serializers.IntegerField()
    limits = serializers.JSONField()
    carryover_on_close = serializers.CharField()
    #: Whose seeds an electronic hand needs before it is dealt.
    client_seeds = serializers.ChoiceField(choices=ClientSeeds.choices)
    #: Seconds that a seat has for its act before the worker plays its automatic act; null: no limit.
    time_to_act = serializers.IntegerField(allow_null=True)
    seat_fee = SeatFeeOut()
    done = serializers.JSONField(required=False)
    audit = Place(required=False)


def etag(version: int) -> dict[str, str]:
    return {"ETag": f'"{version}"'}


class TableDetail(ReadOperation):
    """One table with seats, stacks, cukassza and version."""

    sensitive = False
    roles = READERS

    @extend_schema(
        operation_id="readTable",
        summary="Read a table",
        tags=[TAG],
        responses={200: TableOut, **problems(401, 403, 404)},
    )
    def get(self, request: Request, table: str) -> Response:
        """The table."""
        found = tables.describe_now(context_of(request).house, table)
        return Response(found, headers=etag(found["version"]))


@documented("openTable", summary="Open a table for a session", answers=TableOut, tag=TAG)
class OpenTable(WriteOperation):
    """Begin a session."""

    roles = AT_TABLES

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Open."""
        return services.open_table(command=command, code=path["table"])


@documented("closeTable", summary="Close a session: share the cukassza, stand everybody up", answers=TableOut, tag=TAG)
class CloseTable(WriteOperation):
    """End a session."""

    roles = AT_TABLES

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Close."""
        return sessions.close_table(command=command, code=path["table"])


@documented("sitDown", summary="Seat a player with chips", answers=TableOut, status=201, tag=TAG)
class SitDown(WriteOperation):
    """Seat a player."""

    roles = AT_TABLES

    @extend_schema_serializer(component_name="SitDownInput")
    class Input(StrictInput):
        """Seat number in play order, player reference, chips to bring: 0 only where the table's limits allow it."""

        seat = StrictInteger(min_value=1, max_value=99)
        player = StrictText(max_length=32)
        amount = Amount(min_value=0)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Sit."""
        return services.sit(
            command=command, code=path["table"], seat=data["seat"], player_ref=data["player"], amount=data["amount"]
        )


@documented("addChips", summary="Add chips to a stack between hands", answers=TableOut, tag=TAG)
class AddChips(WriteOperation):
    """Add chips."""

    roles = AT_TABLES

    @extend_schema_serializer(component_name="AddChipsInput")
    class Input(StrictInput):
        """How much."""

        amount = Amount()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Add."""
        return services.add_chips(command=command, code=path["table"], seat=path["seat"], amount=data["amount"])


@documented("leaveSeat", summary="Stand a player up with his chips", answers=TableOut, tag=TAG)
class LeaveSeat(WriteOperation):
    """Leave."""

    roles = AT_TABLES

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Leave."""
        return sessions.leave(command=command, code=path["table"], seat=path["seat"])


@documented("setTimeToAct", summary="Set the time for an act, or none; the floor", answers=TableOut, tag=TAG)
class SetTimeToAct(WriteOperation):
    """Change how long a seat has for its act before the worker plays the automatic act for it."""

    roles = (Role.FLOOR,)

    @extend_schema_serializer(component_name="SetTimeToActInput")
    class Input(StrictInput):
        """Seconds, null for no limit, and the reason, which the audit trail keeps."""

        seconds = StrictInteger(min_value=LEAST_TIME_TO_ACT, max_value=MOST_TIME_TO_ACT, allow_null=True)
        reason = StrictText(min_length=3, max_length=200)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return services.set_time_to_act(
            command=command, code=path["table"], seconds=data["seconds"], reason=data["reason"]
        )


@documented("setSeatFee", summary="Set what a seat costs; the floor", answers=TableOut, tag=TAG)
class SetSeatFee(WriteOperation):
    """Change what a player pays the house for a seat where there is no pot to tax, from the next deal on."""

    roles = (Role.FLOOR,)

    @extend_schema_serializer(component_name="SetSeatFeeInput")
    class Input(StrictInput):
        """Minor units, 0 for nothing, for every deal or every hour, and the reason, which the audit trail keeps."""

        amount = Amount(min_value=0)
        per = StrictChoice(choices=FeePer.choices)
        reason = StrictText(min_length=3, max_length=200)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return terms.set_seat_fee(
            command=command, code=path["table"], amount=data["amount"], per=FeePer(data["per"]), reason=data["reason"]
        )
