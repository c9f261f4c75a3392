"""Fills and credits, from either end: the table's console and the drawer's terminal have the same operations."""

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
    READERS,
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
from casino.api.parts import DrawerChanged, EventPart, Rack, TransferPart
from casino.api.tables import TableOut
from casino.core.write import Answer, Command
from casino.staff.models import Role, TerminalKind
from casino.tables import selectors as tables
from casino.transfers import selectors, services
from casino.transfers.models import Kind, Transfer, TransferState

TAG = "fills and credits"
#: The name of each kind of desk in addresses.
_NAMED = {TerminalKind.TABLE: "table", TerminalKind.CAGE: "drawer"}
#: Refusals of every step of a transfer, of sending, and of each later step.
_STATES = tuple(f"transfer_{state}" for state in TransferState)
_SENDING = (*AT_A_DRAWER, "table_playing", "table_settling", "table_disputed", "nothing_to_send", *CHIPS, *POSTING)
_RECEIVING = (*_STATES, *AT_A_DRAWER, "not_your_side", "four_eyes", *CHIPS, *POSTING)


# --- What is sent in ------------------------------------------------------------------------------------------------


class _Wanted(StrictInput):
    """Chips by pieces, or by their worth in minor units, or both. If both are given, they must agree."""

    kind = StrictChoice(choices=Kind.choices)
    amount = Amount(required=False)
    pieces = Pieces()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that worth or pieces are given."""
        if not {"amount", "pieces"} & attrs.keys():
            raise serializers.ValidationError({"amount": ["Give the worth of the chips, or the pieces."]})
        return attrs


@extend_schema_serializer(component_name="StartTableTransferInput")
class _FromTable(_Wanted):
    """A fill or credit between this table and a drawer."""

    drawer = StrictText(max_length=32)


@extend_schema_serializer(component_name="StartDrawerTransferInput")
class _FromDrawer(_Wanted):
    """A fill or credit between this drawer and a table."""

    table = StrictText(max_length=32)


@extend_schema_serializer(component_name="SendTransferInput")
class _Sent(StrictInput):
    """The chips that are sent, if they differ from those requested."""

    amount = Amount(required=False)
    pieces = Pieces()


@extend_schema_serializer(component_name="ReceiveTransferInput")
class _Counted(StrictInput):
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
        )


class _Send(_Operation):
    input = _Sent

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Send."""
        return services.send(
            command=command,
            end=self.end(path),
            transfer_id=path["transfer"],
            amount=data.get("amount"),
            pieces=data.get("pieces"),
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
            variance_reason=data.get("reason"),
        )


class _AcceptWithVariance(_Receive):
    roles = (Role.FLOOR,)
    input = _Accepted


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
    refuses=_SENDING,
)
class StartAtTable(_AtTable, _Start):
    """A fill is requested from the drawer; nothing moves yet. A credit is sent at once: its chips leave the tray and
    are in transit until the drawer has counted them. Chips are not sent during a hand."""

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


@documented(
    "receiveTableTransfer",
    summary="Count a fill and receive it",
    answers=TableOut,
    tag=TAG,
    refuses=[*_RECEIVING, "count_mismatch"],
)
class ReceiveAtTable(_AtTable, _Receive):
    """The chips go into the tray. Refused if the count differs from what was sent, piece by piece (`count_mismatch`),
    and for the person who sent them (`four_eyes`)."""


@documented(
    "acceptTableTransferWithVariance",
    summary="Accept a fill with a variance",
    answers=TableOut,
    tag=TAG,
    refuses=_RECEIVING,
)
class AcceptAtTable(_AcceptWithVariance):
    """The floor receives a fill whose count differs from what was sent. The variance is posted as chips over or short
    at the table."""

    desk = TerminalKind.TABLE


@documented(
    "cancelTableTransfer",
    summary="Cancel a transfer at the table",
    answers=TableOut,
    tag=TAG,
    refuses=[*_STATES, "not_your_side", *POSTING],
)
class CancelAtTable(_AtTable, _Cancel):
    """Either end can cancel a request. Only the sender can cancel a sent transfer (`not_your_side`): its chips go
    back into the tray."""


@documented(
    "startDrawerTransfer",
    summary="Send a fill, or request a credit",
    answers=TransferOut,
    status=201,
    tag=TAG,
    refuses=_SENDING,
)
class StartAtDrawer(_AtDrawer, _Start):
    """A fill is sent at once: its chips leave the drawer and are in transit until the table has counted them. A credit
    is requested from the table; nothing moves yet."""

    input = _FromDrawer


