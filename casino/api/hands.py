"""Hands: dealt, played, disputed, as a dealer's console uses them."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.deals import NEXT_HAND, DealtInInput, dealt_in
from casino.api.http.contract import ACTIONS, CARDS, CHANGE, NOT_OPEN, POSTS
from casino.api.http.operations import (
    AT_TABLES,
    SEES_PLAY,
    ReadOperation,
    Reason,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictPattern,
    StrictText,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.http.shapes import BALANCES, HAND_SEATS, RESULT, VIEW, Shaped
from casino.api.tables import ReceiptOut, TableOut, etag
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.hands import selectors as hands
from casino.hands import services as play
from casino.hands import verbs, voiding
from casino.hands.models import HandState, Mode
from casino.staff.models import Role
from casino.tables import selectors as tables

TAG = "dealer"
#: The verbs of the games' logs with their meanings; the engine decides which of them are legal now.
VERBS = tuple(verbs.VERBS.items())


class AmountTaken(serializers.Serializer[Any]):
    """An amount of money, or a number of things: from `min` to `max` in steps."""

    kind = serializers.CharField()
    min = serializers.IntegerField()
    max = serializers.IntegerField()
    step = serializers.IntegerField()


class ChoiceTaken(serializers.Serializer[Any]):
    """A seat or a word: one of the choices."""

    kind = serializers.CharField()
    choices = serializers.ListField(child=serializers.CharField())


class SeatsTaken(serializers.Serializer[Any]):
    """Several seats, ascending."""

    kind = serializers.CharField()
    choices = serializers.ListField(child=serializers.CharField())
    must = serializers.ListField(child=serializers.CharField(), help_text="Seats that have to be named.")
    least = serializers.IntegerField(help_text="The fewest seats.")


class CardsTaken(serializers.Serializer[Any]):
    """Cards in one text: one of the choices, or some of those `among`, in their order; where neither is given, the
    cards that the table shows."""

    kind = serializers.CharField()
    least = serializers.IntegerField()
    most = serializers.IntegerField()
    choices = serializers.ListField(child=serializers.CharField(), required=False)
    among = serializers.ListField(child=serializers.CharField(), required=False)
    unknown = serializers.BooleanField(required=False)
    if_held = serializers.BooleanField(required=False)


class PlacesTaken(serializers.Serializer[Any]):
    """Cards by their indexes among those that the seat holds, from 0: one of the choices, or some of those `among`."""

    kind = serializers.CharField()
    least = serializers.IntegerField()
    most = serializers.IntegerField()
    choices = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(), min_length=1), required=False
    )
    among = serializers.ListField(child=serializers.IntegerField(), required=False)
    if_held = serializers.BooleanField(required=False)


class CommitmentTaken(AmountTaken):
    """A commitment to an amount: SHA-256 of `tag`, amount and nonce, each after its length in four bytes."""

    tag = serializers.CharField()
    unknown = serializers.BooleanField()


class NonceTaken(serializers.Serializer[Any]):
    """The nonce that opens a commitment."""

    kind = serializers.CharField()


#: Kind of an argument -> the serializer that describes it in an offer.
TAKEN: dict[str, type[serializers.Serializer[Any]]] = {
    "amount": AmountTaken, "number": AmountTaken, "seat": ChoiceTaken, "word": ChoiceTaken, "seats": SeatsTaken,
    "cards": CardsTaken, "commitment": CommitmentTaken, "nonce": NonceTaken,
}  # fmt: skip


class TakesOut(serializers.Serializer[Any]):
    """The fields that an action of this offer has besides `actor` and `verb`: all of these and no others. Each has its
    `kind` and the values that it takes."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """One for each argument that a verb of any game declares, and the places of cards."""
        declared = {name: TAKEN[argument.kind](required=False) for name, argument in verbs.ARGUMENTS.items()}
        return {**declared, verbs.PLACES: PlacesTaken(required=False)}


class LegalOut(serializers.Serializer[Any]):
    """One kind of action that is legal now. `actor`, `verb` and a value for each field in `takes` are an action of a
    request."""

    actor = serializers.CharField()
    verb = serializers.ChoiceField(choices=VERBS)
    takes = TakesOut()


class NotOfferedOut(serializers.Serializer[Any]):
    """A verb of the table's game that may not be used now: the phases that it belongs to at this table. Where one of
    them is the phase now, the declaration of the verb says in `only` what it takes besides."""

    by = serializers.ChoiceField(choices=verbs.WRITERS, help_text="Who writes it.")
    verb = serializers.ChoiceField(choices=VERBS)
    phases = serializers.ListField(child=serializers.CharField(), help_text="The phases that it belongs to.")
    in_phase = serializers.BooleanField(help_text="Whether its phase has come.")


class HandOut(serializers.Serializer[Any]):
    """A hand in play: public view, whose turn it is, what may be done."""

    hand = serializers.CharField()
    state = serializers.ChoiceField(choices=HandState.choices)
    mode = serializers.ChoiceField(choices=Mode.choices)
    commitment = serializers.CharField(allow_null=True)
    client_seeds = serializers.DictField(
        child=serializers.CharField(), help_text="What players added to the seed, by number of their seat."
    )
    cards_roots = serializers.ListField(child=serializers.CharField())
    seats = Shaped(HAND_SEATS)
    actor = serializers.CharField(allow_null=True)
    act_by = serializers.DateTimeField(allow_null=True)
    legal_actions = LegalOut(many=True)
    not_offered = NotOfferedOut(many=True, help_text="What may not be done now, and why; empty where play stops.")
    view = Shaped(VIEW)
    result = Shaped(RESULT, allow_null=True)
    balances = Shaped(BALANCES, required=False)
    version = serializers.IntegerField()
    audit = ReceiptOut(required=False)


@documented(
    "dealHand",
    summary="Deal the next hand",
    answers=HandOut,
    status=201,
    tag=TAG,
    refuses=[
        "player_excluded",
        *NOT_OPEN,
        *POSTS,
        "house_not_live",
        "deal_prepared",
        "no_deal_prepared",
        "not_the_dealer",
        "client_seeds_missing",
        "client_seeds_unrevealed",
        "deal_seats_changed",
        *NEXT_HAND,
    ],
)
class DealHand(WriteOperation):
    """Deal the next hand: from a real pack, or electronically from the prepared deal (`POST deal`), which has fixed
    seats, button and announcements.

    Refused if the table is not open, a card exception is open, or a stack is smaller than what the hand can cost its
    seat.
    """

    roles = AT_TABLES

    @extend_schema_serializer(component_name="DealHandInput")
    class Input(DealtInInput):
        """The source of the cards; and from a real pack, who is dealt in."""

        mode = StrictChoice(choices=Mode.choices)

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """Refuse for an electronic hand what its prepared deal has fixed."""
            if attrs["mode"] == Mode.ELECTRONIC and (named := sorted(attrs.keys() - {"mode"})):
                raise serializers.ValidationError(dict.fromkeys(named, "The prepared deal fixes this (POST deal)."))
            return attrs

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Deal."""
        if data["mode"] == Mode.ELECTRONIC:
            return play.deal_prepared(command=command, code=path["table"])
        return play.deal(command=command, code=path["table"], **dealt_in(data))


