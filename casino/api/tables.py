"""Tables and seats, as dealers and the floor use them."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.contract import BUYS, CHANGE, NOT_OPEN, PLAYS, POSTS
from casino.api.http.operations import (
    AT_TABLES,
    SEES_PLAY,
    Amount,
    ReadOperation,
    Reason,
    StrictBoolean,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictText,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.http.shapes import EVENT, OPTIONS, Shaped
from casino.core.commands import Answer, Command
from casino.hands import sessions, terms
from casino.staff.models import Role
from casino.tables import selectors as tables
from casino.tables import services
from casino.tables.models import LEAST_TIME_TO_ACT, MOST_TIME_TO_ACT, CarryoverOnClose, ClientSeeds, FeePer, TableState
from casino.transfers import tray_counts

TAG = "dealer"


class Ticket(StrictInteger):
    """Number of a player on the waiting list."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"min_value": 1, "max_value": 10**9, **kwargs})


class ReceiptOut(serializers.Serializer[Any]):
    """The position of an event in the audit trail."""

    chain = serializers.CharField()
    seq = serializers.IntegerField()
    hash = serializers.CharField()


class SeatOut(serializers.Serializer[Any]):
    """A taken seat."""

    seat = serializers.IntegerField()
    player = serializers.CharField()
    stack = serializers.IntegerField(allow_null=True, help_text="Null for an administrator.")
    device = serializers.BooleanField()


class SeatFeeOut(serializers.Serializer[Any]):
    """What a player pays the house for a seat."""

    amount = serializers.IntegerField(help_text="Minor units; 0: nothing.")
    per = serializers.ChoiceField(choices=FeePer.choices)


class LimitsOut(serializers.Serializer[Any]):
    """How many chips a player may bring."""

    min_stack = serializers.IntegerField()
    max_stack = serializers.IntegerField()


class TermsToCome(serializers.Serializer[Any]):
    """Terms that the next opening of a table brings."""

    options = Shaped(OPTIONS)
    seats = serializers.IntegerField(help_text="Number of seats.")
    min_stack = serializers.IntegerField()
    max_stack = serializers.IntegerField()
    carryover_on_close = serializers.ChoiceField(choices=CarryoverOnClose.choices)


class TableOut(serializers.Serializer[Any]):
    """A table as its console sees it; amounts in minor units of `currency`."""

    table = serializers.CharField()
    game = serializers.CharField()
    area = serializers.CharField(allow_blank=True)
    options = Shaped(OPTIONS)
    state = serializers.ChoiceField(choices=TableState.choices)
    version = serializers.IntegerField()
    currency = serializers.CharField()
    seats = SeatOut(many=True)
    reality_checks = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="Seats whose players have sat for so long that the floor is to say so, and has not yet.",
    )
    seat_count = serializers.IntegerField()
    next_button = serializers.IntegerField(allow_null=True)
    hand_count = serializers.IntegerField()
    prepared_deal = serializers.CharField(allow_null=True)
    opener = serializers.IntegerField(allow_null=True)
    dealer = serializers.CharField(
        allow_null=True, help_text="Login of the dealer who has taken the table over; null: nobody has."
    )
    cukassza = serializers.IntegerField(allow_null=True, help_text="Null for an administrator.")
    bank = serializers.IntegerField(allow_null=True, help_text="Null for an administrator.")
    limits = LimitsOut()
    carryover_on_close = serializers.ChoiceField(choices=CarryoverOnClose.choices)
    terms_to_come = TermsToCome(allow_null=True)
    client_seeds = serializers.ChoiceField(
        choices=ClientSeeds.choices, help_text="Whose seeds an electronic hand needs before it is dealt."
    )
    time_to_act = serializers.IntegerField(allow_null=True)
    device_play = serializers.BooleanField(
        help_text="Whether players may act from their own devices in electronic hands."
    )
    seat_fee = SeatFeeOut()
    last_event = Shaped(EVENT, required=False)
    audit = ReceiptOut(required=False)


def etag(version: int) -> dict[str, str]:
    """The ETag header of a version."""
    return {"ETag": f'"{version}"'}


@documented("readTable", summary="Read a table", answers=TableOut, tag=TAG, etag=True, refuses=["not_found"])
class TableDetail(ReadOperation):
    """A table with its seats, stacks, cukassza and version; an administrator reads `null` where money stands."""

    sensitive = False
    roles = (*SEES_PLAY, Role.ADMIN)

    def get(self, request: Request, table: str) -> Response:
        """The table."""
        context = context_of(request)
        found = tables.describe_now(context.house, table)
        if context.role == Role.ADMIN:
            found = tables.without_money(found)
        return Response(found, headers=etag(found["version"]))


