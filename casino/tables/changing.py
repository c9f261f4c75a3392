"""Other terms for a table, and its end.

Terms are never edited: new ones wait until the table is opened the next time, so that a sitting has one set of terms.
A retired table is never opened again; its code, chain and hands stay.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from casino.audit.events.tables import TableRetired, TermsChanged
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.core import once_live, write
from casino.core.commands import Answer, Command, RequestContext
from casino.core.errors import Conflict
from casino.core.work import Outcome, Work
from casino.houses.models import House
from casino.staff.models import TerminalKind
from casino.staff.roster import revoke_at
from casino.tables import selectors, services, versions
from casino.tables.models import Table, TableState
from casino.tables.services import AtTable, Terms

#: Money and chips that a table must be rid of before its end; income and expense stay in the books.
_EMPTY = (
    Account.DROP_CASH, Account.CHIPS_UNATTRIBUTED, Account.POT, Account.CUKASSZA, Account.BANK, Account.TRONC,
    Account.DISPUTED_POT, Account.CARRY_HELD,
)  # fmt: skip
_EMPTY_RACKS = (Account.TRAY, Account.TRANSIT, Account.TAX_BOX, Account.TRONC_BOX)


class OfTable(AtTable):
    """The same from a terminal in the office: what is done to a table, not at it."""

    def require_place(self, context: RequestContext, table: Table) -> None:
        """In the office. Raises WrongTerminal."""
        context.at_the_office()

    def answer(self, table: Table, outcome: Outcome) -> dict[str, Any]:
        """The table without money, for the administrator who has changed it."""
        return selectors.without_money(super().answer(table, outcome))


def change_terms(
    *, command: Command, code: str, terms: Terms, varying: Mapping[str, Sequence[Any]], reason: str
) -> Answer:
    """Let the table have these terms from its next opening on, instead of any that wait for it already; the terms in
    force again take back what waits. `varying` is as for :func:`casino.tables.services.set_up`.

    Raises NotFound, WrongTerminal, VersionConflict, Conflict table_retired, and no_change where that is what the next
    opening brings already, approval_required once the house is live.
    """

    def change(table: Table, work: Work) -> Outcome:
        require_not_retired(table)
        before, wanted = versions.in_force(table), {name: asdict(terms)[name] for name in versions.CHANGING}
        wanted["carryover_on_close"] = str(wanted["carryover_on_close"])
        if wanted == (table.terms_to_come or before):
            raise Conflict(f"Table {code} has these terms at its next opening already.", code="no_change")
        once_live.require_approval(table.house, work, once_live.SETTINGS)
        versions.agree(table, None if wanted == before else wanted, command.context.staff.login)
        return Outcome(TermsChanged(before=before, after=wanted, varying=varying or None, reason=reason))

    return write.write(command, OfTable(code), change)


def retire(*, command: Command, code: str, reason: str) -> Answer:
    """End a table for ever; its terminals are revoked.

    Raises NotFound, WrongTerminal, VersionConflict, Conflict table_open and the like unless it is closed,
    place_not_empty where money or chips of it are left.
    """

    def change(table: Table, work: Work) -> Outcome:
        services.require_state(table, TableState.CLOSED)
        left = _left(table.house, table)
        if left:
            named = ", ".join(sorted(left))
            raise Conflict(f"Table {code} still has money or chips in {named}.", code="place_not_empty")
        services.to_state(table, TableState.RETIRED)
        terminals = revoke_at(table.house, TerminalKind.TABLE, code)
        return Outcome(TableRetired(terminals=terminals, reason=reason))

    return write.write(command, OfTable(code), change)


def _left(house: House, table: Table) -> dict[str, int]:
    """Accounts of a table that hold something, in minor units; chips at their face value."""
    money = chart.balances(house, [table.account(number) for number in _EMPTY])
    racks = chart.rack_values(house, [table.account(number) for number in _EMPTY_RACKS])
    return {account: held for account, held in (money | racks).items() if held}


def require_not_retired(table: Table) -> None:
    """Refuse a table that was ended for ever. Raises Conflict table_retired."""
    services.require_state(table, *(state for state in TableState if state != TableState.RETIRED))
