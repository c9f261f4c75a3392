"""Fills and credits: chips between a drawer and a table's tray, sent by one person and received by another.

Either end may begin. The end that the chips come from sends them at once; the other one asks for them, and they are
sent when the first end says so. What arrives is counted and must be what was sent; only the floor can accept it with a
variance, which is then chips over or short of the table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from casino.audit.events.custody import (
    CreditCancelled,
    CreditReceived,
    CreditRequested,
    CreditSent,
    FillCancelled,
    FillReceived,
    FillRequested,
    FillSent,
    TransferEvent,
)
from casino.bookkeeping import books
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import posting
from casino.cage import selectors as drawers
from casino.cage import services as cage
from casino.cage.models import Drawer
from casino.chips import selectors as chips
from casino.chips.counts import chip_variance
from casino.core import denominations, locks, write
from casino.core.denominations import Chips
from casino.core.errors import Conflict, Forbidden, NotFound, Unprocessable
from casino.core.write import Answer, Command, Outcome, Work
from casino.houses.models import ClockTimestamp
from casino.staff.models import Staff, TerminalKind
from casino.tables import selectors as tables_read
from casino.tables import services as tables
from casino.tables.models import Table, TableState
from casino.transfers import selectors
from casino.transfers.models import RECEIVER, SENDER, UNDER_WAY, Kind, Transfer, TransferState

#: Chips by denomination as somebody wrote them: {"500": 3}.
Pieces = Mapping[Any, int]


@dataclass(frozen=True, slots=True)
class End:
    """One end of a transfer: a table's console or a drawer's terminal."""

    kind: TerminalKind
    code: str


def start(
    *, command: Command, end: End, kind: Kind, other: str, amount: int | None = None, pieces: Pieces | None = None
) -> Answer:
    """Send a fill or credit to the other end (code `other`), or ask for one, whichever `end` can do.

    What is wanted is named as `pieces`, or worked out for `amount` minor units. Raises Conflict drawer_closed or
    no_exact_change, InsufficientFunds, Unprocessable for wrong pieces, NotFound.
    """

    def change(place: Table | Drawer, work: Work) -> Outcome:
        table, drawer = _ends(place, other)
        wanted = {"amount": amount, "pieces": None if pieces is None else _mix(place, pieces, amount).as_json()}
        transfer = Transfer(
            house=place.house,
            kind=kind,
            table=table,
            drawer=drawer,
            opened_by=command.context.staff,
            requested={name: value for name, value in wanted.items() if value is not None},
        )
        transfer.save(force_insert=True)
        if SENDER[kind] == end.kind:
            _send(work, command, transfer, place)
        return Outcome(_event(transfer), status=201)

    return _write(command, end, change)


def send(*, command: Command, end: End, transfer_id: int, amount: int | None, pieces: Pieces | None) -> Answer:
    """Send what the other end has requested, or other chips instead. Raises as `start`, and Conflict not_your_side or
    one that says in which state the transfer is."""

    def change(place: Table | Drawer, work: Work) -> Outcome:
        transfer = _lock(place, transfer_id)
        _require(transfer, end, SENDER, TransferState.REQUESTED)
        instead = {"amount": amount, "pieces": pieces} if amount is not None or pieces is not None else None
        _send(work, command, transfer, place, instead)
        return Outcome(_event(transfer))

    return _write(command, end, change)


def receive(
    *, command: Command, end: End, transfer_id: int, pieces: Pieces, variance_reason: str | None = None
) -> Answer:
    """Count what has arrived and take it in. It must be what was sent, piece by piece; with a `variance_reason`
    the floor accepts another count, and the variance is posted as chips over or short at the table.

    Raises Conflict count_mismatch (with both counts), not_your_side, or one naming the transfer's state; Forbidden
    four_eyes for the sender.
    """

    def change(place: Table | Drawer, work: Work) -> Outcome:
        transfer = _lock(place, transfer_id)
        _require(transfer, end, RECEIVER, TransferState.SENT)
        require_another(command, transfer.sent_by, "sent this")
        _require_open(place)
        sent, counted = _mix(place, transfer.sent or {}), _mix(place, pieces)
        if counted != sent and variance_reason is None:
            raise Conflict(
                f"Chips worth {place.house.money(sent.value)} were sent, but chips worth "
                f"{place.house.money(counted.value)} were counted, or other pieces of the same worth. Count again, "
                "or let the floor accept the variance.",
                code="count_mismatch",
                sent=sent.as_json(),
                counted=counted.as_json(),
            )
        rack = transfer.table.account(Account.TRANSIT)
        work.post(
            key=f"transfer:{transfer.pk}:received",
            kind=f"{transfer.kind}.received",
            postings=[
                *chip_variance(rack, transfer.table.code, counted - sent),
                posting(f"{transfer.kind}_received", transfer.places, chips=counted),
            ],
            metadata={"transfer": transfer.pk, **transfer.places},
        )
        _end(command, transfer, TransferState.RECEIVED, counted=counted.as_json(), reason=variance_reason or "")
        approver = variance_reason and command.context.staff.login
        return Outcome(_event(transfer, reason=variance_reason, approver=approver))

    return _write(command, end, change)


def cancel(*, command: Command, end: End, transfer_id: int, reason: str) -> Answer:
    """Cancel a transfer: before anything is sent, either end may do it; after that, the end that sent it, once the
    chips are back in its rack. The posting is mirrored. Raises Conflict as `receive`."""

    def change(place: Table | Drawer, work: Work) -> Outcome:
        transfer = _lock(place, transfer_id)
        was = transfer.state
        if was == TransferState.SENT:
            _require(transfer, end, SENDER, TransferState.SENT)
            _require_open(place)
        else:
            _require_state(transfer, *UNDER_WAY)
        mirrors = work.reverse_all(
            keys=[f"transfer:{transfer.pk}:sent"], metadata={"transfer": transfer.pk, "reason": reason}
        )
        _end(command, transfer, TransferState.CANCELLED, reason=reason)
        return Outcome(_event(transfer, mirrors=mirrors or None, reason=reason))

    return _write(command, end, change)


def require_none_pending(drawer: Drawer) -> None:
    """Refuse to close a drawer while a transfer of it is under way or a soft count waits for its witness: only an open
    drawer can end them. Raises Conflict drawer_pending, naming them."""
    under_way, counts = selectors.pending(drawer)
    if under_way or counts:
        raise Conflict(
            f"Drawer {drawer.code} has {len(under_way)} transfers under way and {len(counts)} soft counts without a "
            "witness; receive, cancel, confirm or void them first.",
            code="drawer_pending",
            transfers=under_way,
            soft_counts=counts,
        )


# --- Parts ----------------------------------------------------------------------------------------------------------


def _write(command: Command, end: End, change: Callable[[Any, Work], Outcome]) -> Answer:
    """Write at this end."""
    if end.kind == TerminalKind.TABLE:
        return write.write(command, tables.AtTable(end.code), change)
    return cage.write_at(command, end.code, change)


def _ends(place: Table | Drawer, other: str) -> tuple[Table, Drawer]:
    """The two ends of a transfer that begins at `place`; only that one is locked."""
    if isinstance(place, Table):
        return place, drawers.get(place.house, other)
    return tables_read.get(place.house, other), place


def _lock(place: Table | Drawer, transfer_id: int) -> Transfer:
    """The transfer, if this place is one of its ends. Raises NotFound."""
    name = "table" if isinstance(place, Table) else "drawer"
    transfer = locks.lock(Transfer, locks.Rank.CUSTODY, house=place.house, id=transfer_id)
    if getattr(transfer, f"{name}_id") != place.pk:
        raise NotFound(f"Transfer {transfer_id} does not concern {name} {place.code}.")
    setattr(transfer, name, place)
    return transfer


def _require(transfer: Transfer, end: End, whose: Mapping[Any, TerminalKind], state: TransferState) -> None:
    _require_state(transfer, state)
    if whose[Kind(transfer.kind)] != end.kind:
        raise Conflict(
            f"A {transfer.kind} is sent by the {SENDER[Kind(transfer.kind)]} and received by the "
            f"{RECEIVER[Kind(transfer.kind)]}; this is the {end.kind}.",
            code="not_your_side",
            kind=transfer.kind,
        )


def _require_state(transfer: Transfer, *allowed: TransferState) -> None:
    if transfer.state not in allowed:
        raise Conflict(
            f"Transfer {transfer.pk} is {transfer.state}; this needs one that is {' or '.join(allowed)}.",
            code=f"transfer_{transfer.state}",
            state=transfer.state,
        )


def require_another(command: Command, first: Staff | None, what: str) -> None:
    """Refuse a person who has signed already. Raises Forbidden four_eyes."""
    if first is not None and first.pk == command.context.staff.pk:
        raise Forbidden(f"You {what} yourself; a second person must do this.", code="four_eyes")


def _require_open(place: Table | Drawer) -> None:
    """A closed drawer has been counted: nothing goes into it or out of it. A tray is always available."""
    if isinstance(place, Drawer):
        cage.require_open(place)


def _mix(place: Table | Drawer, pieces: Pieces, amount: int | None = None) -> Chips:
    found = denominations.parse(chips.in_use(place.house), pieces)
    return found if amount is None else denominations.worth(found, amount)


def _send(
    work: Work, command: Command, transfer: Transfer, place: Table | Drawer, instead: Mapping[str, Any] | None = None
) -> None:
    """Take the chips out of this place's rack and sign for them.

    Not during a hand, because it may need the chips of the tray.
    """
    _require_open(place)
    if isinstance(place, Table):
        tables.require_state(place, TableState.OPEN, TableState.CLOSED)
    wanted = transfer.requested if instead is None else instead
    rack = place.account(Account.TRAY if isinstance(place, Table) else Account.CAGE_CHIPS)
    chosen = _chosen(place, rack, wanted.get("amount"), wanted.get("pieces"))
    work.post(
        key=f"transfer:{transfer.pk}:sent",
        kind=f"{transfer.kind}.sent",
        postings=[posting(f"{transfer.kind}_sent", transfer.places, chips=chosen)],
        metadata={"transfer": transfer.pk, **transfer.places},
    )
    transfer.state, transfer.sent, transfer.sent_by = TransferState.SENT, chosen.as_json(), command.context.staff
    Transfer.objects.filter(id=transfer.pk).update(
        state=transfer.state, sent=transfer.sent, sent_by=transfer.sent_by, sent_at=ClockTimestamp()
    )


def _chosen(place: Table | Drawer, rack: str, amount: int | None, pieces: Pieces | None) -> Chips:
    """The chips to be sent: those named, or some of every denomination worth `amount`."""
    if pieces is not None:
        chosen = _mix(place, pieces, amount)
        if not chosen:
            raise Unprocessable("The transfer has no chips.", code="nothing_to_send")
        return chosen
    held, wanted = chips.rack(place.house, rack), amount or 0
    books.require(place.house, rack, held.value, wanted)
    chips.in_use(place.house).require_payable(wanted, "A transfer")
    return denominations.spread(wanted, held)


def _end(command: Command, transfer: Transfer, state: TransferState, **fields: Any) -> None:
    transfer.state, transfer.ended_by = state, command.context.staff
    for name, value in fields.items():
        setattr(transfer, name, value)
    Transfer.objects.filter(id=transfer.pk).update(
        state=state, ended_by=transfer.ended_by, ended_at=ClockTimestamp(), **fields
    )


_EVENTS: Mapping[tuple[Kind, TransferState], type[TransferEvent]] = {
    (Kind.FILL, TransferState.REQUESTED): FillRequested,
    (Kind.FILL, TransferState.SENT): FillSent,
    (Kind.FILL, TransferState.RECEIVED): FillReceived,
    (Kind.FILL, TransferState.CANCELLED): FillCancelled,
    (Kind.CREDIT, TransferState.REQUESTED): CreditRequested,
    (Kind.CREDIT, TransferState.SENT): CreditSent,
    (Kind.CREDIT, TransferState.RECEIVED): CreditReceived,
    (Kind.CREDIT, TransferState.CANCELLED): CreditCancelled,
}


def _event(transfer: Transfer, **more: Any) -> TransferEvent:
    """The event of the state that a transfer has reached."""
    kind = _EVENTS[Kind(transfer.kind), TransferState(transfer.state)]
    return kind(transfer=selectors.describe(transfer), **more)
