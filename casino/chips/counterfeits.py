"""Counterfeits that are taken out of a rack, the same in drawers, the vault and trays."""

from collections.abc import Mapping
from typing import Any

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.bookkeeping.postings import Posting, posting
from casino.chips import selectors
from casino.core import denominations
from casino.core.denominations import Chips
from casino.core.errors import Unprocessable
from casino.houses.models import House
from casino.staff.models import Role


def named(house: House, cash: int, pieces: Mapping[Any, int]) -> Chips:
    """The chips that are named. Raises Unprocessable no_counterfeits where nothing is, and for wrong pieces."""
    chips = denominations.parse(selectors.in_use(house), pieces)
    if not (cash or chips):
        raise Unprocessable("Neither notes nor chips are named.", code="no_counterfeits")
    return chips


def approved(*roles: Role, amount: int) -> Need:
    """Somebody of these roles approves it, or a manager."""
    return Need(kind=ApprovalKind.COUNTERFEIT, roles=(*roles, Role.MANAGER), amount=amount)


def taken_out(place: str, rack: str, chips: Chips) -> Posting:
    """The chips leave the rack of the books: one more of each is with the public, for which the house owes."""
    return posting("counterfeit_chip", {"place": place, "rack": rack}, amount=chips.value, chips=chips)


def as_json(cash: int, chips: Chips) -> dict[str, Any]:
    """What was taken out, as events and answers have it."""
    return {"cash": cash, "pieces": chips.as_json(), "amount": cash + chips.value}
