"""Chips of a lapsed set that are brought late."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_OWN_DRAWER, POSTING
from casino.api.chip_sets import TAG
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_THE_CAGE,
    SEES_BOOKS,
    Pieces,
    Reason,
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
from casino.chips.models import SET_CODE_PATTERN
from casino.core.commands import Answer, Command
from casino.staff.models import Role
from casino.transfers import late_claims
from casino.transfers.late_models import LateClaim


class LateClaimEvent(EventPart):
    """What was brought and paid."""

    claim = serializers.IntegerField(help_text="Its number in the house, from 1 without gaps.")
    player = serializers.CharField()
    chip_set = serializers.CharField(help_text="Code of the set that has lapsed.")
    amount = minor_units("Cash that was paid")
    exchanged = chip_pieces("Chips that were brought")
    left = minor_units("What lapsed of the set and nobody has claimed yet, after this")
    approval = approval_used()
    threshold_reached = threshold_reached()


class LateClaimOut(DrawerChanged):
    """The drawer, and what was paid."""

    last_event = LateClaimEvent()


@documented("listLateClaims", summary="List late claims", tag=TAG)
class LateClaimList(CursorList):
    """What the house has paid for chips of lapsed sets; `from` and `until` select by the time when it was paid."""

    sensitive = True
    roles = (*AT_THE_CAGE, *SEES_BOOKS, Role.COMPLIANCE, Role.SURVEILLANCE)

    @extend_schema_serializer(component_name="LateClaimListRow")
    class Row(serializers.Serializer[Any]):
        """A late claim in a list."""

        claim = serializers.IntegerField(help_text="Its number in the house, from 1 without gaps.")
        drawer = serializers.CharField(help_text="Drawer that has paid it.")
        chip_set = serializers.CharField(help_text="Code of the set that has lapsed.")
        player = serializers.CharField(help_text="Who has brought the chips.")
        amount = minor_units("Cash that was paid")
        pieces = chip_pieces("Chips that were brought")
        reason = serializers.CharField(help_text="Why they come late.")
        paid_by = login_of("paid it")
        paid_at = serializers.DateTimeField(help_text="When it was paid.")

        def to_representation(self, instance: LateClaim) -> dict[str, Any]:
            """The claim."""
            return late_claims.describe(instance)

    model = LateClaim
    serializer_class = Row
    filters = {"chip_set": "chip_set__code", "drawer": "drawer__code", "player": "player__ref"}
    time = "paid_at"

    def rows(self) -> Any:
        """With what a row names."""
        return super().rows().select_related("drawer", "chip_set", "player", "paid_by")


@documented(
    "payLateClaim",
    summary="Pay for chips of a lapsed set",
    answers=LateClaimOut,
    status=201,
    tag=TAG,
    refuses=[
        *AT_OWN_DRAWER, "not_found", "no_person", "person_forgotten", "staff_as_player", "player_is_minor",
        "chip_set_not_lapsed", "chip_set_retired", "lapsed_chips_claimed", "nothing_to_move", "no_chip_set",
        "unknown_denomination", "pieces_not_a_count", *POSTING,
    ],
)  # fmt: skip
class PayLateClaim(WriteOperation):
    """The house pays by grace, in cash, to a player of whom it is recorded who it is (`no_person`): never more than
    what lapsed of the set and nobody has claimed yet (`lapsed_chips_claimed`). A cage supervisor or a manager approves
    it, and from `exchange_by_manager_from` on a manager and compliance (`approval_required`). The drawer keeps the
    chips with those of withdrawn sets, until they come to the vault (`POST chip-moves`, `withdrawn`) and are
    destroyed."""

    roles = AT_THE_CAGE
    approvable = True

    @extend_schema_serializer(component_name="PayLateClaimInput")
    class Input(StrictInput):
        """The lapsed set, its chips, who brings them, and why so late."""

        chip_set = StrictPattern(SET_CODE_PATTERN)
        player = StrictText(max_length=32)
        pieces = Pieces(required=True)
        reason = Reason()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Pay."""
        return late_claims.pay(
            command=command, code=path["drawer"], chip_set=data["chip_set"], player_ref=data["player"],
            pieces=data["pieces"], reason=data["reason"],
        )  # fmt: skip


urls = [
    path("late-claims", LateClaimList.as_view()),
    path("drawers/<slug:drawer>/late-claims", PayLateClaim.as_view()),
]