@documented(
    "sendDrawerTransfer",
    summary="Send a requested fill",
    answers=TransferOut,
    tag=TAG,
    refuses=[*_STATES, "not_your_side", *_SENDING],
)
class SendFromDrawer(_AtDrawer, _Send):
    """The chips leave the drawer: those requested, or those that the body names."""


@documented(
    "receiveDrawerTransfer",
    summary="Count a credit and receive it",
    answers=TransferOut,
    tag=TAG,
    refuses=[*_RECEIVING, "count_mismatch"],
)
class ReceiveAtDrawer(_AtDrawer, _Receive):
    """The chips go into the drawer. Refused if the count differs from what was sent, piece by piece (`count_mismatch`),
    and for the person who sent them (`four_eyes`)."""


@documented(
    "acceptDrawerTransferWithVariance",
    summary="Accept a credit with a variance",
    answers=TransferOut,
    tag=TAG,
    refuses=_RECEIVING,
)
class AcceptAtDrawer(_AcceptWithVariance):
    """The floor receives a credit whose count differs from what was sent. The variance is posted as chips over or short
    at the table."""

    desk = TerminalKind.CAGE


@documented(
    "cancelDrawerTransfer",
    summary="Cancel a transfer at the drawer",
    answers=TransferOut,
    tag=TAG,
    refuses=[*_STATES, "not_your_side", *AT_A_DRAWER, *POSTING],
)
class CancelAtDrawer(_AtDrawer, _Cancel):
    """Either end can cancel a request. Only the sender can cancel a sent transfer (`not_your_side`): its chips go
    back into the drawer."""


# --- Reading --------------------------------------------------------------------------------------------------------


@documented("listTransfers", summary="List fills and credits", tag=TAG)
class TransferList(CursorList):
    """Fills and credits; `from` and `until` select by the time at which they began. Those under way have the state
    `requested` or `sent`."""

    sensitive = False

    @extend_schema_serializer(component_name="TransferListRow")
    class Row(TransferPart):
        """A fill or credit in a list."""

        opened_at = serializers.DateTimeField(help_text="When it was begun.")
        sent_at = serializers.DateTimeField(allow_null=True, help_text="When the chips were sent; null before that.")
        ended_at = serializers.DateTimeField(allow_null=True)

        def to_representation(self, instance: Transfer) -> dict[str, Any]:
            """The transfer with its times."""
            return selectors.describe(instance) | selectors.times(instance)

    model = Transfer
    serializer_class = Row
    filters = {"kind": "kind", "table": "table__code", "drawer": "drawer__code", "state": "state"}
    choices = {"kind": Kind.values, "state": TransferState.values}
    time = "opened_at"

    def rows(self) -> Any:
        """With what a row names."""
        return super().rows().select_related("table", "drawer", "opened_by", "sent_by", "ended_by")


class TableChipsOut(serializers.Serializer[Any]):
    """The house's chips at a table, without the locked tax box: that must be counted without knowing its contents."""

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
    """Tray, tip box, and chips under way to or from a table."""

    sensitive = False
    roles = READERS

    def get(self, request: Request, table: str) -> Response:
        """The racks."""
        return Response(selectors.at_table(tables.get(context_of(request).house, table)))


urls = [
    path("tables/<slug:table>/chips", TableChips.as_view()),
    path("tables/<slug:table>/transfers", StartAtTable.as_view()),
    path("tables/<slug:table>/transfers/<int:transfer>/send", SendFromTable.as_view()),
    path("tables/<slug:table>/transfers/<int:transfer>/receive", ReceiveAtTable.as_view()),
    path("tables/<slug:table>/transfers/<int:transfer>/accept-with-variance", AcceptAtTable.as_view()),
    path("tables/<slug:table>/transfers/<int:transfer>/cancel", CancelAtTable.as_view()),
    path("drawers/<slug:drawer>/transfers", StartAtDrawer.as_view()),
    path("drawers/<slug:drawer>/transfers/<int:transfer>/send", SendFromDrawer.as_view()),
    path("drawers/<slug:drawer>/transfers/<int:transfer>/receive", ReceiveAtDrawer.as_view()),
    path("drawers/<slug:drawer>/transfers/<int:transfer>/accept-with-variance", AcceptAtDrawer.as_view()),
    path("drawers/<slug:drawer>/transfers/<int:transfer>/cancel", CancelAtDrawer.as_view()),
    path("transfers", TransferList.as_view()),
]
