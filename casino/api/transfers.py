"""Fills and credits, from either end: the table's console and the drawer's terminal have the same operations."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.cage import DrawerOut
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_TABLES,
    AT_THE_CAGE,
    READERS,
    Amount,
    Pieces,
    ReadOperation,
    StrictChoice,
    StrictInput,
    StrictText,
    WriteOperation,
    context_of,
    documented,
    problems,
)
from casino.api.tables import TableOut
from casino.core.write import Answer, Command
from casino.staff.models import Role, TerminalKind
from casino.tables import selectors as tables
from casino.transfers import selectors
from casino.transfers import services as services
from casino.transfers.models import Kind, Transfer

TAG = "fills and credits"
#: How an address names each kind of desk.
_NAMED = {TerminalKind.TABLE: "table", TerminalKind.CAGE: "drawer"}


# --- What is sent in ------------------------------------------------------------------------------------------------


class _Wanted(StrictInput):
    """Chips by pieces, or what they are to be worth in minor units, or both, which must then agree."""

    kind = StrictChoice(choices=Kind.choices)
    amount = Amount(required=False)
    pieces = Pieces()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """One of the two must be there."""
        if not {"amount", "pieces"} & attrs.keys():
            raise serializers.ValidationError({"amount": ["Say what the chips are worth, or name the pieces."]})
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
    """What is sent instead of what was asked for; nothing where it is the same."""

    amount = Amount(required=False)
    pieces = Pieces()


@extend_schema_serializer(component_name="ReceiveTransferInput")
class _Counted(StrictInput):
    """What was counted on arrival, by denomination."""

    pieces = Pieces(required=True)


@extend_schema_serializer(component_name="AcceptWithVarianceInput")
class _Accepted(_Counted):
    """What was counted, and the reason for taking it in although it is not what was sent."""

    reason = StrictText(min_length=3, max_length=200)


@extend_schema_serializer(component_name="CancelTransferInput")
class _Cancelled(StrictInput):
    """The reason, which the audit trail keeps."""

    reason = StrictText(min_length=3, max_length=200)


# --- Operations, for whichever end ----------------------------------------------------------------------------------


class _Operation(WriteOperation):
    """At a desk of this kind."""

    desk: ClassVar[TerminalKind]

    def end(self, path: dict[str, Any]) -> services.End:
        """The end of the transfer that asks."""
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
    input = _Cancelled

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Cancel."""
        return services.cancel(command=command, end=self.end(path), transfer_id=path["transfer"], reason=data["reason"])


class _AtTable:
    roles: ClassVar[tuple[Role, ...]] = AT_TABLES
    desk: ClassVar[TerminalKind] = TerminalKind.TABLE


class _AtDrawer:
    roles: ClassVar[tuple[Role, ...]] = AT_THE_CAGE
    desk: ClassVar[TerminalKind] = TerminalKind.CAGE


@documented("startTableTransfer", summary="Ask for a fill, or send a credit", answers=TableOut, status=201, tag=TAG)
class StartAtTable(_AtTable, _Start):
    """From the table."""

    input = _FromTable


@documented("sendTableTransfer", summary="Send a credit that was asked for", answers=TableOut, tag=TAG)
class SendFromTable(_AtTable, _Send):
    """From the table."""


@documented("receiveTableTransfer", summary="Count a fill and take it in", answers=TableOut, tag=TAG)
class ReceiveAtTable(_AtTable, _Receive):
    """At the table."""


@documented("acceptTableTransferWithVariance", summary="Accept a fill with a variance", answers=TableOut, tag=TAG)
class AcceptAtTable(_AcceptWithVariance):
    """At the table."""

    desk = TerminalKind.TABLE


@documented("cancelTableTransfer", summary="Cancel a transfer from the table", answers=TableOut, tag=TAG)
class CancelAtTable(_AtTable, _Cancel):
    """From the table."""


@documented("startDrawerTransfer", summary="Send a fill, or ask for a credit", answers=DrawerOut, status=201, tag=TAG)
class StartAtDrawer(_AtDrawer, _Start):
    """From the drawer."""

    input = _FromDrawer


@documented("sendDrawerTransfer", summary="Send a fill that was asked for", answers=DrawerOut, tag=TAG)
class SendFromDrawer(_AtDrawer, _Send):
    """From the drawer."""


@documented("receiveDrawerTransfer", summary="Count a credit and take it in", answers=DrawerOut, tag=TAG)
class ReceiveAtDrawer(_AtDrawer, _Receive):
    """At the drawer."""


@documented("acceptDrawerTransferWithVariance", summary="Accept a credit with a variance", answers=DrawerOut, tag=TAG)
class AcceptAtDrawer(_AcceptWithVariance):
    """At the drawer."""

    desk = TerminalKind.CAGE


@documented("cancelDrawerTransfer", summary="Cancel a transfer from the drawer", answers=DrawerOut, tag=TAG)
class CancelAtDrawer(_AtDrawer, _Cancel):
    """From the drawer."""


# --- Reading --------------------------------------------------------------------------------------------------------


class TransferList(CursorList):
    """All fills and credits, oldest first; what is under way has the state `requested` or `sent`."""

    sensitive = False

    @extend_schema_serializer(component_name="TransferListRow")
    class Row(serializers.Serializer[Any]):
        """A fill or credit; chips as pieces by denomination, `value` of what was sent in minor units."""

        transfer = serializers.IntegerField()
        kind = serializers.ChoiceField(choices=Kind.choices)
        table = serializers.CharField()
        drawer = serializers.CharField()
        state = serializers.CharField()
        requested = serializers.JSONField()
        sent = serializers.JSONField(allow_null=True)
        value = serializers.IntegerField(allow_null=True)
        counted = serializers.JSONField(allow_null=True)
        opened_by = serializers.CharField()
        sent_by = serializers.CharField(allow_null=True)
        ended_by = serializers.CharField(allow_null=True)
        reason = serializers.CharField(allow_blank=True)

        def to_representation(self, instance: Transfer) -> dict[str, Any]:
            """As both ends see it."""
            return selectors.describe(instance)

    model = Transfer
    serializer_class = Row
    filters = {"table": "table__code", "drawer": "drawer__code", "state": "state"}

    def rows(self) -> Any:
        """With what a row names."""
        return super().rows().select_related("table", "drawer", "opened_by", "sent_by", "ended_by")

    @extend_schema(
        operation_id="listTransfers",
        summary="List fills and credits",
        tags=[TAG],
        responses={200: Row(many=True), **problems(401, 403, 404)},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A page of transfers."""
        return super().get(request, *args, **kwargs)


class RackOut(serializers.Serializer[Any]):
    """Chips of one place: worth in minor units, pieces by denomination."""

    value = serializers.IntegerField()
    pieces = serializers.DictField(child=serializers.IntegerField())


class TableChipsOut(serializers.Serializer[Any]):
    """The house's chips at a table. The locked tax box is not among them: it is counted without knowing."""

    table = serializers.CharField()
    tray = RackOut()
    tip_box = RackOut()
    in_transit = RackOut()


class TableChips(ReadOperation):
    """Tray, tip box, and what is on its way to or from a table."""

    sensitive = False
    roles = READERS

    @extend_schema(
        operation_id="readTableChips",
        summary="Read a table's tray and tip box",
        tags=[TAG],
        responses={200: TableChipsOut, **problems(401, 403, 404)},
    )
    def get(self, request: Request, table: str) -> Response:
        """The racks."""
        return Response(selectors.at_table(tables.get(context_of(request).house, table)))
