"""What a dealer's console does: tables, seats, hands."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.operations import (
    AT_TABLES,
    READERS,
    Amount,
    ReadOperation,
    StrictBoolean,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictPattern,
    StrictText,
    WriteOperation,
    acting,
    documented,
    problems,
)
from casino.commands import Answer, Command
from casino.errors import Conflict
from casino.hands import ruling, verbs, voiding
from casino.hands import selectors as hands
from casino.hands import services as play
from casino.hands.models import Mode
from casino.staff.models import Role
from casino.tables import selectors as tables
from casino.tables import services
from casino.tables.models import ClientSeeds, TableState

TAG = "dealer"
#: The verbs of the games' logs with their meanings; which of them is legal now the engine says.
VERBS = tuple(verbs.VERBS.items())
#: What an action must name, by verb.
NEEDS = {
    "po": ("amount",), "dh": ("target", "cards"), "lk": ("count",), "cc": ("amount",), "rb": ("amount",),
    "br": ("amount",), "ks": ("amount", "target"), "sm": ("cards",), "up": ("cards",), "cu": ("cards",),
    "mj": ("commitment",), "rv": ("amount",),
}  # fmt: skip
#: What an action may name besides.
MAY_NAME = {"rv": ("nonce",)}
#: What an action may name instead: a console that is told no card can say which ones lie where.
INSTEAD = {"up": ("places",)}
#: An action's arguments in the order of the log's line.
ARGUMENTS = ("amount", "count", "target", "cards", "commitment", "nonce")


# --- Answers --------------------------------------------------------------------------------------------------------


class Place(serializers.Serializer):
    """An event's place in the audit trail."""

    chain = serializers.CharField()
    seq = serializers.IntegerField()
    hash = serializers.CharField()


class SeatOut(serializers.Serializer):
    """A taken seat; `device`: the player has one of his own, and only that gives the seat's seed."""

    seat = serializers.IntegerField()
    player = serializers.CharField()
    stack = serializers.IntegerField()
    device = serializers.BooleanField()


class TableOut(serializers.Serializer):
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
    limits = serializers.JSONField()
    kassza_end = serializers.CharField()
    #: Whose seeds an electronic hand needs before it is dealt.
    client_seeds = serializers.ChoiceField(choices=ClientSeeds.choices)
    done = serializers.JSONField(required=False)
    audit = Place(required=False)


class LegalOut(serializers.Serializer):
    """One kind of action that is legal now, with its range of amounts; of `lk`, that of `count` if it may be less."""

    actor = serializers.CharField()
    verb = serializers.ChoiceField(choices=VERBS)
    min = serializers.IntegerField(required=False)
    max = serializers.IntegerField(required=False)
    step = serializers.IntegerField(required=False)
    target = serializers.CharField(required=False)
    count = serializers.IntegerField(required=False)
    #: Which pairs of cards may be turned up, by their places in the order of dealing, from 0; absent: any.
    places = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2), required=False
    )


class HandOut(serializers.Serializer):
    """A hand in play: public view, whose turn it is, what may be done."""

    hand = serializers.CharField()
    state = serializers.CharField()
    mode = serializers.ChoiceField(choices=Mode.choices)
    commitment = serializers.CharField(allow_null=True)
    #: What players added to the seed, by chair.
    client_seeds = serializers.DictField(child=serializers.CharField())
    #: Roots over the salted cards: the deck's, then that of each redeal.
    cards_roots = serializers.ListField(child=serializers.CharField())
    seats = serializers.JSONField()
    actor = serializers.CharField(allow_null=True)
    legal_actions = LegalOut(many=True)
    view = serializers.JSONField()
    result = serializers.JSONField(allow_null=True)
    balances = serializers.JSONField(required=False)
    version = serializers.IntegerField()
    audit = Place(required=False)


def _etag(version: int) -> dict[str, str]:
    return {"ETag": f'"{version}"'}


# --- Tables and seats -----------------------------------------------------------------------------------------------


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
        found = tables.get(acting(request).house, table)
        return Response(tables.describe(found), headers=_etag(found.version))


