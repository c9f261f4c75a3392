"""Buy-ins by card or transfer, their settlement, and payments to players' own accounts."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_OWN_DRAWER, CHIPS, POSTING, TAG
from casino.api.http.contract import BUYS
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_THE_CAGE,
    CAGE_SUPERVISION,
    SEES_BOOKS,
    Amount,
    Pieces,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictPattern,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.parts import (
    DrawerChanged,
    EventPart,
    approval_used,
    chip_pieces,
    login_of,
    minor_units,
    threshold_reached,
)
from casino.api.tables import ReceiptOut
from casino.cage import noncash
from casino.cage.models import Means, NonCashBuyIn, NonCashState
from casino.core.commands import Answer, Command
from casino.staff.models import CODE, Role

#: The last digits of an account; all before them are covered.
_MASKED = r"^\*{2,30}[0-9A-Z]{2,4}\Z"


class NonCashBoughtEvent(EventPart):
    """What was confirmed, and the chips for it."""

    player = serializers.CharField()
    amount = serializers.IntegerField()
    buy_in = serializers.IntegerField()
    means = serializers.ChoiceField(choices=Means.choices)
    reference = serializers.CharField()
    player_chips = minor_units("Worth of the chips that the player now holds away from the tables")
    exchanged = chip_pieces("Chips that the player got")
    approval = approval_used()
    threshold_reached = threshold_reached()


class NonCashBoughtOut(DrawerChanged):
    """The drawer, and the chips that the player got."""

    last_event = NonCashBoughtEvent()


class NonCashPaidEvent(EventPart):
    """The chips that the player gave, and what was paid."""

    player = serializers.CharField()
    amount = serializers.IntegerField()
    account = serializers.CharField(help_text="The player's own account, covered but for its last digits.")
    player_chips = minor_units("Worth of the chips that the player now holds away from the tables")
    exchanged = chip_pieces("Chips that the player gave")
    approval = approval_used()
    threshold_reached = threshold_reached()
    attributed = minor_units("What of it was booked for nobody before", required=False)


class NonCashPaidOut(DrawerChanged):
    """The drawer, and the chips that the player gave."""

    last_event = NonCashPaidEvent()


class ClearingSettledOut(serializers.Serializer[Any]):
    """Buy-ins whose money has come."""

    statement = serializers.CharField()
    amount = serializers.IntegerField()
    buy_ins = serializers.ListField(child=serializers.IntegerField())
    audit = ReceiptOut()


@documented(
    "nonCashBuyIn",
    summary="Sell a player chips by card or transfer",
    answers=NonCashBoughtOut,
    status=201,
    tag=TAG,
    refuses=[
        *BUYS,
        "house_not_live",
        "identity_required",
        "drawer_closed",
        "drawer_counted",
        "drawer_short",
        "not_your_drawer",
        "reference_used",
        "person_forgotten",
        "staff_as_player",
        *CHIPS,
        *POSTING,
    ],
)
class NonCashBuyIns(WriteOperation):
    """Chips for what a terminal or a bank has confirmed, once for each reference (`reference_used`). Approved like a
    buy-in (`approval_required`)."""

    roles = AT_THE_CAGE
    approvable = True

    @extend_schema_serializer(component_name="NonCashBuyInInput")
    class Input(StrictInput):
        """The player, the amount in minor units, how it was paid, and the reference. Without `pieces`, the house
        chooses the chips."""

        player = StrictText(max_length=32)
        amount = Amount()
        means = StrictChoice(choices=Means.choices)
        reference = StrictPattern(CODE)
        pieces = Pieces()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Buy in."""
        return noncash.buy_in(
            command=command, code=path["drawer"], player_ref=data["player"], amount=data["amount"],
            means=Means(data["means"]), reference=data["reference"], pieces=data.get("pieces"),
        )  # fmt: skip


