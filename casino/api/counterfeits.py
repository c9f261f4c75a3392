"""Counterfeit notes and chips, at drawers, in the vault and in trays."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_A_DRAWER, CHIPS, POSTING
from casino.api.http.operations import (
    AT_TABLES,
    AT_THE_CAGE,
    Amount,
    Pieces,
    Reason,
    StrictInput,
    StrictPattern,
    WriteOperation,
    documented,
)
from casino.api.parts import DrawerChanged, EventPart, approval_used, chip_pieces, minor_units
from casino.api.tables import ReceiptOut, TableOut
from casino.cage import counterfeits
from casino.core.commands import Answer, Command
from casino.staff.models import CODE, Role
from casino.tables import counterfeits as at_tables


@extend_schema_serializer(component_name="CounterfeitsInput")
class _Found(StrictInput):
    """Face value of the notes, the chips by denomination, the number under which they are kept, and what is known."""

    cash = Amount(min_value=0)
    pieces = Pieces(required=True)
    evidence = StrictPattern(CODE)
    reason = Reason()


class CounterfeitsPart(serializers.Serializer[Any]):
    """What was taken out."""

    cash = minor_units("Face value of the notes")
    pieces = chip_pieces("The chips")
    amount = minor_units("Face value of both together")


class CounterfeitsEvent(EventPart):
    """What was taken out of the drawer."""

    counterfeits = CounterfeitsPart(help_text="What was taken out.")
    evidence = serializers.CharField()
    approval = approval_used()


class DrawerCounterfeitsOut(DrawerChanged):
    """The drawer, and what was taken out of it."""

    last_event = CounterfeitsEvent()


class VaultCounterfeitsOut(serializers.Serializer[Any]):
    """What was taken out of the vault."""

    counterfeits = CounterfeitsPart(help_text="What was taken out.")
    evidence = serializers.CharField()
    audit = ReceiptOut()


@documented(
    "findCounterfeits",
    summary="Take counterfeits out of a drawer",
    answers=DrawerCounterfeitsOut,
    status=201,
    tag="cage",
    refuses=[*AT_A_DRAWER, "no_counterfeits", *CHIPS, *POSTING],
)
class FindCounterfeits(WriteOperation):
    """Counterfeit notes and chips leave the drawer and are kept as evidence; the house bears them. A cage supervisor or
    a manager approves it (`approval_required`)."""

    roles = AT_THE_CAGE
    approvable = True
    input = _Found

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Take out."""
        return counterfeits.at_drawer(command=command, code=path["drawer"], **data)


@documented(
    "findCounterfeitsAtTable",
    summary="Take counterfeit chips out of a table's tray",
    answers=TableOut,
    status=201,
    tag="dealer",
    refuses=["table_playing", "table_settling", "table_disputed", "table_retired", "no_counterfeits", *CHIPS, *POSTING],
)
class FindCounterfeitsAtTable(WriteOperation):
    """Counterfeit chips leave the tray and are kept as evidence; the house bears them. Only between hands. A manager
    approves it (`approval_required`)."""

    roles = AT_TABLES
    approvable = True

    @extend_schema_serializer(component_name="CounterfeitsAtTableInput")
    class Input(StrictInput):
        """The chips by denomination, the number under which they are kept, and what is known."""

        pieces = Pieces(required=True)
        evidence = StrictPattern(CODE)
        reason = Reason()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Take out."""
        return at_tables.take_out(command=command, code=path["table"], **data)


@documented(
    "findCounterfeitsInVault",
    summary="Take counterfeits out of the vault",
    answers=VaultCounterfeitsOut,
    status=201,
    tag="vault",
    refuses=["no_counterfeits", *CHIPS, *POSTING],
)
class FindCounterfeitsInVault(WriteOperation):
    """The same of the vault, approved by a manager (`approval_required`). No If-Match: the vault has no version."""

    roles = (Role.CAGE_SUPERVISOR,)
    approvable = True
    versioned = False
    input = _Found

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Take out."""
        return counterfeits.in_vault(command=command, **data)


urls = [
    path("tables/<slug:table>/counterfeits", FindCounterfeitsAtTable.as_view()),
    path("drawers/<slug:drawer>/counterfeits", FindCounterfeits.as_view()),
    path("vault/counterfeits", FindCounterfeitsInVault.as_view()),
]
