"""The register of found chips."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_A_DRAWER, AT_OWN_DRAWER, CHIPS, POSTING, TAG
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_THE_CAGE,
    SEES_BOOKS,
    Amount,
    Pieces,
    Reason,
    StrictInput,
    StrictPattern,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.parts import DrawerChanged, EventPart, approval_used, chip_pieces, login_of, minor_units
from casino.api.tables import ReceiptOut
from casino.cage import found
from casino.cage.models import FoundChips, FoundState
from casino.core.commands import Answer, Command
from casino.staff.models import CODE, Role


class FoundChipsPart(serializers.Serializer[Any]):
    """Chips of which nobody knew whose they were."""

    found = serializers.IntegerField(help_text="Its number in the house's register, from 1 without gaps.")
    drawer = serializers.CharField(help_text="Drawer that has taken them.")
    finder = login_of("found them")
    found_where = serializers.CharField(help_text="Where they were found.")
    amount = minor_units("Worth of the chips")
    pieces = chip_pieces("The chips")
    state = serializers.ChoiceField(choices=FoundState.choices)
    noted_by = login_of("took them into the register")
    player = serializers.CharField(allow_null=True, help_text="The player who has claimed them; null otherwise.")
    note = serializers.CharField(allow_blank=True, help_text="Number of the bank's note; empty without one.")
    ended_by = login_of("gave, remitted or booked them", allow_null=True)


class ChipsFoundEvent(EventPart):
    """The chips, and their place in the register."""

    found = FoundChipsPart(help_text="What is in the register.")
    amount = minor_units("Worth of the chips")
    exchanged = chip_pieces("Chips that were found")


class ChipsFoundOut(DrawerChanged):
    """The drawer, and the found chips."""

    last_event = ChipsFoundEvent()


class ChipsClaimedEvent(EventPart):
    """The chips that the owner got."""

    player = serializers.CharField()
    found = FoundChipsPart(help_text="What was in the register.")
    amount = minor_units("Worth of the chips")
    exchanged = chip_pieces("Chips that the player got")
    approval = approval_used()


class ChipsClaimedOut(DrawerChanged):
    """The drawer, and what was claimed."""

    last_event = ChipsClaimedEvent()


class UnclaimedOut(serializers.Serializer[Any]):
    """Found chips that nobody has claimed."""

    found = FoundChipsPart(help_text="What was in the register.")
    audit = ReceiptOut()


@documented("listFoundChips", summary="List found chips", tag=TAG)
class FoundChipsList(CursorList):
    """The register of found chips, with their age; `from` and `until` select by the time when they were entered."""

    sensitive = True
    roles = (*AT_THE_CAGE, *SEES_BOOKS, Role.FLOOR, Role.COMPLIANCE, Role.SURVEILLANCE)

    @extend_schema_serializer(component_name="FoundChipsListRow")
    class Row(FoundChipsPart):
        """Found chips in a list."""

        noted_at = serializers.DateTimeField(help_text="When they were entered.")
        ended_at = serializers.DateTimeField(allow_null=True, help_text="When they left the register; null before.")
        age_days = serializers.IntegerField(help_text="For how many whole days they are in the register, or were.")

        def to_representation(self, instance: FoundChips) -> dict[str, Any]:
            """The chips with their times."""
            times = {name: getattr(instance, name) for name in ("noted_at", "ended_at", "age_days")}
            return found.describe(instance) | times

    model = FoundChips
    serializer_class = Row
    filters = {"state": "state"}
    choices = {"state": FoundState.values}
    time = "noted_at"

    def rows(self) -> Any:
        """With what a row names."""
        named = ("drawer", "finder", "noted_by", "player", "ended_by")
        return found.with_age(super().rows().select_related(*named))


@documented(
    "takeFoundChips",
    summary="Take found chips into the register",
    answers=ChipsFoundOut,
    status=201,
    tag=TAG,
    refuses=[*AT_A_DRAWER, "not_found", "chips_not_in_circulation", *CHIPS, *POSTING],
)
class TakeFoundChips(WriteOperation):
    """Chips without an owner that a member of staff has found. The house owes their worth as unclaimed property."""

    roles = AT_THE_CAGE

    @extend_schema_serializer(component_name="TakeFoundChipsInput")
    class Input(StrictInput):
        """Who has found them and where, their worth in minor units, and the pieces."""

        finder = StrictText(max_length=64)
        found_where = StrictText(min_length=3, max_length=64)
        amount = Amount()
        pieces = Pieces(required=True)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Take."""
        return found.take(command=command, code=path["drawer"], **data)


@documented(
    "claimFoundChips",
    summary="Give found chips to their owner",
    answers=ChipsClaimedOut,
    tag=TAG,
    refuses=[*AT_OWN_DRAWER, "found_ended", "player_is_minor", "no_person", "person_forgotten", *CHIPS, *POSTING],
)
class ClaimFoundChips(WriteOperation):
    """The player, of whom it is recorded who it is (`no_person`), has proved to be the owner. A cage supervisor or a
    manager approves it (`approval_required`)."""

    roles = AT_THE_CAGE
    approvable = True

    @extend_schema_serializer(component_name="ClaimFoundChipsInput")
    class Input(StrictInput):
        """The owner."""

        player = StrictText(max_length=32)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Give."""
        return found.claim(command=command, code=path["drawer"], number=path["found"], player_ref=data["player"])


@documented(
    "remitUnclaimed",
    summary="Enter that unclaimed chips were remitted",
    answers=UnclaimedOut,
    tag=TAG,
    refuses=["found_ended", "claims_run", *POSTING],
)
class RemitUnclaimed(WriteOperation):
    """The bank has paid their worth to where the law wants it, after as many days as the house waits for an owner
    (`claims_run`). An auditor approves it (`approval_required`). No If-Match: found chips have no version."""

    roles = (Role.MANAGER,)
    approvable = True
    versioned = False

    @extend_schema_serializer(component_name="RemitUnclaimedInput")
    class Input(StrictInput):
        """The number of the bank's note."""

        note = StrictPattern(CODE)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Remit."""
        return found.remit(command=command, number=path["found"], note=data["note"])


@documented(
    "keepUnclaimed",
    summary="Book unclaimed chips as income",
    answers=UnclaimedOut,
    tag=TAG,
    refuses=["found_ended", "claims_run", *POSTING],
)
class KeepUnclaimed(WriteOperation):
    """Their worth is the house's, where the law allows it, after as many days as it waits for an owner (`claims_run`).
    An auditor approves it (`approval_required`). No If-Match: found chips have no version."""

    roles = (Role.MANAGER,)
    approvable = True
    versioned = False

    @extend_schema_serializer(component_name="KeepUnclaimedInput")
    class Input(StrictInput):
        """Why the house may keep it."""

        reason = Reason()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Keep."""
        return found.keep(command=command, number=path["found"], reason=data["reason"])


urls = [
    path("found-chips", FoundChipsList.as_view()),
    path("found-chips/<int:found>/remit", RemitUnclaimed.as_view()),
    path("found-chips/<int:found>/keep", KeepUnclaimed.as_view()),
    path("drawers/<slug:drawer>/found-chips", TakeFoundChips.as_view()),
    path("drawers/<slug:drawer>/found-chips/<int:found>/claim", ClaimFoundChips.as_view()),
]
