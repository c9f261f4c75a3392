"""The end of a drawer: it is never opened again, and its code is used for ever."""

from casino.audit.events.cage import DrawerRetired
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.cage import selectors
from casino.cage.models import Drawer
from casino.cage.services import AtDrawer, require_not_retired, shift_at_lock
from casino.core import sql, write
from casino.core.commands import Answer, Command, RequestContext
from casino.core.errors import Conflict
from casino.core.work import Outcome, Work
from casino.staff.models import TerminalKind
from casino.staff.roster import revoke_at

#: Money and chips that a drawer must be rid of before its end; what it was over or short stays in the books, and so
#: does what its public holds.
_EMPTY = (Account.DRAWER_CASH, Account.FOREIGN_CHIPS, Account.CHIPS_UNATTRIBUTED)
_EMPTY_RACKS = (Account.CAGE_CHIPS, Account.SET_ASIDE)


class _OfDrawer(AtDrawer):
    """The drawer from a terminal in the office: what is done to it, not at it."""

    def require_place(self, context: RequestContext, drawer: Drawer) -> None:
        """In the office. Raises WrongTerminal."""
        context.at_the_office()


def retire(*, command: Command, code: str, reason: str) -> Answer:
    """End a drawer for ever; its terminals are revoked.

    Raises NotFound, WrongTerminal, VersionConflict, Conflict drawer_retired, drawer_open unless it is closed,
    handover_open, place_not_empty where money or chips of it are left.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        require_not_retired(drawer)
        if shift_at_lock(drawer) is not None:
            raise Conflict(f"Drawer {code} is open; close it first.", code="drawer_open")
        if selectors.offered(drawer) is not None:
            raise Conflict(f"A handover at drawer {code} is open; withdraw it first.", code="handover_open")
        left = _left(drawer)
        if left:
            named = ", ".join(sorted(left))
            raise Conflict(f"Drawer {code} still has money or chips in {named}.", code="place_not_empty")
        [(drawer.retired_at,)] = sql.rows(_RETIRED, [drawer.pk])
        terminals = revoke_at(drawer.house, TerminalKind.CAGE, code)
        return Outcome(DrawerRetired(terminals=terminals, reason=reason))

    return write.write(command, _OfDrawer(code), change)


_RETIRED = "UPDATE cage_drawer SET retired_at = clock_timestamp() WHERE id = %s RETURNING retired_at"


def _left(drawer: Drawer) -> dict[str, int]:
    """Accounts of a drawer that hold something, in minor units; chips at their face value."""
    money = chart.balances(drawer.house, [drawer.account(number) for number in _EMPTY])
    held = money | chart.rack_values(drawer.house, [drawer.account(number) for number in _EMPTY_RACKS])
    return {account: amount for account, amount in held.items() if amount}
