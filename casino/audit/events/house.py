"""What happens to a house as a whole: its founding, its days and snapshots, its duty, what its checks find."""

from typing import Any

from casino.audit.events.registry import Told, event, told


@event("house.founded", chain="house")
def founded(*, name: str, currency: str) -> Told:
    """The house was founded; every amount in it is in minor units of this currency."""
    return told(name=name, currency=currency)


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


@event("snapshot.taken", chain="house")
def snapshot_taken(*, name: str, snapshot: int) -> Told:
    """What every account held was written down by the clock; `snapshot` is the ledger's id of it."""
    return told(name=name, snapshot=snapshot)


@event("holds.expired", chain="house")
def holds_expired(*, count: int) -> Told:
    """The time of so many holds had run out; they bind nothing."""
    return told(count=count)


@event("imbalance.found", chain="house")
def imbalance_found(*, check: str, after: dict[str, Any], before: dict[str, Any] | None = None) -> Told:
    """A continuous check found what cannot be without somebody having gone past the database's guards: chips that
    differ from money (`custody`), or a snapshot from the entries (`snapshot`). `before` is what it had found earlier,
    where that was something else."""
    return told(check=check, after=after, before=before)


@event("imbalance.cleared", chain="house")
def imbalance_cleared(*, check: str, before: dict[str, Any]) -> Told:
    """A continuous check found in order what it had found wrong before."""
    return told(check=check, before=before)
