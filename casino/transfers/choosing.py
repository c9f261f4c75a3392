"""Which chips a fill or credit takes: those that are named, those of a template, or some of every denomination."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from casino.bookkeeping import books
from casino.bookkeeping.accounts import Account
from casino.cage.models import Drawer
from casino.chips import selectors as chips
from casino.chips import templates
from casino.chips.models import PlaceKind
from casino.core import denominations
from casino.core.denominations import Chips
from casino.core.errors import Conflict, Unprocessable
from casino.tables.models import Table
from casino.transfers import proposals
from casino.transfers.models import Transfer

#: Chips by denomination as somebody wrote them: {"500": 3}.
Pieces = Mapping[Any, int]


def mix(place: Table | Drawer, pieces: Pieces, amount: int | None = None) -> Chips:
    """Chips of the set in use that are named by pieces, worth `amount` (minor units) where it is given. Raises
    Unprocessable for wrong pieces or chips_do_not_add_up."""
    found = denominations.parse(chips.in_use(place.house), pieces)
    return found if amount is None else denominations.worth(found, amount)


def template(table: Table) -> int:
    """Number of the template that a fill brings its tray to. Raises Conflict no_template."""
    return templates.require(table.house, PlaceKind.TABLE, table.code).number


def chosen(transfer: Transfer, place: Table | Drawer, wanted: Mapping[str, Any]) -> Chips:
    """The chips that this place sends: the `pieces` that are named, those that bring the tray to its `template`, or
    some of every denomination worth `amount`. Raises as :func:`mix` and :func:`casino.transfers.proposals.to_send`,
    Unprocessable nothing_to_send or amount_not_payable, InsufficientFunds, Conflict no_exact_change."""
    pieces, amount = wanted.get("pieces"), wanted.get("amount")
    if pieces is not None:
        named = mix(place, pieces, amount)
        if not named:
            raise Unprocessable("The transfer has no chips.", code="nothing_to_send")
        return named
    if "template" in wanted:
        return proposals.to_send(transfer.table, transfer.drawer)
    rack = place.account(Account.TRAY if isinstance(place, Table) else Account.CAGE_CHIPS)
    held, worth = chips.available(place.house, rack), amount or 0
    books.require(place.house, rack, held.value, worth)
    chips.in_use(place.house).require_payable(worth, "A transfer")
    if isinstance(place, Drawer):
        with suppress(Conflict):  # what the drawer keeps for change is touched only where there is no other way
            return denominations.spread(worth, proposals.spare(place, held))
    return denominations.spread(worth, held)


def leaves_too_few(place: Table | Drawer, sent: Chips) -> bool:
    """Whether a drawer would keep fewer than its template says of a chip that it sends. What it does not hold at all is
    refused when it is posted."""
    if not isinstance(place, Drawer):
        return False
    held = chips.available(place.house, place.account(Account.CAGE_CHIPS))
    least = templates.least_of(place.house, place.code, held.chip_set)
    left = held - sent
    return not left.shortage and any(left[value] < least[value] for value in sent.pieces)
