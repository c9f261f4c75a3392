"""Fills and credits between drawers and tables, and the boxes of tables.

Each end of a transfer records its part in its own chain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from casino.audit.events.fields import Approver, JsonObject, Reason
from casino.audit.events.registry import ApprovedEvent, AuditEvent, DrawerEvent, TableEvent, event

BOTH_ENDS = ("table", "drawer")

Mirrors = Annotated[
    Mapping[str, int], "ledger transactions that reverse what was sent, by the key undone; absent if nothing was sent"
]
VarianceApprover = Annotated[Approver, "login of the supervisor, who accepted a variance between sent and counted"]
TransferPart = Annotated[
    JsonObject,
    "`kind`, `serial` (from 1 by house and kind), `table`, `drawer`, `state`, `reservation` (whether "
    "the pieces asked for are set aside in the drawer: empty, `pending`, `voided` or `expired`), what was "
    "`requested`, `sent` (worth `value`) and `counted`, how many `differing_counts`, who did it (`opened_by`, "
    "`sent_by`, `carried_by`, `declined_by`, `ended_by`), `reason`; without `requested`, `sent` and `value` where "
    "the receiving end has written it before the transfer ended",
]
DifferingCount = Annotated[
    JsonObject, "`pieces` as they were counted, `by` (login), `request` (terminal and key of the request)"
]
BoxPart = Annotated[
    JsonObject,
    "`box` (number, from 1 by house), `table`, `kind`, `number`, `state`, `seal`, `seal_read`, "
    "`for_day` (gaming day to which its contents belong, null before it is taken off and without days), who did it "
    "(`put_by`, `taken_by`, `brought_by`, `decided_by`, `observer`, `received_by`), `differing_rounds`, `reason`; once "
    "received also what was counted and expected, and the variances",
]
TrayCountPart = Annotated[
    JsonObject,
    "`tray_count` (number, from 1 by house), `table`, `purpose`, `state`, `counted_by`, `witnessed_by`, "
    "`exception`; once confirmed also what was `counted` and `expected`, and the `variance` (minor units)",
]
OwnPieces = Annotated[
    Mapping[str, int], "what this person has counted: number of pieces by denomination in minor units"
]
Replaced = Annotated[int | None, "number of the count that waited and does no more"]
OwnCount = Annotated[JsonObject, "`round`, `cash` (minor units), `pieces`, as this person has counted them"]


@dataclass(frozen=True, kw_only=True)
class TransferEvent(TableEvent, DrawerEvent):
    """What one end of a transfer did."""

    transfer: TransferPart
    table_version: Annotated[int | None, "version of the table after this event, in the table's chain"] = None
    drawer_version: Annotated[int | None, "version of the drawer after this event, in the drawer's chain"] = None


@event("fill.requested", chain=BOTH_ENDS)
class FillRequested(TransferEvent):
    """A table asked the cage for chips."""


@event("fill.sent", chain=BOTH_ENDS)
class FillSent(TransferEvent, ApprovedEvent):
    """The cage sent chips to a table."""


@event("fill.received", chain=BOTH_ENDS)
class FillReceived(TransferEvent):
    """A table counted and took in the chips that the cage had sent."""

    reason: Annotated[Reason | None, "why a variance was accepted"] = None
    approver: VarianceApprover | None = None


@event("fill.count_differed", chain=BOTH_ENDS)
class FillCountDiffered(AuditEvent):
    """A table counted something else than was sent. Nothing moved."""

    transfer: TransferPart
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
class CreditSent(TransferEvent, ApprovedEvent):
    """A table sent chips to the cage."""


@event("credit.received", chain=BOTH_ENDS)
class CreditReceived(TransferEvent):
    """The cage counted and took in the chips that a table had sent."""

    reason: Annotated[Reason | None, "why a variance was accepted"] = None
    approver: VarianceApprover | None = None


@event("credit.count_differed", chain=BOTH_ENDS)
class CreditCountDiffered(AuditEvent):
    """The cage counted something else than was sent. Nothing moved."""

    transfer: TransferPart
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


@event("box.swapped", chain="table")
class BoxSwapped(TableEvent):
    """A box was put on a table; the one before it was taken off, sealed. With it the dealer may have counted the tray:
    that count waits for its witness."""

    box: BoxPart
    taken: Annotated[JsonObject | None, "the box that was taken off, as `box`"] = None
    tray_count: Annotated[JsonObject | None, "the count of the tray, as in `tray.counted`"] = None
    pieces: Annotated[
        Mapping[str, int] | None, "what the dealer has counted in the tray: number of pieces by denomination"
    ] = None
    replaced: Replaced = None
    counted: Annotated[
        int | None,
        "the number of the count of the tray made with a box before it, where the house wants one and none came along",
    ] = None


@event("box.brought", chain="house")
class BoxBrought(AuditEvent):
    """A box came to the count room, where its seal was read."""

    box: BoxPart


@event("box.counted", chain="house")
class BoxCounted(AuditEvent):
    """A person counted a box: the first of two, or the second with the same result."""

    box: BoxPart
    count: OwnCount


@event("box.counts_differed", chain="house")
class BoxCountsDiffered(AuditEvent):
    """The second person counted something else than the first; both count again."""

    box: BoxPart
    count: OwnCount


@event("box.count_decided", chain="house")
class BoxCountDecided(AuditEvent):
    """Counts have differed three times, and a supervisor decided what was in a box."""

    box: BoxPart
    count: Annotated[JsonObject, "`cash` (minor units), `pieces`, as the supervisor decided"]
    reason: Reason


@event("box.received", chain="house")
class BoxReceived(AuditEvent):
    """A third person took the counted contents of a box into the vault. They were posted with the variance."""

    box: BoxPart


@event("tray.counted", chain="table")
class TrayCounted(TableEvent):
    """A dealer counted the tray; the count waits for its witness."""

    tray_count: TrayCountPart
    pieces: OwnPieces
    replaced: Replaced = None


@event("tray.counts_differed", chain="table")
class TrayCountsDiffered(TableEvent):
    """The witness counted something else than the dealer; both count again."""

    tray_count: TrayCountPart
    pieces: OwnPieces


@event("tray.confirmed", chain="table")
class TrayConfirmed(TableEvent):
    """The witness counted the same as the dealer. What was over or short was posted."""

    tray_count: TrayCountPart
    pieces: OwnPieces
    approver: Annotated[Approver, "login of the witness"]
