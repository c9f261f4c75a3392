"""Lists of tables, players, hands and audit events, and the records of hands."""

from datetime import datetime
from typing import Any, ClassVar

from django.db.models.fields.json import KeyTextTransform
from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    SEES_PLAY,
    ReadOperation,
    context_of,
    documented,
)
from casino.api.http.shapes import OPTIONS, SERIES, Shaped
from casino.api.parts import minor_units
from casino.audit import archives
from casino.audit.events import EVENTS
from casino.audit.models import Event
from casino.core import moments
from casino.hands import selectors as hands
from casino.hands.models import Hand, HandState, Mode
from casino.players.models import Player
from casino.staff.models import Role

TAG = "oversight"


@documented("listPlayers", summary="List players", tag=TAG)
class PlayerList(CursorList):
    """All players by reference; `from` and `until` select by when they were registered."""

    sensitive = True
    roles = (*SEES_PLAY, Role.COMPLIANCE)

    @extend_schema_serializer(component_name="PlayerListRow")
    class Row(serializers.ModelSerializer[Player]):
        """A player in a list."""

        player = serializers.CharField(source="ref")

        class Meta:
            model = Player
            fields = ("player", "registered_at")

    model = Player
    serializer_class = Row
    filters = {"player": "ref"}
    time = "registered_at"


class HandResult(serializers.Serializer[Any]):
    """What a hand came to, in minor units."""

    net = serializers.ListField(child=serializers.IntegerField())
    bonus = serializers.ListField(child=serializers.IntegerField(), help_text="Bonuses of each seat, in play order.")
    tax = serializers.IntegerField()
    carry_out = serializers.IntegerField()
    ending = serializers.CharField(help_text="How the hand ended, in the game's words.")
    winner = serializers.IntegerField(help_text="Number of the seat that won, in play order; 0: nobody or several.")
    series = Shaped(SERIES, required=False)


class HandRuling(serializers.Serializer[Any]):
    """How the floor divided a disputed pot, in minor units."""

    pot = minor_units("The pot that was divided")
    awards = serializers.DictField(child=serializers.IntegerField(), help_text="What each seat got, by `p1`, `p2` ...")
    tax = serializers.IntegerField()


@documented("listHands", summary="List hands", tag=TAG)
class HandList(CursorList):
    """All hands; `from` and `until` select by when they were dealt, `player` by who was dealt in."""

    sensitive = False
    roles: ClassVar[tuple[Role, ...]] = SEES_PLAY

    @extend_schema_serializer(component_name="HandListRow")
    class Row(serializers.ModelSerializer[Hand]):
        """A hand in a list."""

        hand = serializers.CharField(source="name")
        table = serializers.CharField(source="table.code")
        stacks = serializers.ListField(child=serializers.IntegerField())
        result = HandResult(allow_null=True)
        ruling = HandRuling(allow_null=True)

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
    filters = {"table": "table__code", "player": "seats__contains", "state": "state", "mode": "mode"}
    choices = {"state": HandState.values, "mode": Mode.values}
    time = "started_at"
    ids_follow_time = True

    def rows(self) -> Any:
        """With their tables."""
        return super().rows().select_related("table")

    def lookup(self, name: str, value: str) -> dict[str, Any]:
        """A player is one of the hand's seats."""
        return {self.filters[name]: [{"player": value}] if name == "player" else value}