@documented(
    "openTable",
    summary="Open a table",
    answers=TableOut,
    tag=TAG,
    refuses=[
        "house_not_live",
        "table_open",
        "table_playing",
        "table_settling",
        "table_disputed",
        "table_retired",
        "opener_required",
        *POSTS,
        *CHANGE,
    ],
)
class OpenTable(WriteOperation):
    """Open a table for a session. A cukassza or bank of the last session is carried over. `opener` is the count of the
    tray with which it begins: dealer and floor count it before (`POST tables/T1/tray-counts`), or are refused with
    `opener_required`, unless the house lets a tray of this worth open uncounted (`opener_required_above`)."""

    roles = AT_TABLES

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Open."""
        return tray_counts.open_table(command=command, code=path["table"])


@documented(
    "closeTable",
    summary="Close a table",
    answers=TableOut,
    tag=TAG,
    refuses=[
        *NOT_OPEN,
        *POSTS,
        *CHANGE,
        "deal_prepared",
        "carryover_open",
        "carry_without_players",
        "closer_required",
        "session_under_way",
    ],
)
class CloseTable(WriteOperation):
    """End the session. The table's terms decide what happens to the cukassza. Every player leaves with their chips.

    Refused while a hand is not settled, a deal is prepared, or the carryover must first be played for; and, where the
    house wants it (`closer_required` of its control points), until the tray was counted as the closer. A manager
    approves what is held for the next session (`approval_required`).
    """

    roles = AT_TABLES
    approvable = True

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Close."""
        return sessions.close_table(command=command, code=path["table"], counted=tray_counts.closer)


