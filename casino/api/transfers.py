"""Fills and credits, from either end: the table's console and the drawer's terminal have the same operations."""

from functools import cached_property
from typing import Any, ClassVar

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.cage import AT_A_DRAWER, CHIPS, POSTING
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_TABLES,
    AT_THE_CAGE,
    SEES_PLAY,
    Amount,
    Pieces,
    ReadOperation,
    Reason,
    ReasonInput,
    StrictChoice,
    StrictInput,
    StrictText,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.parts import DrawerChanged, EventPart, Rack, TransferPart, approval_used
from casino.api.tables import TableOut
from casino.api.template_parts import ByTemplate, one_way
from casino.core.write import Answer, Command
from casino.houses.control_points import ControlPoints, in_force
from casino.houses.models import ClockTimestamp
from casino.staff.models import Role, TerminalKind
from casino.tables import selectors as tables
from casino.transfers import selectors, services
from casino.transfers.models import Kind, Lateness, Transfer, TransferState

TAG = "fills and credits"
#: The name of each kind of desk in addresses.
_NAMED = {TerminalKind.TABLE: "table", TerminalKind.CAGE: "drawer"}
#: Refusals of every step of a transfer, of sending, and of each later step.
_STATES = tuple(f"transfer_{state}" for state in TransferState)
_SENDING = (
    *AT_A_DRAWER, "table_playing", "table_settling", "table_disputed", "nothing_to_send", "unknown_carrier",
    "four_eyes", *CHIPS, *POSTING,
)  # fmt: skip
#: Of a fill that brings a tray to its template, when it is asked for, and when it is sent.
_ASKED_BY_TEMPLATE = ("no_template", "template_of_a_fill")
_BY_TEMPLATE = ("no_template", "tray_at_template")
_CARRIED = ("unknown_carrier", "four_eyes")
_RECEIVING = (
    *_STATES, *AT_A_DRAWER, "not_your_side", "carrier_missing", "carrier_differs", *_CARRIED, *CHIPS, *POSTING,
)  # fmt: skip
_COUNTING = (*_RECEIVING, "count_mismatch", "supervisor_needed")
_DECLINING = (*_STATES, "not_your_side", "four_eyes")
_CANCELLING = (*_DECLINING, *POSTING)
#: At a drawer, who decides on transfers that they have no part in.
_SUPERVISORS = (Role.FLOOR, Role.CAGE_SUPERVISOR)


# --- What is sent in ------------------------------------------------------------------------------------------------


class _Carried(StrictInput):
    """Who carries the chips."""

    carrier = StrictText(
        max_length=64,
        required=False,
        help_text="Login of the person who carries the chips: neither sender nor receiver.",
    )


