"""Fills and credits between drawers and tables, and soft counts.

Each end of a transfer tells what it did in its own chain."""

from typing import Any

from casino.audit.events.registry import Told, event, told

EITHER_END = ("table", "drawer")


@event("fill.asked", chain=EITHER_END)
def fill_asked(*, transfer: dict[str, Any]) -> Told:
    """A table asked the cage for chips."""
    return told(transfer=transfer)


@event("fill.sent", chain=EITHER_END)
def fill_sent(*, transfer: dict[str, Any]) -> Told:
    """The cage sent chips to a table."""
    return told(transfer=transfer)


@event("fill.received", chain=EITHER_END)
def fill_received(*, transfer: dict[str, Any], reason: str | None = None, approver: str | None = None) -> Told:
    """A table counted and took in the chips that the cage had sent. Where it was not what was sent, the approver is who
    of the floor has settled the difference, and the reason what was said to it."""
    return told(transfer=transfer, reason=reason, approver=approver)


@event("fill.cancelled", chain=EITHER_END)
def fill_cancelled(*, transfer: dict[str, Any], mirrors: dict[str, int] | None, reason: str) -> Told:
    """A fill was given up; `mirrors` are the ledger's reversals of what had been sent, by the key undone."""
    return told(transfer=transfer, mirrors=mirrors, reason=reason)


@event("credit.asked", chain=EITHER_END)
def credit_asked(*, transfer: dict[str, Any]) -> Told:
    """The cage asked a table for chips."""
    return told(transfer=transfer)


@event("credit.sent", chain=EITHER_END)
def credit_sent(*, transfer: dict[str, Any]) -> Told:
    """A table sent chips to the cage."""
    return told(transfer=transfer)


@event("credit.received", chain=EITHER_END)
def credit_received(*, transfer: dict[str, Any], reason: str | None = None, approver: str | None = None) -> Told:
    """The cage counted and took in the chips that a table had sent. Where it was not what was sent, the approver is who
    of the floor has settled the difference, and the reason what was said to it."""
    return told(transfer=transfer, reason=reason, approver=approver)


@event("credit.cancelled", chain=EITHER_END)
def credit_cancelled(*, transfer: dict[str, Any], mirrors: dict[str, int] | None, reason: str) -> Told:
    """A credit was given up; `mirrors` are the ledger's reversals of what had been sent, by the key undone."""
    return told(transfer=transfer, mirrors=mirrors, reason=reason)


@event("soft_count.counted", chain="drawer")
def soft_count_counted(*, soft_count: dict[str, Any]) -> Told:
    """A table's boxes were counted at a drawer; the count waits for its witness."""
    return told(soft_count=soft_count)


@event("soft_count.confirmed", chain="drawer")
def soft_count_confirmed(*, soft_count: dict[str, Any], approver: str) -> Told:
    """A witness (the approver) counted the same, and the count was booked, with what was over or short."""
    return told(soft_count=soft_count, approver=approver)


@event("soft_count.withdrawn", chain="drawer")
def soft_count_withdrawn(*, soft_count: dict[str, Any]) -> Told:
    """A count was given up before it was confirmed."""
    return told(soft_count=soft_count)