class _PutDown(StrictInput):
    """Chips that a player puts down."""

    brought = Amount(
        required=False,
        help_text="What of `amount` is not booked for the player: bought without a name, or brought by somebody else.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that no more is brought than is put down."""
        if attrs.get("brought", 0) > attrs["amount"]:
            raise serializers.ValidationError({"brought": ["No more is brought than is put down."]})
        return attrs


@documented(
    "sitDown",
    summary="Seat a player",
    answers=TableOut,
    status=201,
    tag=TAG,
    refuses=[
        *BUYS,
        *NOT_OPEN,
        *POSTS,
        *CHANGE,
        "no_such_seat",
        "seat_taken",
        "already_seated",
        "not_called",
        "stack_out_of_range",
        "identity_required",
        "person_forgotten",
        "staff_as_player",
    ],
)
class SitDown(WriteOperation):
    """Seat a player with chips that the player holds away from the tables, and with those that the request says are
    `brought` beyond what is booked: below the house's threshold, or by a player of whom it is recorded who it is
    (`identity_required`)."""

    roles = AT_TABLES

    @extend_schema_serializer(component_name="SitDownInput")
    class Input(_PutDown):
        """Seat number in play order, player reference, chips to bring: 0 only where the table's limits allow it; the
        number of a player who was called from the waiting list."""

        seat = StrictInteger(min_value=1, max_value=99)
        player = StrictText(max_length=32)
        amount = Amount(min_value=0)
        ticket = Ticket(required=False)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Sit."""
        return services.sit(
            command=command, code=path["table"], seat=data["seat"], player_ref=data["player"], amount=data["amount"],
            ticket=data.get("ticket"), brought=data.get("brought", 0),
        )  # fmt: skip


@documented(
    "addChips",
    summary="Add chips to a stack",
    answers=TableOut,
    tag=TAG,
    refuses=[*PLAYS, *NOT_OPEN, *POSTS, *CHANGE, "stack_out_of_range", "identity_required"],
)
class AddChips(WriteOperation):
    """Add chips to a stack between hands; `brought` as in sitting down."""

    roles = AT_TABLES

    @extend_schema_serializer(component_name="AddChipsInput")
    class Input(_PutDown):
        """How much."""

        amount = Amount()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Add."""
        return services.add_chips(
            command=command, code=path["table"], seat=path["seat"], amount=data["amount"],
            brought=data.get("brought", 0),
        )  # fmt: skip


@documented(
    "leaveSeat",
    summary="Leave a seat",
    answers=TableOut,
    tag=TAG,
    refuses=[*NOT_OPEN, *POSTS, *CHANGE, "session_under_way"],
)
class LeaveSeat(WriteOperation):
    """A player leaves the seat with all of the stack; refused during a hand, and while a session is owed for."""

    roles = AT_TABLES

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Leave."""
        return sessions.leave(command=command, code=path["table"], seat=path["seat"])


@documented(
    "changeSeat",
    summary="Change the seat of a player",
    answers=TableOut,
    tag=TAG,
    refuses=[
        "player_excluded",
        *NOT_OPEN,
        "deal_prepared",
        "no_such_seat",
        "seat_taken",
        "no_change",
        "session_under_way",
    ],
)
class ChangeSeat(WriteOperation):
    """A player takes another seat of the table between hands, with the same stack. The key of a device ends with the
    old seat."""

    roles = AT_TABLES

    @extend_schema_serializer(component_name="ChangeSeatInput")
    class Input(StrictInput):
        """The seat that the player takes."""

        to_seat = StrictInteger(min_value=1, max_value=99)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return sessions.change_seat(command=command, code=path["table"], seat=path["seat"], to_seat=data["to_seat"])


@documented(
    "movePlayer",
    summary="Move a player to another table",
    answers=TableOut,
    tag=TAG,
    refuses=[
        *PLAYS,
        *NOT_OPEN,
        *POSTS,
        "no_such_seat",
        "seat_taken",
        "already_seated",
        "no_change",
        "not_called",
        "stack_out_of_range",
        "session_under_way",
        "person_forgotten",
    ],
)
class MovePlayer(WriteOperation):
    """A player goes to another table with the whole stack, in one write at the table that the player leaves, between
    two hands there; the floor. The stack must keep to the limits of the other table, unless game and limits of both are
    the same. As with leaving, a share of a carried cukassza is forfeited."""

    roles = (Role.FLOOR,)

    @extend_schema_serializer(component_name="MovePlayerInput")
    class Input(StrictInput):
        """Table and seat where the player goes; the number of a player who was called from the waiting list."""

        table = StrictText(max_length=32)
        to_seat = StrictInteger(min_value=1, max_value=99)
        ticket = Ticket(required=False)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Move."""
        return sessions.move(
            command=command, code=path["table"], seat=path["seat"], to_code=data["table"], to_seat=data["to_seat"],
            ticket=data.get("ticket"),
        )  # fmt: skip


@documented(
    "setTimeToAct",
    summary="Set the time to act",
    answers=TableOut,
    tag=TAG,
    refuses=["no_change"],
)
class SetTimeToAct(WriteOperation):
    """Set how long a seat has to act before the worker plays its automatic act, or set no limit; the floor."""

    roles = (Role.FLOOR,)

    @extend_schema_serializer(component_name="SetTimeToActInput")
    class Input(StrictInput):
        """Seconds, null for no limit, and the reason, which the audit trail keeps."""

        seconds = StrictInteger(min_value=LEAST_TIME_TO_ACT, max_value=MOST_TIME_TO_ACT, allow_null=True)
        reason = Reason()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return services.set_time_to_act(
            command=command, code=path["table"], seconds=data["seconds"], reason=data["reason"]
        )


@documented(
    "allowDevicePlay",
    summary="Let players act from their devices",
    answers=TableOut,
    tag=TAG,
    refuses=["no_change"],
)
class AllowDevicePlay(WriteOperation):
    """Let players act from their own devices in electronic hands, or let them no more, from the next act on; the floor.
    The dealer may enter every act all the same."""

    roles = (Role.FLOOR,)

    @extend_schema_serializer(component_name="AllowDevicePlayInput")
    class Input(StrictInput):
        """Whether they may, and the reason, which the audit trail keeps."""

        allowed = StrictBoolean(help_text="Whether they may.")
        reason = Reason()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return services.allow_device_play(
            command=command, code=path["table"], allowed=data["allowed"], reason=data["reason"]
        )


@documented(
    "setSeatFee",
    summary="Set the seat fee",
    answers=TableOut,
    tag=TAG,
    refuses=["no_change", "no_seat_fee", *CHANGE, "malformed_setup"],
)
class SetSeatFee(WriteOperation):
    """Set what a player pays the house for a seat where there is no pot to tax, from the next deal on; the floor."""

    roles = (Role.FLOOR,)
    approvable = True

    @extend_schema_serializer(component_name="SetSeatFeeInput")
    class Input(StrictInput):
        """The fee in minor units (0 for none), charged per deal or per hour, and the reason, which the audit trail
        keeps."""

        amount = Amount(min_value=0)
        per = StrictChoice(choices=FeePer.choices)
        reason = Reason()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return terms.set_seat_fee(
            command=command, code=path["table"], amount=data["amount"], per=FeePer(data["per"]), reason=data["reason"]
        )


urls = [
    path("tables/<slug:table>", TableDetail.as_view()),
    path("tables/<slug:table>/open", OpenTable.as_view()),
    path("tables/<slug:table>/close", CloseTable.as_view()),
    path("tables/<slug:table>/seats", SitDown.as_view()),
    path("tables/<slug:table>/seats/<int:seat>/chips", AddChips.as_view()),
    path("tables/<slug:table>/seats/<int:seat>/leave", LeaveSeat.as_view()),
    path("tables/<slug:table>/seats/<int:seat>/change", ChangeSeat.as_view()),
    path("tables/<slug:table>/seats/<int:seat>/move", MovePlayer.as_view()),
    path("tables/<slug:table>/time-to-act", SetTimeToAct.as_view()),
    path("tables/<slug:table>/device-play", AllowDevicePlay.as_view()),
    path("tables/<slug:table>/seat-fee", SetSeatFee.as_view()),
]
