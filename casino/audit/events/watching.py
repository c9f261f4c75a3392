"""What is written down about transactions for compliance. What was said in words is sealed; an event has its hash."""

from typing import Annotated

from casino.audit.events.fields import Amount, LedgerTransaction, Player, Reason
from casino.audit.events.registry import ApprovedEvent, AuditEvent, event

Unknown = Annotated[int, "number of the unknown person, from 1 without gaps"]
Line = Annotated[int, "number of the line, from 1 without gaps"]


@event("unknown_person.opened", chain="house")
class UnknownPersonOpened(AuditEvent):
    """A person who trades and has no player's file was described."""

    unknown_person: Unknown
    description_sha256: Annotated[str, "SHA-256 of the description, sealed, hexadecimal"]


@event("unknown_person.identified", chain="house")
class UnknownPersonIdentified(AuditEvent):
    """An unknown person turned out to be a player."""

    unknown_person: Unknown
    player: Player


@event("log_line.entered", chain="house")
class LogLineEntered(AuditEvent):
    """A line was entered in the log of transactions: who was in one, or what was seen beside the books."""

    line: Line
    unknown_person: Annotated[int | None, "number of the unknown person; absent for a player"] = None
    player: Annotated[str | None, "reference of the player; absent for an unknown person"] = None
    capacity: Annotated[str, "`self`, or `behalf`: the transaction was made on this person's behalf"]
    transaction: Annotated[LedgerTransaction | None, "id of the ledger transaction; absent for what was seen"] = None
    day: Annotated[str, "the gaming day; empty where the house had none"]
    place: Annotated[str, "code of the drawer or table"]
    line_kind: Annotated[str, "kind of the transaction; of what was seen `buy_in`, `cash_out`, `notes_changed`, "
                              "`passed_on` or `other`"]  # fmt: skip
    direction: Annotated[str, "`in` or `out`, as the house sees it"]
    amount: Amount
    note_sha256: Annotated[
        str | None, "SHA-256 of what was said about it, sealed, hexadecimal; absent where nothing was said"
    ] = None


@event("log_line.withdrawn", chain="house")
class LogLineWithdrawn(AuditEvent):
    """A line of the log was withdrawn; it stays, and counts no more."""

    line: Line
    reason: Reason


@event("return.filed", chain="house")
class ReturnFiled(ApprovedEvent):
    """A return about a transaction was filed with the authority."""

    filing: Annotated[int, "number of the filing, from 1 without gaps"]
    transaction: LedgerTransaction
    return_number: Annotated[str, "number of the return, as the authority has given it"]
    filed_on: Annotated[str, "date, ISO 8601"]


@event("euro_rate.set", chain="house")
class EuroRateSet(ApprovedEvent):
    """What one euro is in the house's currency was set, from a moment on; what was set before is kept."""

    number: Annotated[int, "number of the rate, from 1 without gaps"]
    valid_from: Annotated[str, "from when on it is in force, ISO 8601, UTC"]
    millionths: Annotated[int, "millionths of the unit of the house's currency that are one euro"]
    source: Annotated[str, "whose rate it is"]
    reason: Reason