def _argument_field(argument: verbs.Argument) -> serializers.Field[Any, Any, Any, Any]:
    """The field of one argument; the verb of an action decides which arguments it takes."""
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
    raise AssertionError(f"the API has no field for an argument of kind {argument.kind}")


class ActionInput(StrictInput):
    """One action in the words of the hand record: `actor` (`d` or `p1`, `p2` ...), `verb`, and what the verb takes.

    Only the fields that the offer names in `takes` may be present (`GET games/RULES` declares every verb of a game).
    `??` is a card that only its holder knows, or a commitment made with a real object. In electronic mode, `places`
    replaces the names of the cards that a seat uncovers or lays away.
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
        """Check that the fields are exactly those that the verb takes, so that they make exactly one line of the
        log."""
        named = set(attrs) - {"actor", "verb"}
        wrong = verbs.wrong_arguments(attrs["actor"], attrs["verb"], named)
        if wrong:
            raise serializers.ValidationError({name: [problem] for name, problem in wrong.items()})
        return attrs


class SeatActionInput(ActionInput):
    """One action of the seat whose key is sent, in the words of the hand record: `verb`, and what the verb takes."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Those of an action; its actor is the seat."""
        found = super().get_fields()
        del found["actor"]
        return found

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """As of an action of a seat."""
        found = super().validate({"actor": "p1", **attrs})
        return {name: value for name, value in found.items() if name != "actor"}


