"""Payouts that are held until compliance releases them."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_OWN_DRAWER, CHIPS, POSTING, TAG
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_THE_CAGE,
    SEES_BOOKS,
    Amount,
    Pieces,
    StrictChoice,
    StrictInput,
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
from casino.cage import held
from casino.cage.models import HeldCause, HeldPayout, HeldState
from casino.core.commands import Answer, Command
from casino.staff.models import CODE, Role

#: Why a cashier can hold a payout; stakes of a minor are held by their settlement alone.
_CAUSES = [choice for choice in HeldCause.choices if choice[0] != HeldCause.MINOR]


class HeldPayoutPart(serializers.Serializer[Any]):
    """Money that a player is owed for chips that were brought and not paid yet."""

    payout = serializers.IntegerField(help_text="Its number among the house's held payouts, from 1 without gaps.")
    player = serializers.CharField()
    amount = serializers.IntegerField()
    cause = serializers.ChoiceField(choices=HeldCause.choices, help_text="Why it is held.")
    state = serializers.ChoiceField(choices=HeldState.choices)
    drawer = serializers.CharField(
        allow_null=True, help_text="Drawer where the chips were brought; null for stakes of a minor."
    )
    held_by = login_of("took the chips, or settled the stakes of a minor")
    paid_by = login_of("paid or settled it", allow_null=True)
    paid_at_drawer = serializers.CharField(allow_null=True, help_text="Drawer where it was paid; null otherwise.")
    note = serializers.CharField(allow_blank=True, help_text="Number of the bank's note; empty without one.")


class PayoutHeldEvent(EventPart):
    """The chips that the house has taken back, and the payout."""

    player = serializers.CharField()
    amount = serializers.IntegerField()
    player_chips = minor_units("Worth of the chips that the player now holds away from the tables")
    exchanged = chip_pieces("Chips that the player gave")
    attributed = minor_units("What of it was booked for nobody before", required=False)
    payout = HeldPayoutPart(help_text="What is held.")
    approval = approval_used()


class PayoutHeldOut(DrawerChanged):
    """The drawer, and the payout that is held."""

    last_event = PayoutHeldEvent()


class PayoutReleasedEvent(EventPart):
    """The payout that was paid."""

    player = serializers.CharField()
    amount = serializers.IntegerField()
    payout = HeldPayoutPart(help_text="What was paid.")
    approval = approval_used()
    threshold_reached = threshold_reached()


class PayoutReleasedOut(DrawerChanged):
    """The drawer, and the payout."""

    last_event = PayoutReleasedEvent()


class PayoutByBankOut(serializers.Serializer[Any]):
    """A held payout that the bank has paid."""

    payout = HeldPayoutPart(help_text="What was paid.")
    audit = ReceiptOut()


@documented(
    "holdPayout",
    summary="Hold a payout",
    answers=PayoutHeldOut,
    status=201,
    tag=TAG,
    refuses=[*AT_OWN_DRAWER, "person_forgotten", "chips_not_in_circulation", *CHIPS, *POSTING],
)
class HoldPayout(WriteOperation):
    """The house takes the chips that a player has brought and owes the player their worth, which is paid when it is
    released. Compliance decides on it (`approval_required`)."""

    roles = AT_THE_CAGE
    approvable = True

    @extend_schema_serializer(component_name="HoldPayoutInput")
    class Input(StrictInput):
        """The player, the amount in minor units, the chips, and why they are not paid yet."""

        player = StrictText(max_length=32)
        amount = Amount()
        pieces = Pieces(required=True)
        cause = StrictChoice(choices=_CAUSES)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Hold."""
        return held.hold(
            command=command, code=path["drawer"], player_ref=data["player"], amount=data["amount"],
            pieces=data["pieces"], cause=HeldCause(data["cause"]),
        )  # fmt: skip


@documented(
    "releasePayout",
    summary="Pay a held payout in cash",
    answers=PayoutReleasedOut,
    tag=TAG,
    refuses=[
        *AT_OWN_DRAWER, "payout_released", "player_is_minor", "identity_required", "no_person", "person_forgotten",
        *POSTING,
    ],
)  # fmt: skip
class ReleasePayout(WriteOperation):
    """The whole payout in cash, once (`payout_released`), when compliance has released it (`approval_required`). Where
    it was held to find out who the player is, that must be recorded (`no_person`); for a large payout it must be in any
    case (`identity_required`). A minor, or a guardian, gets nothing but stakes that are given back
    (`player_is_minor`)."""

    roles = AT_THE_CAGE
    approvable = True

    @extend_schema_serializer(component_name="ReleasePayoutInput")
    class Input(StrictInput):
        """Nothing besides the number in the address."""

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Pay."""
        return held.release(command=command, code=path["drawer"], number=path["payout"])


@documented(
    "payHeldByBank",
    summary="Enter that the bank has paid a held payout",
    answers=PayoutByBankOut,
    tag=TAG,
    refuses=["payout_released", "player_is_minor", "identity_required", "no_person", "person_forgotten", *POSTING],
)
class PayHeldByBank(WriteOperation):
    """The whole payout to the player's account, by the bank's note. Released like a payment in cash. No If-Match:
    payouts have no version."""

    roles = (Role.CAGE_SUPERVISOR,)
    approvable = True
    versioned = False

    @extend_schema_serializer(component_name="PayHeldByBankInput")
    class Input(StrictInput):
        """The number of the bank's note."""

        note = StrictPattern(CODE)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Pay."""
        return held.pay_by_bank(command=command, number=path["payout"], note=data["note"])


@documented("listHeldPayouts", summary="List held payouts", tag=TAG)
class HeldPayoutList(CursorList):
    """Payouts that are or were held, with their age; `from` and `until` select by the time when they were held."""

    sensitive = True
    roles = (*AT_THE_CAGE, *SEES_BOOKS, Role.COMPLIANCE)

    @extend_schema_serializer(component_name="HeldPayoutListRow")
    class Row(HeldPayoutPart):
        """A held payout in a list."""

        held_at = serializers.DateTimeField(help_text="When it was held.")
        ended_at = serializers.DateTimeField(allow_null=True, help_text="When it was paid; null before that.")
        age_seconds = serializers.IntegerField(help_text="For how long it is held, or was until it was paid.")

        def to_representation(self, instance: HeldPayout) -> dict[str, Any]:
            """The payout with its times."""
            times = {name: getattr(instance, name) for name in ("held_at", "ended_at", "age_seconds")}
            return held.describe(instance) | times

    model = HeldPayout
    serializer_class = Row
    filters = {"player": "player__ref", "state": "state", "cause": "cause"}
    choices = {"state": HeldState.values, "cause": HeldCause.values}
    time = "held_at"

    def rows(self) -> Any:
        """With what a row names."""
        named = ("player", "drawer", "held_by", "paid_by", "paid_at_drawer")
        return held.with_age(super().rows().select_related(*named))


urls = [
    path("held-payouts", HeldPayoutList.as_view()),
    path("held-payouts/<int:payout>/pay-by-bank", PayHeldByBank.as_view()),
    path("drawers/<slug:drawer>/held-payouts", HoldPayout.as_view()),
    path("drawers/<slug:drawer>/held-payouts/<int:payout>/release", ReleasePayout.as_view()),
]