@documented(
    "nonCashPayment",
    summary="Pay a player's chips to the player's own account",
    answers=NonCashPaidOut,
    status=201,
    tag=TAG,
    refuses=[
        *AT_OWN_DRAWER, "player_is_minor", "identity_required", "no_person", "person_forgotten",
        "chips_not_in_circulation", *CHIPS, *POSTING,
    ],
)  # fmt: skip
class NonCashPayment(WriteOperation):
    """The player, of whom it is recorded who it is (`no_person`), gives chips and is paid by the bank, to no account
    but the own one. A cage supervisor or a manager approves it (`approval_required`)."""

    roles = AT_THE_CAGE
    approvable = True

    @extend_schema_serializer(component_name="NonCashPaymentInput")
    class Input(StrictInput):
        """The player, the amount in minor units, the chips, and the account as `**1234`."""

        player = StrictText(max_length=32)
        amount = Amount()
        pieces = Pieces(required=True)
        account = StrictPattern(_MASKED, help_text="The player's own account: stars and its last digits.")

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Pay."""
        return noncash.pay(
            command=command, code=path["drawer"], player_ref=data["player"], amount=data["amount"],
            pieces=data["pieces"], account=data["account"],
        )  # fmt: skip


@documented("listNonCashBuyIns", summary="List buy-ins by card or transfer", tag=TAG, method="get")
class NonCashBuyInList(CursorList):
    """Buy-ins by card or transfer with their age; `state=open` has those whose money has not come, and `from` and
    `until` select by the time of the sale."""

    sensitive = True
    roles = (*AT_THE_CAGE, *SEES_BOOKS, Role.COMPLIANCE)

    @extend_schema_serializer(component_name="NonCashBuyInListRow")
    class Row(serializers.Serializer[Any]):
        """A buy-in in a list."""

        buy_in = serializers.IntegerField()
        drawer = serializers.CharField()
        player = serializers.CharField()
        means = serializers.ChoiceField(choices=Means.choices)
        reference = serializers.CharField()
        amount = serializers.IntegerField()
        state = serializers.ChoiceField(choices=NonCashState.choices)
        sold_by = login_of("sold the chips")
        sold_at = serializers.DateTimeField(help_text="When the chips were sold.")
        statement = serializers.CharField(
            allow_blank=True, help_text="Line of the bank's statement; empty before that."
        )
        settled_by = login_of("entered the line of the statement", allow_null=True)
        ended_at = serializers.DateTimeField(allow_null=True, help_text="When its money has come; null before that.")
        age_seconds = serializers.IntegerField(help_text="For how long its money is on its way, or was.")

        def to_representation(self, instance: NonCashBuyIn) -> dict[str, Any]:
            """The buy-in with its age."""
            return noncash.describe(instance) | {"age_seconds": instance.age_seconds}  # type: ignore[attr-defined]

    model = NonCashBuyIn
    serializer_class = Row
    filters = {"player": "player__ref", "state": "state", "means": "means"}
    choices = {"state": NonCashState.values, "means": Means.values}
    time = "sold_at"

    def rows(self) -> Any:
        """With what a row names."""
        return noncash.with_age(super().rows().select_related("drawer", "player", "sold_by", "settled_by"))


@documented(
    "settleClearing",
    summary="Enter a line of the bank's statement",
    answers=ClearingSettledOut,
    status=201,
    tag=TAG,
    refuses=["not_found", "clearing_settled", "statement_used", "clearing_differs", *POSTING],
)
class SettleClearing(WriteOperation):
    """The line has brought the money of these buy-ins, and exactly that (`clearing_differs`): no fee or difference is
    booked. No If-Match: buy-ins have no version."""

    roles = CAGE_SUPERVISION
    versioned = False

    @extend_schema_serializer(component_name="SettleClearingInput")
    class Input(StrictInput):
        """The line, its amount in minor units, and the numbers of the buy-ins."""

        statement = StrictPattern(CODE)
        amount = Amount()
        buy_ins = serializers.ListField(
            child=StrictInteger(min_value=1, max_value=2**31 - 1), min_length=1, max_length=500
        )

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Settle."""
        return noncash.settle(command=command, **data)


urls = [
    path("noncash-buy-ins", NonCashBuyInList.as_view()),
    path("noncash-buy-ins/settle", SettleClearing.as_view()),
    path("drawers/<slug:drawer>/noncash-buy-ins", NonCashBuyIns.as_view()),
    path("drawers/<slug:drawer>/noncash-payments", NonCashPayment.as_view()),
]