@documented("openTable", summary="Open a table for a sitting", answers=TableOut, tag=TAG)
class OpenTable(WriteOperation):
    """Begin a sitting."""

    roles = AT_TABLES

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Open."""
        return services.open_table(command=command, code=path["table"])


@documented("closeTable", summary="Close a sitting: share the cukassza, stand everybody up", answers=TableOut, tag=TAG)
class CloseTable(WriteOperation):
    """End a sitting."""

    roles = AT_TABLES

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Close."""
        return services.close_table(command=command, code=path["table"])


@documented("sitDown", summary="Seat a player with chips", answers=TableOut, status=201, tag=TAG)
class SitDown(WriteOperation):
    """Seat a player."""

    roles = AT_TABLES

    @extend_schema_serializer(component_name="SitDownInput")
    class Input(StrictInput):
        """Seat number in play order, player reference, chips to bring."""

        seat = StrictInteger(min_value=1, max_value=99)
        player = StrictText(max_length=32)
        amount = Amount()

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
        return services.leave(command=command, code=path["table"], seat=path["seat"])


# --- Hands ----------------------------------------------------------------------------------------------------------


@documented("dealHand", summary="Start the next hand", answers=HandOut, status=201, tag=TAG)
class DealHand(WriteOperation):
    """Start a hand."""

    roles = AT_TABLES

    @extend_schema_serializer(component_name="DealHandInput")
    class Input(StrictInput):
        """Where the cards come from, who deals first in a sitting, who sits this one out, and whether the dealer
        announces call or discard (Ferbli: in a cukassza, at a table whose `cukassza_call` is `announced`)."""

        mode = StrictChoice(choices=Mode.choices)
        dealer_seat = StrictInteger(min_value=1, max_value=99, required=False)
        sitting_out = serializers.ListField(
            child=StrictInteger(min_value=1, max_value=99), required=False, max_length=20
        )
        call_or_discard = StrictBoolean(required=False)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Deal."""
        return play.deal(
            command=command,
            code=path["table"],
            mode=Mode(data["mode"]),
            dealer_seat=data.get("dealer_seat"),
            sitting_out=data.get("sitting_out", []),
            call_or_discard=data.get("call_or_discard", False),
        )


class ActionInput(StrictInput):
    """One action in the words of the hand record: `{"actor": "p4", "verb": "ks", "amount": 400, "target": "p1"}`.

    Only what the verb takes may be present: amount (minor units), count (cards looked at: all that are unseen, or as
    few as the offer's `min`), target, cards (`??` for a
    card that nobody but its holder knows), commitment (a vizi held in the fist: `??`, or 64 hexadecimal digits, the
    SHA-256 of three parts, each after its length in four bytes, big-endian: `majzli-v1`, the vizi in decimal digits,
    and sixteen random bytes, the nonce), nonce (those bytes as 32 hexadecimal digits), places
    (instead of the cards turned up, where they lie among the seat's cards in the order of dealing, from 0: enough where
    the house knows the cards, in electronic mode).
    """

    actor = StrictPattern(r"^(d|p[1-9])\Z")
    verb = StrictChoice(choices=VERBS)
    amount = StrictInteger(min_value=0, max_value=10**15, required=False)
    count = StrictInteger(min_value=1, max_value=10, required=False)
    target = StrictPattern(r"^p[1-9]\Z", required=False)
    cards = StrictPattern(r"^([2-9AKQJTOUX][a-z]|\?\?){1,10}\Z", required=False)
    commitment = StrictPattern(r"^([0-9a-f]{64}|\?\?)\Z", required=False)
    nonce = StrictPattern(r"^[0-9a-f]{32}\Z", required=False)
    places = serializers.ListField(
        child=StrictInteger(min_value=0, max_value=3), min_length=2, max_length=2, required=False
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly what the verb takes, so that the log's line can be only one."""
        verb = attrs["verb"]
        named = set(attrs) - {"actor", "verb"}
        instead = set(INSTEAD.get(verb, ()))
        needed = instead if instead and named == instead else set(NEEDS.get(verb, ()))
        or_else = f", or {' and '.join(sorted(instead))} instead" if instead else ""
        wrong = {name: [f"{verb} needs {name}{or_else}."] for name in needed - named}
        surplus = named - needed - set(MAY_NAME.get(verb, ()))
        wrong |= {name: [f"{verb} takes no {name}{' beside that' if name in instead else ''}."] for name in surplus}
        if wrong:
            raise serializers.ValidationError(wrong)
        return attrs


