"""Reading drawers."""

from typing import Any

from django.db.models import Case, Exists, OuterRef, QuerySet, Value, When

from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.cage.models import Drawer, DrawerState, Shift
from casino.core.errors import NotFound
from casino.houses.models import House


def get(house: House, code: str) -> Drawer:
    """One drawer of the house. Raises NotFound."""
    drawer = Drawer.objects.filter(house=house, code=code).select_related("house").first()
    if drawer is None:
        raise NotFound(f"This house has no drawer {code}.")
    return drawer


def open_shift(drawer: Drawer) -> Shift | None:
    """The shift in progress, or None when the drawer is closed."""
    return Shift.objects.filter(drawer=drawer, closed_at=None).first()


def with_state(drawers: QuerySet[Drawer]) -> QuerySet[Drawer]:
    """These drawers, each with its `state`."""
    in_progress = Exists(Shift.objects.filter(drawer=OuterRef("pk"), closed_at=None))
    return drawers.annotate(state=Case(When(in_progress, Value(DrawerState.OPEN)), default=Value(DrawerState.CLOSED)))


def newest_shifts(house: House) -> QuerySet[Shift]:
    """The newest shift of every drawer that was ever opened, by the drawer's code."""
    shifts = Shift.objects.filter(house=house).select_related("drawer")
    return shifts.order_by("drawer__code", "-number").distinct("drawer__code")


def shift(found: Shift) -> dict[str, Any]:
    """A shift with its count, who opened and closed it, and when."""
    return {
        **reconciliation(found),
        "opened_at": found.opened_at,
        "closed_at": found.closed_at,
        "opened_by": found.opened_by.login,
        "closed_by": found.closed_by.login if found.closed_by else None,
    }


def cash(drawer: Drawer) -> int:
    """Cash that the drawer must hold by the ledger, in minor units."""
    code = drawer.account(Account.DRAWER_CASH)
    return chart.balances(drawer.house, [code])[code]


def describe(drawer: Drawer) -> dict[str, Any]:
    """A drawer as its cashier sees it."""
    rack = chart.pieces(drawer.house, drawer.account(Account.CAGE_CHIPS))
    shift = open_shift(drawer)
    return {
        "drawer": drawer.code,
        "version": drawer.version,
        "state": DrawerState.OPEN if shift else DrawerState.CLOSED,
        "shift": shift.number if shift else None,
        "currency": drawer.house.currency,
        "cash": cash(drawer),
        "chips": sum(value * count for value, count in rack.items()),
        "pieces": {str(value): count for value, count in sorted(rack.items(), reverse=True) if count},
    }


def reconciliation(shift: Shift) -> dict[str, Any]:
    """A shift's float, and its count against the ledger where it is closed. A variance is counted less expected: short
    is negative."""
    closed = shift.closed_at is not None
    return {
        "drawer": shift.drawer.code,
        "shift": shift.number,
        "float_cash": shift.float_cash,
        "float_chips": shift.float_chips,
        "expected_cash": shift.expected_cash,
        "counted_cash": shift.counted_cash,
        "cash_variance": _minus(shift.counted_cash, shift.expected_cash),
        "expected_chips": shift.expected_chips,
        "counted_chips": shift.counted_chips,
        "chip_variance": _minus(shift.counted_chips, shift.expected_chips),
        "float_pieces": shift.float_pieces,
        "expected_pieces": shift.expected_pieces,
        "counted_pieces": shift.counted_pieces,
        "pieces_variance": _by_denomination(shift.counted_pieces, shift.expected_pieces),
        "closed": closed,
    }


def _by_denomination(counted: dict[str, int] | None, expected: dict[str, int] | None) -> dict[str, int] | None:
    """Pieces counted minus expected, where they differ; the largest denomination first."""
    if counted is None or expected is None:
        return None
    differing = {name for name in counted | expected if counted.get(name, 0) != expected.get(name, 0)}
    return {name: counted.get(name, 0) - expected.get(name, 0) for name in sorted(differing, key=int, reverse=True)}


def _minus(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left - right