@documented(
    "act",
    summary="Take actions of a hand",
    answers=HandOut,
    tag=TAG,
    refuses=[
        "no_hand",
        "not_the_dealer",
        *ACTIONS,
        *CARDS,
        *POSTS,
        *CHANGE,
        "must_be_last",
        "commitment_needed",
        "cards_known_to_the_house",
        "wrong_places",
        "commit_mismatch",
    ],
)
class Act(WriteOperation):
    """Take actions of the hand in play, all or none. One gesture may be several lines of the log: the packets of a
    deal, or a look and the bet that follows it. An action that the rules do not allow is refused with the engine's
    code.
    """

    roles = AT_TABLES
    redact_fields = frozenset({"card", "cards"})
    takes_remembered = True

    @extend_schema_serializer(component_name="ActInput")
    class Input(StrictInput):
        """Actions in their order."""

        actions = serializers.ListField(child=ActionInput(), min_length=1, max_length=20)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Act."""
        return play.act(command=command, code=path["table"], actions=data["actions"])


@documented(
    "sayBeside",
    summary="Make a call, a meld or a shout",
    answers=HandOut,
    tag=TAG,
    refuses=[
        "no_hand",
        "not_the_dealer",
        "hand_over",
        "no_such_line",
        "not_beside",
        *ACTIONS,
        *CARDS,
        *POSTS,
        *CHANGE,
        "must_be_last",
        "commitment_needed",
        "cards_known_to_the_house",
        "wrong_places",
    ],
)
class SayBeside(WriteOperation):
    """Use a verb that the game declares `beside`, at any time: a call, a meld or a shout. The request names the hand
    and the last line of its log that was seen. It needs no If-Match: the order of the log is the order of arrival. A
    request that comes too late is refused, with the lines that came before it (`expected.came_before`).
    """

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


class VoidedTableOut(TableOut):
    """The table, and where the hand that was voided is replayed."""

    replay = serializers.CharField(
        help_text="Address of the hand's record below `/api/v1/`, with every line that was played: `hands/T1-000002`."
    )


@documented(
    "voidHand",
    summary="Void a hand",
    answers=VoidedTableOut,
    tag=TAG,
    refuses=["table_open", "table_closed", "table_settling", "no_hand", *POSTS, *CHANGE],
)
class VoidHand(WriteOperation):
    """Void a hand that was misdealt, entered wrongly or disputed. All money goes back to the seats, and the same dealer
    deals again. Only the floor may do this, alone while no seat has acted since the first card (a misdeal). From the
    first act on, where cards were shown, the hand is disputed, or the pot is above what the house has set, a manager
    approves it first (`approval_required`), whatever the cause. The approval and the answer name the address at which
    the hand is read (`replay`)."""

    roles = (Role.FLOOR,)
    approvable = True

    @extend_schema_serializer(component_name="VoidHandInput")
    class Input(StrictInput):
        """The cause, and the reason in words, which the audit trail keeps."""

        cause = StrictChoice(choices=voiding.Cause.choices)
        reason = Reason()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Void."""
        return voiding.void(
            command=command, code=path["table"], cause=voiding.Cause(data["cause"]), reason=data["reason"]
        )


@documented(
    "readHand",
    summary="Read the hand in play",
    answers=HandOut,
    tag=TAG,
    etag=True,
    refuses=["not_found", "no_hand"],
)
class HandNow(ReadOperation):
    """The hand at a table that is played, or waits for its settlement."""

    sensitive = False
    roles = SEES_PLAY

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


@documented(
    "readLegalActions",
    summary="Read the legal actions",
    answers=LegalOut(many=True),
    tag=TAG,
    etag=True,
    refuses=["not_found", "no_hand"],
)
class LegalNow(ReadOperation):
    """What may be done now in the hand in play."""

    sensitive = False
    roles = SEES_PLAY

    def get(self, request: Request, table: str) -> Response:
        """The legal actions of the seats whose turn it is."""
        found = tables.get(context_of(request).house, table)
        game = hands.state(hands.playing(found))
        return Response(hands.legal_actions(game), headers=etag(found.version))


urls = [
    path("tables/<slug:table>/hands", DealHand.as_view()),
    path("tables/<slug:table>/hand", HandNow.as_view()),
    path("tables/<slug:table>/hand/legal-actions", LegalNow.as_view()),
    path("tables/<slug:table>/hand/void", VoidHand.as_view()),
    path("tables/<slug:table>/hand/beside", SayBeside.as_view()),
    path("tables/<slug:table>/hand/actions", Act.as_view()),
]
