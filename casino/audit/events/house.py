"""What happens to a house as a whole: its days, its duty."""

from typing import Any

from casino.audit.events.registry import Told, event, told


@event("day.opened", chain="house")
def day_opened(*, day: str) -> Told:
    """A gaming day was opened; from now on it takes the postings."""
    return told(day=day)


@event("day.closed", chain="house")
def day_closed(*, day: str, snapshot: int | None, totals: dict[str, Any]) -> Told:
    """A gaming day was closed for good: its closing snapshot, and that snapshot's debits and credits by commodity."""
    return told(day=day, snapshot=snapshot, totals=totals)


@event("house.duty", chain="house")
def duty(*, amount: int, posting: int, reason: str) -> Told:
    """Gaming duty on the house's take fell due; `posting` is the ledger transaction."""
    return told(amount=amount, posting=posting, reason=reason)
