"""What a drawer holds stays unknown to those who trade at it until they have counted it: no refusal names it."""

from collections.abc import Iterator
from contextlib import contextmanager

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.books import InsufficientFunds
from casino.cage.models import Drawer
from casino.core.errors import Conflict

#: What lies in a drawer, by account: cash, chips of the house, chips of other houses, chips of withdrawn sets.
CONTENTS = (Account.DRAWER_CASH, Account.CAGE_CHIPS, Account.FOREIGN_CHIPS, Account.SET_ASIDE)


@contextmanager
def withheld(drawer: Drawer) -> Iterator[None]:
    """Refuse without figures what the drawer cannot pay. Raises Conflict drawer_short, or no_exact_change without the
    chips that there are; other refusals pass."""
    try:
        yield
    except InsufficientFunds as error:
        if error.params.get("account_code") not in {drawer.account(number) for number in CONTENTS}:
            raise
        raise _short(drawer, error) from None
    except Conflict as error:
        if error.code != "no_exact_change":
            raise
        raise Conflict(
            "The amount cannot be made exactly of the chips that are available.",
            code="no_exact_change",
            amount=error.extra["amount"],
        ) from None


def _short(drawer: Drawer, error: InsufficientFunds) -> Conflict:
    """What is on hold for announced cash-outs may be named: those who trade here have announced it, or can list it."""
    held, is_cash = error.params.get("held"), error.params["account_code"] == drawer.account(Account.DRAWER_CASH)
    if not (held and is_cash):
        return Conflict(f"Drawer {drawer.code} does not hold enough for this.", code="drawer_short")
    return Conflict(
        f"Drawer {drawer.code} does not hold enough for this besides {drawer.house.money(held)} on hold for announced "
        "cash-outs.",
        code="drawer_short",
        held=held,
    )
