"""A drawer's shift on imprest: float, replenishments and skims, the blind count, closing, X readings and Z slips."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.cage import AT_A_DRAWER, CHIPS, POSTING, TAG
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_THE_CAGE,
    CAGE_SUPERVISION,
    SEES_BOOKS,
    Amount,
    Pieces,
    ReadOperation,
    ReasonInput,
    StrictChoice,
    StrictInput,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.parts import (
    CountPart,
    DrawerChanged,
    EventPart,
    HandoverPart,
    ShiftCount,
    chip_pieces,
    login_of,
    minor_units,
    number_of,
)
from casino.api.tables import ReceiptOut
from casino.cage import closing, handing, readings, selectors
from casino.cage.models import DrawerState, Handover, HandoverKind, HandoverState
from casino.core.write import Answer, Command
from casino.staff.models import Role
from casino.transfers import selectors as transfers

#: Refusals of every step with a handover that is open.
_OPEN = ("not_found", *(f"handover_{state}" for state in HandoverState if state != HandoverState.OFFERED))
_TAKING = ("handover_differs", "signature_needed", "four_eyes", *CHIPS, *POSTING)
CLOSING = ("drawer_closed", "drawer_open", "drawer_has_open_work", "drawer_short", *CHIPS, *POSTING)


#: What a supervisor or a cashier counts out; a whole drawer is handed over by itself.
_OF_THE_VAULT = [choice for choice in HandoverKind.choices if choice[0] != HandoverKind.HAND_OVER]


class _CashAndPieces(StrictInput):
    """Cash in minor units, and chips by pieces."""

    cash = Amount(min_value=0)
    pieces = Pieces(required=True)


@extend_schema_serializer(component_name="CountedHandoverInput")
class _Taken(_CashAndPieces):
    """What the second person has counted: cash, and chips by pieces."""


@extend_schema_serializer(component_name="CountDrawerInput")
class CountInput(_CashAndPieces):
    """The count: cash, chips by pieces, and the face value of the chips of other houses."""

    foreign = Amount(min_value=0)


# --- Between vault and drawer ---------------------------------------------------------------------------------------


class HandoverEvent(EventPart):
    """A handover as it is after this."""

    handover = HandoverPart()


class HandoverOut(DrawerChanged):
    """The drawer, and the handover."""

    last_event = HandoverEvent()


@documented(
    "offerHandover",
    summary="Count out cash and chips between the vault and a drawer",
    answers=HandoverOut,
    status=201,
    tag=TAG,
    refuses=["handover_open", "drawer_open", "nothing_offered", *AT_A_DRAWER, *CHIPS, *POSTING],
)
class OfferHandover(WriteOperation):
    """A supervisor counts out a float for a closed drawer, or a replenishment for an open one; a cashier counts out a
    skim for the vault. Nothing moves until another person has counted the same."""

    roles = (Role.CASHIER, *CAGE_SUPERVISION)

    @extend_schema_serializer(component_name="OfferHandoverInput")
    class Input(_CashAndPieces):
        """What it is for, and what is counted out."""

        kind = StrictChoice(choices=_OF_THE_VAULT)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Offer."""
        return handing.offer(
            command=command,
            code=path["drawer"],
            kind=HandoverKind(data["kind"]),
            cash=data["cash"],
            pieces=data["pieces"],
        )


@documented(
    "signHandover",
    summary="Sign for a large float or replenishment",
    answers=HandoverOut,
    tag=TAG,
    refuses=[*_OPEN, "handover_signed", "four_eyes", "drawer_short"],
)
class SignHandover(WriteOperation):
    """A manager signs for what another person has counted out. A float or replenishment above the house's limit is not
    taken without (`signature_needed`), unless a manager has counted it out."""

    roles = (Role.MANAGER,)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Sign."""
        return handing.sign(command=command, code=path["drawer"], number=path["handover"])


@documented(
    "takeHandover",
    summary="Count and take a replenishment or a skim",
    answers=HandoverOut,
    tag=TAG,
    refuses=[*_OPEN, *AT_A_DRAWER, *_TAKING],
)
class TakeHandover(WriteOperation):
    """The cashier takes a replenishment, a supervisor takes a skim. What is counted must be what was offered; a count
    that differs is refused without figures (`handover_differs`)."""

    roles = (Role.CASHIER, *CAGE_SUPERVISION)
    input = _Taken

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Take."""
        return handing.take(command=command, code=path["drawer"], number=path["handover"], **data)


