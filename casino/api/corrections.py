"""Corrections of entries at a drawer, within the shift."""

from collections.abc import Mapping
from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_A_DRAWER, CHIPS, POSTING, TAG
from casino.api.http.contract import PLAYS
from casino.api.http.operations import (
    Amount,
    Pieces,
    Reason,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.parts import DrawerChanged, EventPart, approval_used, chip_pieces, minor_units
from casino.api.trading import Exchanged, ForeignChips
from casino.cage import correcting
from casino.core.commands import Answer, Command
from casino.staff.models import Role

#: What each kind of entry names: what it needs, and what it may name besides.
_NAMES: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "cage.buy_in": (frozenset(("player", "amount")), frozenset(("pieces",))),
    "cage.cash_out": (frozenset(("player", "amount")), frozenset(("pieces",))),
    "cage.bearer_buy_in": (frozenset(("amount",)), frozenset(("pieces",))),
    "cage.bearer_cash_out": (frozenset(("amount", "pieces")), frozenset()),
    "cage.exchange": (frozenset(("given",)), frozenset(("wanted",))),
    "cage.foreign_chips": (frozenset(("amount", "issuer")), frozenset()),
}
#: How the services name what is named otherwise here.
_SERVICE = {"player": "player_ref", "wanted": "change_for"}


@extend_schema_serializer(component_name="RightEntryInput")
class _Right(StrictInput):
    """The right entry: its kind, and what the operation of that kind takes."""

    kind = StrictChoice(choices=correcting.CORRECTABLE)
    player = StrictText(max_length=32, required=False)
    amount = Amount(required=False)
    pieces = Pieces()
    given = Pieces()
    wanted = Pieces()
    issuer = StrictText(min_length=1, max_length=64, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that what the kind needs is named, and nothing else. Raises ValidationError."""
        needs, may = _NAMES[attrs["kind"]]
        named = attrs.keys() - {"kind"}
        wrong = {name: ["An entry of this kind needs this."] for name in sorted(needs - named)}
        wrong |= {name: ["An entry of this kind does not name this."] for name in sorted(named - needs - may)}
        if wrong:
            raise serializers.ValidationError(wrong)
        return attrs


class RightEntry(EventPart):
    """The right entry, as the operation of its kind answers it."""

    player = serializers.CharField(required=False)
    amount = minor_units("Cash", required=False)
    player_chips = minor_units("Worth of the chips that the player now holds away from the tables", required=False)
    exchanged = chip_pieces("Chips that changed hands", required=False)
    change = chip_pieces("Chips that the player got back as change", required=False)
    attributed = minor_units("What of it was booked for nobody before", required=False)
    exchange = Exchanged(required=False, help_text="What was exchanged.")
    foreign_chips = ForeignChips(required=False, help_text="What was bought of another house.")


class CorrectedEvent(EventPart):
    """The wrong entry, and the right one."""

    corrects = serializers.IntegerField(help_text="Number of the wrong entry in the drawer's audit chain.")
    was = serializers.CharField(help_text="Kind of the wrong entry.")
    mirrors = serializers.DictField(
        child=serializers.IntegerField(), help_text="Ids of the mirrors in the ledger, by the key of what they undo."
    )
    attributed = minor_units("What lacked for the mirror and was booked as brought before it", required=False)
    right = RightEntry(required=False, help_text="The right entry; absent where there is none.")
    approval = approval_used()


class CorrectedOut(DrawerChanged):
    """The drawer, and the correction."""

    last_event = CorrectedEvent()


@documented(
    "correctEntry",
    summary="Correct an entry of the shift",
    answers=CorrectedOut,
    status=201,
    tag=TAG,
    refuses=[*PLAYS,
        *AT_A_DRAWER, "not_found", "already_corrected", "four_eyes", "skim_needed", "identity_required",
        "person_forgotten", "staff_as_player", "player_is_minor", "chips_not_in_circulation",
        "nothing_to_change", *CHIPS, *POSTING,
    ],
)  # fmt: skip
class CorrectEntry(WriteOperation):
    """A supervisor takes back what a cashier has keyed wrong, by its mirror, and makes the right entry with it. The
    entry is named by its number in the drawer's audit chain, which its receipt has as `seq`; each is corrected once,
    while its shift trades (`already_corrected`, `drawer_counted`). The right entry is approved like any
    of its amount. A table fee is taken back without one: the right fee, if there is one, is paid afterwards."""

    roles = (Role.CAGE_SUPERVISOR,)
    approvable = True

    @extend_schema_serializer(component_name="CorrectEntryInput")
    class Input(StrictInput):
        """The wrong entry, the right one if there is one, and why."""

        entry = StrictInteger(min_value=1, max_value=10**15)
        right = _Right(required=False)
        reason = Reason()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Correct."""
        right = data.get("right")
        named = None
        if right is not None:
            values = {_SERVICE.get(name, name): value for name, value in right.items() if name != "kind"}
            named = (right["kind"], values)
        return correcting.correct(
            command=command, code=path["drawer"], entry=data["entry"], right=named, reason=data["reason"]
        )


urls = [path("drawers/<slug:drawer>/corrections", CorrectEntry.as_view())]
