"""Minors: players who are found to be too young, the stakes that are given back, and the winnings that are not paid."""

from datetime import date
from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_THE_CAGE,
    ReadOperation,
    StrictInput,
    StrictInteger,
    StrictText,
    WriteOperation,
    documented,
    known_parameters,
    signed_in,
)
from casino.api.parts import login_of, minor_units
from casino.api.persons import Birthday
from casino.api.safeguards import TAG
from casino.api.tables import ReceiptOut
from casino.cage import minors as cage
from casino.core.commands import Answer, Command
from casino.safeguards import minors
from casino.safeguards.models import Minor, MinorState
from casino.staff.models import Role

#: Who reads which players are minors, and what it comes to.
READERS = (Role.COMPLIANCE, Role.MANAGER, Role.AUDITOR)
_MOST = 10**15
_STAKES = "Paid in for play, less what was paid out; below zero where that was more"
_SUMS = {
    "deposit": "What lies in the deposit",
    "held": "What is held for the player",
    "refund": "What is given back: the deposit and the stakes",
    "kept": "Winnings that are not paid",
    "borne": "What of the stakes was lost, which the house bears",
}


class MinorPart(serializers.Serializer[Any]):
    """A player who is a minor. Sums are null until it is settled."""

    minor = serializers.IntegerField(help_text="Its number in the house, from 1 without gaps.")
    player = serializers.CharField()
    exclusion = serializers.IntegerField(help_text="Number of the exclusion that was set with it.")
    least_age = serializers.IntegerField(help_text="Years from which on the law lets people play.")
    state = serializers.ChoiceField(choices=MinorState.choices)
    recorded_by = login_of("recorded it")
    recorded_at = serializers.DateTimeField(help_text="When it was recorded; nothing is paid from then on.")
    stakes = minor_units(_STAKES, allow_null=True)
    deposit = minor_units(_SUMS["deposit"], allow_null=True)
    held = minor_units(_SUMS["held"], allow_null=True)
    refund = minor_units(_SUMS["refund"], allow_null=True)
    kept = minor_units(_SUMS["kept"], allow_null=True)
    borne = minor_units(_SUMS["borne"], allow_null=True)
    payout = serializers.IntegerField(
        allow_null=True, help_text="Number of the held payout that is given back; null where nothing is."
    )
    remit_by = serializers.DateTimeField(
        allow_null=True,
        help_text="Until when the winnings are to be remitted; null before, and where none were kept.",
    )
    remittance = serializers.IntegerField(
        allow_null=True, help_text="Number of the remittance of the winnings; null before, and where nothing was kept."
    )
    ended_by = login_of("settled or cleared it", allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True, help_text="When that was; null before.")


class MinorOut(MinorPart):
    """The minor, and the receipt."""

    audit = ReceiptOut()


class MinorFigures(serializers.Serializer[Any]):
    """What a settlement would come to now."""

    stakes = minor_units(_STAKES)
    deposit = minor_units(_SUMS["deposit"])
    held = minor_units(_SUMS["held"])
    refund = minor_units(_SUMS["refund"])
    kept = minor_units(_SUMS["kept"])
    borne = minor_units(_SUMS["borne"])


class MinorDetail(MinorPart):
    """The minor, and what a settlement would come to now."""

    now = MinorFigures(allow_null=True, help_text="The figures of now; null where it has ended.")
    chips = minor_units("Worth of chips that the player still has, which come to the cage first")


@documented("recordMinor", summary="Record that a player is a minor", answers=MinorOut, status=201, tag=TAG,
            refuses=["person_forgotten", "of_age", "minor_recorded", "wrong_terminal"])  # fmt: skip
