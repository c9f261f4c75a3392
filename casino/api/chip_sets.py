"""The life of a chip set after the first: put in use, taken back at the cage, lapsed, retired."""

from datetime import date
from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_OWN_DRAWER, CHIPS, POSTING
from casino.api.days import IsoDate
from casino.api.http.operations import (
    AT_THE_CAGE,
    Pieces,
    Reason,
    ReasonInput,
    StrictInput,
    StrictPattern,
    WriteOperation,
    documented,
)
from casino.api.parts import DrawerChanged, EventPart, chip_pieces, minor_units
from casino.api.tables import ReceiptOut
from casino.chips.models import SET_CODE_PATTERN
from casino.core.commands import Answer, Command
from casino.staff.models import Role
from casino.transfers import chip_sets

TAG = "chip sets"


class ChipSetPart(serializers.Serializer[Any]):
    """A chip set, and how far it has come."""

    chip_set = serializers.CharField(help_text="Code of the chip set.")
    denominations = serializers.DictField(
        child=serializers.CharField(allow_blank=True), help_text="Colours by denomination in minor units."
    )
    in_use = serializers.BooleanField(help_text="Whether the house plays with it.")
    redeem_until = serializers.DateField(
        allow_null=True, help_text="Last day on which the house has promised to take it back; null unless withdrawn."
    )
    lapsed = serializers.BooleanField(help_text="Whether its notice is over and its chips are worth nothing.")
    retired = serializers.BooleanField(help_text="Whether it is never used again.")


class ChipSetOut(serializers.Serializer[Any]):
    """A chip set after a write."""

    chip_set = ChipSetPart(help_text="The chip set as it is now.")
    audit = ReceiptOut()


class ChipSetInUse(ChipSetOut):
    """The chip set that is in use now, and the one that is withdrawn."""

    withdrawn = ChipSetPart(help_text="The chip set that was in use.")


class ChipSetLapsed(ChipSetOut):
    """A chip set that has lapsed."""

    amount = minor_units("Worth of the chips that were still out")


@documented(
    "useChipSet",
    summary="Put another chip set in use",
    answers=ChipSetInUse,
    tag=TAG,
    refuses=[
        "chip_set_in_use", "chip_set_withdrawn", "chip_set_retired", "chip_set_too_coarse", "place_not_empty",
        "handover_open", "notice_in_the_past", "no_chip_set",
    ],
)  # fmt: skip
class UseChipSet(WriteOperation):
    """The set takes the place of the one in use, which is withdrawn: the house has promised to take that back until
    `redeem_until`. Drawers, trays, boxes and tables must hold none of it (`place_not_empty`). A manager approves it.
    Trays are then stocked with it. No If-Match: chip sets have no version."""

    roles = (Role.ADMIN,)
    versioned = False
    approvable = True

    @extend_schema_serializer(component_name="UseChipSetInput")
    class Input(StrictInput):
        """The last day of the notice (ISO date), and why."""

        redeem_until = IsoDate()
        reason = Reason()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Put in use."""
        until = date.fromisoformat(data["redeem_until"])
        return chip_sets.put_in_use(command=command, code=path["chip_set"], redeem_until=until, reason=data["reason"])


@documented(
    "lapseChipSet",
    summary="End the notice of a withdrawn chip set",
    answers=ChipSetLapsed,
    tag=TAG,
    refuses=[
        "chip_set_not_withdrawn", "chip_set_lapsed", "notice_runs", "chips_attributed", "no_chip_set",
        *POSTING,
    ],
)  # fmt: skip
class LapseChipSet(WriteOperation):
    """What the public still has of the set is worth nothing any more, and the house owes as much as unclaimed property.
    Not while the notice runs (`notice_runs`), and never while the house owes any of it to known players
    (`chips_attributed`). A manager approves it. No If-Match: chip sets have no version."""

    roles = (Role.CAGE_SUPERVISOR,)
    versioned = False
    approvable = True
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Let it lapse."""
        return chip_sets.lapse(command=command, code=path["chip_set"], reason=data["reason"])


@documented(
    "retireChipSet",
    summary="Retire a chip set",
    answers=ChipSetOut,
    tag=TAG,
    refuses=["chip_set_in_use", "chip_set_retired", "place_not_empty"],
)
class RetireChipSet(WriteOperation):
    """End a set for ever that is not in use and of which no chip is left: all have lapsed or were destroyed. No
    If-Match: chip sets have no version."""

    roles = (Role.ADMIN,)
    versioned = False
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Retire."""
        return chip_sets.retire(command=command, code=path["chip_set"], reason=data["reason"])


class Redeemed(serializers.Serializer[Any]):
    """Chips of a withdrawn set that were taken back."""

    chip_set = serializers.CharField(help_text="Code of the withdrawn chip set.")
    amount = minor_units("Their worth")
    given = chip_pieces("Chips of the withdrawn set")
    change = chip_pieces("Chips of the set in use")


class RedeemedEvent(EventPart):
    """What was taken back."""

    redeemed = Redeemed(help_text="What was taken back.")


class RedeemedOut(DrawerChanged):
    """The drawer, and what was taken back."""

    last_event = RedeemedEvent()


@documented(
    "redeemChips",
    summary="Take back chips of a withdrawn set",
    answers=RedeemedOut,
    status=201,
    tag=TAG,
    refuses=[
        *AT_OWN_DRAWER, "chip_set_not_withdrawn", "chip_set_lapsed", "chips_not_in_circulation", "nothing_to_move",
        *CHIPS, *POSTING,
    ],
)  # fmt: skip
class RedeemChips(WriteOperation):
    """The person who brings them gets chips of the set in use, worth the same: those wanted, or the largest there are.
    The drawer keeps what it has taken apart, until it comes to the vault (`POST chip-moves`, `withdrawn`)."""

    roles = AT_THE_CAGE

    @extend_schema_serializer(component_name="RedeemChipsInput")
    class Input(StrictInput):
        """The withdrawn set, its chips, and the chips wanted for them."""

        chip_set = StrictPattern(SET_CODE_PATTERN)
        given = Pieces(required=True)
        wanted = Pieces()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Take back."""
        return chip_sets.redeem(
            command=command,
            code=path["drawer"],
            chip_set=data["chip_set"],
            given=data["given"],
            wanted=data.get("wanted"),
        )


urls = [
    path("chip-sets/<slug:chip_set>/use", UseChipSet.as_view()),
    path("chip-sets/<slug:chip_set>/lapse", LapseChipSet.as_view()),
    path("chip-sets/<slug:chip_set>/retire", RetireChipSet.as_view()),
    path("drawers/<slug:drawer>/redemptions", RedeemChips.as_view()),
]
