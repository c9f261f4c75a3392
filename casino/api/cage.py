"""Operations of a cashier's terminal: players, drawers, buy-ins, cash-outs, the count."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.contract import BUYS
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_THE_CAGE,
    Amount,
    Pieces,
    ReadOperation,
    StrictInput,
    StrictInteger,
    StrictText,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.parts import (
    DrawerChanged,
    DrawerOut,
    EventPart,
    ShiftPart,
    approval_used,
    chip_pieces,
    minor_units,
    threshold_reached,
)
from casino.api.tables import ReceiptOut
from casino.cage import selectors, services
from casino.cage.models import Shift
from casino.core.commands import Answer, Command
from casino.players import services as players
from casino.players.models import REFERENCE
from casino.staff.models import Role

TAG = "cage"
#: Roles that may see the drawers; dealers may not.
MAY_READ = (*AT_THE_CAGE, Role.FLOOR, Role.SURVEILLANCE, Role.MANAGER, Role.AUDITOR)
#: Refusals of chips, named by the request or chosen by the house.
CHIPS = (
    "no_chip_set", "unknown_denomination", "pieces_not_a_count", "chips_do_not_add_up", "amount_not_payable",
    "no_exact_change",
)  # fmt: skip
#: Refusals of trades at a drawer, which never name what it holds.
AT_A_DRAWER = ("drawer_closed", "drawer_counted", "drawer_short")
#: And of those that only the person who has opened the drawer makes.
AT_OWN_DRAWER = (*AT_A_DRAWER, "not_your_drawer")
#: Refusals of postings.
POSTING = ("insufficient_funds", "period_not_open")


@documented("readDrawer", summary="Read a drawer", answers=DrawerOut, tag=TAG, refuses=["not_found"], etag=True)
class DrawerDetail(ReadOperation):
    """One drawer with its state and its version. What it holds is not shown: it is counted without knowing."""

    sensitive = False
    roles = MAY_READ

    def get(self, request: Request, drawer: str) -> Response:
        """The drawer."""
        found = selectors.get(context_of(request).house, drawer)
        return Response(selectors.describe(found), headers={"ETag": f'"{found.version}"'})


@documented("listShifts", summary="List the shifts of drawers", tag=TAG)
class ShiftList(CursorList):
    """The shifts of all drawers with their counts; `from` and `until` select by the time of opening. Cashiers see no
    count before the drawer is closed: one of them may have to count it to take it over."""

    sensitive = True
    roles = MAY_READ

    @extend_schema_serializer(component_name="ShiftListRow")
    class Row(ShiftPart):
        """A shift in a list."""

        def to_representation(self, instance: Shift) -> dict[str, Any]:
            """With who opened and closed it, and when."""
            by = context_of(self.context["request"])
            return selectors.shift(instance, blind=by.role == Role.CASHIER)

    model = Shift
    serializer_class = Row
    filters = {"drawer": "drawer__code"}
    time = "opened_at"

    def rows(self) -> Any:
        """With what a row names."""
        return (
            super()
            .rows()
            .select_related("drawer__house", "handed_to", "opened_by", "counted_by", "recounted_by", "closed_by")
        )


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
    refuses=["player_exists", "staff_as_player", "account_off"],
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


@extend_schema_serializer(component_name="PlayerExchangeInput")
class _Exchange(StrictInput):
    """The player, and the amount in minor units. Without `pieces`, the house chooses the chips."""

    player = StrictText(max_length=32)
    amount = Amount()
    pieces = Pieces()


class BuyInEvent(EventPart):
    """The amount that the player paid, and the chips for it."""

    player = serializers.CharField()
    amount = serializers.IntegerField()
    player_chips = minor_units("Worth of the chips that the player now holds away from the tables")
    exchanged = chip_pieces("Chips that the player got")
    approval = approval_used()
    threshold_reached = threshold_reached()


class BuyInOut(DrawerChanged):
    """The drawer, and the chips that the player got."""

    last_event = BuyInEvent()


@documented(
    "buyIn",
    summary="Sell a player chips for cash",
    answers=BuyInOut,
    status=201,
    tag=TAG,
    refuses=[
        *BUYS,
        "house_not_live",
        *AT_OWN_DRAWER,
        "skim_needed",
        "identity_required",
        "person_forgotten",
        "staff_as_player",
        *CHIPS,
        *POSTING,
    ],
)
class BuyIn(WriteOperation):
    """The player gives cash and gets chips: the given pieces, or the largest chips with which the drawer can make the
    amount. From an amount on that the house sets, a cage supervisor or a manager approves it first
    (`approval_required`); from another on, it must be recorded who the player is (`identity_required`)."""

    roles = AT_THE_CAGE
    approvable = True
    input = _Exchange

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Buy in."""
        return services.buy_in(command=command, code=path["drawer"], **_exchange(data))


#: Refusals of a cash-out that names an announced one.
ANNOUNCED = ("announcement_paid", "announcement_withdrawn", "announcement_expired", "announcement_differs")


class CashOutEvent(EventPart):
    """The chips that the player gave, and the amount that was paid."""

    player = serializers.CharField()
    amount = serializers.IntegerField()
    player_chips = minor_units("Worth of the chips that the player now holds away from the tables")
    exchanged = chip_pieces("Chips that the player gave")
    change = chip_pieces("Chips that the player got back as change", required=False)
    approval = approval_used()
    threshold_reached = threshold_reached()
    attributed = minor_units("What of it was booked for nobody before", required=False)
    announcement = serializers.IntegerField(required=False)


class CashOutOut(DrawerChanged):
    """The drawer, and the chips that the player gave."""

    last_event = CashOutEvent()


@documented(
    "cashOut",
    summary="Buy a player's chips for cash",
    answers=CashOutOut,
    status=201,
    tag=TAG,
    refuses=[
        *AT_OWN_DRAWER,
        *ANNOUNCED,
        "identity_required",
        "person_forgotten",
        "staff_as_player",
        "player_is_minor",
        "chips_not_in_circulation",
        *CHIPS,
        *POSTING,
    ],
)
class CashOut(WriteOperation):
    """The player gives chips and gets cash. Named `pieces` are paid whatever is booked for the player; what is missing
    is booked as brought. Without `pieces`, the house chooses the chips, with change; it is refused if the player has
    less than the amount (`insufficient_funds`), or the drawer has (`drawer_short`). With `announcement` it is paid of
    what is set aside for an announced one. Approved like a buy-in."""

    roles = AT_THE_CAGE
    approvable = True

    @extend_schema_serializer(component_name="CashOutInput")
    class Input(_Exchange):
        """The player, the amount in minor units, and the announced cash-out that is paid with it. Without `pieces`, the
        house chooses the chips."""

        announcement = StrictInteger(min_value=1, required=False)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Cash out."""
        return services.cash_out(
            command=command, code=path["drawer"], announcement=data.get("announcement"), **_exchange(data)
        )


def _exchange(data: dict[str, Any]) -> dict[str, Any]:
    return {"player_ref": data["player"], "amount": data["amount"], "pieces": data.get("pieces")}


urls = [
    path("players/register", RegisterPlayer.as_view()),
    path("shifts", ShiftList.as_view()),
    path("drawers/<slug:drawer>", DrawerDetail.as_view()),
    path("drawers/<slug:drawer>/buy-ins", BuyIn.as_view()),
    path("drawers/<slug:drawer>/cash-outs", CashOut.as_view()),
]
