"""Fills and credits, from either end: the table's console and the drawer's terminal. Each is named by its number among
the fills or the credits of the house, as its slip is."""

from typing import Any, ClassVar

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
    ReasonInput,
    StrictInput,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.parts import DrawerChanged, EventPart, TransferPart, approval_used
from casino.api.tables import TableOut
from casino.api.template_parts import ByTemplate, one_way
from casino.core.commands import Answer, Command
from casino.staff.models import Role, TerminalKind
from casino.transfers import services
from casino.transfers.models import Kind, TransferState

TAG = "fills and credits"
#: The name of each kind of desk in addresses.
_NAMED = {TerminalKind.TABLE: "table", TerminalKind.CAGE: "drawer"}
#: Refusals of every step of a transfer, of requesting, of sending, and of each later step.
_STATES = tuple(f"transfer_{state}" for state in TransferState)
_REQUESTING = ("drawer_short", *CHIPS, *POSTING)
_SENDING = (
    *AT_A_DRAWER, "table_playing", "table_settling", "table_disputed", "nothing_to_send", "unknown_carrier",
    "four_eyes", *CHIPS, *POSTING,
)  # fmt: skip
#: Of a fill that brings a tray to its template.
_BY_TEMPLATE = ("no_template", "tray_at_template")
_CARRIED = ("unknown_carrier", "four_eyes")
_RECEIVING = (
    *_STATES, *AT_A_DRAWER, "carrier_missing", "carrier_differs", *_CARRIED, *CHIPS, *POSTING,
)  # fmt: skip
_COUNTING = (*_RECEIVING, "count_mismatch", "supervisor_needed")
_DECLINING = (*_STATES, "four_eyes")
_CANCELLING = (*_DECLINING, "not_your_side", *POSTING)
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


class _Wanted(StrictInput):
    """Chips by pieces, or by their worth in minor units, or both. If both are given, they must agree."""

    amount = Amount(required=False)
    pieces = Pieces()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that worth or pieces are given, or the template is to say them."""
        return one_way(attrs, "amount", "pieces")


class _WantedFill(_Wanted):
    """A fill may bring the tray to its template instead."""

    by_template = ByTemplate(
        help_text="true: the fill brings the tray to its template when it is sent, as far as the drawer can give it."
    )


@extend_schema_serializer(component_name="RequestFillInput")
class _FillWanted(_WantedFill):
    """What the table wants of a drawer, by pieces, worth in minor units, both, or the template of the tray."""

    drawer = StrictText(max_length=32)


@extend_schema_serializer(component_name="SendFillInput")
class _FillSent(_WantedFill, _Carried):
    """What the drawer sends to a table, by pieces, worth in minor units, both, or the template of the tray."""

    table = StrictText(max_length=32)


@extend_schema_serializer(component_name="RequestCreditInput")
class _CreditWanted(_Wanted):
    """What the drawer wants of a table, by pieces, worth in minor units, or both, which must agree."""

    table = StrictText(max_length=32)


@extend_schema_serializer(component_name="SendCreditInput")
class _CreditSent(_Wanted, _Carried):
    """What the table sends to a drawer, by pieces, worth in minor units, or both, which must agree."""

    drawer = StrictText(max_length=32)


@extend_schema_serializer(component_name="SendRequestedInput")
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


# --- Operations, for whichever end and kind -------------------------------------------------------------------------


class _Operation(WriteOperation):
    """On transfers of this kind, at a desk of this kind."""

    desk: ClassVar[TerminalKind]
    kind: ClassVar[Kind]

    def end(self, path: dict[str, Any]) -> services.End:
        """The end of the transfer that sends the request."""
        return services.End(self.desk, path[_NAMED[self.desk]])

    def paper(self, path: dict[str, Any]) -> services.Paper:
        """The transfer that the address names."""
        return services.Paper(self.kind, path[self.kind.value])


class _Start(_Operation):
    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Send, or ask for."""
        return services.start(
            command=command,
            end=self.end(path),
            kind=self.kind,
            other=data["drawer" if self.desk == TerminalKind.TABLE else "table"],
            amount=data.get("amount"),
            pieces=data.get("pieces"),
            by_template=data.get("by_template", False),
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
            paper=self.paper(path),
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
            paper=self.paper(path),
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
            paper=self.paper(path),
            pieces=data["pieces"],
            reason=data["reason"],
            carrier=data.get("carrier"),
        )


class _Decline(_Operation):
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Decline."""
        return services.decline(command=command, end=self.end(path), paper=self.paper(path), reason=data["reason"])


class _Cancel(_Operation):
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Cancel."""
        return services.cancel(command=command, end=self.end(path), paper=self.paper(path), reason=data["reason"])