class _Wanted(_Carried):
    """Chips by pieces, or by their worth in minor units, or both. If both are given, they must agree. A fill may bring
    the tray to its template instead."""

    kind = StrictChoice(choices=Kind.choices)
    amount = Amount(required=False)
    pieces = Pieces()
    by_template = ByTemplate(
        help_text="true: the fill brings the tray to its template when it is sent, as far as the drawer can give it."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that worth or pieces are given, or the template is to say them."""
        return one_way(attrs, "amount", "pieces")


@extend_schema_serializer(component_name="StartTableTransferInput")
class _FromTable(_Wanted):
    """A fill or credit between this table and a drawer."""

    drawer = StrictText(max_length=32)


@extend_schema_serializer(component_name="StartDrawerTransferInput")
class _FromDrawer(_Wanted):
    """A fill or credit between this drawer and a table."""

    table = StrictText(max_length=32)


@extend_schema_serializer(component_name="SendTransferInput")
class _Sent(_Carried):
    """The chips that are sent, if they differ from those requested."""

    amount = Amount(required=False)
    pieces = Pieces()


@extend_schema_serializer(component_name="ReceiveTransferInput")
class _Counted(_Carried):
    """The count on arrival, by denomination."""

    pieces = Pieces(required=True)


@extend_schema_serializer(component_name="AcceptWithVarianceInput")
class _Accepted(_Counted):
    """The count, and the reason for accepting it although it differs from what was sent."""

    reason = Reason()


# --- Operations, for whichever end ----------------------------------------------------------------------------------


class _Operation(WriteOperation):
    """At a desk of this kind."""

    desk: ClassVar[TerminalKind]

    def end(self, path: dict[str, Any]) -> services.End:
        """The end of the transfer that sends the request."""
        return services.End(self.desk, path[_NAMED[self.desk]])


class _Start(_Operation):
    approvable = True

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Send, or ask for."""
        other = data["drawer" if self.desk == TerminalKind.TABLE else "table"]
        return services.start(
            command=command,
            end=self.end(path),
            kind=Kind(data["kind"]),
            other=other,
            amount=data.get("amount"),
            pieces=data.get("pieces"),
            by_template=data["by_template"],
            carrier=data.get("carrier"),
        )


class _Send(_Operation):
    input = _Sent
    approvable = True

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Send."""
        return services.send(
            command=command,
            end=self.end(path),
            transfer_id=path["transfer"],
            amount=data.get("amount"),
            pieces=data.get("pieces"),
            carrier=data.get("carrier"),
        )


class _Receive(_Operation):
    input = _Counted

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Receive."""
        return services.receive(
            command=command,
            end=self.end(path),
            transfer_id=path["transfer"],
            pieces=data["pieces"],
            carrier=data.get("carrier"),
        )


class _AcceptWithVariance(_Operation):
    input = _Accepted

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Accept."""
        return services.accept(
            command=command,
            end=self.end(path),
            transfer_id=path["transfer"],
            pieces=data["pieces"],
            reason=data["reason"],
            carrier=data.get("carrier"),
        )


class _Decline(_Operation):
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Decline."""
        return services.decline(
            command=command, end=self.end(path), transfer_id=path["transfer"], reason=data["reason"]
        )


class _Cancel(_Operation):
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Cancel."""
        return services.cancel(command=command, end=self.end(path), transfer_id=path["transfer"], reason=data["reason"])


class _AtTable:
    roles: ClassVar[tuple[Role, ...]] = AT_TABLES
    desk: ClassVar[TerminalKind] = TerminalKind.TABLE


class _AtDrawer:
    roles: ClassVar[tuple[Role, ...]] = AT_THE_CAGE
    desk: ClassVar[TerminalKind] = TerminalKind.CAGE


class TransferEvent(EventPart):
    """The result for a transfer."""

    approval = approval_used()
    transfer = TransferPart(help_text="The fill or credit as it is now.")
    mirrors = serializers.DictField(
        child=serializers.IntegerField(),
        required=False,
        help_text="Ledger transactions that reverse what was sent, by the key undone.",
    )


class TransferOut(DrawerChanged):
    """The drawer, and the transfer."""

    last_event = TransferEvent()


@documented(
    "startTableTransfer",
    summary="Request a fill, or send a credit",
    answers=TableOut,
    status=201,
    tag=TAG,
    refuses=[*_SENDING, *_ASKED_BY_TEMPLATE, "carrier_not_yet"],
)
class StartAtTable(_AtTable, _Start):
    """A fill is requested from the drawer; nothing moves yet. With `by_template` the house works out its pieces when
    the drawer sends it, and does not say at the table what its tray lacks. A credit is sent at once: its chips leave
    the tray and are in transit until the drawer has counted them. Chips are not sent during a hand."""

    input = _FromTable


@documented(
    "sendTableTransfer",
    summary="Send a requested credit",
    answers=TableOut,
    tag=TAG,
    refuses=[*_STATES, "not_your_side", *_SENDING],
)
class SendFromTable(_AtTable, _Send):
    """The chips leave the tray: those requested, or those that the body names."""


@documented("receiveTableTransfer", summary="Count a fill and receive it", answers=TableOut, tag=TAG, refuses=_COUNTING)
class ReceiveAtTable(_AtTable, _Receive):
    """The chips go into the tray. Refused if the count differs from what was sent, piece by piece (`count_mismatch`):
    the count is kept, and the answer does not say what was sent. After two such counts the floor must count
    (`supervisor_needed`). Refused for the person who sent the chips and the one who carried them (`four_eyes`)."""

    roles = (Role.DEALER,)


@documented(
    "acceptTableTransferWithVariance",
    summary="Accept a fill with a variance",
    answers=TableOut,
    tag=TAG,
    refuses=[*_RECEIVING, "recount_needed"],
)
class AcceptAtTable(_AtTable, _AcceptWithVariance):
    """After two counts that differ, the floor counts and receives the fill. What differs from what was sent is posted
    as chips over or short at the table. Refused for who has sent, carried or counted it (`four_eyes`)."""

    roles = (Role.FLOOR,)


@documented("declineTableTransfer", summary="Decline a fill", answers=TableOut, tag=TAG, refuses=_DECLINING)
class DeclineAtTable(_AtTable, _Decline):
    """The table sends back a fill that was sent. The chips stay in transit until the drawer cancels the transfer."""


@documented(
    "cancelTableTransfer",
    summary="Cancel a transfer at the table",
    answers=TableOut,
    tag=TAG,
    refuses=_CANCELLING,
)
class CancelAtTable(_AtTable, _Cancel):
    """Either end can cancel a request. A sent credit comes back into the tray by two people: the drawer has declined
    it, or the floor cancels it, who has not sent it (`four_eyes`)."""


@documented(
    "startDrawerTransfer",
    summary="Send a fill, or request a credit",
    answers=TransferOut,
    status=201,
    tag=TAG,
    refuses=[*_SENDING, *_ASKED_BY_TEMPLATE, "tray_at_template", "carrier_not_yet"],
)
class StartAtDrawer(_AtDrawer, _Start):
    """A fill is sent at once: its chips leave the drawer and are in transit until the table has counted them. With
    `by_template` it brings the tray to its template, as far as the drawer can give it and keep what its own template
    says; a fill that leaves fewer of a chip takes an approval (`approval_required`). A credit is requested from the
    table; nothing moves yet."""

    input = _FromDrawer


@documented(
    "sendDrawerTransfer",
    summary="Send a requested fill",
    answers=TransferOut,
    tag=TAG,
    refuses=[*_STATES, "not_your_side", *_SENDING, *_BY_TEMPLATE],
)
class SendFromDrawer(_AtDrawer, _Send):
    """The chips leave the drawer: those requested, or those that the body names. A fill that leaves fewer of a chip
    than the drawer's template says takes an approval (`approval_required`)."""


@documented(
    "receiveDrawerTransfer", summary="Count a credit and receive it", answers=TransferOut, tag=TAG, refuses=_COUNTING
)
class ReceiveAtDrawer(_AtDrawer, _Receive):
    """The chips go into the drawer. Refused if the count differs from what was sent, piece by piece (`count_mismatch`):
    the count is kept, and the answer does not say what was sent. After two such counts a supervisor must count
    (`supervisor_needed`). Refused for the person who sent the chips and the one who carried them (`four_eyes`)."""


@documented(
    "acceptDrawerTransferWithVariance",
    summary="Accept a credit with a variance",
    answers=TransferOut,
    tag=TAG,
    refuses=[*_RECEIVING, "recount_needed"],
)
class AcceptAtDrawer(_AtDrawer, _AcceptWithVariance):
    """After two counts that differ, a supervisor counts and receives the credit. What differs from what was sent is
    posted as chips over or short at the table. Refused for who has sent, carried or counted it (`four_eyes`)."""

    roles = _SUPERVISORS


@documented("declineDrawerTransfer", summary="Decline a credit", answers=TransferOut, tag=TAG, refuses=_DECLINING)
class DeclineAtDrawer(_AtDrawer, _Decline):
    """The drawer sends back a credit that was sent. The chips stay in transit until the table cancels the transfer."""

    roles = (*AT_THE_CAGE, *_SUPERVISORS)


@documented(
    "cancelDrawerTransfer",
    summary="Cancel a transfer at the drawer",
    answers=TransferOut,
    tag=TAG,
    refuses=[*_CANCELLING, *AT_A_DRAWER],
)
class CancelAtDrawer(_AtDrawer, _Cancel):
    """Either end can cancel a request. A sent fill comes back into the drawer by two people: the table has declined it,
    or a supervisor cancels it, who has not sent it (`four_eyes`)."""

    roles = (*AT_THE_CAGE, *_SUPERVISORS)


# --- Reading --------------------------------------------------------------------------------------------------------


@documented("listTransfers", summary="List fills and credits", tag=TAG)
class TransferList(CursorList):
    """Fills and credits; `from` and `until` select by the time at which they began. Those under way have the state
    `requested`, `sent` or `declined`. What is in transit is shown to its sender's end only, and to auditor,
    administrator, manager and surveillance in the office."""

    sensitive = False
    roles = SEES_PLAY

    @extend_schema_serializer(component_name="TransferListRow")
    class Row(TransferPart):
        """A fill or credit in a list."""

        opened_at = serializers.DateTimeField(help_text="When it was begun.")
        sent_at = serializers.DateTimeField(allow_null=True, help_text="When the chips were sent; null before that.")
        declined_at = serializers.DateTimeField(allow_null=True, help_text="When the chips were declined, or null.")
        ended_at = serializers.DateTimeField(allow_null=True)
        minutes = serializers.IntegerField(
            allow_null=True,
            help_text="Whole minutes since the chips were sent or, before that, requested; null once it has ended.",
        )
        late = serializers.ChoiceField(
            choices=Lateness.choices,
            allow_null=True,
            help_text="Whether it takes too long by the control points `transfer_late_minutes` and "
            "`transfer_exception_minutes`; null once it has ended.",
        )

        def to_representation(self, instance: Any) -> dict[str, Any]:
            """The transfer with its times, as the reader may know it."""
            by = context_of(self.context["request"])
            blind = selectors.is_blind(instance, by.role, by.terminal)
            return selectors.describe(instance, blind=blind) | selectors.times(
                instance, instance.now, self.context["view"].points
            )

    model = Transfer
    serializer_class = Row
    filters = {"kind": "kind", "table": "table__code", "drawer": "drawer__code", "state": "state"}
    choices = {"kind": Kind.values, "state": TransferState.values}
    time = "opened_at"

    @cached_property
    def points(self) -> ControlPoints:
        """What the house demands now."""
        return in_force(context_of(self.request).house)

    def rows(self) -> Any:
        """With what a row names."""
        persons = ("opened_by", "sent_by", "carried_by", "declined_by", "ended_by")
        return super().rows().select_related("table", "drawer", *persons).annotate(now=ClockTimestamp())


class TableChipsOut(serializers.Serializer[Any]):
    """The house's chips at a table by the books, without the locked tax box."""

    table = serializers.CharField()
    tray = Rack(help_text="Chips in the tray.")
    tip_box = Rack(help_text="Chips in the tip box.")
    in_transit = Rack(help_text="Chips that were sent to or from the table and not received yet.")


@documented(
    "readTableChips",
    summary="Read a table's tray and tip box",
    answers=TableChipsOut,
    tag=TAG,
    refuses=["not_found"],
)
class TableChips(ReadOperation):
    """Tray, tip box, and chips under way to or from a table. Not for those who count them."""

    sensitive = False
    roles = (Role.AUDITOR, Role.MANAGER, Role.SURVEILLANCE)

    def get(self, request: Request, table: str) -> Response:
        """The racks."""
        return Response(selectors.at_table(tables.get(context_of(request).house, table)))


urls = [
    path("tables/<slug:table>/chips", TableChips.as_view()),
    path("tables/<slug:table>/transfers", StartAtTable.as_view()),
    path("tables/<slug:table>/transfers/<int:transfer>/send", SendFromTable.as_view()),
    path("tables/<slug:table>/transfers/<int:transfer>/receive", ReceiveAtTable.as_view()),
    path("tables/<slug:table>/transfers/<int:transfer>/accept-with-variance", AcceptAtTable.as_view()),
    path("tables/<slug:table>/transfers/<int:transfer>/decline", DeclineAtTable.as_view()),
    path("tables/<slug:table>/transfers/<int:transfer>/cancel", CancelAtTable.as_view()),
    path("drawers/<slug:drawer>/transfers", StartAtDrawer.as_view()),
    path("drawers/<slug:drawer>/transfers/<int:transfer>/send", SendFromDrawer.as_view()),
    path("drawers/<slug:drawer>/transfers/<int:transfer>/receive", ReceiveAtDrawer.as_view()),
    path("drawers/<slug:drawer>/transfers/<int:transfer>/accept-with-variance", AcceptAtDrawer.as_view()),
    path("drawers/<slug:drawer>/transfers/<int:transfer>/decline", DeclineAtDrawer.as_view()),
    path("drawers/<slug:drawer>/transfers/<int:transfer>/cancel", CancelAtDrawer.as_view()),
    path("transfers", TransferList.as_view()),
]
