"""What a gaming day still has to do: what keeps it from being closed, and what goes over into the next one by name.

Work belongs to a day if it was begun before the next day was opened.
"""

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
    locks.lock_all(Table, locks.Rank.DESK, house=house)
    locks.lock_all(Drawer, locks.Rank.DESK, house=house)
    with locks.gathered() as locking:
        locks.lock_vault(house.id)
    hands = _before(Hand.objects.filter(house=house, state__in=UNSETTLED), "started_at", until).order_by("id")
    shifts = _before(Shift.objects.filter(house=house, closed_at=None), "opened_at", until).order_by("id")
    moving = _before(Transfer.objects.filter(house=house, state__in=IN_TRANSIT), "sent_at", until).order_by("id")
    reads = hands[:NAMED], shifts.select_related("drawer")[:NAMED], moving[:NAMED]
    _, playing, open_shifts, in_transit = sql.together(*locking, *reads)
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


def carried(house: House, name: str, until: datetime | None) -> dict[str, Any]:
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
    return {
        "balances": [_balance(code, held) for code, held in days.held(house, name, _STAYS).items()],
        "boxes": [_box(box) for box in boxes.select_related("table").order_by("serial")],
        "tables": list(open_tables.order_by("code").values_list("code", flat=True)),
        "handovers": [
            {"drawer": one.drawer.code, "handover": one.number, "kind": one.kind}
            for one in _before(handovers, "offered_at", until).select_related("drawer").order_by("id")
        ],
        "found_chips": [
            {"found": one.number, "amount": one.amount} for one in _before(found, "noted_at", until).order_by("number")
        ],
        "held_payouts": [
            {"payout": one.number, "player": one.player.ref, "amount": one.amount, "cause": one.cause}
            for one in _before(held, "held_at", until).select_related("player").order_by("number")
        ],
        "noncash_buy_ins": [
            {"buy_in": one.number, "amount": one.amount}
            for one in _before(unsettled, "sold_at", until).order_by("number")
        ],
        "transfers": _transfers(_before(requested, "opened_at", until)),
        "approvals": [
            {"approval": one.number, "operation": one.operation, "state": one.state}
            for one in approvals.order_by("number")
        ],
        "chip_moves": [
            {"move": one.pk, "kind": one.kind, "serial": one.serial, "state": one.state}
            for one in _before(moves, "noted_at", until).order_by("id")
        ],
        "holds": [{"hold": key, "until": until} for key, until in books.open_holds(house)],
        "tray_counts": [
            {"tray_count": one.pk, "serial": one.serial, "table": one.table.code, "purpose": one.purpose}
            for one in _before(trays, "counted_at", until).select_related("table").order_by("serial")
        ],
        **_of_the_vault(house, until),
    }


def _of_the_vault(house: House, until: datetime | None) -> dict[str, Any]:
    """Bags, counts of the vault and shares of the tronc."""
    bags = BankBag.objects.filter(house=house, state=BagState.IN_TRANSIT)
    counts = VaultCount.objects.filter(house=house).exclude(state=VaultCountState.ACCEPTED)
    shares = TroncShare.objects.filter(house=house, paid_at=None).select_related("pool", "staff")
    return {
        "bank_bags": [
            {"number": one.number, "way": one.way, "bag": one.bag}
            for one in _before(bags, "sent_at", until).order_by("number")
        ],
        "vault_counts": [
            {"vault_count": one.number, "state": one.state}
            for one in _before(counts, "begun_at", until).order_by("number")
        ],
        "tronc_shares": [
            {"pool": one.pool.serial, "login": one.staff.login, "amount": one.amount}
            for one in _before(shares, "pool__shared_at", until).order_by("pool__serial", "staff__login")
        ],
    }


def _before(rows: QuerySet[Any], column: str, until: datetime | None) -> QuerySet[Any]:
    return rows if until is None else rows.filter(**{f"{column}__lt": until})


def _transfers(rows: QuerySet[Transfer]) -> list[dict[str, Any]]:
    transfers = rows.select_related("table", "drawer").order_by("id")
    return [
        {
            "transfer": one.pk,
            "kind": one.kind,
            "serial": one.serial,
            "table": one.table.code,
            "drawer": one.drawer.code,
            "state": one.state,
        }
        for one in transfers
    ]


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
