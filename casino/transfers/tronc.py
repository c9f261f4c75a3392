"""The tronc: the tip box of a table is emptied at the cage, and the staff gets cash for its chips."""

from casino.audit.events.cage import TroncPaid
from casino.bookkeeping import books
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import posting
from casino.cage import selectors as drawers
from casino.cage import services as cage
from casino.cage.models import Drawer
from casino.chips import selectors as chips
from casino.core import denominations
from casino.core.errors import Conflict
from casino.core.write import Answer, Command, Outcome, Work
from casino.tables import selectors as tables
from casino.transfers.services import Pieces


def pay_out(*, command: Command, code: str, table_code: str, pieces: Pieces | None = None) -> Answer:
    """Take these chips of a table's tip box into the drawer, or all of them, and pay their worth in cash.

    Raises Conflict drawer_closed or tip_box_empty, InsufficientFunds where box or drawer hold less, NotFound,
    Unprocessable for wrong pieces.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        cage.require_open(drawer)
        table = tables.get(drawer.house, table_code)
        held = chips.rack(drawer.house, table.account(Account.TRONC_BOX))
        taken = held if pieces is None else denominations.parse(chips.in_use(drawer.house), pieces)
        if not taken:
            raise Conflict(f"The tip box of table {table_code} is empty.", code="tip_box_empty")
        books.require(drawer.house, drawer.account(Account.DRAWER_CASH), drawers.cash(drawer), taken.value)
        paid = posting("tronc_paid", {"table": table_code, "drawer": code}, amount=taken.value, chips=taken)
        cage.enter(work, command.ledger_key(), drawer, "cage.tronc_paid", [paid], table=table_code)
        return Outcome(
            TroncPaid(tronc={"table": table_code, "amount": taken.value, "chips": taken.as_json()}), status=201
        )

    return cage.write_at(command, code, change)
