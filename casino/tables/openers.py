"""Tables that open without a count of their trays."""

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
