"""Hands: dealt, played, disputed, as a dealer's console uses them."""

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
    StrictPattern,
    StrictText,
    WriteOperation,
    context_of,
    documented,
    problems,
)
from casino.api.tables import Place, TableOut, etag
from casino.core.errors import Conflict
from casino.core.write import Answer, Command
from casino.hands import ruling, verbs, voiding
from casino.hands import selectors as hands
from casino.hands import services as play
from casino.hands.models import Mode
from casino.staff.models import Role
from casino.tables import selectors as tables

TAG = "dealer"
#: The verbs of the games' logs with their meanings; which of them is legal now the engine says.
VERBS = tuple(verbs.VERBS.items())


class LegalOut(serializers.Serializer[Any]):
    """One kind of action that is legal now, with its range of amounts; of `lk`, that of `count` if it may be less."""

    actor = serializers.CharField()
    verb = serializers.ChoiceField(choices=VERBS)
    min = serializers.IntegerField(required=False)
    max = serializers.IntegerField(required=False)
    step = serializers.IntegerField(required=False)
    target = serializers.CharField(required=False)
    count = serializers.IntegerField(required=False)
    #: The fewest cards, where that is less than `count`.
    least = serializers.IntegerField(required=False)
    #: True where it is possible only if the seat holds the card, which the reader does not know.
    if_held = serializers.BooleanField(required=False)
    #: The cards that may be named; absent where they lie in a hand that the reader does not know.
    cards = serializers.ListField(child=serializers.CharField(), required=False)
    #: The seats that may be named, and those that must be.
    targets = serializers.ListField(child=serializers.CharField(), required=False)
    must = serializers.ListField(child=serializers.CharField(), required=False)
    words = serializers.ListField(child=serializers.CharField(), required=False)
    #: Which cards may be named together, by their places among those that the seat holds, from 0; absent: any.
    places = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(), min_length=1), required=False
    )


class HandOut(serializers.Serializer[Any]):
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
    #: When the time of the seat whose turn it is runs out; null where no clock runs.
    act_by = serializers.DateTimeField(allow_null=True)
    legal_actions = LegalOut(many=True)
    view = serializers.JSONField()
    result = serializers.JSONField(allow_null=True)
    balances = serializers.JSONField(required=False)
    version = serializers.IntegerField()
    audit = Place(required=False)


