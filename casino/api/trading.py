"""Cash and chips outside of hands: buy-ins and tips at tables, changing chips, the tronc, foreign chips, duty."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import DrawerOut
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
from casino.api.tables import ReceiptOut, TableOut
from casino.cage import trading as cage
from casino.core.write import Answer, Command
from casino.staff.models import Role
from casino.tables import trading as tables
from casino.transfers import tronc

TABLE_TAG, CAGE_TAG, OFFICE_TAG = "dealer", "cashier", "office"


@extend_schema_serializer(component_name="ExchangeInput")
class _Swap(StrictInput):
    """What the public gives, and what it wants for it; the largest chips there are where that is left out."""

    given = Pieces(required=True)
    wanted = Pieces()


# --- At tables ------------------------------------------------------------------------------------------------------


@documented(
    "buyInAtTable", summary="Sell a seat chips for cash into the drop", answers=TableOut, status=201, tag=TABLE_TAG
)
class BuyInAtTable(WriteOperation):
    """Buy-in."""

    roles = AT_TABLES

    @extend_schema_serializer(component_name="BuyInAtTableInput")
    class Input(StrictInput):
        """Which seat and how much cash; `player` where somebody sits down with it; pieces where the chips are named."""

        seat = StrictInteger(min_value=1, max_value=99)
        amount = Amount()
        player = StrictText(max_length=32, required=False)
        pieces = Pieces()

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
        )


@documented("exchangeAtTable", summary="Change chips at the tray", answers=TableOut, status=201, tag=TABLE_TAG)
class ExchangeAtTable(WriteOperation):
    """Change."""

    roles = AT_TABLES
    input = _Swap

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return tables.exchange(command=command, code=path["table"], given=data["given"], change_for=data.get("wanted"))


@documented("tip", summary="Put a seat's chips into the tip box", answers=TableOut, status=201, tag=TABLE_TAG)
class Tip(WriteOperation):
    """Tip."""

    roles = AT_TABLES

    @extend_schema_serializer(component_name="TipInput")
    class Input(StrictInput):
        """Which seat and how much; pieces where the chips are named."""

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


@documented("exchangeAtCage", summary="Change chips at the drawer", answers=DrawerOut, status=201, tag=CAGE_TAG)
class ExchangeAtCage(WriteOperation):
    """Change."""

    roles = AT_THE_CAGE
    input = _Swap

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return cage.exchange(command=command, code=path["drawer"], given=data["given"], change_for=data.get("wanted"))


@documented("payTronc", summary="Pay the tip box of a table out in cash", answers=DrawerOut, status=201, tag=CAGE_TAG)
class PayTronc(WriteOperation):
    """Pay out."""

    roles = AT_THE_CAGE

    @extend_schema_serializer(component_name="PayTroncInput")
    class Input(StrictInput):
        """Whose box; the chips that were in it, or all that should be."""

        table = StrictText(max_length=32)
        pieces = Pieces()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Pay out."""
        return tronc.pay_out(command=command, code=path["drawer"], table_code=data["table"], pieces=data.get("pieces"))


@documented("takeForeignChips", summary="Buy chips of another house", answers=DrawerOut, status=201, tag=CAGE_TAG)
class TakeForeignChips(WriteOperation):
    """Take."""

    roles = AT_THE_CAGE

    @extend_schema_serializer(component_name="TakeForeignChipsInput")
    class Input(StrictInput):
        """Their worth at face value, and whose they are."""

        amount = Amount()
        issuer = StrictText(min_length=1, max_length=64)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Take."""
        return cage.take_foreign(command=command, code=path["drawer"], amount=data["amount"], issuer=data["issuer"])


# --- In the office --------------------------------------------------------------------------------------------------


class DutyOut(serializers.Serializer[Any]):
    """Duty that was booked, and all that is payable now, in minor units."""

    amount = serializers.IntegerField()
    reason = serializers.CharField()
    payable = serializers.IntegerField()
    audit = ReceiptOut()


@documented("bookDuty", summary="Book gaming duty that falls due", answers=DutyOut, status=201, tag=OFFICE_TAG)
class BookDuty(WriteOperation):
    """Book duty. No If-Match: it changes nothing that somebody may have seen otherwise."""

    roles = (Role.ADMIN,)
    versioned = False

    @extend_schema_serializer(component_name="BookDutyInput")
    class Input(StrictInput):
        """How much, and for what."""

        amount = Amount()
        reason = StrictText(min_length=3, max_length=200)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Book."""
        return cage.duty_due(command=command, amount=data["amount"], reason=data["reason"])
