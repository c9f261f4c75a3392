"""The house as a whole: its founding, its days and snapshots, its duty, what its checks find."""

from typing import Annotated

from casino.audit.events.fields import Amount, JsonObject, LedgerTransaction, Reason
from casino.audit.events.registry import AuditEvent, event

Day = Annotated[str, "date of the gaming day, ISO 8601"]
Check = Annotated[str, "`custody`: chips against money; `snapshot`: a snapshot against the entries"]


@event("house.founded", chain="house")
class HouseFounded(AuditEvent):
    """The house was founded."""

    name: Annotated[str, "name of the house"]
    currency: Annotated[str, "ISO 4217 code; every amount of the house is in its minor units"]
    currency_exponent: Annotated[int | None, "decimal places of the currency; none where it is absent"] = None
    time_zone: Annotated[str | None, "IANA name of the time zone; UTC where it is absent"] = None


@event("day.opened", chain="house")
class DayOpened(AuditEvent):
    """A gaming day was opened; from now on it takes the postings."""

    day: Day


@event("day.closed", chain="house")
class DayClosed(AuditEvent):
    """A gaming day was closed for good."""

    day: Day
    snapshot: Annotated[int | None, "ledger's id of the closing snapshot"] = None
    totals: Annotated[JsonObject, "`debit` and `credit` of the closing snapshot by commodity"]


@event("house.duty", chain="house")
class DutyDue(AuditEvent):
    """Gaming duty on the house's take fell due."""

    amount: Amount
    posting: LedgerTransaction
    reason: Reason


@event("snapshot.taken", chain="house")
class SnapshotTaken(AuditEvent):
    """The clock wrote down what every account held."""

    name: Annotated[str, "name of the snapshot"]
    snapshot: Annotated[int, "ledger's id of the snapshot"]


@event("holds.expired", chain="house")
class HoldsExpired(AuditEvent):
    """The time of some holds ran out; they bind nothing."""

    hold_count: Annotated[int, "number of holds"]


@event("imbalance.found", chain="house")
class ImbalanceFound(AuditEvent):
    """A continuous check found what cannot happen unless somebody went past the database's guards."""

    check: Check
    after: Annotated[JsonObject, "what the check found"]
    before: Annotated[JsonObject | None, "what it had found earlier, where that was something else"] = None


@event("imbalance.cleared", chain="house")
class ImbalanceCleared(AuditEvent):
    """A continuous check found in order what it had found wrong before."""

    check: Check
    before: Annotated[JsonObject, "what it had found"]