@documented("dealHand", summary="Start the next hand", answers=HandOut, status=201, tag=TAG)
class DealHand(WriteOperation):
    """Start a hand."""

    roles = AT_TABLES

    @extend_schema_serializer(component_name="DealHandInput")
    class Input(StrictInput):
        """Where the cards come from, who deals first in a session, who sits this one out, and what the dealer
        announces: words that the game's policy lists (`GET games/RULES`), at a table that leaves it open."""

        mode = StrictChoice(choices=Mode.choices)
        dealer_seat = StrictInteger(min_value=1, max_value=99, required=False)
        sitting_out = serializers.ListField(
            child=StrictInteger(min_value=1, max_value=99), required=False, max_length=20
        )
        announce = serializers.ListField(child=StrictText(max_length=40), required=False, max_length=4)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Deal."""
        return play.deal(
            command=command,
            code=path["table"],
            mode=Mode(data["mode"]),
            dealer_seat=data.get("dealer_seat"),
            sitting_out=data.get("sitting_out", []),
            announced=data.get("announce", ()),
        )


def _argument_field(argument: verbs.Argument) -> serializers.Field[Any, Any, Any, Any]:
    """The field of one argument; which of them an action takes its verb says."""
    match argument.kind:
        case "amount":
            return StrictInteger(min_value=0, max_value=10**15, required=False)
        case "number":
            return StrictInteger(min_value=1, max_value=60, required=False)
        case "seat":
            return StrictPattern(r"^p[1-9]\Z", required=False)
        case "seats":
            return serializers.ListField(child=StrictPattern(r"^p[1-9]\Z"), min_length=1, max_length=9, required=False)
        case "cards":
            return StrictPattern(rf"^([2-9AKQJTOUX][a-z]|\?\?){{1,{verbs.MOST_CARDS}}}\Z", required=False)
        case "word":
            return StrictChoice(choices=verbs.words_of(argument.name), required=False)
        case "commitment":
            return StrictPattern(r"^([0-9a-f]{64}|\?\?)\Z", required=False)
        case "nonce":
            return StrictPattern(r"^[0-9a-f]{32}\Z", required=False)
    raise AssertionError(f"nobody said how the API writes an argument of kind {argument.kind}")


class ActionInput(StrictInput):
    """One action in the words of the hand record: `actor` (`d` or `p1`, `p2` ...), `verb`, and what the verb takes.

    Only what the verb takes may be present (`GET games/RULES` declares every verb of a game): amount (minor units),
    count (cards looked at: all unseen ones, or as few as the offer's `min`), target, targets, cards (`??` for a card
    that nobody but its holder knows), word, commitment (`??` for a thing in the real world, or 64 hexadecimal digits),
    nonce (32 hexadecimal digits), places (instead of the cards that a seat uncovers or lays away, where they lie among
    the cards it holds, from 0: enough where the house knows the cards, in electronic mode).
    """

    actor = StrictPattern(r"^(d|p[1-9])\Z")
    verb = StrictChoice(choices=VERBS)
    places = serializers.ListField(
        child=StrictInteger(min_value=0, max_value=51), min_length=1, max_length=13, required=False
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Those above, and one for each argument that a verb of any game declares."""
        declared = {name: _argument_field(argument) for name, argument in verbs.ARGUMENTS.items()}
        return super().get_fields() | declared

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly what the verb takes, so that the log's line can be only one."""
        named = set(attrs) - {"actor", "verb"}
        wrong = verbs.wrong_arguments(attrs["actor"], attrs["verb"], named)
        if wrong:
            raise serializers.ValidationError({name: [problem] for name, problem in wrong.items()})
        return attrs


@documented("act", summary="Take actions of a hand, all or none", answers=HandOut, tag=TAG)
class Act(WriteOperation):
    """Act. One gesture may be several lines of the log: the packets of a deal, a look and the bet that follows it."""

    roles = AT_TABLES
    redact_fields = frozenset({"card", "cards"})

    @extend_schema_serializer(component_name="ActInput")
    class Input(StrictInput):
        """Actions in their order."""

        actions = serializers.ListField(child=ActionInput(), min_length=1, max_length=20)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Act."""
        return play.act(command=command, code=path["table"], actions=data["actions"])


@documented("sayBeside", summary="Say what may be said while others act", answers=HandOut, tag=TAG)
class SayBeside(WriteOperation):
    """A call, a meld, a shout: verbs that the game declares `beside`. The request names the hand and the last line of
    its log that was seen, and needs no If-Match: the order of the log is the order of arrival. One that comes too late
    is refused, with the lines that came before it (`expected.came_before`)."""

    roles = AT_TABLES
    # A refused line may name cards that are face down and will be dealt again.
    redact_fields = frozenset({"card", "cards"})
    versioned = False

    @extend_schema_serializer(component_name="SayBesideInput")
    class Input(StrictInput):
        """The hand, how many lines of its log were seen, and the action."""

        hand = StrictText(min_length=1, max_length=48)
        line = StrictInteger(min_value=0, max_value=20_000)
        action = ActionInput()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Say it."""
        return play.say_beside(
            command=command, code=path["table"], name=data["hand"], line=data["line"], action=data["action"]
        )


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
        found = tables.get(context_of(request).house, table)
        hand = hands.unsettled(found)
        if hand is None:
            raise Conflict(f"No hand is being played at table {table}.", code="no_hand", state=found.state)
        game = hands.state(hand)
        body = {
            **hands.describe(hand, game, game.view("public")),
            "balances": hands.balances(hand),
            "version": found.version,
        }
        return Response(body, headers=etag(found.version))


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
        found = tables.get(context_of(request).house, table)
        game = hands.state(hands.playing(found))
        return Response(hands.legal_actions(game), headers=etag(found.version))
