"""Fills and credits: chips between a drawer and a table's tray, sent by one person and received by another.

Either end may begin. The end that the chips come from sends them at once; the other one asks for them, and they are
sent when the first end says so. A third person carries them. What arrives is counted by a person who is not shown what
was sent, and must be what was sent, piece by piece. A count that differs is kept; after two of them only a
supervisor, who has neither sent nor counted, takes the chips in with a variance, which is then chips over or short of
the table.

What was sent and is not wanted comes back by two people: the other end declines it and the sender's end takes it back,
or a supervisor cancels it at the sender's end.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events.custody import (
    CreditCancelled,
    CreditCountDiffered,
    CreditDeclined,
    CreditReceived,
    CreditRequested,
    CreditSent,
    FillCancelled,
    FillCountDiffered,
    FillDeclined,
    FillReceived,
    FillRequested,
    FillSent,
    TransferEvent,
)
from casino.audit.services import record
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import posting
from casino.cage import selectors as drawers
from casino.cage import services as cage
from casino.cage.blind import withheld
from casino.cage.models import Drawer
from casino.chips import selectors as chips
from casino.chips.counts import chip_variance
from casino.core import locks, write
from casino.core.commands import Answer, Command
from casino.core.denominations import Chips
from casino.core.errors import Conflict, Forbidden, NotFound, Unprocessable
from casino.core.work import Outcome, Work
from casino.houses.control_points import in_force
from casino.houses.models import ClockTimestamp, House
from casino.staff import independence
from casino.staff.models import Role, Staff, TerminalKind
from casino.tables import selectors as tables_read
from casino.tables import services as tables
from casino.tables.models import Table, TableState
from casino.transfers import choosing, selectors, serials
from casino.transfers.choosing import Pieces, mix
from casino.transfers.models import (
    IN_TRANSIT,
    MOST_COUNTS,
    RECEIVER,
    RESERVED_SECONDS,
    SENDER,
    UNDER_WAY,
    Kind,
    Reservation,
    Transfer,
    TransferState,
)

#: Who may decide on a transfer that they have no part in.
SUPERVISORS = frozenset({Role.FLOOR, Role.CAGE_SUPERVISOR})


@dataclass(frozen=True, slots=True)
class End:
    """One end of a transfer: a table's console or a drawer's terminal."""

    kind: TerminalKind
    code: str


@dataclass(frozen=True, slots=True)
class Paper:
    """How people name a transfer: a fill or credit, by its number among those of the house."""

    kind: Kind
    serial: int

    def __str__(self) -> str:
        return f"{self.kind.capitalize()} {self.serial}"


class CountDiffers(Conflict):
    """A count on arrival is not what was sent. The refusal says no more: who counts again must not know more."""

    code = "count_mismatch"

    def __init__(self, counted: Chips) -> None:
        super().__init__(
            "The count differs from what was sent. Count again; after two counts that differ, a supervisor counts and "
            "decides."
        )
        self.counted = counted


def start(
    *, command: Command, end: End, kind: Kind, other: str, amount: int | None = None, pieces: Pieces | None = None,
    by_template: bool = False, carrier: str | None = None,
) -> Answer:  # fmt: skip
    """Send a fill or credit to the other end (code `other`), or ask for one, whichever `end` can do.

    What is wanted is named as `pieces`, or worked out for `amount` minor units, or a fill is `by_template`: it brings
    the tray to its template when it is sent. `carrier` is the login of the person who carries what is sent. Raises
    Conflict drawer_closed or no_exact_change, no_template, tray_at_template of a fill that is sent, approval_required;
    InsufficientFunds, Unprocessable for wrong pieces or unknown_carrier, Forbidden four_eyes for a sender who carries,
    NotFound.
    """

    def change(place: Table | Drawer, work: Work) -> Outcome:
        table, drawer = _ends(place, other)
        wanted = {
            "amount": amount,
            "pieces": None if pieces is None else mix(place, pieces, amount).as_json(),
            "template": choosing.template(table) if by_template else None,
        }
        transfer = Transfer(
            house=place.house,
            kind=kind,
            serial=serials.next_of(place.house, kind),
            table=table,
            drawer=drawer,
            opened_by=command.context.staff,
            requested={name: value for name, value in wanted.items() if value is not None},
        )
        transfer.reservation = _reserve(work, transfer, end)
        transfer.save(force_insert=True)
        if SENDER[kind] == end.kind:
            _send(work, command, transfer, place, carrier)
        return Outcome(_event(transfer), status=201)

    return _write(command, end, change)


def send(
    *, command: Command, end: End, paper: Paper, amount: int | None, pieces: Pieces | None,
    carrier: str | None = None,
) -> Answer:  # fmt: skip
    """Send what the other end has requested, or other chips instead. Raises as `start`, and Conflict not_your_side or
    one that says in which state the transfer is."""

    def change(place: Table | Drawer, work: Work) -> Outcome:
        transfer = _lock(place, paper)
        _require(transfer, end, SENDER, TransferState.REQUESTED)
        instead = {"amount": amount, "pieces": pieces} if amount is not None or pieces is not None else None
        _send(work, command, transfer, place, carrier, instead)
        return Outcome(_event(transfer))

    return _write(command, end, change)


def receive(*, command: Command, end: End, paper: Paper, pieces: Pieces, carrier: str | None = None) -> Answer:
    """Count what has arrived and take it in; `carrier` is the login of the person who has brought it, unless the sender
    has named one.

    Raises CountDiffers where it is not what was sent, piece by piece; the count is kept. Raises Conflict
    supervisor_needed after two such counts, not_your_side, carrier_differs, or one naming the transfer's state;
    Unprocessable carrier_missing and unknown_carrier; Forbidden four_eyes for the sender and the carrier.
    """

    def change(place: Table | Drawer, work: Work) -> Outcome:
        transfer = _arrived(command, end, place, paper)
        if len(transfer.miscounts) >= MOST_COUNTS:
            raise Conflict(
                f"{MOST_COUNTS} counts have differed from what was sent; a supervisor must count and decide.",
                code="supervisor_needed",
            )
        brought_by = _carrier(command, transfer, carrier, needed=True)
        sent, counted = mix(place, transfer.sent or {}), mix(place, pieces)
        if counted != sent:
            raise CountDiffers(counted)
        return _take_in(work, command, transfer, sent, counted, brought_by)

    try:
        return _write(command, end, change)
    except CountDiffers as refused:
        _keep(command, end, paper, refused.counted)
        raise


def accept(
    *, command: Command, end: End, paper: Paper, pieces: Pieces, reason: str, carrier: str | None = None
) -> Answer:
    """Take in what has arrived as a supervisor has counted it, after two counts that differed from what was sent; the
    variance is posted as chips over or short at the table.

    Raises as `receive`; Conflict recount_needed before the two counts; Forbidden four_eyes also for who made one.
    """

    def change(place: Table | Drawer, work: Work) -> Outcome:
        transfer = _arrived(command, end, place, paper)
        if len(transfer.miscounts) < MOST_COUNTS:
            raise Conflict(
                f"A variance is accepted after {MOST_COUNTS} counts that differ; count first.", code="recount_needed"
            )
        logins = {count["by"] for count in transfer.miscounts}
        counters = Staff.objects.filter(house_id=place.house_id, login__in=logins)
        independence.require_another(command.context.staff, "counted this", counters)
        brought_by = _carrier(command, transfer, carrier, needed=True)
        sent, counted = mix(place, transfer.sent or {}), mix(place, pieces)
        return _take_in(work, command, transfer, sent, counted, brought_by, reason)

    return _write(command, end, change)


def decline(*, command: Command, end: End, paper: Paper, reason: str) -> Answer:
    """Send back what has arrived or is on its way: from now on it can only be cancelled, by the end that sent it.
    Raises Conflict as `receive`, Forbidden four_eyes for the sender."""

    def change(place: Table | Drawer, work: Work) -> Outcome:
        transfer = _lock(place, paper)
        _require(transfer, end, RECEIVER, TransferState.SENT)
        require_another(command, transfer.sent_by, "sent this")
        transfer.state, transfer.declined_by = TransferState.DECLINED, command.context.staff
        transfer.reason = reason
        Transfer.objects.filter(id=transfer.pk).update(
            state=transfer.state, declined_by=transfer.declined_by, declined_at=ClockTimestamp(), reason=reason
        )
        return Outcome(_event(transfer, blind=True, reason=reason))

    return _write(command, end, change)


def cancel(*, command: Command, end: End, paper: Paper, reason: str) -> Answer:
    """Cancel a transfer: before anything is sent, either end may do it; after that, the end that sent it, once the
    chips are back in its rack. The posting is mirrored.

    It takes two people: what the other end has declined is taken back by anybody else of the sender's end, what it has
    not declined by a supervisor who has not sent it. Raises Conflict as `receive`, Forbidden four_eyes.
    """

    def change(place: Table | Drawer, work: Work) -> Outcome:
        transfer = _lock(place, paper)
        if transfer.state in IN_TRANSIT:
            _require(transfer, end, SENDER, *IN_TRANSIT)
            _require_two(command, transfer)
            _require_open(place)
        else:
            _require_state(transfer, *UNDER_WAY)
        _release(work, transfer)
        mirrors = work.reverse_all(
            keys=[f"{_key(transfer)}:sent"], metadata={transfer.kind: transfer.serial, "reason": reason}
        )
        _end(command, transfer, TransferState.CANCELLED, reason=reason, reservation=transfer.reservation)
        return Outcome(_event(transfer, mirrors=mirrors or None, reason=reason))

    return _write(command, end, change)


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


def _reserve(work: Work, transfer: Transfer, end: End) -> str:
    """Set the pieces of a fill that a table asks for aside in the drawer, where they are; returns the reservation. A
    credit sets nothing aside: the tray pays hands. Raises Conflict drawer_short where somebody has just taken them."""
    pieces, drawer = transfer.requested.get("pieces"), transfer.drawer
    if transfer.kind != Kind.FILL or end.kind != TerminalKind.TABLE or not pieces:
        return ""
    wanted = mix(transfer.table, pieces)
    if (chips.available(transfer.house, drawer.account(Account.CAGE_CHIPS)) - wanted).shortage:
        return ""
    with withheld(drawer):
        work.hold(
            key=_key(transfer),
            kind="fill.requested",
            postings=[posting("fill_sent", transfer.places, chips=wanted)],
            metadata={transfer.kind: transfer.serial, **transfer.places},
            seconds=RESERVED_SECONDS,
        )
    return Reservation.PENDING


def _release(work: Work, transfer: Transfer) -> None:
    """Let go of what was set aside for a fill; the caller stores the reservation."""
    if transfer.reservation == Reservation.PENDING:
        transfer.reservation = work.void_hold(_key(transfer))


def _key(transfer: Transfer) -> str:
    """What is set aside, and the postings of a transfer, are named by it."""
    return f"{transfer.kind}:{transfer.serial}"


#: Whom and what a transfer names.
_NAMED = ("table", "drawer", "opened_by", "sent_by", "carried_by", "declined_by", "ended_by")


def _lock(place: Table | Drawer, paper: Paper) -> Transfer:
    """The transfer, if this place is one of its ends. Raises NotFound."""
    name = "table" if isinstance(place, Table) else "drawer"
    named = {"house": place.house, "kind": paper.kind, "serial": paper.serial}
    transfer = locks.lock(Transfer, locks.Rank.CUSTODY, related=_NAMED, **named)
    if getattr(transfer, f"{name}_id") != place.pk:
        raise NotFound(f"{paper} does not concern {name} {place.code}.")
    setattr(transfer, name, place)
    return transfer


def _arrived(command: Command, end: End, place: Table | Drawer, paper: Paper) -> Transfer:
    """A transfer that this person may take in here."""
    transfer = _lock(place, paper)
    _require(transfer, end, RECEIVER, TransferState.SENT)
    require_another(command, transfer.sent_by, "sent this")
    _require_open(place)
    return transfer


def _take_in(
    work: Work, command: Command, transfer: Transfer, sent: Chips, counted: Chips, carrier: Staff | None,
    reason: str | None = None,
) -> Outcome:  # fmt: skip
    rack = transfer.table.account(Account.TRANSIT)
    work.post(
        key=f"{_key(transfer)}:received",
        kind=f"{transfer.kind}.received",
        postings=[
            *chip_variance(rack, transfer.table.code, counted - sent),
            posting(f"{transfer.kind}_received", transfer.places, chips=counted),
        ],
        metadata={transfer.kind: transfer.serial, **transfer.places},
    )
    _end(command, transfer, TransferState.RECEIVED, counted=counted.as_json(), reason=reason or "", carried_by=carrier)
    return Outcome(_event(transfer, reason=reason, approver=reason and command.context.staff.login))


def _keep(command: Command, end: End, paper: Paper, counted: Chips) -> None:
    """Keep a count that differed from what was sent, with an event; once for each request."""
    request = f"{command.context.terminal.code}:{command.key}"

    def operation() -> None:
        place = _lock_place(command.context.house, end)
        transfer = _lock(place, paper)
        known = {count["request"] for count in transfer.miscounts}
        if transfer.state != TransferState.SENT or request in known or len(known) >= MOST_COUNTS:
            return
        count = {"pieces": counted.as_json(), "by": command.context.staff.login, "request": request}
        transfer.miscounts = [*transfer.miscounts, count]
        Transfer.objects.filter(id=transfer.pk).update(miscounts=transfer.miscounts)
        kind = FillCountDiffered if transfer.kind == Kind.FILL else CreditCountDiffered
        event = kind(transfer=selectors.describe(transfer, blind=True), count=count)
        record(chain=place.chain, house=place.house, actor=command.context.actor, event=event)

    locks.in_transaction(operation)


def _lock_place(house: House, end: End) -> Table | Drawer:
    model: type[Table] | type[Drawer] = Table if end.kind == TerminalKind.TABLE else Drawer
    place: Table | Drawer = locks.lock(model, locks.Rank.DESK, house=house, code=end.code)
    place.house = house
    return place


def _carrier(command: Command, transfer: Transfer, login: str | None, *, needed: bool = False) -> Staff | None:
    """Who carries the chips: a third person. Raises Unprocessable carrier_missing or unknown_carrier, Conflict
    carrier_differs, Forbidden four_eyes."""
    known = transfer.carried_by
    if login is None and known is None and needed:
        raise Unprocessable("Name the person who has carried the chips.", code="carrier_missing")
    if login is not None and known is not None and login != known.login:
        raise Conflict("The sender has named another person as the carrier.", code="carrier_differs")
    found = known
    if login is not None and known is None:
        found = Staff.objects.filter(house_id=command.context.house.id, login=login, is_active=True).first()
        if found is None:
            raise Unprocessable(f"This house has no member of staff {login}.", code="unknown_carrier")
    if found is not None and found.pk in (command.context.staff.pk, transfer.sent_by_id):
        raise Forbidden("A third person carries the chips, who neither sends nor receives them.", code="four_eyes")
    return found


def _require_two(command: Command, transfer: Transfer) -> None:
    """Refuse a person who would take back sent chips alone. Raises Forbidden four_eyes."""
    if transfer.state == TransferState.DECLINED:
        require_another(command, transfer.declined_by, "declined this")
        return
    require_another(command, transfer.sent_by, "sent this")
    if command.context.role not in SUPERVISORS:
        raise Forbidden(
            "Sent chips come back when the other end has declined them, or a supervisor cancels the transfer.",
            code="four_eyes",
        )


def _require(transfer: Transfer, end: End, whose: Mapping[Any, TerminalKind], *states: TransferState) -> None:
    _require_state(transfer, *states)
    if whose[Kind(transfer.kind)] != end.kind:
        raise Conflict(
            f"A {transfer.kind} is sent by the {SENDER[Kind(transfer.kind)]} and received by the "
            f"{RECEIVER[Kind(transfer.kind)]}; this is the {end.kind}.",
            code="not_your_side",
            kind=transfer.kind,
        )


def _require_state(transfer: Transfer, *allowed: TransferState) -> None:
    if transfer.state not in allowed:
        name = Paper(Kind(transfer.kind), transfer.serial)
        raise Conflict(
            f"{name} is {transfer.state}; this needs one that is {' or '.join(allowed)}.",
            code=f"transfer_{transfer.state}",
            state=transfer.state,
        )


def require_another(command: Command, first: Staff | None, what: str) -> None:
    """Refuse a person who has signed already, or is not independent of who has. Raises Forbidden four_eyes."""
    independence.require_another(command.context.staff, what, (first,))


def _require_open(place: Table | Drawer) -> None:
    """A closed drawer has been counted: nothing goes into it or out of it. A tray is always available."""
    if isinstance(place, Drawer):
        cage.require_open(place)


def _send(
    work: Work, command: Command, transfer: Transfer, place: Table | Drawer, carrier: str | None,
    instead: Mapping[str, Any] | None = None,
) -> None:  # fmt: skip
    """Take the chips out of this place's rack and sign for them, from an amount on that the house sets once a second
    person has approved it.

    Not during a hand, because it may need the chips of the tray.
    """
    _require_open(place)
    if isinstance(place, Table):
        tables.require_state(place, TableState.OPEN, TableState.CLOSED)
    _release(work, transfer)
    wanted = transfer.requested if instead is None else instead
    chosen = choosing.chosen(transfer, place, wanted)
    if chosen.value >= in_force(place.house).transfer_approved_from or choosing.leaves_too_few(place, chosen):
        by = (Role.CAGE_SUPERVISOR, Role.MANAGER)
        work.require_approval(Need(kind=ApprovalKind.TRANSFER, roles=by, amount=chosen.value))
    work.post(
        key=f"{_key(transfer)}:sent",
        kind=f"{transfer.kind}.sent",
        postings=[posting(f"{transfer.kind}_sent", transfer.places, chips=chosen)],
        metadata={transfer.kind: transfer.serial, **transfer.places},
    )
    transfer.state, transfer.sent, transfer.sent_by = TransferState.SENT, chosen.as_json(), command.context.staff
    transfer.carried_by = _carrier(command, transfer, carrier)
    Transfer.objects.filter(id=transfer.pk).update(
        state=transfer.state,
        reservation=transfer.reservation,
        sent=transfer.sent,
        sent_by=transfer.sent_by,
        sent_at=ClockTimestamp(),
        carried_by=transfer.carried_by,
    )


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
    (Kind.FILL, TransferState.DECLINED): FillDeclined,
    (Kind.FILL, TransferState.RECEIVED): FillReceived,
    (Kind.FILL, TransferState.CANCELLED): FillCancelled,
    (Kind.CREDIT, TransferState.REQUESTED): CreditRequested,
    (Kind.CREDIT, TransferState.SENT): CreditSent,
    (Kind.CREDIT, TransferState.DECLINED): CreditDeclined,
    (Kind.CREDIT, TransferState.RECEIVED): CreditReceived,
    (Kind.CREDIT, TransferState.CANCELLED): CreditCancelled,
}


def _event(transfer: Transfer, *, blind: bool = False, **more: Any) -> TransferEvent:
    """The event of the state that a transfer has reached."""
    kind = _EVENTS[Kind(transfer.kind), TransferState(transfer.state)]
    return kind(transfer=selectors.describe(transfer, blind=blind), **more)
