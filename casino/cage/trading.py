"""Other trades of the cashier: changing chips, chips of other houses."""

from collections.abc import Mapping
from typing import Any

from casino.audit.events.cage import CageExchange, ForeignChipsBought
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import posting
from casino.cage import selectors
from casino.cage.models import Drawer
from casino.cage.services import enter, require_own, write_at
from casino.chips.changing import Desk
from casino.core.commands import Answer, Command
from casino.core.work import Outcome, Work

#: Chips by denomination as somebody wrote them: {"500": 3}.
Pieces = Mapping[Any, int]


def exchange(*, command: Command, code: str, given: Pieces, change_for: Pieces | None = None) -> Answer:
    """Change chips of the public at the drawer into others of the same value: those of `change_for`, or the largest.
    Raises Conflict drawer_closed, and as `chips.changing.Desk.swap`."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        return swap_chips(drawer, work, key=command.ledger_key(), given=given, change_for=change_for)

    return write_at(command, code, change)


def swap_chips(
    drawer: Drawer, work: Work, *, key: str, given: Pieces, change_for: Pieces | None = None, own: bool = True
) -> Outcome:
    """What an exchange does at a locked drawer, posted under this key. Raises as :func:`exchange`."""
    require_own(drawer, work, own=own)
    event, swapped = Desk(drawer.house, drawer.account(Account.CAGE_CHIPS), drawer.code).swap(given, change_for)
    enter(work, key, drawer, "cage.exchange", [event])
    return Outcome(CageExchange(exchange=swapped), status=201)


def take_foreign(*, command: Command, code: str, amount: int, issuer: str) -> Answer:
    """Pay `amount` minor units of cash for chips of another house, `issuer`, at face value.

    Raises Conflict drawer_closed, InsufficientFunds when the drawer has less cash.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        return buy_foreign(drawer, work, key=command.ledger_key(), amount=amount, issuer=issuer)

    return write_at(command, code, change)


def buy_foreign(drawer: Drawer, work: Work, *, key: str, amount: int, issuer: str, own: bool = True) -> Outcome:
    """What buying chips of another house does at a locked drawer, posted under this key. Raises as
    :func:`take_foreign`."""
    require_own(drawer, work, own=own)
    selectors.require_cash(drawer, amount)
    taken = posting("foreign_chips", {"drawer": drawer.code}, amount=amount)
    enter(work, key, drawer, "cage.foreign_chips", [taken], issuer=issuer)
    return Outcome(ForeignChipsBought(foreign_chips={"amount": amount, "issuer": issuer}), status=201)