class _AtTable:
    roles: ClassVar[tuple[Role, ...]] = AT_TABLES
    desk: ClassVar[TerminalKind] = TerminalKind.TABLE


class _AtDrawer:
    roles: ClassVar[tuple[Role, ...]] = AT_THE_CAGE
    desk: ClassVar[TerminalKind] = TerminalKind.CAGE


class _Fill:
    kind: ClassVar[Kind] = Kind.FILL


class _Credit:
    kind: ClassVar[Kind] = Kind.CREDIT


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


# --- At the table ---------------------------------------------------------------------------------------------------


@documented(
    "requestFill",
    summary="Request a fill",
    answers=TableOut,
    status=201,
    tag=TAG,
    refuses=[*_REQUESTING, "no_template"],
)
class RequestFill(_AtTable, _Fill, _Start):
    """A fill is requested from the drawer; nothing moves yet. With `by_template` the house works out its pieces when
    the drawer sends it, and does not say at the table what its tray lacks."""

    input = _FillWanted


@documented("receiveFill", summary="Count a fill and receive it", answers=TableOut, tag=TAG, refuses=_COUNTING)
class ReceiveFill(_AtTable, _Fill, _Receive):
    """The chips go into the tray. Refused if the count differs from what was sent, piece by piece (`count_mismatch`):
    the count is kept, and the answer does not say what was sent. After two such counts the floor must count
    (`supervisor_needed`). Refused for the person who sent the chips and the one who carried them (`four_eyes`)."""

    roles = (Role.DEALER,)


@documented(
    "acceptFillWithVariance",
    summary="Accept a fill with a variance",
    answers=TableOut,
    tag=TAG,
    refuses=[*_RECEIVING, "recount_needed"],
)
class AcceptFill(_AtTable, _Fill, _AcceptWithVariance):
    """After two counts that differ, the floor counts and receives the fill. What differs from what was sent is posted
    as chips over or short at the table. Refused for who has sent, carried or counted it (`four_eyes`)."""

    roles = (Role.FLOOR,)


@documented("declineFill", summary="Decline a fill", answers=TableOut, tag=TAG, refuses=_DECLINING)
class DeclineFill(_AtTable, _Fill, _Decline):
    """The table sends back a fill that was sent. The chips stay in transit until the drawer cancels it."""


@documented(
    "cancelFillAtTable", summary="Cancel the request for a fill", answers=TableOut, tag=TAG, refuses=_CANCELLING
)
class CancelFillAtTable(_AtTable, _Fill, _Cancel):
    """Either end can cancel a request. What was sent comes back at the drawer only (`not_your_side`): the table
    declines it."""


@documented("sendCredit", summary="Send a credit", answers=TableOut, status=201, tag=TAG, refuses=_SENDING)
class SendCredit(_AtTable, _Credit, _Start):
    """The chips leave the tray and are in transit until the drawer has counted them. Chips are not sent during a
    hand."""

    input = _CreditSent
    approvable = True


@documented(
    "sendRequestedCredit",
    summary="Send a requested credit",
    answers=TableOut,
    tag=TAG,
    refuses=[*_STATES, *_SENDING],
)
class SendRequestedCredit(_AtTable, _Credit, _Send):
    """The chips leave the tray: those requested, or those that the body names."""


@documented(
    "cancelCreditAtTable", summary="Cancel a credit at the table", answers=TableOut, tag=TAG, refuses=_CANCELLING
)
class CancelCreditAtTable(_AtTable, _Credit, _Cancel):
    """Either end can cancel a request. A sent credit comes back into the tray by two people: the drawer has declined
    it, or the floor cancels it, who has not sent it (`four_eyes`)."""


# --- At the drawer --------------------------------------------------------------------------------------------------


@documented(
    "sendFill",
    summary="Send a fill",
    answers=TransferOut,
    status=201,
    tag=TAG,
    refuses=[*_SENDING, *_BY_TEMPLATE],
)
class SendFill(_AtDrawer, _Fill, _Start):
    """The chips leave the drawer and are in transit until the table has counted them. With `by_template` the fill
    brings the tray to its template, as far as the drawer can give it and keep what its own template says; a fill that
    leaves fewer of a chip takes an approval (`approval_required`)."""

    input = _FillSent
    approvable = True