class RecordMinor(WriteOperation):
    """The player is younger than the law under which the house works lets play (`of_age` otherwise): 21 years in
    California, 18 elsewhere. The player is excluded at once, without an end, and nothing is paid any more
    (`player_is_minor`) but stakes that are given back. The birthday is sealed. No If-Match: there is no version."""

    @extend_schema_serializer(component_name="RecordMinorInput")
    class Input(StrictInput):
        """The birthday as it was found out, and how."""

        born = Birthday(help_text="The birthday; it is sealed.")
        note = StrictText(
            max_length=1000, required=False, default="",
            help_text="How it was found out. It is sealed; the audit trail has its hash only.",
        )  # fmt: skip

    roles = (Role.COMPLIANCE, Role.MANAGER)
    versioned = False
    redact_body = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Record."""
        born = date.fromisoformat(data["born"])
        return minors.record(command=command, ref=path["player"], born=born, note=data["note"])


@documented("settleMinor", summary="Give back the stakes of a minor", answers=MinorOut, tag=TAG,
            refuses=["minor_ended", "player_seated", "chips_not_handed_in", "figures_changed", "wrong_terminal",
                     "insufficient_funds"])  # fmt: skip
class SettleMinor(WriteOperation):
    """Deposit and stakes are held for the player or a guardian as one payout, which is released like any other
    (`held-payouts/N/release`); the house bears what of them was lost. Winnings are kept on an account of their own for
    the authority. Name the figures of `minors/N` as they were read: a manager approves them (`approval_required`), and
    they are refused where they have changed (`figures_changed`). The player has left the table (`player_seated`), and
    the chips have come to the cage as a held payout (`chips_not_handed_in`). No If-Match: there is no version."""

    @extend_schema_serializer(component_name="SettleMinorInput")
    class Input(StrictInput):
        """The figures, in minor units."""

        stakes = StrictInteger(min_value=-_MOST, max_value=_MOST, help_text=f"{_STAKES}.")
        deposit = StrictInteger(min_value=0, max_value=_MOST, help_text=f"{_SUMS['deposit']}.")
        held = StrictInteger(min_value=0, max_value=_MOST, help_text=f"{_SUMS['held']}.")
        refund = StrictInteger(min_value=0, max_value=_MOST, help_text=f"{_SUMS['refund']}.")
        kept = StrictInteger(min_value=0, max_value=_MOST, help_text=f"{_SUMS['kept']}.")
        borne = StrictInteger(min_value=0, max_value=_MOST, help_text=f"{_SUMS['borne']}.")

    roles = (Role.COMPLIANCE,)
    versioned = False
    approvable = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Settle."""
        return cage.settle(command=command, number=path["minor"], figures=cage.Figures(**data))


@documented("clearMinor", summary="Record that a player is no minor", answers=MinorOut, tag=TAG,
            refuses=["minor_ended", "wrong_terminal"])  # fmt: skip
class ClearMinor(WriteOperation):
    """It was recorded of the wrong player, or the player is of age. Compliance clears it, a manager approves
    (`approval_required`); then what is owed is paid again. The exclusion is lifted by itself, as a wrong entry. No
    If-Match: there is no version."""

    roles = (Role.COMPLIANCE,)
    versioned = False
    approvable = True

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Clear."""
        return minors.clear(command=command, number=path["minor"])


@documented("readMinor", summary="Read what a minor is given back", answers=MinorDetail, tag=TAG,
            refuses=["not_found"])  # fmt: skip
class ReadMinor(ReadOperation):
    """The minor, and the figures of now, which a settlement names. What is at seats and in the player's hands is not in
    them: it comes to the cage first."""

    sensitive = True
    roles = (*READERS, *AT_THE_CAGE)

    def get(self, request: Request, minor: int) -> Response:
        """By its number."""
        known_parameters(request)
        house = signed_in(request)[0].house
        found = minors.get(house, minor)
        is_open = found.state == MinorState.RECORDED
        stands = cage.standing_of(house, found.player)
        now = stands.figures.as_json() if is_open else None
        body = minors.describe(found) | {"now": now, "chips": stands.chips}
        return Response(body, headers={"Cache-Control": "no-store"})


@documented("listMinors", summary="List minors", tag=TAG)
class MinorList(CursorList):
    """Players who are or were recorded as minors; `from` and `until` select by the time when that was recorded. The
    birthday and what was said about it are for compliance."""

    @extend_schema_serializer(component_name="MinorListRow")
    class Row(MinorPart):
        """A minor in a list."""

        born = serializers.CharField(allow_null=True, help_text="The birthday; null for others than compliance.")
        note = serializers.CharField(allow_null=True, help_text="What was said; null for others than compliance.")

        def to_representation(self, instance: Minor) -> dict[str, Any]:
            """The minor, for compliance with what was said."""
            reader = signed_in(self.context["request"])[0]
            instance.house = reader.house
            nothing = {"born": None, "note": None}
            said = minors.said_of(instance) if Role.COMPLIANCE in reader.roles else nothing
            return minors.describe(instance) | said

    sensitive = True
    roles = READERS
    model = Minor
    serializer_class = Row
    filters = {"player": "player__ref", "state": "state"}
    choices = {"state": MinorState.values}
    time = "recorded_at"

    def rows(self) -> Any:
        """With whom they name."""
        return super().rows().select_related("player", "exclusion", "recorded_by", "ended_by", "remittance")


urls = [
    path("minors", MinorList.as_view()),
    path("minors/<int:minor>", ReadMinor.as_view()),
    path("minors/<int:minor>/settlement", SettleMinor.as_view()),
    path("minors/<int:minor>/clear", ClearMinor.as_view()),
    path("players/<slug:player>/minor", RecordMinor.as_view()),
]
