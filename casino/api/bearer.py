"""Chips without a name: sold and bought back at a drawer; compliance books them for a player, or for none."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import ANNOUNCED, AT_OWN_DRAWER, CHIPS, POSTING, TAG
from casino.api.http.operations import (
    AT_THE_CAGE,
    Amount,
    Pieces,
    Reason,
    StrictInput,
    StrictInteger,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.parts import (
    DrawerChanged,
    EventPart,
    LinkedSums,
    approval_used,
    chip_pieces,
    minor_units,
    threshold_reached,
)
from casino.api.tables import ReceiptOut
from casino.bookkeeping.flows import Direction
from casino.cage import bearer
from casino.core.commands import Answer, Command
from casino.staff.models import Role


def _unknown_person() -> StrictInteger:
    return StrictInteger(
        min_value=1, max_value=2**31 - 1, required=False,
        help_text="Number of the unknown person who trades; absent: nobody of whom there is a description.",
    )  # fmt: skip


class BearerEvent(EventPart):
    """The amount, and the chips for it."""

    amount = minor_units("Cash")
    exchanged = chip_pieces("Chips")
    approval = approval_used()
    threshold_reached = threshold_reached()
    unknown_person = serializers.IntegerField(
        required=False, help_text="Number of the unknown person; absent where nobody is named."
    )
    log_line = serializers.IntegerField(
        required=False, help_text="Number of the line of the log; absent where nobody is named."
    )
    linked = LinkedSums(
        required=False, help_text="Sums of the unknown person's day, this included; absent where nobody is named."
    )


class BearerPaidEvent(BearerEvent):
    """The same, and the announced cash-out that was paid."""

    announcement = serializers.IntegerField(required=False)


class BearerPaidOut(DrawerChanged):
    """The drawer, and the chips that it took back."""

    last_event = BearerPaidEvent()


class BearerOut(DrawerChanged):
    """The drawer, and the chips that changed hands."""

    last_event = BearerEvent()


@documented(
    "bearerBuyIn",
    summary="Sell chips without a name",
    answers=BearerOut,
    status=201,
    tag=TAG,
    refuses=[
        "house_not_live", *AT_OWN_DRAWER, "skim_needed", "identity_required", "person_identified", *CHIPS, *POSTING,
    ],
)  # fmt: skip
class BearerBuyIn(WriteOperation):
    """Chips for cash below the house's threshold; from there on, a name is needed (`identity_required`). With
    `unknown_person` the sale is a line of the log, and what the log knows of that person's gaming day counts too."""

    roles = AT_THE_CAGE
    approvable = True

    @extend_schema_serializer(component_name="BearerBuyInInput")
    class Input(StrictInput):
        """The amount in minor units. Without `pieces`, the house chooses the chips."""

        amount = Amount()
        pieces = Pieces()
        unknown_person = _unknown_person()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Sell."""
        return bearer.buy_in(
            command=command, code=path["drawer"], amount=data["amount"], pieces=data.get("pieces"),
            unknown_person=data.get("unknown_person"),
        )  # fmt: skip


@documented(
    "bearerCashOut",
    summary="Buy chips back without a name",
    answers=BearerPaidOut,
    status=201,
    tag=TAG,
    refuses=[
        *AT_OWN_DRAWER, *ANNOUNCED, "identity_required", "person_identified", "chips_not_in_circulation", *CHIPS,
        *POSTING,
    ],
)  # fmt: skip
class BearerCashOut(WriteOperation):
    """Cash for the pieces that somebody brings, below the house's threshold; from there on, a name is needed
    (`identity_required`). With `announcement` it is paid of what is set aside for an announced cash-out;
    `unknown_person` as in a sale."""

    roles = AT_THE_CAGE
    approvable = True

    @extend_schema_serializer(component_name="BearerCashOutInput")
    class Input(StrictInput):
        """The amount in minor units, the pieces, and the announced cash-out that is paid with it."""

        amount = Amount()
        pieces = Pieces(required=True)
        announcement = StrictInteger(min_value=1, required=False)
        unknown_person = _unknown_person()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Buy."""
        return bearer.cash_out(
            command=command, code=path["drawer"], amount=data["amount"], pieces=data["pieces"],
            announcement=data.get("announcement"), unknown_person=data.get("unknown_person"),
        )  # fmt: skip


class AttributionOut(serializers.Serializer[Any]):
    """Whose the chips are now."""

    player = serializers.CharField()
    place = serializers.CharField(help_text="Table or drawer where they are, or were, booked for nobody.")
    amount = minor_units("Worth of the chips")
    player_chips = minor_units("Worth of the chips that the player now holds away from the tables")
    unattributed = minor_units("What the house now owes to nobody in particular at the place")
    for_day = serializers.CharField(
        allow_null=True, help_text="The gaming day to which it belongs, null where none was named."
    )
    audit = ReceiptOut()


@extend_schema_serializer(component_name="AttributionInput")
class _Attribution(StrictInput):
    """How much, where it is booked for nobody, and why; the gaming day, where it belongs to an earlier one."""

    place = StrictText(max_length=32)
    amount = Amount()
    for_day = StrictText(
        max_length=10, required=False, help_text="The earlier gaming day to which it belongs; absent: that of now."
    )
    direction = serializers.ChoiceField(
        choices=[one.value for one in Direction],
        required=False,
        help_text="Which sum of the player it corrects: what the player has paid in (absent: this), or was paid.",
    )
    reason = Reason()


@documented(
    "attributeChips",
    summary="Make unattributed chips a player's",
    answers=AttributionOut,
    status=201,
    tag=TAG,
    refuses=["not_found", "person_forgotten", "identity_required", *POSTING],
)
class Attribute(WriteOperation):
    """Chips that the house owes to nobody in particular become a player's. With `for_day` it belongs to that
    gaming day, which shows it as booked later; the newest open day takes it. What the player has paid in is more by
    it, and with `direction` `out` what the player was paid is less; where it is more, the house must know the player as
    for a buy-in (`identity_required`). No If-Match: it only adds up."""

    roles = (Role.COMPLIANCE,)
    versioned = False
    input = _Attribution

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Attribute."""
        return bearer.attribute(command=command, player_ref=path["player"], **_directed(data))


@documented(
    "unattributeChips",
    summary="Make a player's chips unattributed",
    answers=AttributionOut,
    status=201,
    tag=TAG,
    refuses=["not_found", "person_forgotten", "identity_required", *POSTING],
)
class Unattribute(WriteOperation):
    """A player's chips become chips that the house owes to nobody in particular: they were booked for the wrong player.
    `for_day` as in the other direction. No If-Match: it only adds up."""

    roles = (Role.COMPLIANCE,)
    versioned = False
    input = _Attribution

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Unattribute."""
        return bearer.unattribute(command=command, player_ref=path["player"], **_directed(data))


def _directed(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "direction": Direction(data.get("direction", Direction.IN))}


urls = [
    path("drawers/<slug:drawer>/bearer-buy-ins", BearerBuyIn.as_view()),
    path("drawers/<slug:drawer>/bearer-cash-outs", BearerCashOut.as_view()),
    path("players/<slug:player>/attributions", Attribute.as_view()),
    path("players/<slug:player>/unattributions", Unattribute.as_view()),
]
