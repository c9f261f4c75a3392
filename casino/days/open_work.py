"""What a gaming day still has to do: what keeps it from being closed, and what goes over into the next one by name.

Work belongs to a day if it was begun before the next day was opened.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from casino.approvals.models import OPEN, Approval
from casino.bookkeeping import books
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import kind_of
from casino.cage.models import (
    BagState,
    BankBag,
    Drawer,
    FoundChips,
    FoundState,
    Handover,
    HandoverState,
    HeldPayout,
    HeldState,
    NonCashBuyIn,
    NonCashState,
    Shift,
    VaultCount,
    VaultCountState,
)
from casino.core import locks, sql
from casino.core.errors import Conflict
from casino.hands.models import UNSETTLED, Hand
from casino.houses import days
from casino.houses.models import House
from casino.tables.models import Table, TableState
from casino.transfers.models import (
    IN_TRANSIT,
    UNPOSTED,
    Box,
    BoxState,
    ChipMove,
    Transfer,
    TransferState,
    TrayCount,
    TrayCountState,
    TroncShare,
)

#: How many of each a refusal names at most.
NAMED = 20
#: Accounts of money that nobody has won yet and that stays at its table over the turn of the day.
_STAYS = (Account.CUKASSZA, Account.BANK, Account.CARRY_HELD)


def require_done(house: House, until: datetime | None) -> None:
    """Refuse while hands, drawers or chips in transit keep a day from being closed; `until` is when the next one was
    opened, None where there is none. Every table and then every drawer is locked until the day has closed, in the order
    of their ids, and then the vault: nothing of this begins meanwhile, and what goes over by name stays as it is.
    Raises Conflict day_blocked."""
    with locks.gathered() as locking:
        locks.lock_every(Table, Drawer, rank=locks.Rank.DESK, house=house)
        locks.lock_vault(house.id)
    hands = _before(Hand.objects.filter(house=house, state__in=UNSETTLED), "started_at", until).order_by("id")
    shifts = _before(Shift.objects.filter(house=house, closed_at=None), "opened_at", until).order_by("id")
    moving = _before(Transfer.objects.filter(house=house, state__in=IN_TRANSIT), "sent_at", until).order_by("id")
    reads = hands[:NAMED], shifts.select_related("drawer")[:NAMED], moving[:NAMED]
    playing, open_shifts, in_transit = sql.together(*locking, *reads)[len(locking) :]
    blocking = [
        *({"kind": "hand", "name": hand.name, "state": hand.state} for hand in playing),
        *({"kind": "drawer", "name": shift.drawer.code, "state": shift.state} for shift in open_shifts),
        *({"kind": "transfer", "name": f"{one.kind} {one.serial}", "state": one.state} for one in in_transit),
    ]
    if blocking:
        raise Conflict(
            "Finish what the day has begun first: settle or void its hands, close its drawers, receive its transfers.",
            code="day_blocked",
            blocking=blocking,
        )


@dataclass(frozen=True, slots=True)
class Carried:
    """What a day leaves to the next one, as it is read: by its name in the event what reads it, and how each row is
    described there."""

    parts: Mapping[str, tuple[QuerySet[Any, Any], Callable[[Any], Any]]]

    @property
    def reads(self) -> list[QuerySet[Any, Any]]:
        """What reads all of it."""
        return [rows for rows, _ in self.parts.values()]

    def described(self, found: Sequence[list[Any]]) -> dict[str, Any]:
        """It, by what `reads` has found."""
        named = zip(self.parts.items(), found, strict=True)
        return {name: [describe(one) for one in rows] for (name, (_, describe)), rows in named}


def carrying(house: House, name: str, until: datetime | None) -> Carried:
    """What a day that has just been closed leaves to the next one, by name: money that nobody has won, boxes that are
    not received, open tables, floats and other handovers, found chips, held payouts, buy-ins by card or transfer whose
    money has not come, requested transfers, what is set aside for them and for announced cash-outs, approvals,
    movements of chips and counts of trays and of the vault that wait for others, bags on their way to or from the bank,
    and shares of the tronc that are not paid. Of what is still counted no figures: it is counted without knowing
    them."""
    boxes = Box.objects.filter(Q(state__in=UNPOSTED, for_day__lte=name) | _at_table(until), house=house)
    handovers = Handover.objects.filter(house=house, state=HandoverState.OFFERED)
    found = FoundChips.objects.filter(house=house, state=FoundState.REGISTERED)
    held = HeldPayout.objects.filter(house=house, state=HeldState.HELD)
    unsettled = NonCashBuyIn.objects.filter(house=house, state=NonCashState.OPEN)
    requested = Transfer.objects.filter(house=house, state=TransferState.REQUESTED)
    approvals = _before(Approval.objects.filter(house=house, state__in=OPEN), "requested_at", until)
    moves = ChipMove.objects.filter(house=house, ended_at=None)
    trays = TrayCount.objects.filter(house=house, state=TrayCountState.WAITING)
    open_tables = Table.objects.filter(house=house).exclude(state__in=[TableState.CLOSED, TableState.RETIRED])
    return Carried({
        "balances": (days.held(house, name, _STAYS), lambda row: _balance(*row)),
        "boxes": (boxes.select_related("table").order_by("serial"), _box),
        "tables": (open_tables.order_by("code").values_list("code", flat=True), str),
        "handovers": (
            _before(handovers, "offered_at", until).select_related("drawer").order_by("id"),
            lambda one: {"drawer": one.drawer.code, "handover": one.number, "kind": one.kind},
        ),
        "found_chips": (
            _before(found, "noted_at", until).order_by("number"),
            lambda one: {"found": one.number, "amount": one.amount},
        ),
        "held_payouts": (
            _before(held, "held_at", until).select_related("player").order_by("number"),
            lambda one: {"payout": one.number, "player": one.player.ref, "amount": one.amount, "cause": one.cause},
        ),
        "noncash_buy_ins": (
            _before(unsettled, "sold_at", until).order_by("number"),
            lambda one: {"buy_in": one.number, "amount": one.amount},
        ),
        "transfers": (
            _before(requested, "opened_at", until).select_related("table", "drawer").order_by("id"),
            _transfer,
        ),
        "approvals": (
            approvals.order_by("number"),
            lambda one: {"approval": one.number, "operation": one.operation, "state": one.state},
        ),
        "chip_moves": (
            _before(moves, "noted_at", until).order_by("id"),
            lambda one: {"move": one.serial, "kind": one.kind, "state": one.state},
        ),
        "holds": (books.open_holds(house), _hold),
        "tray_counts": (
            _before(trays, "counted_at", until).select_related("table").order_by("serial"),
            lambda one: {"tray_count": one.serial, "table": one.table.code, "purpose": one.purpose},
        ),
        **_of_the_vault(house, until),
    })  # fmt: skip


def _of_the_vault(house: House, until: datetime | None) -> dict[str, tuple[QuerySet[Any, Any], Callable[[Any], Any]]]:
    """Bags, counts of the vault and shares of the tronc."""
    bags = BankBag.objects.filter(house=house, state=BagState.IN_TRANSIT)
    counts = VaultCount.objects.filter(house=house).exclude(state=VaultCountState.ACCEPTED)
    shares = TroncShare.objects.filter(house=house, paid_at=None).select_related("pool", "staff")
    return {
        "bank_bags": (
            _before(bags, "sent_at", until).order_by("number"),
            lambda one: {"number": one.number, "way": one.way, "bag": one.bag},
        ),
        "vault_counts": (
            _before(counts, "begun_at", until).order_by("number"),
            lambda one: {"vault_count": one.number, "state": one.state},
        ),
        "tronc_shares": (
            _before(shares, "pool__shared_at", until).order_by("pool__serial", "staff__login"),
            lambda one: {"pool": one.pool.serial, "login": one.staff.login, "amount": one.amount},
        ),
    }


def _before(rows: QuerySet[Any], column: str, until: datetime | None) -> QuerySet[Any]:
    return rows if until is None else rows.filter(**{f"{column}__lt": until})


def _transfer(one: Transfer) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "serial": one.serial,
        "table": one.table.code,
        "drawer": one.drawer.code,
        "state": one.state,
    }


def _hold(one: Any) -> dict[str, str]:
    key, end = books.key_and_end(one)
    return {"hold": key, "until": end}


def _at_table(until: datetime | None) -> Q:
    """Boxes that were put on their tables before the next day was opened, and are there."""
    there = Q(state=BoxState.AT_TABLE)
    return there if until is None else there & Q(put_at__lt=until)


def _balance(code: str, held: int) -> dict[str, Any]:
    kind = kind_of(code)
    return {"table": code.partition("/")[2], "number": str(kind.number), "kind": kind.name, "amount": held}


def _box(box: Box) -> dict[str, Any]:
    return {
        "box": box.serial,
        "table": box.table.code,
        "kind": box.kind,
        "number": box.number,
        "state": box.state,
        "for_day": box.for_day or None,
    }
