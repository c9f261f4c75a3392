"""Complaints, legal holds, the sealed register of compliance, and what retention has deleted."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from casino.audit.events.fields import Hand, JsonObject, JsonObjects, Player, Reason
from casino.audit.events.registry import ApprovedEvent, AuditEvent, event

Complaint = Annotated[int, "number of the complaint in the house, from 1 without gaps"]
Hold = Annotated[int, "number of the legal hold in the house, from 1 without gaps"]
Text = Annotated[str, "SHA-256 of the sealed text of this step, hexadecimal; it says nothing about the text"]


@event("complaint.opened", chain="house")
class ComplaintOpened(AuditEvent):
    """A complaint was opened; its evidence is frozen, and under a legal hold."""

    complaint: Complaint
    complaint_kind: Annotated[str, "what it is about"]
    player: Annotated[str | None, "reference of the player who complains; absent for anybody else"] = None
    arrived: Annotated[str, "when it reached the house, ISO 8601, UTC"]
    due: Annotated[str, "until when it must be answered, ISO 8601, UTC"]
    evidence: Annotated[
        JsonObjects,
        "hands (`hand`, `record_sha256`, null while it is not over) and entries of drawers (`drawer`, `kind`, "
        "`player`), each with `chain`, `first_seq` and `last_seq` of its events, `leaf_hash` of the last one, and "
        "`video`, where the video shows it",
    ]
    text_sha256: Text
    legal_hold: Hold


@event("complaint.answered", chain="house")
class ComplaintAnswered(AuditEvent):
    """The house has answered a complaint."""

    complaint: Complaint
    text_sha256: Text


@event("complaint.escalated", chain="house")
class ComplaintEscalated(AuditEvent):
    """A complaint has gone to a body for alternative dispute resolution."""

    complaint: Complaint
    adr: Annotated[str, "name of the body"]
    text_sha256: Text


@event("complaint.closed", chain="house")
class ComplaintClosed(AuditEvent):
    """A complaint has ended, and its legal hold with it."""

    complaint: Complaint
    outcome: Annotated[str, "`upheld`, `partly_upheld`, `rejected`, `settled` or `withdrawn`"]
    text_sha256: Text
    legal_hold: Hold


@event("legal_hold.set", chain="house")
class LegalHoldSet(ApprovedEvent):
    """Two persons have put something under a legal hold: nothing of it is deleted."""

    legal_hold: Hold
    scope: Annotated[str, "`player`, `hand`, `days` or `house`"]
    player: Annotated[Player | None, "reference of the player; absent otherwise"] = None
    hand: Annotated[Hand | None, "name of the hand; absent otherwise"] = None
    first_day: Annotated[str | None, "the first gaming day; absent otherwise"] = None
    last_day: Annotated[str | None, "the last gaming day; absent otherwise"] = None
    reason: Reason


@event("legal_hold.lifted", chain="house")
class LegalHoldLifted(ApprovedEvent):
    """Two persons have lifted a legal hold."""

    legal_hold: Hold
    reason: Reason


@event("sealed.entry", chain="house")
class EntryIsSealed(AuditEvent):
    """The sealed register of compliance was used: something was written or looked at. What it was is in the entry
    alone."""

    entry: Annotated[int, "number of the entry in the house, from 1 without gaps"]
    sealed_sha256: Annotated[str, "SHA-256 of the sealed entry, hexadecimal; it says nothing about the entry"]


@event("retention.ran", chain="house")
class RetentionRan(AuditEvent):
    """What need not be kept any more was deleted, and was looked for afterwards and not found. Ledger, events and
    records of hands are never deleted."""

    run: Annotated[int, "number of the run in the house, from 1 without gaps"]
    deleted: Annotated[
        Mapping[str, JsonObject],
        "by kind (`report_file`, `person_key`, `day_package`, `answers`, `messages`, `sealed_entries`, "
        "`exclusion_marks`): "
        "`count`, `size` (bytes), `sha256` of the canonical JSON of `items`",
    ]
    items: Annotated[
        JsonObjects,
        "everything that was deleted: `kind`, `name` (run and file, player, gaming day, begin of the ten minutes of "
        "answers, UTC, date on which messages were done, first and last entry, or exclusion), `sha256` (of the content "
        "that was recorded, of the answers' keys and requests, of the messages, or of the canonical JSON of the hashes "
        "that were recorded), `size`, `since` (from when on its days are counted, "
        "UTC), `days` (for how many it was kept)",
    ]
    held_count: Annotated[int, "how many others were due and are under a legal hold"]
    by: Annotated[str, "what has let it run: `clock:retention`, `clock:prune`, or `manage.py retention`"]
    left: Annotated[Sequence[str], "names of what was still found afterwards; always empty"]
