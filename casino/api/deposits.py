"""Deposits: cash that players leave with the house for safe keeping."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_OWN_DRAWER, CHIPS, POSTING, TAG
from casino.api.http.contract import BUYS, PLAYS
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_THE_CAGE,
    SEES_BOOKS,
    Amount,
    Pieces,
    StrictInput,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.parts import DrawerChanged, EventPart, approval_used, chip_pieces, minor_units, threshold_reached
from casino.cage import deposits
from casino.core.commands import Answer, Command
from casino.players.models import Player
from casino.reports import selectors as reports
from casino.staff.models import Role


class DepositEvent(EventPart):
    """The amount, and what lies in the deposit now."""

    player = serializers.CharField()
    amount = minor_units("Cash")
    deposit = minor_units("What lies in the player's deposit after this")
    approval = approval_used()
    threshold_reached = threshold_reached()


class DepositOut(DrawerChanged):
    """The drawer, and the receipt of the deposit."""

    last_event = DepositEvent()


class DepositDrawnEvent(EventPart):
    """The amount, the chips for it, and what lies in the deposit now."""

    player = serializers.CharField()
    amount = minor_units("Worth of the chips")
    deposit = minor_units("What lies in the player's deposit after this")
    player_chips = minor_units("Worth of the chips that the player now holds away from the tables")
    exchanged = chip_pieces("Chips that the player got")


class DepositDrawnOut(DrawerChanged):
    """The drawer, and the chips that the player got."""

    last_event = DepositDrawnEvent()


@extend_schema_serializer(component_name="DepositInput")
class _Deposit(StrictInput):
    """The player, and the amount in minor units."""

    player = StrictText(max_length=32)
    amount = Amount()


@documented(
    "takeDeposit",
    summary="Take cash into a player's deposit",
    answers=DepositOut,
    status=201,
    tag=TAG,
    refuses=[*PLAYS, "house_not_live", *AT_OWN_DRAWER, "skim_needed", "no_person", "person_forgotten", *POSTING],
)
class TakeDeposit(WriteOperation):
    """The house keeps cash for a player of whom it is recorded who it is (`no_person`). Approved like a buy-in
    (`approval_required`)."""

    roles = AT_THE_CAGE
    approvable = True
    input = _Deposit

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Take."""
        return deposits.take(command=command, code=path["drawer"], player_ref=data["player"], amount=data["amount"])


@documented(
    "drawDeposit",
    summary="Give a player chips for a deposit",
    answers=DepositDrawnOut,
    status=201,
    tag=TAG,
    refuses=[*BUYS, "house_not_live", *AT_OWN_DRAWER, "person_forgotten", *CHIPS, *POSTING],
)
class DrawDeposit(WriteOperation):
    """Chips for what lies in the player's deposit: the given pieces, or the largest chips with which the drawer can
    make the amount. Refused where the deposit is less (`insufficient_funds`)."""

    roles = AT_THE_CAGE

    @extend_schema_serializer(component_name="DrawDepositInput")
    class Input(_Deposit):
        """The player, and the amount in minor units. Without `pieces`, the house chooses the chips."""

        pieces = Pieces()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Draw."""
        return deposits.draw(
            command=command, code=path["drawer"], player_ref=data["player"], amount=data["amount"],
            pieces=data.get("pieces"),
        )  # fmt: skip


@documented(
    "returnDeposit",
    summary="Pay a player's deposit back",
    answers=DepositOut,
    status=201,
    tag=TAG,
    refuses=[*AT_OWN_DRAWER, "player_is_minor", "person_forgotten", *POSTING],
)
class ReturnDeposit(WriteOperation):
    """Cash of the deposit back to the player. Refused where the deposit is less (`insufficient_funds`), or the drawer
    has less (`drawer_short`). Approved like a cash-out (`approval_required`)."""

    roles = AT_THE_CAGE
    approvable = True
    input = _Deposit

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Return."""
        return deposits.give_back(
            command=command, code=path["drawer"], player_ref=data["player"], amount=data["amount"]
        )  # fmt: skip


@documented("listDeposits", summary="List players' deposits", tag=TAG)
class DepositList(CursorList):
    """Players to whom the house owes a deposit, with the time of its last movement."""

    sensitive = True
    roles = (*AT_THE_CAGE, *SEES_BOOKS, Role.COMPLIANCE)

    @extend_schema_serializer(component_name="DepositListRow")
    class Row(serializers.Serializer[Any]):
        """A player's deposit."""

        player = serializers.CharField()
        deposit = minor_units("What lies in the player's deposit")
        moved_at = serializers.DateTimeField(help_text="When it was paid in or out last.")

        def to_representation(self, instance: Player) -> dict[str, Any]:
            """The ledger's answer."""
            return reports.player_deposit(instance)

    model = Player
    serializer_class = Row
    filters = {"player": "ref"}

    def rows(self) -> Any:
        """With what lies in their deposits."""
        return reports.with_deposits(super().rows())


urls = [
    path("deposits", DepositList.as_view()),
    path("drawers/<slug:drawer>/deposits", TakeDeposit.as_view()),
    path("drawers/<slug:drawer>/deposits/draw", DrawDeposit.as_view()),
    path("drawers/<slug:drawer>/deposits/return", ReturnDeposit.as_view()),
]
