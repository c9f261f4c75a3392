"""Reading transfers, soft counts and a table's boxes."""

from collections.abc import Mapping
from typing import Any

from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.cage.models import Drawer
from casino.houses.models import House
from casino.tables.models import Table
from casino.transfers.models import UNDER_WAY, CountState, SoftCount, Transfer


def describe(transfer: Transfer) -> dict[str, Any]:
    """A transfer as both of its ends see it; `value` of what was sent, in minor units."""
    return {
        "transfer": transfer.pk,
        "kind": transfer.kind,
        "table": transfer.table.code,
        "drawer": transfer.drawer.code,
        "state": transfer.state,
        "requested": transfer.requested,
        "sent": transfer.sent,
        "value": None if transfer.sent is None else worth(transfer.sent),
        "counted": transfer.counted,
        "opened_by": transfer.opened_by.login,
        "sent_by": transfer.sent_by.login if transfer.sent_by else None,
        "ended_by": transfer.ended_by.login if transfer.ended_by else None,
        "reason": transfer.reason,
    }


def times(transfer: Transfer) -> dict[str, Any]:
    """When a transfer was begun, sent and ended."""
    return {"opened_at": transfer.opened_at, "sent_at": transfer.sent_at, "ended_at": transfer.ended_at}


def describe_count(count: SoftCount, *, revealed: bool) -> dict[str, Any]:
    """A soft count; what was expected, and the variance, only when it is `revealed`: a count is made without
    knowing."""
    found: dict[str, Any] = {
        "soft_count": count.pk,
        "table": count.table.code,
        "drawer": count.drawer.code,
        "state": count.state,
        "cash": count.counted_cash,
        "pieces": count.counted_pieces,
        "value": worth(count.counted_pieces),
        "counted_by": count.counted_by.login,
        "ended_by": count.ended_by.login if count.ended_by else None,
    }
    if revealed:
        found |= {
            "expected_cash": count.expected_cash,
            "expected_pieces": count.expected_pieces,
            "cash_variance": count.counted_cash - count.expected_cash,
            "chip_variance": worth(count.counted_pieces) - worth(count.expected_pieces),
        }
    return found


def pending(drawer: Drawer) -> tuple[list[int], list[int]]:
    """Open work of a drawer: ids of its transfers under way, and of soft counts without a witness."""
    transfers = Transfer.objects.filter(drawer=drawer, state__in=UNDER_WAY).order_by("id")
    counts = SoftCount.objects.filter(drawer=drawer, state=CountState.COUNTED).order_by("id")
    return list(transfers.values_list("id", flat=True)), list(counts.values_list("id", flat=True))


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
