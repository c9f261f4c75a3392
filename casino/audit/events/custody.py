"""Fills and credits between drawers and tables, and soft counts.

Each end of a transfer records its part in its own chain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from casino.audit.events.fields import Approver, JsonObject, Reason
from casino.audit.events.registry import DrawerEvent, TableEvent, event

BOTH_ENDS = ("table", "drawer")

Mirrors = Annotated[
    Mapping[str, int], "ledger transactions that reverse what was sent, by the key undone; absent if nothing was sent"
]
VarianceApprover = Annotated[Approver, "login of the supervisor, who accepted a variance between sent and counted"]
DifferingCount = Annotated[
    JsonObject, "`pieces` as they were counted, `by` (login), `request` (terminal and key of the request)"
]
SoftCount = Annotated[
    JsonObject,
    "`soft_count` (id), `table`, `drawer`, `state`, `cash`, `pieces`, `value`, `counted_by`, `ended_by`; once "
    "confirmed also what was expected and the variances",
]


@dataclass(frozen=True, kw_only=True)
class TransferEvent(TableEvent, DrawerEvent):
    """What one end of a transfer did."""

    transfer: Annotated[
        JsonObject,
        "`transfer` (id), `kind`, `serial` (from 1 by house and kind), `table`, `drawer`, `state`, what was "
        "`requested`, `sent` (worth `value`) and `counted`, how many `differing_counts`, who did it (`opened_by`, "
        "`sent_by`, `carried_by`, `declined_by`, `ended_by`), `reason`; without `requested`, `sent` and `value` where "
        "the receiving end has written it before the transfer ended",
    ]
    table_version: Annotated[int | None, "version of the table after this event, in the table's chain"] = None
    drawer_version: Annotated[int | None, "version of the drawer after this event, in the drawer's chain"] = None


@event("fill.requested", chain=BOTH_ENDS)
class FillRequested(TransferEvent):
    """A table asked the cage for chips."""


@event("fill.sent", chain=BOTH_ENDS)
class FillSent(TransferEvent):
    """The cage sent chips to a table."""


@event("fill.received", chain=BOTH_ENDS)
class FillReceived(TransferEvent):
    """A table counted and took in the chips that the cage had sent."""

    reason: Annotated[Reason | None, "why a variance was accepted"] = None
    approver: VarianceApprover | None = None


@event("fill.count_differed", chain=BOTH_ENDS)
class FillCountDiffered(TransferEvent):
    """A table counted something else than was sent. Nothing moved."""

    count: DifferingCount


@event("fill.declined", chain=BOTH_ENDS)
class FillDeclined(TransferEvent):
    """A table sends back what was sent to it; the chips stay in transit until the sender has them."""

    reason: Reason


@event("fill.cancelled", chain=BOTH_ENDS)
class FillCancelled(TransferEvent):
    """A fill was given up."""

    mirrors: Mirrors | None = None
    reason: Reason


@event("credit.requested", chain=BOTH_ENDS)
class CreditRequested(TransferEvent):
    """The cage asked a table for chips."""


@event("credit.sent", chain=BOTH_ENDS)
class CreditSent(TransferEvent):
    """A table sent chips to the cage."""


@event("credit.received", chain=BOTH_ENDS)
class CreditReceived(TransferEvent):
    """The cage counted and took in the chips that a table had sent."""

    reason: Annotated[Reason | None, "why a variance was accepted"] = None
    approver: VarianceApprover | None = None


@event("credit.count_differed", chain=BOTH_ENDS)
class CreditCountDiffered(TransferEvent):
    """The cage counted something else than was sent. Nothing moved."""

    count: DifferingCount


@event("credit.declined", chain=BOTH_ENDS)
class CreditDeclined(TransferEvent):
    """The cage sends back what was sent to it; the chips stay in transit until the sender has them."""

    reason: Reason


@event("credit.cancelled", chain=BOTH_ENDS)
class CreditCancelled(TransferEvent):
    """A credit was given up."""

    mirrors: Mirrors | None = None
    reason: Reason


@event("soft_count.counted", chain="drawer")
class SoftCountCounted(DrawerEvent):
    """A table's boxes were counted at a drawer; the count waits for its witness."""

    soft_count: SoftCount


@event("soft_count.confirmed", chain="drawer")
class SoftCountConfirmed(DrawerEvent):
    """A witness counted the same. The count was posted with the variance."""

    soft_count: SoftCount
    approver: Annotated[Approver, "login of the witness"]


@event("soft_count.voided", chain="drawer")
class SoftCountVoided(DrawerEvent):
    """A count was voided before it was confirmed; the boxes are counted again."""

    soft_count: SoftCount
