"""Counterfeit notes and chips, at drawers and in the vault."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_A_DRAWER, CHIPS, POSTING
from casino.api.http.operations import (
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
from casino.api.tables import ReceiptOut
from casino.cage import counterfeits
from casino.core.write import Answer, Command
from casino.staff.models import CODE, Role


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
    path("drawers/<slug:drawer>/counterfeits", FindCounterfeits.as_view()),
    path("vault/counterfeits", FindCounterfeitsInVault.as_view()),
]
