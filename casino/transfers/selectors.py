"""Reading transfers, boxes, shares of the tronc, and a table's racks."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.cage.models import Drawer
from casino.core import sql
from casino.houses.control_points import ControlPoints
from casino.houses.models import House
from casino.staff.models import Role, Terminal, TerminalKind
from casino.tables.models import Table
from casino.transfers.models import (
    IN_TRANSIT,
    SENDER,
    UNDER_WAY,
    Box,
    BoxState,
    ChipMove,
    Kind,
    Lateness,
    MoveState,
    Transfer,
    TrayCount,
    TrayCountState,
    TroncPool,
)


def describe(transfer: Transfer, *, blind: bool = False) -> dict[str, Any]:
    """A transfer as its sender sees it; `value` of what was sent, in minor units. `blind`: without what was requested
    and sent, as somebody sees it who is to count it."""
    found = {
        "kind": transfer.kind,
        "serial": transfer.serial,
        "table": transfer.table.code,
        "drawer": transfer.drawer.code,
        "state": transfer.state,
        "reservation": transfer.reservation,
        "counted": transfer.counted,
        "differing_counts": len(transfer.miscounts),
        "opened_by": transfer.opened_by.login,
        "sent_by": transfer.sent_by.login if transfer.sent_by else None,
        "carried_by": transfer.carried_by.login if transfer.carried_by else None,
        "declined_by": transfer.declined_by.login if transfer.declined_by else None,
        "ended_by": transfer.ended_by.login if transfer.ended_by else None,
        "reason": transfer.reason,
    }
    if not blind:
        value = None if transfer.sent is None else worth(transfer.sent)
        found |= {"requested": transfer.requested, "sent": transfer.sent, "value": value}
    return found


#: Who may know what is in transit: none of them counts it.
_OVERSEE = frozenset({Role.AUDITOR, Role.ADMIN, Role.MANAGER, Role.SURVEILLANCE})


def is_blind(transfer: Transfer, role: str, terminal: Terminal) -> bool:
    """Whether somebody in this role at this terminal must not know what was sent: while it is in transit only the
    sender's end may, and who oversees both at an office."""
    if transfer.state not in IN_TRANSIT:
        return False
    if terminal.kind == TerminalKind.OFFICE:
        return role not in _OVERSEE
    place = transfer.table.code if terminal.kind == TerminalKind.TABLE else transfer.drawer.code
    return SENDER[Kind(transfer.kind)] != terminal.kind or place != terminal.location


