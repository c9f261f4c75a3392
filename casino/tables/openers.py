"""Tables that open or close without a count of their trays."""

from collections.abc import Callable

from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.core.errors import Conflict
from casino.houses import control_points
from casino.tables.models import Table


def require_none(table: Table) -> None:
    """Refuse to open a table whose tray nobody has counted since it was closed, unless the house lets a tray of this
    worth open uncounted. Raises Conflict opener_required."""
    most = control_points.in_force(table.house).opener_required_above
    if chart.rack_value(table.house, table.account(Account.TRAY)) > most:
        raise Conflict(
            f"Count the tray of table {table.code} as the opener first, with the floor as the witness.",
            code="opener_required",
        )


def closer(table: Table, counted: Callable[[Table], int | None]) -> int | None:
    """The number of the count with which a table closes, None where the house wants none. Raises Conflict
    closer_required."""
    found = counted(table)
    if found is None and control_points.in_force(table.house).closer_required:
        raise Conflict(
            f"Count the tray of table {table.code} as the closer first, with the floor as the witness.",
            code="closer_required",
        )
    return found
