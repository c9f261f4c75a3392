"""What floor, auditors and administrators read: lists with cursors, records, reports, verification."""

from datetime import datetime
from typing import Any

from django.db.models.fields.json import KeyTextTransform
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import OVERSIGHT, ReadOperation, context_of, problems
from casino.audit.models import Event
from casino.hands import selectors as hands
from casino.hands.models import Hand
from casino.players.models import Player
from casino.reports import selectors as reports
from casino.staff.models import Role
from casino.tables.models import Table

TAG = "oversight"


class TableList(CursorList):
    """All tables."""

    sensitive = False

    @extend_schema_serializer(component_name="TableListRow")
    class Row(serializers.ModelSerializer[Table]):
        """A table in a list."""

        table = serializers.CharField(source="code")
        seat_count = serializers.IntegerField(source="seats")
        hand_count = serializers.IntegerField(source="hands_dealt")

        class Meta:
            model = Table
            fields = ("table", "game", "options", "seat_count", "state", "version", "hand_count")

    model = Table
    serializer_class = Row

    @extend_schema(
        operation_id="listTables",
        summary="List tables",
        tags=[TAG],
        responses={200: Row(many=True), **problems(401, 403, 404)},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A page of tables."""
        return super().get(request, *args, **kwargs)


class PlayerList(CursorList):
    """All players."""

    sensitive = True

    @extend_schema_serializer(component_name="PlayerListRow")
    class Row(serializers.ModelSerializer[Player]):
        """A player in a list."""

        player = serializers.CharField(source="ref")

        class Meta:
            model = Player
            fields = ("player", "registered_at")

    model = Player
    serializer_class = Row

    @extend_schema(
        operation_id="listPlayers",
        summary="List players",
        tags=[TAG],
        responses={200: Row(many=True), **problems(401, 403, 404)},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A page of players."""
        return super().get(request, *args, **kwargs)


class HandList(CursorList):
    """All hands, oldest first."""

    sensitive = False

    @extend_schema_serializer(component_name="HandListRow")
    class Row(serializers.ModelSerializer[Hand]):
        """A hand in a list."""

        hand = serializers.CharField(source="name")
        table = serializers.CharField(source="table.code")

        class Meta:
            model = Hand
            fields = (
                "hand",
                "table",
                "number",
                "mode",
                "state",
                "stacks",
                "carry",
                "result",
                "ruling",
                "handle",
                "started_at",
                "ended_at",
                "settled_at",
            )

    model = Hand
    serializer_class: type[serializers.BaseSerializer[Hand]] = Row
    filters = {"table": "table__code"}

    def get_queryset(self) -> Any:
        """With their tables."""
        return super().get_queryset().select_related("table")

    @extend_schema(
        operation_id="listHands",
        summary="List hands",
        tags=[TAG],
        responses={200: Row(many=True), **problems(401, 403, 404)},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A page of hands."""
        return super().get(request, *args, **kwargs)


class HandRecord(ReadOperation):
    """One finished hand as a `chr/1` record: every card and the seed for those who oversee the house; for the floor,
    who settles arguments, as everybody saw it."""

    sensitive = True
    roles = (*OVERSIGHT, Role.FLOOR)

    @extend_schema(
        operation_id="readHandRecord",
        summary="Read a hand's record",
        tags=[TAG],
        responses={200: OpenApiTypes.OBJECT, **problems(401, 403, 404, 409)},
    )
    def get(self, request: Request, hand: str) -> Response:
        """The record."""
        by = context_of(request)
        told = hands.finished_record if by.role in OVERSIGHT else hands.public_record
        return Response(told(hands.get(by.house, hand)))


def _text(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, str, OpenApiParameter.QUERY, description=description)


class EventList(CursorList):
    """The audit trail, event by event, exactly as hashed.

    No index knows what payloads hold: every event would pay for it, and auditors ask seldom. A rare kind or actor is
    looked for along the house's events, from the cursor on, or along one chain's where that is named.
    """

    sensitive = True
    roles = OVERSIGHT

    @extend_schema_serializer(component_name="EventListRow")
    class Row(serializers.ModelSerializer[Event]):
        """An event: `payload` is the very text whose hash is `hash`, which its receipt told."""

        hash = serializers.CharField(source="leaf_hash")

        class Meta:
            model = Event
            fields = ("payload", "hash")

    model = Event
    serializer_class = Row
    house_lookup = "chain__house"
    filters = {"chain": "chain__name", "kind": "doc__kind", "actor": "doc__actor"}
    time = "at"

    def rows(self) -> Any:
        """With the moment of each, as its payload has it."""
        return super().rows().annotate(at=KeyTextTransform("at", "doc"))

    def as_stored(self, at: datetime) -> str:
        """A moment as payloads have it: text that sorts as moments do, UTC and always to the microsecond."""
        return at.isoformat(timespec="microseconds").replace("+00:00", "Z")

    @extend_schema(
        operation_id="listEvents",
        summary="List audit events; the more they are narrowed down by chain and cursor, the faster",
        tags=[TAG],
        parameters=[
            _text("chain", "of a table, a drawer or the house: table/T1"),
            _text("kind", "such as hand.voided"),
            _text("actor", "login, a player's reference, or worker"),
            _text("from", "moment with time zone; events of then and later"),
            _text("until", "moment with time zone; events before then"),
        ],
        responses={200: Row(many=True), **problems(400, 401, 403, 404)},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A page of events."""
        return super().get(request, *args, **kwargs)


class HouseReport(ReadOperation):
    """Tables, chips against liability, trial balance, drawers."""

    sensitive = True
    roles = OVERSIGHT

    @extend_schema(
        operation_id="readHouseReport",
        summary="Read the house's report",
        tags=[TAG],
        responses={200: OpenApiTypes.OBJECT, **problems(401, 403)},
    )
    def get(self, request: Request) -> Response:
        """The report."""
        return Response(reports.house_report(context_of(request).house))


class Verification(ReadOperation):
    """Every hand replayed, the audit trail verified, the books checked; takes as long as it takes."""

    sensitive = True
    roles = OVERSIGHT

    @extend_schema(
        operation_id="verifyHouse",
        summary="Verify hands, audit trail and books",
        tags=[TAG],
        responses={200: OpenApiTypes.OBJECT, **problems(401, 403)},
    )
    def get(self, request: Request) -> Response:
        """What verifying found."""
        return Response(reports.verification(context_of(request).house))


class PlayerReport(ReadOperation):
    """Players and their chips."""

    sensitive = True
    roles = OVERSIGHT

    @extend_schema(
        operation_id="readPlayerReport",
        summary="Read who holds which chips away from the tables",
        tags=[TAG],
        responses={200: OpenApiTypes.OBJECT, **problems(401, 403)},
    )
    def get(self, request: Request) -> Response:
        """The report."""
        return Response({"players": reports.players(context_of(request).house)})


class HandMoney(HandList):
    """What the ledger says each hand did."""

    sensitive = True
    roles = OVERSIGHT

    @extend_schema_serializer(component_name="HandMoneyRow")
    class MoneyRow(serializers.Serializer[Any]):
        """Net per seat in play order, tax, bonuses, money carried out; from the ledger alone, in minor units."""

        hand = serializers.CharField()
        state = serializers.CharField()
        net = serializers.ListField(child=serializers.IntegerField())
        tax = serializers.IntegerField()
        bonus = serializers.IntegerField()
        carry_out = serializers.IntegerField()

        def to_representation(self, instance: Hand) -> dict[str, Any]:
            """The ledger's answer."""
            return reports.hand_money(instance)

    serializer_class = MoneyRow

    @extend_schema(
        operation_id="listHandMoney",
        summary="List what the ledger says each hand did",
        tags=[TAG],
        responses={200: MoneyRow(many=True), **problems(401, 403, 404)},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A page."""
        return super().get(request, *args, **kwargs)