@documented("act", summary="Take actions of a hand, all or none", answers=HandOut, tag=TAG)
class Act(WriteOperation):
    """Act. One gesture may be several lines of the log: the packets of a deal, a look and the bet that follows it."""

    roles = AT_TABLES
    hides = frozenset({"card", "cards"})  # a refused line may name cards that are face down and will be dealt again

    @extend_schema_serializer(component_name="ActInput")
    class Input(StrictInput):
        """Actions in their order."""

        actions = serializers.ListField(child=ActionInput(), min_length=1, max_length=20)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Act."""
        lines = [as_line(action) for action in data["actions"]]
        return play.act(command=command, code=path["table"], lines=lines)


def as_line(data: dict[str, Any]) -> str:
    """The log's line of one action; cards named by their places are left for the hand to name."""
    if "places" in data:
        return play.up_by_places(data["actor"], *data["places"])
    parts = [data[name] for name in ("actor", "verb", *ARGUMENTS) if name in data]
    return " ".join(str(part) for part in parts)


@documented("voidHand", summary="Void the hand in play or in dispute: everything goes back", answers=TableOut, tag=TAG)
class VoidHand(WriteOperation):
    """Void a misdealt, wrongly entered or disputed hand; the floor decides, and says why."""

    roles = (Role.FLOOR,)

    @extend_schema_serializer(component_name="VoidHandInput")
    class Input(StrictInput):
        """The reason, which the audit trail keeps."""

        reason = StrictText(min_length=3, max_length=200)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Void."""
        return voiding.void(command=command, code=path["table"], reason=data["reason"])


class Award(StrictInput):
    """What one seat of the hand gets of the disputed pot, in minor units."""

    actor = StrictPattern(r"^p[1-9]\Z")
    amount = Amount()


@documented("ruleOnHand", summary="Divide the pot of a disputed hand; the floor", answers=TableOut, tag=TAG)
class RuleOnHand(WriteOperation):
    """Rule on a disputed hand: its pot is divided between seats of the hand, less the house's tax."""

    roles = (Role.FLOOR,)

    @extend_schema_serializer(component_name="RuleOnHandInput")
    class Input(StrictInput):
        """Who gets how much, the tax (0 for none; with the awards it makes the pot), and the reason, which the audit
        trail keeps."""

        awards = serializers.ListField(child=Award(), min_length=1, max_length=9)
        tax = Amount(min_value=0)
        reason = StrictText(min_length=3, max_length=200)

        def validate_awards(self, awards: list[dict[str, Any]]) -> dict[str, int]:
            """Each seat once."""
            found = {award["actor"]: award["amount"] for award in awards}
            if len(found) < len(awards):
                raise serializers.ValidationError("Each seat is named once.")
            return found

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Rule."""
        return ruling.rule(
            command=command, code=path["table"], awards=data["awards"], tax=data["tax"], reason=data["reason"]
        )


class HandNow(ReadOperation):
    """The hand at a table that is played or waits for its settlement."""

    sensitive = False
    roles = READERS

    @extend_schema(
        operation_id="readHand",
        summary="Read the hand in play",
        tags=[TAG],
        responses={200: HandOut, **problems(401, 403, 404, 409)},
    )
    def get(self, request: Request, table: str) -> Response:
        """The hand, its public view and legal actions."""
        found = tables.get(acting(request).house, table)
        hand = hands.unsettled(found)
        if hand is None:
            raise Conflict(f"No hand is being played at table {table}.", code="no_hand", state=found.state)
        game = hands.state(hand)
        body = {
            **hands.describe(hand, game, game.view("public")),
            "balances": hands.balances(hand),
            "version": found.version,
        }
        return Response(body, headers=_etag(found.version))


class LegalNow(ReadOperation):
    """What may be done now in the hand in play."""

    sensitive = False
    roles = READERS

    @extend_schema(
        operation_id="readLegalActions",
        summary="Read the legal actions",
        tags=[TAG],
        responses={200: LegalOut(many=True), **problems(401, 403, 404, 409)},
    )
    def get(self, request: Request, table: str) -> Response:
        """The legal actions of whoever's turn it is."""
        found = tables.get(acting(request).house, table)
        game = hands.state(hands.playing(found))
        return Response(hands.legal_actions(game), headers=_etag(found.version))
