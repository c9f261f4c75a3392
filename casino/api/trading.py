"""Cash and chips outside of hands: buy-ins and tips at tables, changing chips, foreign chips."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_OWN_DRAWER, CHIPS, POSTING
from casino.api.http.contract import BUYS, PLAYS
from casino.api.http.operations import (
    AT_TABLES,
    AT_THE_CAGE,
    Amount,
    Pieces,
    StrictInput,
    StrictInteger,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.parts import DrawerChanged, EventPart, chip_pieces, minor_units
from casino.api.tables import TableOut, Ticket
from casino.cage import trading as cage
from casino.core.commands import Answer, Command
from casino.tables import trading as tables

TABLE_TAG, CAGE_TAG = "dealer", "cage"
#: Refusals of named chips of the public.
_PUBLIC = ("chips_not_in_circulation", "nothing_to_change", *CHIPS)
_BETWEEN_HANDS = ("table_closed", "table_playing", "table_settling", "table_disputed")


@extend_schema_serializer(component_name="ExchangeInput")
class _Swap(StrictInput):
    """The chips that the player gives, and the chips wanted for them; by default the largest that are available."""

    given = Pieces(required=True)
    wanted = Pieces()


# --- At tables ------------------------------------------------------------------------------------------------------


@documented(
    "buyInAtTable",
    summary="Sell a seat chips for cash",
    answers=TableOut,
    status=201,
    tag=TABLE_TAG,
    refuses=[
        *BUYS,
        *_BETWEEN_HANDS,
        "house_not_live",
        "no_such_seat",
        "seat_taken",
        "already_seated",
        "not_called",
        "stack_out_of_range",
        "identity_required",
        "person_forgotten",
        "staff_as_player",
        "session_under_way",
        "no_seat_fee",
        *CHIPS,
        *POSTING,
    ],
)
class BuyInAtTable(WriteOperation):
    """The cash goes into the drop box, and chips from the tray go to the seat. With `player`, that player sits down
    with them. Only between hands. Approved like a buy-in at the cage (`approval_required`), where it must also be
    recorded who the player of a large amount is (`identity_required`)."""

    roles = AT_TABLES
    approvable = True

    @extend_schema_serializer(component_name="BuyInAtTableInput")
    class Input(StrictInput):
        """The seat and the cash; `player` if a player sits down with it, `ticket` if that player was called from the
        waiting list; `pieces` to name the chips."""

        seat = StrictInteger(min_value=1, max_value=99)
        amount = Amount()
        player = StrictText(max_length=32, required=False)
        ticket = Ticket(required=False)
        pieces = Pieces()

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """Check that only a player who sits down names a number of the waiting list."""
            if "ticket" in attrs and "player" not in attrs:
                raise serializers.ValidationError({"ticket": ["Only a player who sits down has waited."]})
            return attrs

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Buy in."""
        return tables.buy_in(
            command=command,
            code=path["table"],
            seat=data["seat"],
            amount=data["amount"],
            player_ref=data.get("player"),
            pieces=data.get("pieces"),
            ticket=data.get("ticket"),
        )


@documented(
    "exchangeAtTable",
    summary="Change chips at the tray",
    answers=TableOut,
    status=201,
    tag=TABLE_TAG,
    refuses=[*_BETWEEN_HANDS, *_PUBLIC, *POSTING],
)
class ExchangeAtTable(WriteOperation):
    """Exchange a player's chips for chips of the tray of the same worth. Refused if the given chips are not in
    circulation (`chips_not_in_circulation`) or the worth differs (`chips_do_not_add_up`)."""

    roles = AT_TABLES
    input = _Swap

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return tables.exchange(command=command, code=path["table"], given=data["given"], change_for=data.get("wanted"))


@documented(
    "tip",
    summary="Put a seat's chips into the tip box",
    answers=TableOut,
    status=201,
    tag=TABLE_TAG,
    refuses=[*PLAYS, *_BETWEEN_HANDS, "no_such_seat", *_PUBLIC, *POSTING],
)
class Tip(WriteOperation):
    """The chips leave the stack of the seat. Only between hands."""

    roles = AT_TABLES

    @extend_schema_serializer(component_name="TipInput")
    class Input(StrictInput):
        """The seat and the amount; `pieces` to name the chips."""

        seat = StrictInteger(min_value=1, max_value=99)
        amount = Amount()
        pieces = Pieces()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Tip."""
        return tables.tip(
            command=command,
            code=path["table"],
            seat=data["seat"],
            amount=data["amount"],
            pieces=data.get("pieces"),
        )


# --- At the cage ----------------------------------------------------------------------------------------------------


class Exchanged(serializers.Serializer[Any]):
    """An exchange of chips."""

    amount = serializers.IntegerField()
    given = chip_pieces("Chips that the public gave")
    change = chip_pieces("Chips that the public got")


class ExchangeEvent(EventPart):
    """What was exchanged."""

    exchange = Exchanged(help_text="What was exchanged.")


class ExchangeOut(DrawerChanged):
    """The drawer, and the exchange."""

    last_event = ExchangeEvent()


@documented(
    "exchangeAtCage",
    summary="Change chips at the drawer",
    answers=ExchangeOut,
    status=201,
    tag=CAGE_TAG,
    refuses=[*AT_OWN_DRAWER, *_PUBLIC, *POSTING],
)
class ExchangeAtCage(WriteOperation):
    """Exchange a player's chips for chips of the drawer of the same worth. Refused if the given chips are not in
    circulation (`chips_not_in_circulation`) or the worth differs (`chips_do_not_add_up`)."""

    roles = AT_THE_CAGE
    input = _Swap

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return cage.exchange(command=command, code=path["drawer"], given=data["given"], change_for=data.get("wanted"))


class ForeignChips(serializers.Serializer[Any]):
    """Chips of another house."""

    amount = minor_units("Their worth at face value")
    issuer = serializers.CharField()


class ForeignChipsEvent(EventPart):
    """What was bought."""

    foreign_chips = ForeignChips(help_text="What was bought.")


class ForeignChipsOut(DrawerChanged):
    """The drawer, and the purchase."""

    last_event = ForeignChipsEvent()


@documented(
    "takeForeignChips",
    summary="Buy chips of another house",
    answers=ForeignChipsOut,
    status=201,
    tag=CAGE_TAG,
    refuses=[*AT_OWN_DRAWER, "account_off", *POSTING],
)
class TakeForeignChips(WriteOperation):
    """Pay cash for chips of another house, at face value. They are not counted among the house's chips."""

    roles = AT_THE_CAGE

    @extend_schema_serializer(component_name="TakeForeignChipsInput")
    class Input(StrictInput):
        """Their worth at face value, and the house that issued them."""

        amount = Amount()
        issuer = StrictText(min_length=1, max_length=64)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Take."""
        return cage.take_foreign(command=command, code=path["drawer"], amount=data["amount"], issuer=data["issuer"])


urls = [
    path("tables/<slug:table>/buy-ins", BuyInAtTable.as_view()),
    path("tables/<slug:table>/exchanges", ExchangeAtTable.as_view()),
    path("tables/<slug:table>/tips", Tip.as_view()),
    path("drawers/<slug:drawer>/exchanges", ExchangeAtCage.as_view()),
    path("drawers/<slug:drawer>/foreign-chips", TakeForeignChips.as_view()),
]