def times(transfer: Transfer, now: datetime, points: ControlPoints) -> dict[str, Any]:
    """When a transfer was begun, sent, declined and ended; while it is under way, how old it is at `now`, in whole
    minutes since it was sent or, before that, requested, and whether that is too long by the control points."""
    found: dict[str, Any] = {
        "opened_at": transfer.opened_at,
        "sent_at": transfer.sent_at,
        "declined_at": transfer.declined_at,
        "ended_at": transfer.ended_at,
        "minutes": None,
        "late": None,
    }
    if transfer.ended_at is None:
        minutes = int((now - (transfer.sent_at or transfer.opened_at)).total_seconds() // 60)
        late = Lateness.LATE if minutes >= points.transfer_late_minutes else Lateness.IN_TIME
        late = Lateness.EXCEPTION if minutes >= points.transfer_exception_minutes else late
        found |= {"minutes": minutes, "late": late}
    return found


def describe_box(box: Box, *, figures: bool = True) -> dict[str, Any]:
    """A box; what was counted once two counts agree or a supervisor has decided, what was expected once it was
    received. `figures`: whether with them at all."""
    found: dict[str, Any] = {
        "box": box.serial,
        "table": box.table.code,
        "kind": box.kind,
        "number": box.number,
        "state": box.state,
        "seal": box.seal,
        "seal_read": box.seal_read,
        "for_day": box.for_day or None,
        "put_by": box.put_by.login,
        "taken_by": box.taken_by.login if box.taken_by else None,
        "brought_by": box.brought_by.login if box.brought_by else None,
        "differing_rounds": box.differing_rounds,
        "decided_by": box.decided_by.login if box.decided_by else None,
        "observer": box.observer.login if box.observer else None,
        "received_by": box.received_by.login if box.received_by else None,
        "reason": box.reason,
    }
    if figures and box.counted_cash is not None:
        found |= {"cash": box.counted_cash, "pieces": box.counted_pieces, "value": worth(box.counted_pieces or {})}
    if figures and box.state == BoxState.RECEIVED:
        found |= {
            "expected_cash": box.expected_cash,
            "expected_pieces": box.expected_pieces,
            "cash_variance": (box.counted_cash or 0) - (box.expected_cash or 0),
            "chip_variance": worth(box.counted_pieces or {}) - worth(box.expected_pieces or {}),
        }
    return found


def box_times(box: Box) -> dict[str, Any]:
    """When a box was put on its table, taken off, brought and received."""
    return {name: getattr(box, name) for name in ("put_at", "taken_at", "brought_at", "received_at")}


def describe_tray_count(count: TrayCount, *, figures: bool = True) -> dict[str, Any]:
    """A count of a tray; what was counted and expected once it was confirmed. `figures`: whether with them at all."""
    found: dict[str, Any] = {
        "tray_count": count.serial,
        "table": count.table.code,
        "purpose": count.purpose,
        "state": count.state,
        "counted_by": count.counted_by.login,
        "witnessed_by": count.witnessed_by.login if count.witnessed_by else None,
        "exception": count.exception,
    }
    if figures and count.state == TrayCountState.CONFIRMED:
        variance = worth(count.pieces) - worth(count.expected)
        found |= {"counted": count.pieces, "expected": count.expected, "variance": variance}
    return found


def describe_chip_move(move: ChipMove, *, figures: bool = True) -> dict[str, Any]:
    """Chips that come into the vault or leave it; what was noted and counted once no more counts are made. `figures`:
    whether with them at all."""
    found: dict[str, Any] = {
        "move": move.serial,
        "kind": move.kind,
        "chip_set": move.chip_set.code,
        "drawer": move.drawer.code if move.drawer else None,
        "paper": move.paper,
        "state": move.state,
        "noted_by": move.noted_by.login,
        "observer": move.observer.login if move.observer else None,
        "differing_rounds": move.differing_rounds,
        "decided_by": move.decided_by.login if move.decided_by else None,
        "reason": move.reason,
    }
    if figures and move.state != MoveState.WAITING:
        found |= {"noted": move.noted, "counted": move.counted}
        found |= {"value": None if move.counted is None else worth(move.counted)}
    return found


def describe_pool(pool: TroncPool) -> dict[str, Any]:
    """A pool of tips with its shares, in minor units."""
    shares = pool.shares.select_related("staff").order_by("staff__login")
    return {
        "pool": pool.serial,
        "amount": pool.amount,
        "shared_by": pool.shared_by.login,
        "shares": [
            {"login": one.staff.login, "points": one.points, "amount": one.amount, "paid": one.paid_at is not None}
            for one in shares
        ],
    }


def open_work(drawer: Drawer) -> list[dict[str, Any]]:
    """What of a drawer is under way between it and tables or the vault, by `kind` and `number`, which its address has:
    fills, credits, and chips of a withdrawn set that are being counted into the vault."""
    transfers, moves = sql.together(
        Transfer.objects.filter(drawer=drawer, state__in=UNDER_WAY).order_by("id"),
        ChipMove.objects.filter(drawer=drawer, state=MoveState.WAITING).order_by("id"),
    )
    return [
        *({"kind": str(one.kind), "number": one.serial} for one in transfers),
        *({"kind": "chip_move", "number": one.serial} for one in moves),
    ]


def worth(pieces: Mapping[str, int]) -> int:
    """What pieces by denomination are worth, in minor units."""
    return sum(int(value) * count for value, count in pieces.items())


def at_table(table: Table) -> dict[str, Any]:
    """The chips of a table that are not in front of players or in the locked tax box: tray, tip box, on their way."""
    places = {"tray": Account.TRAY, "tip_box": Account.TRONC_BOX, "in_transit": Account.TRANSIT}
    return {"table": table.code} | {name: _rack(table.house, table.account(number)) for name, number in places.items()}


def _rack(house: House, code: str) -> dict[str, Any]:
    held = {str(value): count for value, count in sorted(chart.pieces(house, code).items(), reverse=True) if count}
    return {"value": worth(held), "pieces": held}