@documented(
    "sendRequestedFill",
    summary="Send a requested fill",
    answers=TransferOut,
    tag=TAG,
    refuses=[*_STATES, *_SENDING, *_BY_TEMPLATE],
)
class SendRequestedFill(_AtDrawer, _Fill, _Send):
    """The chips leave the drawer: those requested, or those that the body names. A fill that leaves fewer of a chip
    than the drawer's template says takes an approval (`approval_required`)."""


@documented(
    "cancelFillAtDrawer",
    summary="Cancel a fill at the drawer",
    answers=TransferOut,
    tag=TAG,
    refuses=[*_CANCELLING, *AT_A_DRAWER],
)
class CancelFillAtDrawer(_AtDrawer, _Fill, _Cancel):
    """Either end can cancel a request. A sent fill comes back into the drawer by two people: the table has declined it,
    or a supervisor cancels it, who has not sent it (`four_eyes`)."""

    roles = (*AT_THE_CAGE, *_SUPERVISORS)


@documented("requestCredit", summary="Request a credit", answers=TransferOut, status=201, tag=TAG, refuses=_REQUESTING)
class RequestCredit(_AtDrawer, _Credit, _Start):
    """A credit is requested from the table; nothing moves yet."""

    input = _CreditWanted


@documented("receiveCredit", summary="Count a credit and receive it", answers=TransferOut, tag=TAG, refuses=_COUNTING)
class ReceiveCredit(_AtDrawer, _Credit, _Receive):
    """The chips go into the drawer. Refused if the count differs from what was sent, piece by piece (`count_mismatch`):
    the count is kept, and the answer does not say what was sent. After two such counts a supervisor must count
    (`supervisor_needed`). Refused for the person who sent the chips and the one who carried them (`four_eyes`)."""


@documented(
    "acceptCreditWithVariance",
    summary="Accept a credit with a variance",
    answers=TransferOut,
    tag=TAG,
    refuses=[*_RECEIVING, "recount_needed"],
)
class AcceptCredit(_AtDrawer, _Credit, _AcceptWithVariance):
    """After two counts that differ, a supervisor counts and receives the credit. What differs from what was sent is
    posted as chips over or short at the table. Refused for who has sent, carried or counted it (`four_eyes`)."""

    roles = _SUPERVISORS


@documented("declineCredit", summary="Decline a credit", answers=TransferOut, tag=TAG, refuses=_DECLINING)
class DeclineCredit(_AtDrawer, _Credit, _Decline):
    """The drawer sends back a credit that was sent. The chips stay in transit until the table cancels it."""

    roles = (*AT_THE_CAGE, *_SUPERVISORS)


@documented(
    "cancelCreditAtDrawer",
    summary="Cancel the request for a credit",
    answers=TransferOut,
    tag=TAG,
    refuses=[*_CANCELLING, *AT_A_DRAWER],
)
class CancelCreditAtDrawer(_AtDrawer, _Credit, _Cancel):
    """Either end can cancel a request. What was sent comes back at the table only (`not_your_side`): the drawer
    declines it."""

    roles = (*AT_THE_CAGE, *_SUPERVISORS)


urls = [
    path("tables/<slug:table>/fills", RequestFill.as_view()),
    path("tables/<slug:table>/fills/<int:fill>/receive", ReceiveFill.as_view()),
    path("tables/<slug:table>/fills/<int:fill>/accept-with-variance", AcceptFill.as_view()),
    path("tables/<slug:table>/fills/<int:fill>/decline", DeclineFill.as_view()),
    path("tables/<slug:table>/fills/<int:fill>/cancel", CancelFillAtTable.as_view()),
    path("tables/<slug:table>/credits", SendCredit.as_view()),
    path("tables/<slug:table>/credits/<int:credit>/send", SendRequestedCredit.as_view()),
    path("tables/<slug:table>/credits/<int:credit>/cancel", CancelCreditAtTable.as_view()),
    path("drawers/<slug:drawer>/fills", SendFill.as_view()),
    path("drawers/<slug:drawer>/fills/<int:fill>/send", SendRequestedFill.as_view()),
    path("drawers/<slug:drawer>/fills/<int:fill>/cancel", CancelFillAtDrawer.as_view()),
    path("drawers/<slug:drawer>/credits", RequestCredit.as_view()),
    path("drawers/<slug:drawer>/credits/<int:credit>/receive", ReceiveCredit.as_view()),
    path("drawers/<slug:drawer>/credits/<int:credit>/accept-with-variance", AcceptCredit.as_view()),
    path("drawers/<slug:drawer>/credits/<int:credit>/decline", DeclineCredit.as_view()),
    path("drawers/<slug:drawer>/credits/<int:credit>/cancel", CancelCreditAtDrawer.as_view()),
]
