"""Operations of a cashier's terminal: players, drawers, buy-ins, cash-outs, the count."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_THE_CAGE,
    Amount,
    Pieces,
    ReadOperation,
    StrictInput,
    StrictText,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.parts import (
    DrawerChanged,
    DrawerOut,
    EventPart,
    ShiftCount,
    approval_used,
    chip_pieces,
    login_of,
    minor_units,
)
from casino.api.tables import ReceiptOut
from casino.cage import selectors, services
from casino.cage.models import Shift
from casino.core.write import Answer, Command
from casino.players import services as players
from casino.players.models import REFERENCE
from casino.staff.models import Role
from casino.transfers import services as transfers

TAG = "cage"
#: Roles that may see the contents of a drawer; dealers may not.
MAY_READ = (*AT_THE_CAGE, Role.FLOOR, Role.SURVEILLANCE, Role.MANAGER, Role.AUDITOR)
#: Refusals of chips, named by the request or chosen by the house.
CHIPS = (
    "no_chip_set", "unknown_denomination", "pieces_not_a_count", "chips_do_not_add_up", "amount_not_payable",
    "no_exact_change",
)  # fmt: skip
#: Refusals of postings.
POSTING = ("insufficient_funds", "period_not_open")


@documented("readDrawer", summary="Read a drawer", answers=DrawerOut, tag=TAG, refuses=["not_found"], etag=True)
class DrawerDetail(ReadOperation):
    """One drawer with its cash, its chips and its version."""

    sensitive = False
    roles = MAY_READ

    def get(self, request: Request, drawer: str) -> Response:
        """The drawer."""
        found = selectors.get(context_of(request).house, drawer)
        return Response(selectors.describe(found), headers={"ETag": f'"{found.version}"'})


@documented("listShifts", summary="List the shifts of drawers", tag=TAG)
class ShiftList(CursorList):
    """The shifts of all drawers with their counts; `from` and `until` select by the time of opening."""

    sensitive = True
    roles = MAY_READ

    @extend_schema_serializer(component_name="ShiftListRow")
    class Row(ShiftCount):
        """A shift in a list."""

        opened_at = serializers.DateTimeField()
        closed_at = serializers.DateTimeField(allow_null=True)
        opened_by = login_of("opened the drawer")
        closed_by = login_of("counted and closed it", allow_null=True)

        def to_representation(self, instance: Shift) -> dict[str, Any]:
            """With who opened and closed it, and when."""
            return selectors.shift(instance)

    model = Shift
    serializer_class = Row
    filters = {"drawer": "drawer__code"}
    time = "opened_at"

    def rows(self) -> Any:
        """With what a row names."""
        return super().rows().select_related("drawer", "opened_by", "closed_by")


class PlayerRegistered(serializers.Serializer[Any]):
    """A player, and the chips held away from the tables."""

    player = serializers.CharField()
    chips = minor_units("Worth of the chips that the player holds away from the tables")
    audit = ReceiptOut()


@documented(
    "registerPlayer",
    summary="Register a player",
    answers=PlayerRegistered,
    status=201,
    tag=TAG,
    refuses=["player_exists", "account_off"],
)
class RegisterPlayer(WriteOperation):
    """Register a player under a pseudonymous reference. No If-Match: the player does not exist yet."""

    roles = AT_THE_CAGE
    versioned = False
    redact_body = True  # a name in place of a reference is refused, and is not kept

    @extend_schema_serializer(component_name="RegisterPlayerInput")
    class Input(StrictInput):
        """A pseudonymous reference, never a name."""

        player = StrictText(max_length=32, validators=[REFERENCE])

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Register."""
        return players.register(command=command, ref=data["player"])


class _CashAndChips(StrictInput):
    """Cash in minor units, and chips: their worth in minor units, or pieces by denomination, or both. If both are
    given, they must agree."""

    cash = Amount(min_value=0)
    chips = Amount(min_value=0, required=False)
    pieces = Pieces()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that worth or pieces are given."""
        if not {"chips", "pieces"} & attrs.keys():
            raise serializers.ValidationError({"chips": ["Give the worth of the chips, or the pieces."]})
        return attrs


@extend_schema_serializer(component_name="OpenDrawerInput")
class _Float(_CashAndChips):
    """The float: cash, and chips by pieces or by their total worth."""


@extend_schema_serializer(component_name="CloseDrawerInput")
class _Counted(_CashAndChips):
    """The count: cash, and chips by pieces or by their total worth."""


@extend_schema_serializer(component_name="PlayerExchangeInput")
class _Exchange(StrictInput):
    """The player, and the amount in minor units. Without `pieces`, the house chooses the chips."""

    player = StrictText(max_length=32)
    amount = Amount()
    pieces = Pieces()


class DrawerOpenedEvent(EventPart):
    """The float that a drawer was opened with."""

    float_cash = minor_units("Cash of the float")
    float_chips = minor_units("Worth of the chips of the float")
    float_pieces = chip_pieces("Chips of the float")
    approval = approval_used()


class DrawerOpenedOut(DrawerChanged):
    """The drawer, and the float that it was opened with."""

    last_event = DrawerOpenedEvent()


@documented(
    "openDrawer",
    summary="Open a drawer with its float",
    answers=DrawerOpenedOut,
    tag=TAG,
    refuses=["drawer_open", *CHIPS, *POSTING],
)
class OpenDrawer(WriteOperation):
    """Cash and chips come from the vault; a shift begins. Refused if the drawer is open (`drawer_open`), the vault
    holds less (`insufficient_funds`), or no chips of the house make the amount. A manager approves a float above what
    the house has set."""

    roles = AT_THE_CAGE
    approvable = True
    input = _Float

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Open."""
        return services.open_drawer(
            command=command,
            code=path["drawer"],
            cash=data["cash"],
            chips=data.get("chips"),
            pieces=data.get("pieces"),
        )