@documented(
    "withdrawHandover",
    summary="Withdraw what was counted out",
    answers=HandoverOut,
    tag=TAG,
    refuses=[*_OPEN, "drawer_short"],
)
class WithdrawHandover(WriteOperation):
    """What was offered and not taken stays where it is."""

    roles = (Role.CASHIER, *CAGE_SUPERVISION)
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Withdraw."""
        return handing.withdraw(command=command, code=path["drawer"], number=path["handover"], reason=data["reason"])


@documented("listHandovers", summary="List what passed between the vault and drawers", tag=TAG)
class HandoverList(CursorList):
    """Floats, replenishments, skims, and drawers that were handed over; `from` and `until` select by the time when they
    were counted out. What is offered and not taken yet is listed without amounts."""

    sensitive = True
    roles = (*SEES_BOOKS, Role.CAGE_SUPERVISOR)

    @extend_schema_serializer(component_name="HandoverListRow")
    class Row(HandoverPart):
        """A handover in a list."""

        offered_at = serializers.DateTimeField()
        ended_at = serializers.DateTimeField(allow_null=True)
        reason = serializers.CharField(
            allow_blank=True, help_text="Why it was withdrawn, or why a drawer is handed over; empty otherwise."
        )

        def to_representation(self, instance: Handover) -> dict[str, Any]:
            """The handover with its times."""
            found = selectors.describe_handover(instance, revealed=instance.state != HandoverState.OFFERED)
            times = {"offered_at": instance.offered_at, "ended_at": instance.ended_at}
            return found | times | {"reason": instance.reason}

    model = Handover
    serializer_class = Row
    filters = {"drawer": "drawer__code", "kind": "kind", "state": "state"}
    choices = {"kind": HandoverKind.values, "state": HandoverState.values}
    time = "offered_at"

    def rows(self) -> Any:
        """With what a row names."""
        return super().rows().select_related("drawer", "to_drawer", "offered_by", "signed_by", "ended_by")


class TakenFrom(serializers.Serializer[Any]):
    """A drawer that was taken over, besides its cash and its chips of the house."""

    drawer = serializers.CharField()
    foreign = minor_units("Chips of other houses that came with it")
    posting = serializers.IntegerField(help_text="Id of the ledger transaction that moved everything.")


class DrawerOpenedEvent(EventPart):
    """The float that a drawer was opened with."""

    shift = serializers.IntegerField(help_text="Number of the shift at its drawer, from 1.")
    handover = serializers.IntegerField(help_text="Number of the handover by which the float was offered.")
    float_cash = minor_units("Cash of the float")
    float_chips = minor_units("Worth of the chips of the float")
    float_pieces = chip_pieces("Chips of the float")
    taken_from = TakenFrom(required=False, help_text="The drawer that was taken over; absent where the vault issued.")


class DrawerOpenedOut(DrawerChanged):
    """The drawer, and the float that it was opened with."""

    last_event = DrawerOpenedEvent()


@documented(
    "openDrawer",
    summary="Count the float and open a drawer",
    answers=DrawerOpenedOut,
    tag=TAG,
    refuses=["drawer_open", "no_float", "drawer_short", *_TAKING],
)
class OpenDrawer(WriteOperation):
    """The cashier counts the float that a supervisor has issued, without knowing it, and takes it; a shift begins.
    Refused if no float is offered (`no_float`), and if the count differs, without figures (`handover_differs`)."""

    roles = (Role.CASHIER,)
    input = _Taken

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Open."""
        return handing.open_drawer(command=command, code=path["drawer"], **data)


# --- Counting and closing -------------------------------------------------------------------------------------------


class DrawerCountedEvent(EventPart):
    """A count, and whether it agrees with the books."""

    shift = serializers.IntegerField(help_text="Number of the shift at its drawer, from 1.")
    count = CountPart()
    agrees = serializers.BooleanField(
        help_text="Whether the count agrees with the books, as near as the house accepts."
    )


class DrawerCountedOut(DrawerChanged):
    """The drawer, and the count."""

    last_event = DrawerCountedEvent()


