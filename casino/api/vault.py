"""Chips that come into the vault or leave it for ever: deliveries, chips set aside, and their destruction."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import POSTING
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    SEES_BOOKS,
    Pieces,
    Reason,
    StrictChoice,
    StrictInput,
    StrictPattern,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.parts import chip_pieces, login_of, minor_units, number_of
from casino.api.tables import ReceiptOut
from casino.chips.models import SET_CODE_PATTERN
from casino.core.commands import Answer, Command
from casino.staff.models import CODE, Role
from casino.transfers import selectors, vault
from casino.transfers.models import ChipMove, MoveKind, MoveState

TAG = "vault"
_STATES = tuple(f"chip_move_{state}" for state in MoveState)
_PIECES = ("unknown_denomination", "pieces_not_a_count")


class ChipMovePart(serializers.Serializer[Any]):
    """Chips that come into the vault or leave it. What was noted and counted is present once no more counts are
    made."""

    move = serializers.IntegerField(help_text="Its number among the house's movements of chips, from 1 without gaps.")
    kind = serializers.ChoiceField(choices=MoveKind.choices, help_text="What the chips are counted for.")
    chip_set = serializers.CharField(help_text="Code of the chip set.")
    drawer = serializers.CharField(
        allow_null=True, help_text="Code of the drawer that withdrawn chips come from; null for anything else."
    )
    paper = serializers.CharField(help_text="Number of the delivery note, or why the chips go.")
    state = serializers.ChoiceField(choices=MoveState.choices)
    noted_by = login_of("wrote it down first")
    observer = login_of("attends for surveillance", allow_null=True)
    differing_rounds = number_of("times that counts have differed")
    decided_by = login_of("decided on a delivery that is not what its note says", allow_null=True)
    reason = serializers.CharField(allow_blank=True, help_text="Why it was decided so; empty otherwise.")
    noted = chip_pieces("Chips that were written down first", required=False)
    counted = chip_pieces("Chips that were counted and posted", required=False, allow_null=True)
    value = minor_units("Worth of the chips that were posted", required=False, allow_null=True)


class ChipMoveOut(serializers.Serializer[Any]):
    """A movement of chips after a write."""

    move = ChipMovePart(help_text="The movement as it is now.")
    differs = serializers.BooleanField(help_text="Whether this count has shown that not all have found the same.")
    audit = ReceiptOut()


@documented("listChipMoves", summary="List chips that came into the vault or left it", tag=TAG, method="get")
@documented(
    "noteChipMove",
    summary="Write down a delivery, or chips to be set aside or destroyed",
    answers=ChipMoveOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=[
        "no_chip_set", "unknown_chip_set", "observer_missing", "unknown_observer", "drawer_missing",
        "chip_set_withdrawn", "nothing_to_move", "drawer_closed", "drawer_counted", *_PIECES,
    ],
)  # fmt: skip
class ChipMoves(WriteOperation, CursorList):
    """The first person writes down what the delivery note says, or counts out the chips that are set aside or
    destroyed. Nothing moves yet: others count without being shown it. `observer` attends a destruction for
    surveillance; `drawer`, which is open, is where withdrawn chips come from, all that it has taken back of a set; with
    its close they go to the vault by themselves. No If-Match: there is no version."""

    @extend_schema_serializer(component_name="ChipMoveListRow")
    class Row(ChipMovePart):
        """A movement in a list."""

        noted_at = serializers.DateTimeField(help_text="When it was written down first.")
        ended_at = serializers.DateTimeField(allow_null=True)

        def to_representation(self, instance: ChipMove) -> dict[str, Any]:
            """The movement with its times."""
            times = {"noted_at": instance.noted_at, "ended_at": instance.ended_at}
            return selectors.describe_chip_move(instance) | times

    @extend_schema_serializer(component_name="ChipMoveInput")
    class Input(StrictInput):
        """What for, the number of the delivery note or why, and the pieces; a chip set other than the one in use; who
        attends; the drawer."""

        kind = StrictChoice(choices=MoveKind.choices)
        paper = Reason()
        pieces = Pieces(required=True)
        chip_set = StrictPattern(SET_CODE_PATTERN, required=False)
        observer = StrictText(max_length=64, required=False)
        drawer = StrictPattern(CODE, required=False)

    sensitive = True
    roles = (Role.CAGE_SUPERVISOR,)
    readers = (*SEES_BOOKS, Role.SURVEILLANCE, Role.COUNT, Role.CAGE_SUPERVISOR)
    versioned = False
    input = Input
    model = ChipMove
    serializer_class = Row
    filters = {"kind": "kind", "state": "state", "chip_set": "chip_set__code"}
    choices = {"kind": MoveKind.values, "state": MoveState.values}
    time = "noted_at"

    def rows(self) -> Any:
        """With what a row names."""
        return super().rows().select_related("chip_set", "drawer", "noted_by", "observer", "decided_by")

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Write down."""
        return vault.note(
            command=command,
            kind=MoveKind(data["kind"]),
            paper=data["paper"],
            pieces=data["pieces"],
            chip_set=data.get("chip_set"),
            observer=data.get("observer"),
            drawer=data.get("drawer"),
        )


@documented(
    "countChipMove",
    summary="Count chips that come into the vault or leave it",
    answers=ChipMoveOut,
    status=201,
    tag=TAG,
    refuses=[*_STATES, "four_eyes", *_PIECES, *POSTING],
)
class CountChipMove(WriteOperation):
    """Two people count a delivery, one counts what is set aside or destroyed; none of them has written it down or
    counted it before (`four_eyes`), and none is shown a figure. Where all have found the same it is posted. Two counts
    of a delivery that differ from each other are made again, at most three times; if it is not what its note says, a
    manager decides. Anything else ends with a difference, and begins again. No If-Match: there is no version."""

    roles = (Role.CAGE_SUPERVISOR, Role.COUNT)
    versioned = False

    @extend_schema_serializer(component_name="ChipMoveCountInput")
    class Input(StrictInput):
        """Chips as this person has counted them."""

        pieces = Pieces(required=True)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Count."""
        return vault.count(command=command, serial=path["move"], pieces=data["pieces"])


@documented(
    "acceptDelivery",
    summary="Take in a delivery that is not what its note says",
    answers=ChipMoveOut,
    tag=TAG,
    refuses=[*_STATES, "four_eyes", *_PIECES, *POSTING],
)
class AcceptDelivery(WriteOperation):
    """A manager, who has no part in it (`four_eyes`), says what has come, and why it is taken. No If-Match: there is no
    version."""

    roles = (Role.MANAGER,)
    versioned = False

    @extend_schema_serializer(component_name="AcceptDeliveryInput")
    class Input(StrictInput):
        """What has come, and why it is taken."""

        pieces = Pieces(required=True)
        reason = Reason()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Accept."""
        return vault.accept(command=command, serial=path["move"], pieces=data["pieces"], reason=data["reason"])


urls = [
    path("chip-moves", ChipMoves.as_view()),
    path("chip-moves/<int:move>/counts", CountChipMove.as_view()),
    path("chip-moves/<int:move>/accept", AcceptDelivery.as_view()),
]