class BuyInEvent(EventPart):
    """The amount that the player paid, and the chips for it."""

    player = serializers.CharField()
    amount = serializers.IntegerField()
    player_chips = minor_units("Worth of the chips that the player now holds away from the tables")
    exchanged = chip_pieces("Chips that the player got")
    approval = approval_used()


class BuyInOut(DrawerChanged):
    """The drawer, and the chips that the player got."""

    last_event = BuyInEvent()


@documented(
    "buyIn",
    summary="Sell a player chips for cash",
    answers=BuyInOut,
    status=201,
    tag=TAG,
    refuses=["drawer_closed", "person_forgotten", *CHIPS, *POSTING],
)
class BuyIn(WriteOperation):
    """The player gives cash and gets chips: the given pieces, or the largest chips with which the drawer can make the
    amount. From an amount on that the house sets, a cage supervisor or a manager approves it first
    (`approval_required`)."""

    roles = AT_THE_CAGE
    approvable = True
    input = _Exchange

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Buy in."""
        return services.buy_in(command=command, code=path["drawer"], **_exchange(data))


class CashOutEvent(EventPart):
    """The chips that the player gave, and the amount that was paid."""

    player = serializers.CharField()
    amount = serializers.IntegerField()
    player_chips = minor_units("Worth of the chips that the player now holds away from the tables")
    exchanged = chip_pieces("Chips that the player gave")
    change = chip_pieces("Chips that the player got back as change", required=False)
    approval = approval_used()


class CashOutOut(DrawerChanged):
    """The drawer, and the chips that the player gave."""

    last_event = CashOutEvent()


@documented(
    "cashOut",
    summary="Buy a player's chips for cash",
    answers=CashOutOut,
    status=201,
    tag=TAG,
    refuses=["drawer_closed", "person_forgotten", "chips_not_in_circulation", *CHIPS, *POSTING],
)
class CashOut(WriteOperation):
    """The player gives chips and gets cash. Without `pieces`, the house chooses the chips, with change. Refused if the
    player or the drawer has less than the amount (`insufficient_funds`). Approved like a buy-in."""

    roles = AT_THE_CAGE
    approvable = True
    input = _Exchange

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Cash out."""
        return services.cash_out(command=command, code=path["drawer"], **_exchange(data))


class DrawerClosedEvent(EventPart):
    """The result of the count."""

    reconciliation = ShiftCount(help_text="The shift: float, expected, counted, variances.")


class DrawerClosedOut(DrawerChanged):
    """The drawer, and the result of the count."""

    last_event = DrawerClosedEvent()


@documented(
    "closeDrawer",
    summary="Count a drawer and close it",
    answers=DrawerClosedOut,
    tag=TAG,
    refuses=["drawer_closed", "drawer_pending", *CHIPS, *POSTING],
)
class CloseDrawer(WriteOperation):
    """The variance is posted, cash and chips go back to the vault, and the shift ends. Refused while a transfer of the
    drawer is under way (`drawer_pending` names them)."""

    roles = AT_THE_CAGE
    input = _Counted

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Close."""
        return services.close_drawer(
            command=command,
            code=path["drawer"],
            counted_cash=data["cash"],
            counted_chips=data.get("chips"),
            counted_pieces=data.get("pieces"),
            require=transfers.require_none_pending,
        )


def _exchange(data: dict[str, Any]) -> dict[str, Any]:
    return {"player_ref": data["player"], "amount": data["amount"], "pieces": data.get("pieces")}


urls = [
    path("players/register", RegisterPlayer.as_view()),
    path("shifts", ShiftList.as_view()),
    path("drawers/<slug:drawer>", DrawerDetail.as_view()),
    path("drawers/<slug:drawer>/open", OpenDrawer.as_view()),
    path("drawers/<slug:drawer>/buy-ins", BuyIn.as_view()),
    path("drawers/<slug:drawer>/cash-outs", CashOut.as_view()),
    path("drawers/<slug:drawer>/close", CloseDrawer.as_view()),
]
