"""What a cashier's terminal does: players, drawers, buy-ins, cash-outs, the count."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.operations import (
    AT_THE_CAGE,
    READERS,
    Amount,
    Pieces,
    ReadOperation,
    StrictInput,
    StrictText,
    WriteOperation,
    context_of,
    documented,
    problems,
)
from casino.cage import selectors, services
from casino.core.write import Answer, Command
from casino.players import services as players
from casino.players.models import REFERENCE

TAG = "cashier"


class DrawerOut(serializers.Serializer[Any]):
    """A drawer; amounts in minor units of `currency`."""

    drawer = serializers.CharField()
    version = serializers.IntegerField()
    state = serializers.ChoiceField(choices=["open", "closed"])
    shift = serializers.IntegerField(allow_null=True)
    currency = serializers.CharField()
    cash = serializers.IntegerField()
    chips = serializers.IntegerField()
    #: The drawer's chips as pieces by denomination.
    pieces = serializers.DictField(child=serializers.IntegerField())
    transfer = serializers.JSONField(required=False)
    soft_count = serializers.JSONField(required=False)
    audit = serializers.JSONField(required=False)


class DrawerDetail(ReadOperation):
    """One drawer."""

    sensitive = False
    roles = READERS

    @extend_schema(
        operation_id="readDrawer",
        summary="Read a drawer",
        tags=[TAG],
        responses={200: DrawerOut, **problems(401, 403, 404)},
    )
    def get(self, request: Request, drawer: str) -> Response:
        """The drawer."""
        found = selectors.get(context_of(request).house, drawer)
        return Response(selectors.describe(found), headers={"ETag": f'"{found.version}"'})


class PlayerOut(serializers.Serializer[Any]):
    """A player and the chips he holds away from the tables, in minor units."""

    player = serializers.CharField()
    chips = serializers.IntegerField()
    audit = serializers.JSONField()


@documented("registerPlayer", summary="Register a player", answers=PlayerOut, status=201, tag=TAG)
class RegisterPlayer(WriteOperation):
    """Register a player. No If-Match: nothing exists yet."""

    roles = AT_THE_CAGE
    versioned = False
    redact_body = True  # whoever types a name where a reference belongs is refused, and the name is not kept

    @extend_schema_serializer(component_name="RegisterPlayerInput")
    class Input(StrictInput):
        """A pseudonymous reference, never a name."""

        player = StrictText(max_length=32, validators=[REFERENCE])

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Register."""
        return players.register(command=command, ref=data["player"])


class _CashAndChips(StrictInput):
    """Cash in minor units, and chips: their worth in minor units, or pieces by denomination, or both, which must then
    agree."""

    cash = Amount(min_value=0)
    chips = Amount(min_value=0, required=False)
    pieces = Pieces()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """One of the two must be there."""
        if not {"chips", "pieces"} & attrs.keys():
            raise serializers.ValidationError({"chips": ["Say what the chips are worth, or name the pieces."]})
        return attrs


class _Exchange(StrictInput):
    """Who, and how much in minor units; pieces where the chips are named, else they are worked out."""

    player = StrictText(max_length=32)
    amount = Amount()
    pieces = Pieces()


@documented("openDrawer", summary="Open a drawer with its float", answers=DrawerOut, tag=TAG)
class OpenDrawer(WriteOperation):
    """Open."""

    roles = AT_THE_CAGE
    input = _CashAndChips

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Open."""
        return services.open_drawer(
            command=command,
            code=path["drawer"],
            cash=data["cash"],
            chips=data.get("chips"),
            pieces=data.get("pieces"),
        )


@documented("buyIn", summary="Sell chips for cash", answers=DrawerOut, status=201, tag=TAG)
class BuyIn(WriteOperation):
    """Buy-in."""

    roles = AT_THE_CAGE
    input = _Exchange

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Buy in."""
        return services.buy_in(command=command, code=path["drawer"], **_exchange(data))


@documented("cashOut", summary="Buy chips back for cash", answers=DrawerOut, status=201, tag=TAG)
class CashOut(WriteOperation):
    """Cash-out."""

    roles = AT_THE_CAGE
    input = _Exchange

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Cash out."""
        return services.cash_out(command=command, code=path["drawer"], **_exchange(data))


@documented("closeDrawer", summary="Count a drawer and close it", answers=DrawerOut, tag=TAG)
class CloseDrawer(WriteOperation):
    """Count and close."""

    roles = AT_THE_CAGE
    input = _CashAndChips

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Close."""
        return services.close_drawer(
            command=command,
            code=path["drawer"],
            counted_cash=data["cash"],
            counted_chips=data.get("chips"),
            counted_pieces=data.get("pieces"),
        )


def _exchange(data: dict[str, Any]) -> dict[str, Any]:
    return {"player_ref": data["player"], "amount": data["amount"], "pieces": data.get("pieces")}