class HandRecordOut(serializers.Serializer[Any]):
    """A hand as a `chr/1` record. Members that do not apply are absent. For all but auditors, members with cards
    that were not shown are absent too."""

    v = serializers.CharField(help_text="Version of the record's format: `chr/1`.")
    game = serializers.CharField()
    rules = serializers.CharField()
    opt = Shaped(OPTIONS, help_text="Options of the game; `GET games/NAME` declares them.")
    hand = serializers.CharField()
    seats = serializers.ListField(child=serializers.CharField(), help_text="References of the players, in play order.")
    dealer = serializers.IntegerField(help_text="Number of the seat that deals, in play order.")
    stacks = serializers.ListField(child=serializers.IntegerField())
    carry = serializers.IntegerField()
    deck = serializers.CharField(required=False, help_text="Cards of the deck in its order, two characters each.")
    decks = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Decks, where cards were dealt again."
    )
    acts = serializers.ListField(child=serializers.CharField(), help_text="Lines of the log.")
    series = Shaped(SERIES, required=False)
    net = serializers.ListField(child=serializers.IntegerField(), required=False)
    bonus = serializers.ListField(
        child=serializers.IntegerField(), required=False, help_text="Bonuses of each seat, in play order."
    )
    tax = serializers.IntegerField(required=False)
    carry_out = serializers.IntegerField(required=False)
    series_out = Shaped(SERIES, required=False)
    state = serializers.CharField(required=False, help_text="SHA-256 of the engine's final state, 64 hex digits.")
    prev = serializers.CharField(required=False, help_text="SHA-256 of the table's record before this one.")
    commit = serializers.CharField(required=False, help_text="Commitment to the seed, 64 hexadecimal digits.")
    seed = serializers.CharField(required=False, help_text="The seed that opens the commitment, in hexadecimal digits.")
    client_seeds = serializers.DictField(
        child=serializers.CharField(), required=False, help_text="Seeds of the players, by number of the table's seat."
    )


@documented(
    "readHandRecord",
    summary="Read a hand's record",
    answers=HandRecordOut,
    tag=TAG,
    refuses=["not_found", "hand_in_play"],
)
class HandRecord(ReadOperation):
    """One finished hand as a `chr/1` record. Auditors get every card and the seed. Floor, manager and
    surveillance get the hand as everybody at the table saw it. Refused while the hand is being played
    (`hand_in_play`)."""

    sensitive = True
    roles = (Role.AUDITOR, Role.FLOOR, Role.MANAGER, Role.SURVEILLANCE)

    def get(self, request: Request, hand: str) -> Response:
        """The record."""
        by = context_of(request)
        record = hands.finished_record if by.role == Role.AUDITOR else hands.public_record
        return Response(record(hands.get(by.house, hand)))


@documented("listEvents", summary="List audit events", tag=TAG, refuses=["archive_unreadable"])
class EventList(CursorList):
    """The audit trail, event by event, exactly as hashed, also where its text lies in an archive. There is an index for
    each of `chain`, `kind`, `actor` and the times."""

    sensitive = True
    roles = (Role.AUDITOR,)

    @extend_schema_serializer(component_name="EventListRow")
    class Row(serializers.ModelSerializer[Event]):
        """An event: `payload` is the exact text whose hash is `hash`; the receipt has the same hash."""

        hash = serializers.CharField(source="leaf_hash")

        class Meta:
            model = Event
            fields = ("payload", "hash")

    model = Event
    serializer_class = Row
    filters = {"chain": "chain__name", "kind": "kind", "actor": "actor"}
    choices = {"kind": sorted(EVENTS)}
    time = "at"
    ids_follow_time = True

    def rows(self) -> Any:
        """Events with kind, actor and time, as their payloads have them."""
        names = ("kind", "actor", "at")
        return super().rows().annotate(**{name: KeyTextTransform(name, "doc") for name in names})

    def paginate_queryset(self, queryset: Any) -> Any:
        """A page of them, with the texts of those that were put away."""
        page = super().paginate_queryset(queryset)
        archives.fill_in(context_of(self.request).house, page or ())
        return page

    def as_stored(self, at: datetime) -> str:
        """A time as payloads have it: text that sorts by time, in UTC, always to the microsecond."""
        return moments.utc(at)


urls = [
    path("players", PlayerList.as_view()),
    path("hands", HandList.as_view()),
    path("hands/<slug:hand>", HandRecord.as_view()),
    path("audit/events", EventList.as_view()),
]