@documented(
    "countDrawer",
    summary="Count a drawer",
    answers=DrawerCountedOut,
    tag=TAG,
    refuses=[*AT_A_DRAWER, "drawer_has_open_work", *CHIPS],
)
class CountDrawer(WriteOperation):
    """The cashier commits the first count, without knowing what the drawer must hold; from now on nothing moves there.
    The answer says whether the count agrees. Refused while anything of the drawer is pending (`drawer_has_open_work`
    lists it in `open`): a fill, a credit, a handover, chips of a withdrawn set that are counted into the vault."""

    roles = (Role.CASHIER,)
    input = CountInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Count."""
        return closing.count(command=command, code=path["drawer"], open_work=transfers.open_work, **data)


@documented(
    "recountDrawer",
    summary="Count a drawer again",
    answers=DrawerCountedOut,
    tag=TAG,
    refuses=[
        "drawer_closed", "drawer_open", "drawer_recounted", "drawer_short", "count_agrees", "four_eyes", *CHIPS,
    ],
)  # fmt: skip
class RecountDrawer(WriteOperation):
    """A supervisor counts a drawer whose first count differs, once, and knows neither that count nor the books. Refused
    for those who counted or opened the drawer, or have read an X reading of this shift (`four_eyes`)."""

    roles = (Role.CAGE_SUPERVISOR,)
    input = CountInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Count again."""
        return closing.recount(command=command, code=path["drawer"], **data)


class DrawerClosedEvent(EventPart):
    """The result of the count."""

    reconciliation = ShiftCount(help_text="The shift: float, expected, counted, variances.")
    handover = serializers.IntegerField(
        required=False, help_text="Number of the handover by which another drawer has taken it over; absent otherwise."
    )


class DrawerClosedOut(DrawerChanged):
    """The drawer, and the result of the count."""

    last_event = DrawerClosedEvent()


@documented(
    "closeDrawer",
    summary="Close a drawer whose count agrees",
    answers=DrawerClosedOut,
    tag=TAG,
    refuses=[*CLOSING, "count_differs"],
)
class CloseDrawer(WriteOperation):
    """Cash and chips go back to the vault, and the shift ends. Refused if the count differs (`count_differs`): the
    drawer is counted again and signed off."""

    roles = (Role.CASHIER, *CAGE_SUPERVISION)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Close."""
        return closing.close(command=command, code=path["drawer"], open_work=transfers.open_work)


@documented(
    "signOffDrawer",
    summary="Sign off a drawer's difference and close it",
    answers=DrawerClosedOut,
    tag=TAG,
    refuses=[*CLOSING, "drawer_counted", "four_eyes", "manager_needed"],
)
class SignOffDrawer(WriteOperation):
    """The recount is accepted: the variance is posted, cash and chips go back to the vault, and the shift ends. Refused
    for those who counted or opened the drawer (`four_eyes`), and above the house's limit for all but a manager
    (`manager_needed`)."""

    roles = CAGE_SUPERVISION
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Sign off."""
        return closing.sign_off(
            command=command, code=path["drawer"], reason=data["reason"], open_work=transfers.open_work
        )


# --- Readings -------------------------------------------------------------------------------------------------------


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
    first_serial = serializers.IntegerField(
        allow_null=True, help_text="The least number of a transfer, handover or soft count; null for other kinds."
    )
    last_serial = serializers.IntegerField(allow_null=True, help_text="The greatest one.")


class Equality(serializers.Serializer[Any]):
    """Two sums that must be equal."""

    name = serializers.CharField(help_text="What is compared.")
    left = serializers.IntegerField()
    right = serializers.IntegerField()
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


class AssertionPart(serializers.Serializer[Any]):
    """What the ledger keeps of a count."""

    assertion = serializers.IntegerField(help_text="Id of the assertion in the ledger.")
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
    movements = Movement(many=True, help_text="By kind of event; `drawer.opened` is the float.")
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
    path("handovers", HandoverList.as_view()),
    path("drawers/<slug:drawer>/handovers", OfferHandover.as_view()),
    path("drawers/<slug:drawer>/handovers/<int:handover>/sign", SignHandover.as_view()),
    path("drawers/<slug:drawer>/handovers/<int:handover>/take", TakeHandover.as_view()),
    path("drawers/<slug:drawer>/handovers/<int:handover>/withdraw", WithdrawHandover.as_view()),
    path("drawers/<slug:drawer>/open", OpenDrawer.as_view()),
    path("drawers/<slug:drawer>/count", CountDrawer.as_view()),
    path("drawers/<slug:drawer>/recount", RecountDrawer.as_view()),
    path("drawers/<slug:drawer>/close", CloseDrawer.as_view()),
    path("drawers/<slug:drawer>/sign-off", SignOffDrawer.as_view()),
    path("drawers/<slug:drawer>/x-readings", TakeXReading.as_view()),
    path("drawers/<slug:drawer>/shifts/<int:shift>/z", ZSlip.as_view()),
]
