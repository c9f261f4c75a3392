"""X readings and Z slips of drawers."""

from typing import Any

from django.urls import path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.cage import TAG
from casino.api.http.operations import (
    AT_THE_CAGE,
    CAGE_SUPERVISION,
    SEES_BOOKS,
    ReadOperation,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.parts import ShiftCount, chip_pieces, login_of, minor_units, number_of, shift_reopened, withdrawn_pieces
from casino.api.tables import ReceiptOut
from casino.cage import readings, selectors
from casino.cage.models import DrawerState
from casino.cage.readings import COUNT, MONEY, PIECES
from casino.core.commands import Answer, Command
from casino.staff.models import Role


class Movement(serializers.Serializer[Any]):
    """What all events of one kind have moved at a drawer in a shift."""

    kind = serializers.CharField(help_text="Kind of the events, such as `cage.buy_in`.")
    count = number_of("events of this kind")
    cash_in = minor_units("Cash that came in")
    cash_out = minor_units("Cash that went out")
    chips_in = minor_units("Worth of the chips that came in")
    chips_out = minor_units("Worth of the chips that went out")
    foreign_in = minor_units("Chips of other houses that came in")
    foreign_out = minor_units("Chips of other houses that went out")
    pieces = chip_pieces("Chips that came in less those that went out")
    withdrawn = withdrawn_pieces("The same of chips of withdrawn sets")
    first_serial = serializers.IntegerField(
        allow_null=True, help_text="The least number of a transfer, handover or soft count; null for other kinds."
    )
    last_serial = serializers.IntegerField(allow_null=True, help_text="The greatest one.")


class Equality(serializers.Serializer[Any]):
    """Two sums that must be equal."""

    name = serializers.CharField(help_text="What is compared.")
    left = serializers.IntegerField()
    right = serializers.IntegerField()
    type = serializers.ChoiceField(
        choices=[MONEY, PIECES, COUNT], help_text="What they are sums of: money in minor units, pieces, anything else."
    )
    equal = serializers.BooleanField()


class EventPlace(serializers.Serializer[Any]):
    """An event of the drawer's audit chain."""

    seq = serializers.IntegerField()
    hash = serializers.CharField()


class PreviousSlip(EventPlace):
    """The Z slip before, and the event that closed its shift."""

    z = serializers.IntegerField(help_text="Number of the slip.")


class Held(serializers.Serializer[Any]):
    """What a drawer holds."""

    cash = minor_units("Cash")
    chips = minor_units("Worth of the chips of the house")
    pieces = chip_pieces("Chips of the house")
    foreign = minor_units("Face value of chips of other houses")
    withdrawn = withdrawn_pieces("Chips of withdrawn sets that were taken back")


class AssertionPart(serializers.Serializer[Any]):
    """What the ledger keeps of a count."""

    account = serializers.CharField(help_text="Code of the account.")
    commodity = serializers.CharField()
    balance = serializers.IntegerField(help_text="Minor units, or pieces.")


class _Reading(serializers.Serializer[Any]):
    """What a shift has moved."""

    drawer = serializers.CharField()
    shift = serializers.IntegerField(help_text="Number of the shift at its drawer, from 1.")
    opened_at = serializers.DateTimeField()
    opened_by = login_of("opened the drawer")
    float_cash = minor_units("Cash of the float")
    float_pieces = chip_pieces("Chips of the float")
    movements = Movement(many=True, help_text="By kind of event; `drawer.opened` or `drawer.reopened` is the float.")
    refused_count = number_of("requests that were refused at the drawer in the shift")
    first_event = EventPlace(help_text="The event that opened the shift.")
    last_event = EventPlace(help_text="The last event that the reading knows.")
    equalities = Equality(many=True, help_text="Sums that must be equal.")


class XReadingOut(_Reading):
    """An X reading."""

    x_reading = serializers.IntegerField(help_text="Number of the reading at its drawer, from 1.")
    expected = Held(help_text="What the drawer must hold now, by the books.")
    audit = ReceiptOut()


@documented(
    "takeXReading",
    summary="Take an X reading of a drawer",
    answers=XReadingOut,
    status=201,
    tag=TAG,
    refuses=["not_found", "drawer_closed", "four_eyes"],
)
class TakeXReading(WriteOperation):
    """What the shift has moved so far, and what the drawer must hold. The reading is numbered and recorded; no version
    is needed, and the drawer's stays. Refused for those who opened or counted the drawer (`four_eyes`); those who take
    it cannot recount the drawer in this shift."""

    roles = (*CAGE_SUPERVISION, Role.AUDITOR)
    versioned = False

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Read."""
        return readings.read_x(command=command, code=path["drawer"])


class ZSlipOut(_Reading, ShiftCount):
    """A Z slip: everything of a shift that has ended."""

    z = serializers.IntegerField(help_text="Number of the slip at its drawer, from 1, without gaps: the shift's.")
    state = serializers.ChoiceField(choices=DrawerState.choices)
    closed_at = serializers.DateTimeField()
    closed_by = login_of("closed the drawer, or signed off the difference")
    reason = serializers.CharField(allow_blank=True, help_text="Why a difference was signed off; empty if none was.")
    reopens = shift_reopened()
    corrected_by = serializers.IntegerField(
        allow_null=True, help_text="Number of the count of the vault that has found this shift's count wrong, or null."
    )
    variance = minor_units("Cash, chips and chips of other houses over or, below zero, short")
    explained = minor_units("How much cash and chips of the variance have been found to cancel each other")
    assertions = AssertionPart(many=True, help_text="The accepted count as the ledger keeps it.")
    previous = PreviousSlip(allow_null=True, help_text="The slip before; null for a drawer's first.")


@documented(
    "readZSlip", summary="Read the Z slip of a shift", answers=ZSlipOut, tag=TAG,
    refuses=["not_found", "drawer_not_closed"],
)  # fmt: skip
class ZSlip(ReadOperation):
    """The slip of a shift that has ended: movements by kind, both counts, variances, who signed, and the sums that must
    be equal."""

    sensitive = True
    roles = (*AT_THE_CAGE, *SEES_BOOKS)

    def get(self, request: Request, drawer: str, shift: int) -> Response:
        """The slip."""
        return Response(readings.z_slip(selectors.get(context_of(request).house, drawer), shift))


urls = [
    path("drawers/<slug:drawer>/x-readings", TakeXReading.as_view()),
    path("drawers/<slug:drawer>/shifts/<int:shift>/z", ZSlip.as_view()),
]
